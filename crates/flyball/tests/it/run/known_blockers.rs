//! What was learned elsewhere: a task that meets a known blocker is told how it went away before, and
//! people can look it up.

use std::collections::BTreeSet;
use std::path::Path;

use flyball::clock;
use flyball_core::task::{Attempt, AttemptStatus};
use flyball_core::{IterationNo, Millis, RunId, TaskId};
use serde_json::Value;

use crate::scenario::Scenario;

/// Another project was blocked the same way two days ago, and got past it.
fn met_elsewhere(scenario: &Scenario) {
    let mut journal = scenario.journal();
    let items = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    let two_days = 48 * 60;
    for (minutes, status, blockers, work) in [
        (two_days, AttemptStatus::Blocked, vec!["no database is there"], vec![]),
        (two_days - 5, AttemptStatus::Done, vec![], vec!["file compose.yml", "commit abc"]),
    ] {
        let attempt = Attempt {
            task: TaskId::new("LED-4"),
            at: clock::wall().minus(Millis::from_secs(minutes * 60)),
            run: RunId::new("earlier"),
            iteration: IterationNo::new(1),
            status,
            blockers: items(&blockers),
            work: items(&work),
            session: "earlier/1".to_owned(),
        };
        journal.record_attempt(Path::new("/home/somebody/ledger"), &attempt).unwrap();
    }
}

#[test]
fn a_task_that_meets_a_known_blocker_is_told_how_it_went_away_elsewhere() {
    let script = "cat > $OUT/prompt-$(ls $OUT | grep -c prompt); say '<promise>BLOCKED: there is no database</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    met_elsewhere(&scenario);
    scenario.run().ended(2);
    assert!(!scenario.told("prompt-0").contains("Met Before"), "it had not met it yet");
    let shown = scenario.flyball(&["tasks"]).stdout;
    let way = "\"no database is there\" went away at task LED-4 in ledger, after 1 attempt, the task was \
               done by changing compose.yml";
    assert!(shown.contains("Blocked by what went away elsewhere:\n  a: "), "{shown}");
    assert!(shown.contains(way), "{shown}");
    scenario.flyball(&["unblock"]);
    scenario.run().ended(2);
    let prompts: BTreeSet<String> = (1..5)
        .filter(|n| scenario.outside(&format!("prompt-{n}")).exists())
        .map(|n| scenario.told(&format!("prompt-{n}")))
        .collect();
    let told =
        "# A Blocker That Was Met Before\n\"no database is there\" went away before: at task LED-4";
    assert!(prompts.iter().any(|prompt| prompt.contains(told)), "{prompts:#?}");
    let all = scenario.flyball(&["tasks", "blockers"]).stdout;
    assert!(all.starts_with("\"no database is there\"\n  met "), "{all}");
    assert!(all.contains(" in 2 projects, last "), "{all}");
    let json = scenario.flyball(&["tasks", "blockers", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["resolved"][0]["files"][0], "compose.yml");
    let stats = scenario.flyball(&["stats"]).stdout;
    assert!(stats.contains("Blockers that come again (`flyball tasks blockers`):\n"), "{stats}");
}
