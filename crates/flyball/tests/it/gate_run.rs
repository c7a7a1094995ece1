//! Running gates: real processes, needs, limits, cancel and cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use flyball::clock::{self, Deadline};
use flyball::config::CommandLine;
use flyball::gate::{Cancel, Cancelled, Gate, GatePlan, GateProgress, GateRunner};
use flyball::journal::Journal;
use flyball::platform;
use flyball::process::KeeperProgram;
use flyball_core::gate::{Check, CheckStatus, Finding, FindingKind, GateResult};
use flyball_core::{GateName, Millis, Moment};
use tempfile::TempDir;

/// Far above anything a healthy machine needs; only a hang reaches it.
const LONG: Duration = Duration::from_mins(1);

struct Place {
    dir: TempDir,
    gates: Vec<Gate>,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), gates: Vec::new() }
    }

    fn gate(mut self, name: &str, command: &str, needs: &[&str]) -> Self {
        let needs = needs.iter().map(|need| GateName::new(*need)).collect();
        let command = CommandLine::Shell(command.to_owned());
        self.gates.push(Gate { needs, ..Gate::new(name, command, Millis::from_secs(60)) });
        self
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    fn runner(&self) -> GateRunner {
        let plan = GatePlan::of(self.gates.clone()).unwrap();
        let keeper = KeeperProgram::At(PathBuf::from(env!("CARGO_BIN_EXE_flyball")));
        GateRunner { keeper, ..GateRunner::new(plan, self.dir.path()) }
    }

    fn run(&self) -> GateResult {
        self.runner().run("tree", &Cancel::new(), &|_| {}).unwrap()
    }
}

fn statuses(result: &GateResult) -> Vec<String> {
    let shown = |check: &Check| match &check.status {
        CheckStatus::Skipped { reason } => format!("{}: skipped, {reason}", check.gate),
        status @ (CheckStatus::Passed | CheckStatus::Failed | CheckStatus::TimedOut) => {
            format!("{}: {}", check.gate, status.as_str())
        }
    };
    result.checks.iter().map(shown).collect()
}

