//! The human side: `answer`, `unblock`, `tasks`, `context`, `accept`.

use std::collections::BTreeSet;

use flyball::clock;
use flyball_core::task::{Attempt, AttemptStatus, ContextEntry, Standing};
use flyball_core::{IterationNo, Millis, TaskId};
use serde_json::{Value, json};

use crate::home::{Home, at, heard};

const QUESTION: &str = "## Question (from iteration 2, x)\nSockets or polling?\n---\n## Answer\n\n";
#[test]
fn an_answer_is_written_below_the_question() {
    let home = Home::new();
    let error = home.run(&["answer", "yes"]).failed(66);
    assert!(error.contains("nothing is asked"), "{error}");
    home.file(".flyball/decide.txt", QUESTION);
    assert_eq!(
        home.run(&["answer", "polling"]).ok(),
        "Answered: Sockets or polling?\nNext: flyball run\n"
    );
    assert!(home.read(".flyball/decide.txt").ends_with("---\n## Answer\npolling\n"));
    let said = home.run_with_input(&["answer"], "no,\nsockets\n").ok();
    assert!(said.starts_with("Answered anew: "), "{said}");
    assert!(home.read(".flyball/decide.txt").ends_with("---\n## Answer\nno,\nsockets\n"));
    assert!(home.run(&["answer"]).failed(64).contains("the answer is empty"));
    assert!(home.run(&["answer", "  "]).failed(64).contains("nothing was written"));
    assert!(home.read(".flyball/decide.txt").ends_with("no,\nsockets\n"));
}

fn mark(home: &Home, task: &str, standing: Standing) {
    let at = clock::wall();
    home.journal().mark_task(&home.root(), &TaskId::new(task), (standing, at)).unwrap();
}

fn standings(home: &Home) -> Vec<(TaskId, Standing)> {
    let memory = home.journal().task_memory(&home.root(), clock::wall(), Millis::ZERO);
    memory.unwrap().standings
}

#[test]
fn unblocking_takes_the_file_away_and_brings_tasks_back() {
    let home = Home::new();
    assert_eq!(home.run(&["unblock"]).ok(), "Nothing is blocked here.\n");
    home.file(".flyball/blocked.txt", "no database\n");
    mark(&home, "A", Standing::ForcedDone);
    mark(&home, "B", Standing::SetAside);
    mark(&home, "C", Standing::Escalated);
    mark(&home, "D", Standing::Blocked);
    let said = home.run(&["unblock"]).ok();
    for part in [
        "blocked.txt: no database\n",
        "Brought back B, which was set aside\n",
        "Brought back C, which was escalated\n",
        "Brought back D, which was blocked\n",
        "Next: flyball run\n",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!home.has(".flyball/blocked.txt"));
    assert_eq!(standings(&home), [(TaskId::new("A"), Standing::ForcedDone)]);
    home.file(".flyball/decide.txt", QUESTION);
    let said = home.run(&["unblock"]).ok();
    assert_eq!(said, "Nothing is blocked here.\nA question waits too: flyball answer\n");
}

fn attempt(home: &Home, task: &str, minutes_ago: u64) {
    let run = home.journal().latest_run(&home.root()).unwrap().map(|run| run.run);
    let attempt = Attempt {
        task: TaskId::new(task),
        at: clock::wall().minus(Millis::from_secs(minutes_ago * 60)),
        run: run.unwrap_or_default(),
        iteration: IterationNo::new(1),
        status: AttemptStatus::Blocked,
        blockers: BTreeSet::from(["no database".to_owned()]),
        work: BTreeSet::new(),
        session: "s".to_owned(),
    };
    home.journal().record_attempt(&home.root(), &attempt).unwrap();
}

