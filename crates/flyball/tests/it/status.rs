//! `flyball status`, `flyball log` and `flyball stop`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::thread;
use std::time::Duration;

use flyball::clock::{self, Deadline};
use flyball::journal::{NewRun, RequestKind};
use flyball_core::claim::ClaimReading;
use flyball_core::effect::{IterationReport, IterationResult, LeftTask};
use flyball_core::event::{
    AgentTraits, Commit, Exit, ExitHow, HumanFiles, RunStart, StopCause, TasksSnapshot,
    WorktreeSnapshot,
};
use flyball_core::gate::{Check, GateResult};
use flyball_core::task::Standing;
use flyball_core::tasklist::Mode;
use flyball_core::{
    AgentFact, Event, GateName, GuardKind, IterationNo, Millis, Moment, Outcome, Policy, RunId,
    TaskId, Trip,
};
use serde_json::Value;

use crate::home::{Home, TASKS, at, ending, heard};

#[test]
fn without_runs_the_first_command_is_named() {
    let home = Home::new();
    assert_eq!(home.run(&["status"]).ok(), "No runs yet. `flyball run` starts one.\n");
    let none: Value = serde_json::from_str(&home.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!(none, serde_json::json!({ "runs": [], "sessions": [] }));
}

#[test]
fn runs_at_work_come_first_then_lost_ones_then_those_that_ended() {
    let home = Home::new();
    home.begin("working");
    home.begin_lost("dead");
    let done = home.begin("done");
    home.end(&done, Outcome::Complete);
    let text = home.run(&["status"]).ok();
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..4], ["RUN", "PROJECT", "STATE", "ITERATION"]);
    assert_eq!(lines[1][..6], ["*", "working", "shop", "iterating", "3/15", "B"]);
    assert_eq!(lines[1][lines[1].len() - 3..], ["12.3k", "$1.23", "1/2"]);
    assert_eq!(lines[2][..4], ["*", "dead", "shop", "lost"]);
    assert_eq!(lines[3][1..4], ["done", "shop", "complete"]);
    assert_eq!(lines[3][6..8], ["1m", "01s"]);
    assert!(
        text.contains("\ndead was lost; to go on with it: flyball run --resume dead\n"),
        "{text}"
    );
}

#[test]
fn a_process_that_took_over_the_id_of_a_dead_one_is_another_process() {
    let home = Home::new();
    let new = NewRun {
        run: RunId::new("old"),
        root: home.root(),
        agent: "x".to_owned(),
        pid: std::process::id(),
        started: at(1_000_000),
        max_iterations: 0,
    };
    home.journal().start_run(&new).unwrap();
    assert!(home.run(&["status"]).ok().contains("lost"));
}

#[test]
fn status_as_json_holds_everything_the_journal_knows() {
    let home = Home::new();
    let run = home.begin("r");
    home.end(&run, Outcome::Stuck);
    let shown: Value = serde_json::from_str(&home.run(&["status", "--json"]).ok()).unwrap();
    let one = &shown["runs"][0];
    assert_eq!((&one["run"], &one["outcome"]), (&"r".into(), &"stuck".into()));
    assert_eq!((&one["life"], &one["here"]), (&"ended".into(), &true.into()));
    assert_eq!((&one["state"]["task"], &one["elapsed_ms"]), (&"B".into(), &61_000.into()));
    assert_eq!(one["ending"]["why"], "Because.");
}

#[test]
fn watching_goes_on_and_ends_when_nobody_reads() {
    let home = Home::new();
    home.begin("r");
    let mut child = home.command(&["status", "--watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with('{') && line.contains("\"run\":\"r\""), "{line}");
    }
    drop(lines);
    assert_eq!(heard(child).code, 0);
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() {
    let home = Home::new();
    let none = home.run(&["log", "x"]).failed(66);
    assert!(none.contains("there is no run `x`"), "{none}");
    for run in ["alpha-1", "alpha-2", "beta-1"] {
        home.begin(run);
    }
    assert!(home.run(&["log", "b"]).ok().starts_with("Run beta-1 in "));
    let two = home.run(&["log", "alpha"]).failed(66);
    assert!(two.contains("`alpha` begins the names of 2 runs\n"), "{two}");
    assert!(two.contains("`alpha-1`") && two.contains("`alpha-2`"), "{two}");
    let near = home.run(&["log", "aplha-1"]).failed(66);
    assert!(near.contains("did you mean `alpha-1`?"), "{near}");
    let far = home.run(&["log", "zzz"]).failed(66);
    assert!(far.contains("the latest are `beta-1`"), "{far}");
}

#[test]
fn without_a_run_here_there_is_no_log() {
    let error = Home::new().run(&["log"]).failed(66);
    assert!(error.contains("there has been no run in "), "{error}");
}

