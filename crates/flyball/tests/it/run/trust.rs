//! Small things that cost trust when they are wrong.

use flyball_core::Outcome;

use crate::home::Home;
use crate::scenario::Scenario;

/// An honest agent does not have to commit what flyball put right, nor is it blamed when it does.
#[test]
fn what_flyball_repaired_in_the_task_list_is_nobody_s_uncommitted_work() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e good\"\n";
    for second in [
        // The repair is left as it stands, and only the work is committed.
        "touch good; git add good; git commit -qm good",
        // The repair is committed with it.
        "touch good; commit good",
    ] {
        let script = format!(
            "if [ $n = 1 ]; then pass a; pass b; \
             sed -i 's/\"title\":\"do a\"/\"title\":\"do less\"/' .flyball/tasks.json; commit 'less is wanted'; \
             else {second}; fi; say '<promise>COMPLETE</promise>'"
        );
        let scenario = Scenario::new().config(gate).committed().agent(&script);
        let ran = scenario.run().ended(0).saying("UNDO  #1").silent_on("not committed");
        assert!(ran.stderr.contains("Iterations:  2 / 15"), "{}", ran.stderr);
        assert_eq!(scenario.stories()[0]["title"], "do a");
    }
}

/// Git tidies up after itself in the background: that is not the agent's.
#[test]
fn git_s_own_housekeeping_has_not_outlived_the_agent() {
    // What is only called git is told as before.
    let script = "bash -c 'exec -a git sleep 30' >/dev/null 2>&1 & pass a; pass b";
    let told = Scenario::new().committed().agent(script).run().ended(0);
    assert!(told.stderr.contains("1 process outlived the agent"), "{}", told.stderr);
    // Real git, made to be slow: packing reads a list that never ends.
    let script = "mkfifo $OUT/list; (exec 3<>$OUT/list; exec git pack-objects --quiet $OUT/pack <$OUT/list) >/dev/null 2>&1 & pass a; pass b";
    let quiet = Scenario::new().committed().agent(script).run().ended(0);
    assert!(!quiet.stderr.contains("outlived"), "{}", quiet.stderr);
}

#[test]
fn a_dry_run_shows_an_answer_that_waits_and_what_would_end_it() {
    let scenario = Scenario::new().committed();
    scenario.write(
        ".flyball/decide.txt",
        "## Question (from iteration 1)\nRed or blue?\n\n---\n## Answer\nBlue.\n",
    );
    let shown = scenario.run_with(&["--dry-run"]).stdout;
    assert!(
        shown.contains("answer: Blue. (goes into the first briefing) to: Red or blue?\n"),
        "{shown}"
    );
    scenario.write(
        ".flyball/decide.txt",
        "## Question (from iteration 1)\nRed or blue?\n\n---\n## Answer\n\n",
    );
    let shown = scenario.run_with(&["--dry-run", "--max-iterations", "1"]).stdout;
    assert!(shown.contains("question: Red or blue?; a run would end at once"), "{shown}");
    assert!(shown.contains("limits: 1 iteration, "), "{shown}");
    scenario.write(".flyball/blocked.txt", "no key\n");
    let shown = scenario.run_with(&["--dry-run"]).stdout;
    assert!(shown.contains("blocked: no key; a run would end at once"), "{shown}");
}

#[test]
fn logs_that_are_put_away_can_be_committed() {
    let home = Home::new();
    home.file(".gitignore", "*.log\n");
    home.file(".flyball/logs/iteration-001.log", "log\n");
    home.run(&["archive", "--label", "x", "--include-logs"]).ok();
    home.git(&["add", "-A"]);
    let kept = home.git(&["diff", "--cached", "--name-only"]);
    assert!(kept.contains("-x/logs/iteration-001.log"), "{kept}");
}