#[test]
fn tasks_are_the_stories_with_their_attempts() {
    let home = Home::new();
    home.begin("r");
    for minutes in [3, 2, 1] {
        attempt(&home, "B", minutes);
    }
    attempt(&home, "gone", 90);
    mark(&home, "B", Standing::SetAside);
    let tasks: Value = serde_json::from_str(&home.run(&["tasks", "--json"]).ok()).unwrap();
    let of = |place: usize, field: &str| tasks[place][field].clone();
    assert_eq!(
        (of(0, "id"), of(0, "passes"), of(0, "attempts")),
        (json!("A"), json!(true), json!(0))
    );
    assert_eq!(of(0, "review"), "approved");
    assert_eq!((of(1, "title"), of(1, "attempts")), (json!("Second"), json!(3)));
    assert_eq!(
        (of(1, "standing"), of(1, "pattern")),
        (json!("set_aside"), json!("blocked_task_spin"))
    );
    assert_eq!(of(1, "remedy"), "unblock_authority");
    assert_eq!(
        (of(2, "id"), of(2, "title"), of(2, "attempts")),
        (json!("gone"), json!(null), json!(1))
    );
    let text = home.run(&["tasks"]).ok();
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1][..3], ["A", "passed", "-"]);
    assert_eq!(lines[2][..4], ["B", "set", "aside", "3"]);
    assert!(text.contains("blocked_task_spin  unblock_authority  Second\n"), "{text}");
    assert!(text.ends_with("\nTo try a task again: flyball tasks retry B\n"), "{text}");
}

#[test]
fn a_task_can_be_tried_again() {
    let home = Home::new();
    mark(&home, "B", Standing::Escalated);
    let said = home.run(&["tasks", "retry", "B"]).ok();
    assert_eq!(said, "Task B was escalated and stands open again.\nNext: flyball run\n");
    assert_eq!(standings(&home), []);
    assert_eq!(home.run(&["tasks", "retry", "B"]).ok(), "Task B stands open already.\n");
    assert!(home.run(&["tasks", "retry", "story"]).failed(66).contains("no task `story` here"));
    home.run(&["tasks", "--json", "retry", "B"]).failed(64);
    home.file(".flyball/tasks.json", "{");
    assert!(home.run(&["tasks"]).failed(65).contains("`.flyball/tasks.json` is no task list"));
}

#[test]
fn context_entries_are_shown_by_topic() {
    let home = Home::new();
    assert_eq!(home.run(&["context"]).ok(), "There are no entries here.\n");
    for (id, topic) in [("1", "loop_escalation"), ("2", "unblock_authority")] {
        let entry = ContextEntry {
            id: id.to_owned(),
            at: at(1_794_736_800_000),
            kind: "decision".to_owned(),
            topic: topic.to_owned(),
            content: format!("Entry {id}\nsecond line"),
            related_tasks: vec![TaskId::new("B")],
            confidence: 90,
            evidence: Vec::new(),
        };
        home.journal().record_context(&home.root(), &entry).unwrap();
    }
    assert_eq!(
        home.run(&["context", "--topic", "unblock_authority"]).ok(),
        "unblock_authority\n  2026-11-15 10:00:00  B  (90 %)\n    Entry 2\n    second line\n"
    );
    let all = home.run(&["context"]).ok();
    assert!(all.starts_with("loop_escalation\n") && all.contains("\nunblock_authority\n"), "{all}");
    let json: Value = serde_json::from_str(&home.run(&["context", "--json"]).ok()).unwrap();
    assert_eq!((json[0]["id"].clone(), json[0]["type"].clone()), (json!("1"), json!("decision")));
    let none = home.run(&["context", "--topic", "x"]).ok();
    assert_eq!(none, "There are no entries on `x` here.\n");
}

#[test]
fn an_agent_of_a_run_cannot_do_what_only_a_human_may() {
    let home = Home::new();
    home.file(".flyball/decide.txt", QUESTION);
    home.file(".flyball/blocked.txt", "no database\n");
    mark(&home, "B", Standing::SetAside);
    let commands: [&[&str]; 5] = [
        &["answer", "yes"],
        &["unblock"],
        &["tasks", "retry", "B"],
        &["accept", "tamper"],
        &["restore", "tamper"],
    ];
    for command in commands {
        let child = home.command(command).env("FLYBALL_RUN", "r-1").spawn().unwrap();
        let error = heard(child).failed(64);
        assert!(error.contains("is for humans, and this is the agent of run `r-1`"), "{error}");
    }
    assert_eq!(home.read(".flyball/decide.txt"), QUESTION);
    assert!(home.has(".flyball/blocked.txt"));
    assert_eq!(standings(&home).len(), 1);
}
