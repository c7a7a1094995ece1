//! `flyball run "TEXT"`: one line, nothing set up before.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::scenario::{Ran, Scenario};

/// A check that is red until the file says so.
const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"grep -q fixed a.txt\"\n";
const FIX: &str =
    "cat > $OUT/prompt-$n; echo fixed > a.txt; commit fix; say 'it is <promise>COMPLETE</promise>'";

/// A repository with a red gate.
fn red() -> Scenario {
    Scenario::bare().config(GATE).committed().agent(FIX)
}

/// Puts programs of these names on a PATH of the scenario's own, beside git and the shell.
fn with_programs(scenario: Scenario, programs: &[(&str, &str)]) -> Scenario {
    let bin = scenario.outside("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in programs {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    scenario.env("PATH", &path)
}

/// What `claude` prints at the end of a session, after the work that is done here.
fn claude(work: &str) -> String {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"fixed it <promise>COMPLETE</promise>","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}"#;
    format!(
        r#"{work}
echo '{{"type":"system","subtype":"init","session_id":"s","model":"m"}}'
echo '{{"type":"assistant","message":{{"id":"m1","content":[{{"type":"text","text":"fixed it <promise>COMPLETE</promise>"}}],"usage":{{"input_tokens":10,"output_tokens":5}}}}}}'
echo '{result}'"#
    )
}

#[test]
fn a_clone_with_a_red_test_is_done_and_verified_after_one_command() {
    let theirs = Scenario::bare().file("Makefile", "test:\n\tgrep -q fixed a.txt\n").committed();
    let work = "echo fixed > a.txt; git commit -qam fix";
    let scenario = with_programs(Scenario::no_repository(), &[("claude", &claude(work))]);
    let (from, to) = (theirs.root().display().to_string(), scenario.root().display().to_string());
    scenario.git(&["clone", "-q", &from, &to]);
    let ran = scenario.flyball(&["run", "Fix the failing tests"]).ended(0);
    let ran =
        ran.saying("claude").saying("task: Fix the failing tests").saying("complete (code 0)");
    assert!(!ran.stderr.contains("also found"), "{}", ran.stderr);
    // Nothing of flyball's is seen in their project.
    assert_eq!(scenario.git(&["status", "--porcelain"]), "");
    assert_eq!(scenario.read(".flyball/.gitignore"), "*\n");
    assert_eq!(scenario.git(&["log", "-1", "--format=%s"]), "fix\n");
}

#[test]
fn the_first_installed_agent_works_and_the_others_are_named() {
    let codex = "echo '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'; touch $OUT/codex";
    let scenario =
        with_programs(red().command(&[]), &[("opencode", "touch $OUT/opencode"), ("codex", codex)]);
    let ran = scenario.run_with(&["Fix it", "--once"]).ended(1);
    ran.saying("codex works; also found: opencode");
    assert!(scenario.outside("codex").exists() && !scenario.outside("opencode").exists());
}

#[test]
fn without_any_agent_it_is_said_what_to_install_and_nothing_is_left_behind() {
    let scenario = with_programs(red().command(&[]), &[]);
    let error = scenario.run_with(&["Fix it"]).refused(7);
    for words in ["no agent is installed", "npm install -g", "-- COMMAND"] {
        assert!(error.contains(words), "{words} in {error}");
    }
    assert!(!scenario.has(".flyball") && !scenario.state().exists());
}

#[test]
fn the_text_comes_from_the_line_a_file_or_standard_input() {
    let wanted = "Mend the cart.\n\nKeep {{mode}} and `a`.";
    let told = |scenario: &Scenario, ran: Ran| {
        ran.ended(0);
        let prompt = scenario.told("prompt-1");
        assert!(prompt.contains(&format!("\n{wanted}\n")), "{prompt}");
        assert!(!prompt.contains("tasks.json"), "{prompt}");
    };
    let scenario = red();
    told(&scenario, scenario.run_with(&[wanted]));
    let scenario = red().file("task.md", &format!("\n{wanted}\n\n")).committed();
    told(&scenario, scenario.run_with(&["--file", "task.md"]));
    for flag in [&["--file", "-"][..], &["-"]] {
        let scenario = red();
        let mut command = scenario.program(env!("CARGO_BIN_EXE_flyball"));
        command.args(scenario.arguments(flag)).stderr(Stdio::null());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(wanted.as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{flag:?}");
        assert!(scenario.told("prompt-1").contains(wanted), "{flag:?}");
    }
}

#[test]
fn a_task_that_cannot_be_read_is_refused_by_its_own_code() {
    let scenario = red();
    fs::write(scenario.outside("bytes"), b"\xff\xfe\x00").unwrap();
    let bytes = scenario.outside("bytes").display().to_string();
    for (flags, code, words) in [
        (&["   "][..], 64, "the task is empty"),
        (&["--file", "nothing.md"], 66, "nothing.md"),
        (&["--file", &bytes], 65, "bytes"),
        (&["x", "--file", "y"], 64, "--file"),
        (&["x", "--resume"], 64, "--resume"),
    ] {
        let ran = scenario.run_with(flags);
        assert_eq!(ran.code, code, "{flags:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{flags:?}: {}", ran.stderr);
    }
    assert!(!scenario.has(".flyball") && !scenario.state().exists());
}

#[test]
fn beside_a_task_list_the_text_stands_alone() {
    // The list is broken on purpose: nobody looks at it.
    for tasks in [crate::scenario::TWO_STORIES, "{ broken"] {
        let scenario = Scenario::bare().config(GATE).tasks(tasks).committed();
        let scenario = scenario.agent("env | grep ^FLYBALL_TASK= > $OUT/task; echo fixed > a.txt; commit fix; say 'so <promise>COMPLETE</promise>'");
        let ran = scenario.run_with(&["Fix it"]).ended(0);
        ran.silent_on("stories passed").silent_on("Stories:");
        assert_eq!(scenario.told("task"), "FLYBALL_TASK=\n");
        assert_eq!(scenario.read(".flyball/tasks.json"), tasks);
        assert!(scenario.read(".flyball/.gitignore").contains("logs/"));
        assert_eq!(scenario.column("stories_total"), ["0"]);
    }
}

#[test]
fn a_text_goes_on_after_a_halt_as_the_same_task() {
    let script = "cat > $OUT/prompt-$n; [ $n = 1 ] && exit 0; echo fixed > a.txt; commit fix; say 'so <promise>COMPLETE</promise>'";
    let scenario =
        Scenario::bare().config(GATE).tasks(crate::scenario::TWO_STORIES).committed().agent(script);
    scenario.run_with(&["Mend the cart", "--once"]).ended(1);
    scenario.resume(&["--max-iterations", "3"]).ended(0).saying("task: Mend the cart");
    assert!(scenario.told("prompt-2").contains("\nMend the cart\n"));
}

#[test]
fn a_false_done_is_answered_in_the_words_that_were_asked_for() {
    let script = "cat > $OUT/prompt-$n; [ $n = 2 ] && { echo fixed > a.txt; commit fix; }; say 'so <promise>COMPLETE</promise>'";
    let scenario = red().agent(script);
    scenario.run_with(&["Mend the cart"]).ended(0);
    assert!(scenario.told("prompt-2").contains("This answers the request: Mend the cart"));
}

#[test]
fn a_text_that_nothing_checks_is_refused_unless_claims_are_trusted() {
    let scenario = Scenario::bare().committed().agent(FIX);
    let error = scenario.run_with(&["Fix it"]).refused(78);
    assert!(error.contains("no gate") && error.contains("--trust-claims"), "{error}");
    assert!(!scenario.has(".flyball"));
    scenario.run_with(&["Fix it", "--trust-claims"]).ended(0).saying("unverified");
}

#[test]
fn the_untouched_example_of_init_costs_nothing() {
    let scenario = Scenario::bare().file("Makefile", "test:\n\tgrep -q fixed a.txt\n").committed();
    let scenario = with_programs(scenario, &[("claude", "touch $OUT/started")]).command(&[]);
    assert_eq!(scenario.flyball(&["init"]).code, 0);
    let scenario = scenario.committed();
    let error = scenario.run().refused(78);
    for words in ["US-001", "example", ".flyball/tasks.json", "flyball run \"Fix"] {
        assert!(error.contains(words), "{words} in {error}");
    }
    assert!(!scenario.outside("started").exists() && !scenario.has(".flyball/logs"));
    // What it asks for works beside the example.
    let scenario = scenario.agent(FIX);
    scenario.run_with(&["Fix it"]).ended(0);
}

#[test]
fn init_after_a_text_makes_the_loop_folder_one_to_commit() {
    let scenario = red();
    scenario.run_with(&["Fix it"]).ended(0);
    assert_eq!(scenario.flyball(&["init", "--force", "--agent", "claude"]).code, 0);
    assert!(scenario.git(&["status", "--porcelain", "-uall"]).contains(".flyball/tasks.json"));
}

#[test]
fn a_dry_run_shows_what_the_text_becomes() {
    let scenario = red();
    let ran = scenario.run_with(&["Mend the cart", "--dry-run"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for words in ["next: implement Mend the cart", "\nMend the cart\n", "tests: grep"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!scenario.has(".flyball"));
}

#[test]
fn at_a_terminal_it_is_asked_what_is_wanted() {
    let scenario = red();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut command = scenario.program(env!("CARGO_BIN_EXE_flyball"));
    command.args(scenario.arguments(&["-"])).stdin(slave()).stdout(Stdio::null()).stderr(slave());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = fs::File::from(master);
    terminal.write_all(b"Mend the cart\n\x04").unwrap();
    let mut seen = Vec::new();
    // A terminal that nobody holds any more answers with an error instead of an end.
    terminal.read_to_end(&mut seen).ok();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.contains("What is wanted? End with Ctrl-D"), "{seen}");
    assert!(seen.contains("task: Mend the cart"), "{seen}");
    assert!(scenario.told("prompt-1").contains("\nMend the cart\n"));
}

#[test]
fn a_run_in_the_background_without_a_task_on_its_input_is_refused() {
    let scenario = red();
    for flags in [&["--detach", "-"][..], &["--detach", "--file", "-"]] {
        assert!(scenario.run_with(flags).refused(64).contains("the task is empty"), "{flags:?}");
    }
    assert!(!scenario.has(".flyball"));
}