fn iteration() -> IterationNo {
    IterationNo::new(1)
}

fn agent(fact: AgentFact) -> Event {
    Event::Agent { iteration: iteration(), fact }
}

fn snapshot(tree: &str, commits: Vec<Commit>) -> WorktreeSnapshot {
    WorktreeSnapshot {
        head: Some(tree.to_owned()),
        code_tree: tree.to_owned(),
        progress_tree: tree.to_owned(),
        checkpoint_tree: tree.to_owned(),
        commits,
        tasks: TasksSnapshot::Found { text: TASKS.to_owned() },
        ..WorktreeSnapshot::default()
    }
}

/// A run of one iteration: red gates, a false claim, stopped by a human.
fn recorded(home: &Home) -> RunId {
    let run = RunId::new("r-1");
    let mut journal = home.journal();
    let (root, pid) = (home.root(), 1);
    let started = clock::wall().minus(Millis::from_secs(7200));
    let new = NewRun {
        run: run.clone(),
        root,
        agent: "claude".to_owned(),
        pid,
        started,
        max_iterations: 15,
    };
    journal.start_run(&new).unwrap();
    let red = || GateResult { tree: "t1".to_owned(), checks: vec![Check::failed("tests")] };
    let start = RunStart {
        run: run.clone(),
        policy: Policy::default(),
        gates: vec![GateName::new("tests")],
        snapshot: snapshot("t0", Vec::new()),
        human_files: HumanFiles::default(),
        memory: flyball_core::task::TaskMemory::default(),
        agent: AgentTraits::default(),
        other_agents: Vec::new(),
        fallbacks: 0,
        rescue: None,
        agent_names: Vec::new(),
        review: None,
        request: None,
    };
    let commit = Commit { hash: "0123456789abcdef".to_owned(), subject: "B: try".to_owned() };
    let claims = ClaimReading { complete: true, ..ClaimReading::default() };
    let exit = Exit { how: ExitHow::Code(0), claims, last_words: String::new() };
    let baseline = GateResult { tree: "t0".to_owned(), ..red() };
    let events = [
        Event::RunStarted(Box::new(start)),
        Event::GatesFinished {
            iteration: IterationNo::BASELINE,
            result: Box::new(baseline),
            tamper: Vec::new(),
        },
        agent(AgentFact::Started { pid: Some(7) }),
        agent(AgentFact::Spoke),
        agent(AgentFact::Exited(exit)),
        Event::WorktreeSeen {
            iteration: iteration(),
            snapshot: Box::new(snapshot("t1", vec![commit])),
        },
        Event::GatesFinished {
            iteration: iteration(),
            result: Box::new(red()),
            tamper: Vec::new(),
        },
        Event::StopRequested { cause: StopCause::Command },
    ];
    let first = 1_794_736_800_000;
    for (event, second) in events.iter().zip(0..) {
        journal.append(&run, at(first + second * 1_000), event).unwrap();
    }
    journal.close_iteration(&run, &report(at(first + 1_000), at(first + 6_000))).unwrap();
    let mut ending = ending(Outcome::Terminated);
    ending.also = vec![Trip::new(GuardKind::Stuck, 3_u32, 3_u32, "nothing\u{1b}[2J moved")];
    let (task, standing, why) = (TaskId::new("B"), Standing::SetAside, "too hard".to_owned());
    ending.left = vec![LeftTask { task, standing, why }];
    journal.finish_run(&run, at(first + 7_000), &ending).unwrap();
    run
}

fn report(started: Moment, ended: Moment) -> IterationReport {
    IterationReport {
        iteration: iteration(),
        mode: Mode::Implement,
        task: Some(TaskId::new("B")),
        started,
        ended,
        commit: Some("0123456789abcdef".to_owned()),
        stories_complete: 1,
        stories_total: 2,
        stuck: 0,
        tokens: 0,
        cost_micro_usd: 0,
        green: Some(false),
        score: Some(0.0),
        result: IterationResult::Red,
    }
}

#[test]
fn the_log_tells_what_happened_what_was_decided_and_how_it_ended() {
    let home = Home::new();
    recorded(&home);
    let text = home.run(&["log"]).ok();
    let story: Vec<&str> = text.lines().skip(1).collect();
    for line in [
        "2026-11-15 10:00:00       RUN       r-1 · claude · gates tests · 1/2 stories passed",
        "2026-11-15 10:00:01      GATE       tests failed · 0ms",
        "                          RED       the run begins red: tests",
        "                        START  #1   implement · B · with a briefing",
        "2026-11-15 10:00:04     CLAIM  #1   COMPLETE",
        "2026-11-15 10:00:06      GATE  #1   tests failed · 0ms",
        "                         DONE  #1   red · commit t1 · score 0.00 · 3s",
        "2026-11-15 10:00:07      STOP  #2   asked to end by `flyball stop`",
        "                          END       terminated (exit 143): Because.",
        "                         ALSO       stuck: nothing moved",
        "                         LEFT       B (set aside): too hard",
    ] {
        assert!(story.contains(&line), "{line}\nin\n{text}");
    }
    let refusals: Vec<_> = story.iter().filter(|line| line.contains("  REFUSE  ")).collect();
    assert_eq!(refusals.len(), 1, "the governor's decision is told, once: {text}");
}