fn alive(pid: &str) -> bool {
    platform::look(pid.trim().parse().unwrap()).is_some_and(|process| !process.zombie)
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Deadline::after(LONG);
    while !is_so() {
        assert!(!limit.passed(), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_exit_code_decides() {
    let place = Place::new()
        .gate("green", "echo FAILED; exit 0", &[])
        .gate("red", "echo all is well; exit 3", &[])
        .gate("killed", "kill -9 $$", &[]);
    let result = place.run();
    assert_eq!(statuses(&result), ["green: passed", "red: failed", "killed: failed"]);
    assert!(!result.is_green());
    assert!(result.checks[0].findings.is_empty() && result.checks[0].tail.is_empty());
    assert!(result.checks[1].tail.contains("all is well"));
    let killed = &result.checks[2].findings[0];
    assert!(killed.message.starts_with("it was ended by signal 9 (SIGKILL"), "{killed:?}");
}

#[test]
fn a_gate_runs_in_the_root_with_no_input_and_knows_its_name() {
    let place = Place::new().gate(
        "here",
        "cat; pwd > where; echo \"$FLYBALL_GATE $EXTRA ${GIT_DIR-none}\" > env",
        &[],
    );
    let mut runner = place.runner();
    runner.env = vec![("EXTRA".to_owned(), Some("more".to_owned()))];
    assert!(runner.run("tree", &Cancel::new(), &|_| {}).unwrap().is_green());
    let root = place.dir.path().canonicalize().unwrap();
    assert_eq!(Path::new(place.read("where").trim()).canonicalize().unwrap(), root);
    assert_eq!(place.read("env").trim(), "here more none");
}

#[test]
fn a_missing_program_is_red_and_says_so() {
    let mut place = Place::new().gate("shell", "no-such-program-xyz --all", &[]);
    place.gates.push(Gate {
        name: GateName::new("argv"),
        command: CommandLine::Argv(vec!["no-such-program-xyz".to_owned()]),
        ..place.gates[0].clone()
    });
    let result = place.run();
    assert_eq!(statuses(&result), ["shell: failed", "argv: failed"]);
    for check in &result.checks {
        assert_eq!(check.findings[0].kind, FindingKind::CouldNotRun);
        let message = &check.findings[0].message;
        assert!(message.contains("no-such-program-xyz"), "{message}");
        assert!(message.contains("found"), "{message}");
    }
}

#[test]
fn a_gate_that_hangs_is_ended_with_all_it_started() {
    let mut place =
        Place::new().gate("hangs", "setsid sleep 1000 & echo $! > pid; echo begun; wait", &[]);
    place.gates[0].timeout = Millis::new(300);
    let result = place.run();
    assert_eq!(statuses(&result), ["hangs: timed out"]);
    let check = &result.checks[0];
    assert_eq!(check.findings[0].kind, FindingKind::Timeout);
    assert!(check.tail.contains("begun") && check.duration >= Millis::new(300));
    assert!(!alive(&place.read("pid")));
}

#[test]
fn what_needs_a_gate_that_is_not_green_is_skipped_and_all_else_runs() {
    let place = Place::new()
        .gate("late", "true", &["build"])
        .gate("build", "false", &[])
        .gate("later", "true", &["late"])
        .gate("alone", "true", &[]);
    let result = place.run();
    assert_eq!(
        statuses(&result),
        [
            "late: skipped, `build` failed",
            "build: failed",
            "later: skipped, `late` was skipped",
            "alone: passed"
        ]
    );
}

#[test]
fn needs_run_first_whatever_the_order() {
    let place = Place::new().gate("second", "echo second >> order", &["first"]).gate(
        "first",
        "echo first >> order",
        &[],
    );
    for parallel in [false, true] {
        let runner = GateRunner { parallel, ..place.runner() };
        assert!(runner.run("tree", &Cancel::new(), &|_| {}).unwrap().is_green());
    }
    assert_eq!(place.read("order"), "first\nsecond\nfirst\nsecond\n");
}

#[test]
fn only_what_was_asked_for_runs_with_what_it_needs() {
    let place = Place::new()
        .gate("build", "echo build >> ran", &[])
        .gate("tests", "echo tests >> ran", &["build"])
        .gate("lint", "echo lint >> ran", &[]);
    let runner = GateRunner { only: vec![GateName::new("tests")], ..place.runner() };
    let result = runner.run("tree", &Cancel::new(), &|_| {}).unwrap();
    assert_eq!(
        statuses(&result),
        ["build: passed", "tests: passed", "lint: skipped, not asked for"]
    );
    assert_eq!(place.read("ran"), "build\ntests\n");
}

#[test]
fn independent_gates_run_side_by_side_when_asked_to() {
    // Each waits for the other: one after the other, neither would end.
    let meet = |mine: &str, other: &str| {
        format!("touch {mine}; while [ ! -e {other} ]; do sleep 0.01; done")
    };
    let place = Place::new().gate("a", &meet("a", "b"), &[]).gate("b", &meet("b", "a"), &[]);
    let runner = GateRunner { parallel: true, ..place.runner() };
    assert!(runner.run("tree", &Cancel::new(), &|_| {}).unwrap().is_green());
}

#[test]
fn progress_is_told_as_it_happens() {
    let place =
        Place::new().gate("a", "true", &[]).gate("b", "false", &[]).gate("c", "true", &["b"]);
    let told = Mutex::new(Vec::new());
    let observe = |progress: GateProgress| {
        told.lock().unwrap().push(match progress {
            GateProgress::Started { name, index, of } => format!("{name} {index}/{of}"),
            GateProgress::Finished(check) => format!("{} {}", check.gate, check.status.as_str()),
            GateProgress::Cached(check) => format!("{} known", check.gate),
        });
    };
    place.runner().run("tree", &Cancel::new(), &observe).unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!(told, ["a 1/3", "a passed", "b 2/3", "b failed", "c skipped"]);
}

#[test]
fn a_cancel_ends_everything_and_leaves_no_result() {
    let begin = "setsid sleep 1000 & echo $! > pid-$FLYBALL_GATE; wait";
    let place = Place::new().gate("a", begin, &[]).gate("b", begin, &[]).gate("c", "true", &[]);
    let runner = GateRunner { parallel: true, ..place.runner() };
    let cancel = Cancel::new();
    let result = thread::scope(|scope| {
        let running = scope.spawn(|| runner.run("tree", &cancel, &|_| {}));
        wait_for("both begin", || ["pid-a", "pid-b"].iter().all(|f| place.read(f).ends_with('\n')));
        cancel.cancel();
        running.join().unwrap()
    });
    assert_eq!(result, Err(Cancelled));
    assert!(!alive(&place.read("pid-a")) && !alive(&place.read("pid-b")));
    assert_eq!(runner.run("tree", &cancel, &|_| {}), Err(Cancelled));
}

#[test]
fn a_known_result_is_not_found_out_again() {
    let place = Place::new()
        .gate("green", "echo x >> green", &[])
        .gate("red", "echo x >> red; echo why; exit 1", &[])
        .gate("gone", "echo x >> gone; no-such-program-xyz", &[]);
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    let counts = || ["green", "red", "gone"].map(|name| place.read(name).lines().count());
    let go = |runner: &GateRunner, journal: &mut Journal, tree: &str| {
        let result = runner.run_known(journal, tree, &Cancel::new(), &|_| {}).unwrap();
        runner.store(journal, clock::wall(), &result).unwrap();
        result
    };
    let runner = place.runner();
    let first = go(&runner, &mut journal, "one");
    let again = go(&runner, &mut journal, "one");
    assert_eq!(counts(), [1, 1, 2], "what crashed runs again");
    assert_eq!(first.checks[..2], again.checks[..2]);
    go(&runner, &mut journal, "two");
    assert_eq!(counts(), [2, 2, 3], "another tree");
    let env = vec![("RUSTFLAGS".to_owned(), Some("-Dwarnings".to_owned()))];
    go(&GateRunner { env, ..runner.clone() }, &mut journal, "one");
    assert_eq!(counts(), [3, 3, 4], "another environment");
    let mut renamed = runner.plan.gates().to_vec();
    renamed[0].name = GateName::new("other");
    let plan = GatePlan::of(renamed).unwrap();
    let result = go(&GateRunner { plan, ..runner.clone() }, &mut journal, "one");
    assert_eq!(counts(), [3, 3, 5], "the same command under another name");
    assert_eq!(result.checks[0].gate.as_str(), "other");
    runner.run("one", &Cancel::new(), &|_| {}).unwrap();
    assert_eq!(counts(), [4, 4, 6], "asked to run in any case");
}

#[test]
fn a_gate_that_timed_out_is_asked_again() {
    let place = Place::new().gate("slow", "echo x >> slow", &[]);
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    let runner = place.runner();
    let timed_out = Check::bare("slow", CheckStatus::TimedOut);
    let result = GateResult { tree: "one".to_owned(), checks: vec![timed_out] };
    runner.store(&mut journal, clock::wall(), &result).unwrap();
    let again = runner.run_known(&journal, "one", &Cancel::new(), &|_| {}).unwrap();
    assert!(again.is_green() && place.read("slow").lines().count() == 1, "{again:?}");
}

#[test]
fn both_ends_of_what_was_printed_are_kept_in_a_file() {
    let place = Place::new().gate("long/one", "echo begin; seq 100000; echo end; exit 1", &[]);
    let runner = GateRunner { log_dir: Some(place.dir.path().to_path_buf()), ..place.runner() };
    let result = runner.run("tree", &Cancel::new(), &|_| {}).unwrap();
    let log = place.read("gate-long_one.log");
    assert!(log.starts_with("begin\n1\n2\n") && log.ends_with("100000\nend\n"));
    assert!(log.contains("bytes are left out here") && log.len() < 40_000);
    assert!(result.checks[0].tail.ends_with("end\n") || result.checks[0].tail.ends_with("end"));
}

#[test]
fn a_check_runs_in_its_folder_with_its_variables_and_is_told_that_nobody_is_there() {
    let mut place = Place::new().gate("where", "pwd > here; echo $MODE $CI > ../env", &[]);
    fs::create_dir(place.dir.path().join("web")).unwrap();
    place.gates[0].cwd = "web".to_owned();
    place.gates[0].env = vec![("MODE".to_owned(), "strict".to_owned())];
    let mut runner = place.runner();
    runner.env = vec![("CI".to_owned(), Some("1".to_owned()))];
    assert!(runner.run("tree", &Cancel::new(), &|_| {}).unwrap().is_green());
    assert!(place.read("web/here").trim().ends_with("/web"));
    assert_eq!(place.read("env").trim(), "strict 1");
}

#[test]
fn files_are_paths_in_the_repository_wherever_a_gate_runs_and_however_its_tools_write_them() {
    let go = "printf -- '--- FAIL: TestA (0.00s)\\n    a_test.go:3: no\\nFAIL\\nFAIL\\tx.org/m/%s\\t0.1s\\n' one two; exit 1";
    let mut place = Place::new()
        .gate("absolute", "echo \"$PWD/web/a.c:1:4: error: x\"; exit 1", &[])
        .gate("folder", "echo \"a.c:2:4: error: x\"; exit 1", &[])
        .gate("packages", go, &[])
        .gate("elsewhere", "echo \"/usr/include/a.h:2:4: error: x\"; exit 1", &[])
        .gate("entered", "cd web && echo \"a.c:3:4: error: x\" && false", &[]);
    place.gates[1].cwd = "web".to_owned();
    for file in ["web/a.c", "one/a_test.go", "two/a_test.go"] {
        let path = place.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let result = place.run();
    let places: Vec<Vec<String>> = result
        .checks
        .iter()
        .map(|check| check.findings.iter().filter_map(Finding::place).collect())
        .collect();
    assert_eq!(places[0], ["web/a.c:1:4"]);
    assert_eq!(places[1], ["web/a.c:2:4"]);
    assert_eq!(places[2], ["one/a_test.go:3", "two/a_test.go:3"]);
    assert_eq!(places[3], ["/usr/include/a.h:2:4"]);
    assert_eq!(places[4], ["web/a.c:3:4"]);
}

#[test]
fn a_check_of_both_colours_is_green_and_flaky_and_one_that_is_always_red_stays_red() {
    let shaky = "test -e tried || { touch tried; echo 'not ok 1 - shaky'; exit 1; }";
    let mut place =
        Place::new().gate("shaky", shaky, &[]).gate("red", "echo x >> tries; false", &[]);
    place.gates[0].retry = 2;
    place.gates[1].retry = 2;
    let result = place.run();
    assert_eq!(statuses(&result), ["shaky: passed", "red: failed"]);
    let flaky = result.checks[0].flaky.as_deref().unwrap();
    assert_eq!(flaky, "red once, then green: shaky");
    assert_eq!(result.checks[1].flaky, None);
    assert_eq!(place.read("tries").lines().count(), 3);
    assert!(result.status_lines()[0].contains("flaky"), "{:?}", result.status_lines());
}

#[test]
fn another_colour_on_the_same_tree_is_named_in_a_later_run_and_red_stays_red() {
    let shaky = "test -e well || { echo 'not ok 1 - shaky'; exit 1; }";
    let place = Place::new().gate("shaky", shaky, &[]);
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    let mut run = |tree: &str| {
        let runner = place.runner();
        let result = runner.run(tree, &Cancel::new(), &|_| {}).unwrap();
        let result = runner.beside_earlier(&journal, result);
        runner.store(&mut journal, Moment::from_millis(1), &result).unwrap();
        (statuses(&result), result.checks[0].flaky.clone())
    };
    assert_eq!(run("tree"), (vec!["shaky: failed".to_owned()], None));
    assert_eq!(run("tree"), (vec!["shaky: failed".to_owned()], None), "red each time is red");
    fs::write(place.dir.path().join("well"), "").unwrap();
    let why = Some("red once, then green: shaky".to_owned());
    assert_eq!(run("tree"), (vec!["shaky: passed".to_owned()], why));
    assert_eq!(run("other"), (vec!["shaky: passed".to_owned()], None), "another tree");
    fs::remove_file(place.dir.path().join("well")).unwrap();
    let why = Some("red now, green before on the same tree".to_owned());
    assert_eq!(run("other"), (vec!["shaky: failed".to_owned()], why));
}

#[test]
fn what_was_said_before_a_flaky_colour_is_not_said_again() {
    let shaky = "echo x >> runs; test -e well || { echo 'not ok 1 - shaky'; exit 1; }";
    let place = Place::new().gate("shaky", shaky, &[]);
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    // By hand everything runs; a run asks what is known.
    let mut run = |by_hand: bool| {
        let runner = place.runner();
        let result = if by_hand {
            let result = runner.run("tree", &Cancel::new(), &|_| {}).unwrap();
            runner.beside_earlier(&journal, result)
        } else {
            runner.run_known(&journal, "tree", &Cancel::new(), &|_| {}).unwrap()
        };
        runner.store(&mut journal, Moment::from_millis(1), &result).unwrap();
        (result.is_green(), result.checks[0].flaky.is_some(), place.read("runs").lines().count())
    };
    assert_eq!(run(false), (false, false, 1));
    assert_eq!(run(false), (false, false, 1), "red on this tree is known");
    fs::write(place.dir.path().join("well"), "").unwrap();
    assert_eq!(run(true), (true, true, 2));
    assert_eq!(run(false), (true, true, 3), "the old red counts no more, but it is flaky here");
    fs::remove_file(place.dir.path().join("well")).unwrap();
    assert_eq!(run(true), (false, true, 4), "red is red");
    assert_eq!(run(false), (false, true, 5), "and was green on this tree, so it is asked again");
    assert_eq!(run(false), (false, true, 6), "as often as somebody asks");
}

#[test]
fn a_green_check_whose_files_were_not_touched_is_not_run_again_between_iterations() {
    let mut place = Place::new().gate("web", "echo x >> runs", &[]);
    place.gates[0].paths = vec!["web".to_owned()];
    let state = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    let mut run = |tree: &str, files: &str, touched_only: bool| {
        let mut runner = place.runner();
        runner.files = [(GateName::new("web"), files.to_owned())].into();
        runner.touched_only = touched_only;
        let result = runner.run_known(&journal, tree, &Cancel::new(), &|_| {}).unwrap();
        runner.store(&mut journal, Moment::from_millis(1), &result).unwrap();
        assert!(result.is_green());
        place.read("runs").lines().count()
    };
    assert_eq!(run("one", "a", true), 1);
    assert_eq!(run("two", "a", true), 1, "nothing of its own was touched");
    assert_eq!(run("two", "a", false), 2, "but what was carried over was not said of that tree");
    assert_eq!(run("three", "b", true), 3, "it was touched");
    assert_eq!(run("four", "b", false), 4, "a completion depends on it");
}