#[test]
fn the_doctor_shows_the_line_of_a_file_as_the_run_does() {
    let home = Home::new();
    home.file("flyball.toml", "[limits]\nstcuk = 3\n");
    let said = home.run(&["doctor"]).stdout;
    let shown = "flyball.toml:2:1: unknown setting `limits.stcuk`";
    let at = said.lines().position(|line| line.contains(shown)).unwrap_or_else(|| panic!("{said}"));
    let below: Vec<&str> = said.lines().skip(at + 1).take(3).map(str::trim).collect();
    assert_eq!(below, ["2 | stcuk = 3", "| ^^^^^", "-> did you mean `limits.stuck`?"], "{said}");
}

/// One sum, wherever it is told.
#[test]
fn a_cost_is_rounded_the_same_everywhere() {
    let script = "usage 1200 0.004; work; pass $FLYBALL_TASK";
    let scenario = Scenario::new().committed().speaker(script);
    let ran = scenario.run().ended(0);
    let done: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("DONE")).collect();
    assert!(done.iter().all(|line| line.ends_with("<$0.01")), "{done:?}");
    assert!(ran.stdout.contains("Spent:       2.4k tokens, <$0.01\n"), "{}", ran.stdout);
    let status = scenario.flyball(&["status"]).stdout;
    assert!(status.contains("<$0.01") && !status.contains("$0.00"), "{status}");
    let report = scenario.flyball(&["report", "--format", "md"]).stdout;
    assert!(report.contains("<$0.01") && !report.contains("$0.008"), "{report}");
}

#[test]
fn status_fits_eighty_columns_with_this_repository_first_and_a_total() {
    let home = Home::new();
    for name in ["20261114-101010-aaaa", "20261114-111111-bbbb"] {
        let run = home.begin(name);
        home.end(&run, Outcome::QualityGateExhausted);
    }
    home.begin_elsewhere("20261115-121212-cccc");
    home.begin_lost("20261115-131313-dddd");
    let text = home.run(&["status"]).ok();
    for line in text.lines().filter(|line| !line.contains("flyball -C ")) {
        assert!(line.chars().count() <= 80, "{line}\nin\n{text}");
    }
    let rows: Vec<&str> = text.lines().skip(1).take(4).collect();
    assert!(rows[0].starts_with("* ") && rows[0].contains("dddd"), "{text}");
    assert!(rows[1].starts_with("* ") && rows[2].starts_with("* "), "{text}");
    assert!(rows[3].starts_with("  ") && rows[3].contains("cccc"), "at work elsewhere: {text}");
    assert!(text.contains("\nHere: 3 runs · 9 iterations · 37.0k tokens · $3.69\n"), "{text}");
    assert!(text.contains("1 run elsewhere: `flyball status --all`"), "{text}");
    // Any part of a name that no other has will do.
    assert!(home.run(&["log", "bbbb"]).ok().starts_with("Run 20261114-111111-bbbb in "));
    assert!(home.run(&["log", "1111"]).ok().starts_with("Run 20261114-111111-bbbb in "));
    let two = home.run(&["log", "1114"]).failed(66);
    assert!(two.contains("`1114` is in the names of 2 runs"), "{two}");
}

#[test]
fn times_are_local_unless_utc_is_asked_for_and_json_never_changes() {
    let home = Home::new();
    let run = home.begin("r");
    home.end(&run, Outcome::Complete);
    let in_zone = |arguments: &[&str]| {
        let output = home.command(arguments).env("TZ", "XXX-05:30").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (local, utc) = (in_zone(&["log"]), in_zone(&["--utc", "log"]));
    assert!(local.lines().next().unwrap().ends_with(" +05:30"), "{local}");
    assert!(utc.lines().next().unwrap().ends_with(" UTC"), "{utc}");
    assert_ne!(local, utc);
    for command in [&["log", "--json"][..], &["status", "--json"]] {
        let strip =
            |text: String| text.lines().filter(|l| !l.contains("elapsed_ms")).collect::<String>();
        let with = [&["--utc"][..], command].concat();
        assert_eq!(strip(in_zone(command)), strip(in_zone(&with)));
    }
}