#[test]
fn one_iteration_is_told_in_full_with_the_end_of_its_log() {
    let home = Home::new();
    recorded(&home);
    let lines: Vec<String> = (0..30).map(|n| format!("line {n}\u{1b}[31m")).collect();
    home.file(".flyball/logs/iteration-001.log", &lines.join("\n"));
    let text = home.run(&["log", "r-1", "--iteration", "1"]).ok();
    for part in ["started, process 7", "COMMIT  #1   012345678 B: try", "iteration-001.log ends:"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("begins red") && !text.contains("line 9\n"), "{text}");
    assert!(text.ends_with("  line 28\n  line 29\n"), "{text}");
    let error = home.run(&["log", "--iteration", "9"]).failed(66);
    assert!(error.contains("run `r-1` has no iteration 9"), "{error}");
    home.begin("r-2");
    let text = home.run(&["log", "r-1", "--iteration", "1"]).ok();
    assert!(text.contains("no log file of iteration 1 any more"), "another run's log: {text}");
}

#[test]
fn the_log_as_json_is_the_journal_s_events() {
    let home = Home::new();
    recorded(&home);
    let parse = |text: String| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let events = parse(home.run(&["log", "--json"]).ok());
    assert_eq!(events.len(), 8);
    assert_eq!((&events[0]["seq"], &events[0]["type"]), (&1.into(), &"run.started".into()));
    assert_eq!(events[0]["at"], 1_794_736_800_000_u64);
    assert_eq!(events[7]["cause"], "command");
    let kinds: BTreeSet<String> = parse(home.run(&["log", "--iteration", "1", "--json"]).ok())
        .iter()
        .map(|event| event["type"].to_string())
        .collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[test]
fn stopping_needs_a_run_at_work() {
    let home = Home::new();
    assert!(home.run(&["stop"]).failed(66).contains("no run is at work in "));
    home.begin_lost("dead");
    assert!(home.run(&["stop"]).failed(66).contains("no run is at work in "));
    assert!(home.run(&["stop", "dead"]).failed(66).contains("run --resume dead"));
    let done = home.begin("done");
    home.end(&done, Outcome::Blocked);
    let error = home.run(&["stop", "done"]).failed(66);
    assert!(error.contains("run `done` has ended already: blocked"), "{error}");
    assert_eq!(home.journal().take_requests(&done).unwrap(), []);
}

#[test]
fn a_run_is_asked_through_the_journal_and_waited_for() {
    let home = Home::new();
    let run = home.begin("r");
    assert_eq!(home.run(&["stop", "--no-wait"]).ok(), "Asked run r to end.\n");
    let asked = home.journal().take_requests(&run).unwrap();
    assert_eq!(asked.iter().map(|one| &one.kind).collect::<Vec<_>>(), [&RequestKind::Stop]);
    let child = home.command(&["stop", "r"]).spawn().unwrap();
    let limit = Deadline::after(Duration::from_secs(10));
    while home.journal().take_requests(&run).unwrap().is_empty() {
        assert!(!limit.passed(), "never asked");
        thread::sleep(Duration::from_millis(10));
    }
    home.end(&run, Outcome::Terminated);
    let said = heard(child);
    assert_eq!((said.code, said.stdout.as_str()), (0, "Run r has ended: terminated.\n"));
    assert!(said.stderr.starts_with("Asked run r to end"), "{}", said.stderr);
}

#[test]
fn a_run_that_dies_while_it_is_waited_for_leaves_no_request_behind() {
    let home = Home::new();
    let mut process = Command::new("sleep").arg("60").spawn().unwrap();
    let run = home.begin_by("r", process.id());
    let stop = home.command(&["stop"]).spawn().unwrap();
    let asked = || {
        let journal = rusqlite::Connection::open(home.state().join("journal.sqlite")).unwrap();
        journal.query_row("SELECT count(*) FROM requests", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let limit = Deadline::after(Duration::from_secs(10));
    while asked() == 0 {
        assert!(!limit.passed(), "never asked");
        thread::sleep(Duration::from_millis(10));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let said = heard(stop);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.starts_with("Run r is gone; to go on with it: "), "{}", said.stdout);
    assert_eq!(home.journal().take_requests(&run).unwrap(), []);
}
