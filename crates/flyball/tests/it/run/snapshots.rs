//! Whole outputs of typical runs, as a person reads them. `FLYBALL_UPDATE_SNAPSHOTS=1` writes them
//! anew; the difference is then read like any other change.

use std::fs;
use std::path::Path;

use flyball_testkit::redact::redact;

use crate::scenario::{Ran, Scenario};

#[track_caller]
fn compare(name: &str, scenario: &Scenario, ran: &Ran) {
    let folder = scenario.outside("");
    let folder = folder.to_str().unwrap().trim_end_matches('/').to_owned();
    let program = env!("CARGO_BIN_EXE_flyball");
    let names = [(folder.as_str(), "<FOLDER>"), (program, "<FLYBALL>")];
    let text = format!(
        "exit code {}\n--- stdout\n{}--- stderr\n{}",
        ran.code,
        redact(&ran.stdout, &names),
        without_shield(&redact(&ran.stderr, &names))
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/snapshots/{name}.txt"));
    if std::env::var_os("FLYBALL_UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == wanted, "{name} differs; it is now:\n{text}");
}

/// What holds the agent is the machine's affair.
#[expect(clippy::format_collect, reason = "a text of a few lines")]
fn without_shield(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.contains("NOTE       shield: "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_idle_agent() {
    let scenario = Scenario::new().committed().agent("say 'looking around'");
    compare("idle", &scenario, &scenario.run());
}

#[test]
fn an_honest_completion() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e a.txt\"\n";
    let script = "pass $FLYBALL_TASK; say \"did $FLYBALL_TASK\"";
    let scenario = Scenario::new().config(gate).committed().agent(script);
    compare("honest", &scenario, &scenario.run());
}

#[test]
fn a_liar() {
    let script = "work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    compare("liar", &scenario, &scenario.run());
}

#[test]
fn a_blocked_agent_and_the_run_after_it() {
    let script = "say 'no way: <promise>BLOCKED:the key is missing</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    compare("blocked", &scenario, &scenario.run());
    compare("blocked-again", &scenario, &scenario.run());
}

#[test]
fn an_agent_that_repeats_itself_and_breaks_tests() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n";
    let check = "echo 1..1; if grep -q broken a.txt; then echo 'not ok 1 - a is fine'; exit 1; fi; echo 'ok 1 - a is fine'\n";
    let script = "for i in 1 2 3; do call $i read '{\"path\":\"a.txt\"}'; result $i hi null; done; \
        if [ $n = 1 ]; then echo broken > a.txt; else echo fine > a.txt; fi; \
        if [ $n = 1 ]; then pass a; pass b; else commit mended; fi; usage 1200 0.02; text 'Done. <promise>COMPLETE</promise>'";
    let scenario = Scenario::new().config(gate).file("check.sh", check).committed().speaker(script);
    compare("mended", &scenario, &scenario.run());
}

#[test]
fn what_flyball_says_when_it_cannot_begin() {
    let nothing = Scenario::bare().committed();
    compare("error-nothing", &nothing, &nothing.run());
    let broken = Scenario::new().tasks("{\"userStories\": [").committed();
    compare("error-tasks", &broken, &broken.run());
    let key = Scenario::new().config("[limits]\nstcuk = 3\n").committed();
    compare("error-key", &key, &key.run());
    let nowhere = Scenario::no_repository();
    compare("error-repository", &nowhere, &nowhere.run());
    let missing = Scenario::new().committed().command(&["no-such-agent"]);
    compare("error-agent", &missing, &missing.run());
}

#[test]
fn the_demo() {
    let scenario = Scenario::no_repository();
    let mut ran = scenario.flyball(&["demo"]);
    // How much of the program's path is shown depends on its length.
    let agent = ran.stderr.split(" · ").nth(1).unwrap().to_owned();
    ran.stderr = ran.stderr.replacen(&agent, "<AGENT>", 1);
    compare("demo", &scenario, &ran);
}
