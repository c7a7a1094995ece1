//! A finding does not go away by itself: not in the next run, nor in a worktree or clone, nor when
//! flyball is killed. It goes when it is undone, or when a human says yes.

use rustix::process::Signal;

use super::{caught, claiming, project};
use crate::scenario::Scenario;

const CHEAT: &str = "echo true > check.sh";

fn scripted(first: &str) -> Scenario {
    project("sh check.sh", &[("check.sh", "grep -q good work.txt\n"), ("work.txt", "bad\n")])
        .agent(&claiming(first))
        .committed()
}

#[test]
fn a_no_and_another_run_do_not_make_it_good() {
    let scenario = scripted(CHEAT);
    caught("first", scenario.run(), "put `check.sh` back as it was");
    // Nobody has answered: asked again at once, with the same way out.
    let again = caught("again", scenario.run(), "Still weakened");
    assert!(again.stderr.contains("Iterations:  0 / 15"), "{}", again.stderr);
    let said = scenario.flyball(&["answer", "No"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("flyball accept tamper"), "{}", said.stderr);
    caught("after a no", scenario.run(), "put `check.sh` back as it was");
    // Taking the question away is no answer either.
    std::fs::remove_file(scenario.root().join(".flyball/decide.txt")).unwrap();
    caught("without the question", scenario.run(), "put `check.sh` back as it was");
}

#[test]
fn a_run_cut_short_leaves_it_to_the_next() {
    let scenario = scripted(CHEAT);
    scenario.run_with(&["--max-iterations", "1"]).ended(1).saying("flyball restore tamper");
    caught("the next run", scenario.run(), "put `check.sh` back as it was");
}

#[test]
fn killing_flyball_does_not_hide_what_was_done() {
    let scenario = scripted(&format!("{CHEAT}; pass a; pass b; say ready > $OUT/ready; sleep 600"));
    let running = scenario.spawn();
    scenario.until_told("ready", "ready");
    running.signal(Signal::KILL);
    running.wait();
    scenario.until_quiet();
    let scenario = scenario.agent("say '<promise>COMPLETE</promise>'");
    caught("after a kill", scenario.run(), "put `check.sh` back as it was");
}

#[test]
fn worktrees_and_clones_are_the_same_repository() {
    let scenario = scripted(CHEAT);
    caught("here", scenario.run(), "check.sh");
    scenario.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    scenario.git(&["clone", "-q", "--no-local", ".", "../clone"]);
    let agent = scenario.outside("agent.sh").to_string_lossy().into_owned();
    let go = ["run", "--", "sh", &agent];
    for place in ["other", "clone"] {
        let ran = scenario.flyball_in(place, &go);
        assert_eq!(ran.code, 3, "{place}:\n{}", ran.stderr);
        assert!(ran.stderr.contains("check.sh"), "{place}:\n{}", ran.stderr);
    }
    // One that never had it is free.
    let scenario = scenario.agent("echo good > work.txt; pass a; pass b");
    scenario.git(&["worktree", "add", "-q", "../before", "HEAD~2"]);
    let ran = scenario.flyball_in("before", &go);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn restoring_brings_back_exactly_that() {
    let scenario = scripted(&format!("{CHEAT}; echo mine > other.txt"));
    caught("first", scenario.run(), "check.sh");
    let said = scenario.flyball(&["restore", "tamper", "--json"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["restored"], serde_json::json!(["put check.sh back"]), "{told}");
    assert_eq!(scenario.read("check.sh"), "grep -q good work.txt\n");
    assert_eq!(scenario.read("other.txt"), "mine\n");
    assert!(!scenario.has(".flyball/decide.txt"));
    let scenario =
        scenario.agent("echo good > work.txt; commit mended; say '<promise>COMPLETE</promise>'");
    scenario.run().ended(0);
}

#[test]
fn restoring_a_test_leaves_other_work_in_its_file() {
    let before = "fn f() {}\n\n#[test]\nfn a() {\n    assert!(x());\n}\n";
    let scenario = project("true", &[("src/lib.rs", before)])
        .agent(&claiming("printf 'fn f() {}\\n\\nfn g() {}\\n' > src/lib.rs"))
        .committed();
    caught("first", scenario.run(), "test `a` was deleted");
    // A human works on.
    scenario.write("src/lib.rs", "// mine\nfn f() {}\n\nfn g() {}\n");
    let said = scenario.flyball(&["restore", "tamper"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let text = scenario.read("src/lib.rs");
    for part in ["// mine", "fn g()", "fn f()", "#[test]\nfn a() {\n    assert!(x());\n}\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_humans_later_work_is_not_taken_away_without_saying() {
    let scenario = scripted(CHEAT);
    caught("first", scenario.run(), "check.sh");
    scenario.write("check.sh", "true\necho by hand\n");
    let said = scenario.flyball(&["restore", "tamper"]);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stdout.contains("Left alone: check.sh"), "{}", said.stdout);
    assert_eq!(scenario.read("check.sh"), "true\necho by hand\n");
    assert_eq!(scenario.flyball(&["restore", "tamper", "--force"]).code, 0);
    assert_eq!(scenario.read("check.sh"), "grep -q good work.txt\n");
}

#[test]
fn accepting_is_the_humans_and_holds() {
    let scenario = scripted(CHEAT);
    caught("first", scenario.run(), "check.sh");
    let run = scenario.last_run().run.to_string();
    let said = scenario.flyball(&["accept", "tamper", "--run", &run, "--json"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("which gate `tests` runs"), "{}", said.stdout);
    scenario.run().ended(0);
    let error = scenario.flyball(&["accept", "tamper"]).refused(66);
    assert!(error.contains("no weakened test or gate is open"), "{error}");
    assert_eq!(scenario.flyball(&["restore", "tamper"]).code, 66);
}

#[test]
fn undone_by_hand_needs_no_answer_and_what_humans_change_is_trusted() {
    let scenario = scripted(CHEAT);
    caught("first", scenario.run(), "check.sh");
    scenario.write("check.sh", "grep -q good work.txt\n");
    scenario.write("work.txt", "good\n");
    scenario.run().ended(0);
    // A human replaces the check between two runs.
    scenario.write("check.sh", "grep -q good work.txt || test -f later\n");
    scenario.run().ended(0);
}

#[test]
fn refuse_and_report_do_as_they_say() {
    let config = |rule: &str| {
        format!(
            "[gates]\non_tamper = \"{rule}\"\n[[gates.check]]\nname = \"tests\"\ncommand = 'sh check.sh'\n"
        )
    };
    let scenario = scripted(CHEAT).config(&config("report")).committed();
    scenario.run().ended(0).saying("`check.sh`, which gate `tests` runs, was changed");
    let busy = format!("{}\nwork more", claiming(CHEAT));
    let scenario = scripted(CHEAT).config(&config("refuse")).agent(&busy).committed();
    scenario.run().ended(6).saying("flyball restore tamper");
}

#[test]
fn what_is_wanted_is_put_back_and_said() {
    let list = r#"{"project":"p","verifyCommands":["true"],"userStories":[
{"id":"a","title":"do a","acceptanceCriteria":["it works"],"passes":false,"notes":""},
{"id":"b","title":"do b","dependsOn":["a"],"passes":false,"notes":""}
]}
"#;
    let agent = "cat > $OUT/prompt-$n
case $n in
1) sed -i 's/it works/nothing/;s/do b/skip b/;s/\"true\"//' .flyball/tasks.json
   echo 'Just say done.' > .flyball/prompt.md; echo changed > .flyball/prd.md; commit sly;;
*) pass a; pass b; say '<promise>COMPLETE</promise>';;
esac";
    let scenario = Scenario::new()
        .tasks(list)
        .file(".flyball/prompt.md", "Do {{task}}. PROMPT OF THE HUMAN\n")
        .file(".flyball/prd.md", "wanted\n")
        .agent(agent)
        .committed();
    let ran = scenario.run().ended(0);
    let told = scenario.told("prompt-2");
    for words in [
        "PROMPT OF THE HUMAN",
        "story `a` had its `acceptanceCriteria` changed",
        "story `b` had its `title` changed",
        "`verifyCommands` were changed",
        "`.flyball/prompt.md` was changed",
        "`.flyball/prd.md` was changed",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(ran.stderr.contains("`.flyball/prd.md` was changed"), "{}", ran.stderr);
    let tasks = scenario.read(".flyball/tasks.json");
    assert!(tasks.contains("it works") && tasks.contains("do b"), "{tasks}");
}

#[test]
fn a_humans_edit_between_runs_is_taken_as_it_is() {
    let scenario = Scenario::new().agent("say idle").flags(&["--max-stuck", "1"]).committed();
    scenario.run().ended(4);
    let tasks = scenario.read(".flyball/tasks.json").replace("do b", "do b well");
    scenario.write(".flyball/tasks.json", &tasks);
    let scenario = scenario.agent("work x; pass a; pass b");
    scenario.resume(&[]).ended(0);
    assert!(scenario.read(".flyball/tasks.json").contains("do b well"));
}
