//! The journal against dying and competing processes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball::journal::{
    BaseBody, GateKey, Journal, JournalError, KeptFinding, NewRun, Request, RequestKind, RunFilter,
    RunProgress, TamperBase,
};
use flyball_core::effect::{Ending, IterationReport, IterationResult, Tally};
use flyball_core::event::AgentFact;
use flyball_core::gate::{Check, GateResult, TamperFinding};
use flyball_core::task::{AppliedRemedy, Attempt, AttemptStatus, ContextEntry};
use flyball_core::task::{Pattern, Remedy, Standing};
use flyball_core::tasklist::Mode;
use flyball_core::{Event, IterationNo, Millis, Moment, Outcome, RunId, TaskId};
use tempfile::TempDir;

/// Given to the re-executed test binary that writes to a journal: state folder, task, name.
const WORKER: &str = "FLYBALL_TEST_WRITER";
const LONG: Duration = Duration::from_mins(2);

fn at(millis: u64) -> Moment {
    Moment::from_millis(millis)
}

fn id(name: &str) -> RunId {
    RunId::new(name)
}

fn fresh() -> (TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(&dir.path().join("state")).unwrap();
    (dir, journal)
}

fn begin(journal: &mut Journal, run: &str, started: u64) {
    let run = NewRun {
        run: id(run),
        root: PathBuf::from("/repo"),
        agent: "claude".to_owned(),
        pid: 42,
        started: at(started),
        max_iterations: 15,
    };
    journal.start_run(&run).unwrap();
}

fn said(why: impl Into<String>) -> Event {
    Event::ShellFailed { why: why.into() }
}

#[test]
fn what_is_gathered_is_written_as_one_and_what_fails_leaves_the_rest() {
    let (dir, mut journal) = fresh();
    begin(&mut journal, "r", 5);
    let others = Journal::open(&dir.path().join("state")).unwrap();
    let stuck = || others.run(&id("r")).unwrap().state.stuck;
    let progress = |stuck| RunProgress { stuck, ..RunProgress::default() };
    journal.gather();
    journal.update_run(&id("r"), &progress(1)).unwrap();
    journal.append(&id("r"), at(10), &said("one")).unwrap();
    let unknown = journal.append(&id("unknown"), at(11), &said("two"));
    assert!(matches!(unknown, Err(JournalError::UnknownRun { .. })), "{unknown:?}");
    assert_eq!((stuck(), others.run(&id("r")).unwrap().events), (0, 0));
    journal.write_out().unwrap();
    assert_eq!((stuck(), others.run(&id("r")).unwrap().events), (1, 1));
    journal.update_run(&id("r"), &progress(2)).unwrap();
    assert_eq!(stuck(), 2, "afterwards each is written by itself again");
    journal.gather();
    journal.write_out().unwrap();
    let mut third = Journal::open(&dir.path().join("state")).unwrap();
    third.update_run(&id("r"), &progress(3)).unwrap();
}

#[test]
fn what_was_gathered_and_not_written_out_is_not_there() {
    let (dir, mut journal) = fresh();
    begin(&mut journal, "r", 5);
    journal.gather();
    journal.append(&id("r"), at(10), &said("one")).unwrap();
    drop(journal);
    let journal = Journal::open(&dir.path().join("state")).unwrap();
    assert_eq!(journal.run(&id("r")).unwrap().events, 0);
}

#[test]
fn events_come_back_in_order_with_their_numbers_and_times() {
    let (_dir, mut journal) = fresh();
    begin(&mut journal, "r", 5);
    begin(&mut journal, "other", 6);
    let spoke = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::Spoke };
    assert_eq!(journal.append(&id("r"), at(10), &spoke).unwrap(), 1);
    journal.append(&id("other"), at(11), &said("elsewhere")).unwrap();
    let events: Vec<Event> = (0..600).map(|n| said(n.to_string())).collect();
    let batch: Vec<(Moment, &Event)> = events.iter().map(|event| (at(12), event)).collect();
    assert_eq!(journal.append_all(&id("r"), &batch).unwrap(), 601);
    let read: Vec<_> = journal.events(&id("r")).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.len(), 601);
    assert!(read.iter().zip(1..).all(|(recorded, seq)| recorded.seq == seq));
    assert_eq!((read[0].at, &read[0].event), (at(10), &spoke));
    assert_eq!(read[600].event, said("599"));
    let rest: Vec<_> = journal.events_after(&id("r"), 600).unwrap().map(Result::unwrap).collect();
    assert_eq!(rest, read[600..]);
    let summary = journal.run(&id("r")).unwrap();
    assert_eq!((summary.events, summary.last_at), (601, at(12)));
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let (_dir, mut journal) = fresh();
    let nobody = id("nobody");
    let errors = [
        journal.append(&nobody, at(1), &said("x")).unwrap_err(),
        journal.events(&nobody).unwrap_err(),
        journal.run(&nobody).unwrap_err(),
        journal.update_run(&nobody, &RunProgress::default()).unwrap_err(),
        journal.resume_run(&nobody, 1, 1).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, JournalError::UnknownRun { .. }), "{error}");
        assert!(error.to_string().contains("`nobody`"), "{error}");
    }
}

#[test]
fn an_event_that_cannot_be_read_is_named_and_ends_the_reading() {
    let (_dir, mut journal) = fresh();
    begin(&mut journal, "r", 1);
    for n in 0..3 {
        journal.append(&id("r"), at(n), &said("x")).unwrap();
    }
    let other = rusqlite::Connection::open(journal.path()).unwrap();
    other.execute("UPDATE events SET body = '{\"type\":\"odd\"}' WHERE seq = 2", []).unwrap();
    let mut events = journal.events(&id("r")).unwrap();
    assert!(events.next().unwrap().is_ok());
    let error = events.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "event 2 of run `r` in the journal cannot be read");
    assert!(events.next().is_none());
}

#[test]
fn how_a_run_stands_is_written_with_its_events_or_not_at_all() {
    let (_dir, mut journal) = fresh();
    begin(&mut journal, "r", 1);
    let state = RunProgress {
        iteration: IterationNo::new(3),
        mode: Some("review".to_owned()),
        task: Some(TaskId::new("S-1")),
        phase: "gating".to_owned(),
        stuck: 2,
        tokens: 100,
        cost_micro_usd: u64::MAX,
        stories_complete: 1,
        stories_total: 4,
    };
    journal.append_all(&id("r"), &[(at(9), &said("x"))]).unwrap();
    journal.update_run(&id("r"), &state).unwrap();
    let run = journal.run(&id("r")).unwrap();
    assert_eq!(run.state.cost_micro_usd, u64::try_from(i64::MAX).unwrap());
    assert_eq!(run.state, RunProgress { cost_micro_usd: run.state.cost_micro_usd, ..state });
    assert_eq!((run.agent.as_str(), run.pid, run.max_iterations), ("claude", Some(42), 15));
}

fn ending() -> Ending {
    Ending {
        nothing_left: false,
        rescues: Vec::new(),
        roles: Vec::new(),
        flaky: std::collections::BTreeMap::new(),
        next_steps: Vec::new(),
        outcome: Outcome::Stuck,
        why: "nothing moved".to_owned(),
        trip: None,
        also: Vec::new(),
        left: Vec::new(),
        tally: Tally { iterations: 3, ..Tally::default() },
    }
}

#[test]
fn runs_are_listed_latest_first_by_root_and_whether_they_ended() {
    let (_dir, mut journal) = fresh();
    for (name, started) in [("a", 1), ("b", 2), ("c", 3)] {
        begin(&mut journal, name, started);
    }
    let elsewhere = NewRun {
        run: id("d"),
        root: PathBuf::from("/elsewhere"),
        agent: "codex".to_owned(),
        pid: 1,
        started: at(4),
        max_iterations: 0,
    };
    journal.start_run(&elsewhere).unwrap();
    journal.finish_run(&id("c"), at(9), &ending()).unwrap();
    let names = |filter: &RunFilter| -> Vec<String> {
        journal.runs(filter).unwrap().iter().map(|run| run.run.to_string()).collect()
    };
    let here = Some(PathBuf::from("/repo"));
    assert_eq!(names(&RunFilter::default()), ["d", "c", "b", "a"]);
    assert_eq!(names(&RunFilter { limit: 2, ..RunFilter::default() }), ["d", "c"]);
    assert_eq!(names(&RunFilter { root: here.clone(), ..RunFilter::default() }), ["c", "b", "a"]);
    assert_eq!(names(&RunFilter { root: here, unfinished: true, limit: 1 }), ["b"]);
    let latest = journal.latest_run(Path::new("/repo")).unwrap().unwrap();
    assert_eq!((latest.outcome.as_deref(), latest.ended), (Some("stuck"), Some(at(9))));
    assert_eq!((latest.ending, latest.pid), (Some(ending()), None));
    assert!(journal.latest_run(Path::new("/nowhere")).unwrap().is_none());
    journal.resume_run(&id("c"), 77, 30).unwrap();
    let resumed = journal.run(&id("c")).unwrap();
    assert_eq!((resumed.ended, resumed.pid, resumed.max_iterations), (None, Some(77), 30));
    let twice = journal.start_run(&elsewhere).unwrap_err();
    assert!(matches!(twice, JournalError::Sql { .. }), "{twice}");
}

#[test]
fn a_closed_iteration_is_kept_once() {
    let (_dir, mut journal) = fresh();
    begin(&mut journal, "r", 1);
    let report = |number, stuck| IterationReport {
        iteration: IterationNo::new(number),
        mode: Mode::Implement,
        task: Some(TaskId::new("S-1")),
        started: at(1),
        ended: at(2),
        commit: None,
        stories_complete: 0,
        stories_total: 3,
        stuck,
        tokens: 1,
        cost_micro_usd: 2,
        green: Some(false),
        score: Some(0.5),
        result: IterationResult::Red,
    };
    for closed in [report(2, 1), report(1, 0), report(2, 2)] {
        journal.close_iteration(&id("r"), &closed).unwrap();
    }
    assert_eq!(journal.iterations(&id("r")).unwrap(), [report(1, 0), report(2, 2)]);
}

fn attempt(task: &str, when: u64) -> Attempt {
    Attempt {
        task: TaskId::new(task),
        at: at(when),
        run: id("r"),
        iteration: IterationNo::new(1),
        status: AttemptStatus::Blocked,
        blockers: BTreeSet::from(["no key".to_owned()]),
        work: BTreeSet::new(),
        session: "s".to_owned(),
    }
}

#[test]
fn tasks_are_remembered_by_repository_and_window() {
    let (_dir, mut journal) = fresh();
    let (root, other) = (Path::new("/repo"), Path::new("/other"));
    for when in [3000, 1000, 2000, 2000] {
        journal.record_attempt(root, &attempt("S-1", when)).unwrap();
    }
    journal.record_attempt(other, &attempt("S-9", 3000)).unwrap();
    let remedy = AppliedRemedy {
        times: 1,
        task: TaskId::new("S-1"),
        pattern: Pattern::BlockedTaskSpin,
        remedy: Remedy::UnblockAuthority,
        at: at(500),
        attempts: 3,
        blockers: BTreeSet::new(),
    };
    journal.record_remedy(root, &remedy).unwrap();
    journal.record_remedy(root, &remedy).unwrap();
    for standing in [Standing::Blocked, Standing::SetAside] {
        journal.mark_task(root, &TaskId::new("S-1"), (standing, at(1))).unwrap();
    }
    journal.mark_task(root, &TaskId::new("S-2"), (Standing::Escalated, at(1))).unwrap();
    journal.mark_task(root, &TaskId::new("S-2"), (Standing::Open, at(2))).unwrap();
    let memory = journal.task_memory(root, at(4000), Millis::new(3000)).unwrap();
    let times: Vec<u64> = memory.attempts.iter().map(|a| a.at.as_millis()).collect();
    assert_eq!(times, [2000, 3000], "exactly as old as the window is out");
    assert_eq!(memory.attempts[1], attempt("S-1", 3000));
    assert_eq!(memory.remedies, [remedy]);
    assert_eq!(memory.standings, [(TaskId::new("S-1"), Standing::SetAside)]);
    assert_eq!(journal.attempts(root).unwrap().len(), 3);
    let elsewhere = journal.task_memory(other, at(4000), Millis::new(9000)).unwrap();
    assert_eq!((elsewhere.attempts.len(), elsewhere.standings.len()), (1, 0));
}

#[test]
fn context_is_found_by_topic() {
    let (_dir, mut journal) = fresh();
    let root = Path::new("/repo");
    let entry = |id: &str, topic: &str, when| ContextEntry {
        id: id.to_owned(),
        at: at(when),
        kind: "decision".to_owned(),
        topic: topic.to_owned(),
        content: "take the next".to_owned(),
        related_tasks: vec![TaskId::new("S-1")],
        confidence: 90,
        evidence: vec![attempt("S-1", 1)],
    };
    for kept in [entry("2", "loop_escalation", 2), entry("1", "loop_recovery", 1)] {
        journal.record_context(root, &kept).unwrap();
        journal.record_context(root, &kept).unwrap();
    }
    let all = journal.contexts(root, None).unwrap();
    assert_eq!(all, [entry("1", "loop_recovery", 1), entry("2", "loop_escalation", 2)]);
    assert_eq!(journal.contexts(root, Some("loop_escalation")).unwrap(), all[1..]);
    assert!(journal.contexts(Path::new("/other"), None).unwrap().is_empty());
}

#[test]
fn gate_results_are_found_by_tree_commands_and_environment() {
    let (_dir, mut journal) = fresh();
    let key = |tree: &str, command: &str, environment: &str| GateKey {
        tree: tree.to_owned(),
        command: command.to_owned(),
        environment: environment.to_owned(),
    };
    let result = GateResult { tree: "t".to_owned(), checks: vec![Check::failed("tests")] };
    journal.gate_cache_put(&key("t", "c", "e"), at(1), &result).unwrap();
    assert_eq!(journal.gate_cache_get(&key("t", "c", "e")).unwrap(), Some(result));
    for other in [key("x", "c", "e"), key("t", "x", "e"), key("t", "c", "x")] {
        assert_eq!(journal.gate_cache_get(&other).unwrap(), None);
        journal.gate_cache_forget(&other).unwrap();
    }
    assert!(journal.gate_cache_get(&key("t", "c", "e")).unwrap().is_some());
    journal.gate_cache_forget(&key("t", "c", "e")).unwrap();
    assert_eq!(journal.gate_cache_get(&key("t", "c", "e")).unwrap(), None);
}

#[test]
fn requests_are_taken_once_and_in_order() {
    let (dir, mut journal) = fresh();
    let mut other = Journal::open(&dir.path().join("state")).unwrap();
    let request = |kind: RequestKind| Request { kind, body: "{}".to_owned(), at: at(1) };
    let later = || RequestKind::Unknown("answer".to_owned());
    assert!(journal.take_requests(&id("r")).unwrap().is_empty());
    for kind in [RequestKind::Stop, later()] {
        other.request(&id("r"), &request(kind)).unwrap();
    }
    other.request(&id("other"), &request(RequestKind::Stop)).unwrap();
    let taken = journal.take_requests(&id("r")).unwrap();
    assert_eq!(taken, [request(RequestKind::Stop), request(later())]);
    assert!(journal.take_requests(&id("r")).unwrap().is_empty());
}

#[test]
fn what_is_weakened_stays_open_until_it_is_settled() {
    let (_dir, mut journal) = fresh();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let one = journal.repository(&names(&["dir:/a", "commit:1"])).unwrap();
    let other = journal.repository(&names(&["dir:/z", "commit:9"])).unwrap();
    assert_ne!(one, other);
    assert_eq!(journal.repository(&names(&["dir:/clone", "commit:1"])).unwrap(), one);
    assert_eq!(journal.repository(&names(&["dir:/clone"])).unwrap(), one);
    assert_eq!(journal.repository_names("dir:/a").unwrap().len(), 3);
    let mut base = TamperBase {
        key: 0,
        root: "/a".into(),
        tree: "t0".to_owned(),
        head: None,
        run: id("r"),
        at: at(1),
        examined: false,
        body: BaseBody::default(),
    };
    base.key = journal.begin_tamper_base(one, &base).unwrap();
    assert_eq!(journal.tamper_base(Path::new("/a")).unwrap(), Some(base.clone()));
    let kept = |now: &str| KeptFinding {
        finding: TamperFinding {
            now: now.to_owned(),
            base: "t0".to_owned(),
            ..TamperFinding::about("file:x", "x was changed")
        },
        before: Vec::new(),
    };
    base.examined = true;
    journal.keep_tamper(&base, (&id("r"), at(2)), &[kept("1"), kept("2")]).unwrap();
    assert!(journal.tamper_base(Path::new("/a")).unwrap().unwrap().examined);
    let open = journal.open_tamper(one).unwrap();
    assert_eq!(open.iter().map(|one| &one.kept).collect::<Vec<_>>(), [&kept("1"), &kept("2")]);
    assert!(journal.open_tamper(other).unwrap().is_empty());
    journal.accept_tamper(&[open[0].key], at(3)).unwrap();
    assert_eq!(journal.accepted_tamper(one).unwrap(), [kept("1").finding.key()]);
    // What was accepted stays so, what is no longer seen is undone, and may come again.
    journal.keep_tamper(&base, (&id("r"), at(4)), &[kept("1")]).unwrap();
    assert!(journal.open_tamper(one).unwrap().is_empty());
    journal.keep_tamper(&base, (&id("r"), at(5)), &[kept("2")]).unwrap();
    assert_eq!(journal.open_tamper(one).unwrap().len(), 1);
    // A new tree to compare with: the old one stays as long as something is open.
    let next = TamperBase { tree: "t1".to_owned(), run: id("s"), ..base.clone() };
    let key = journal.begin_tamper_base(one, &next).unwrap();
    assert_eq!(journal.open_tamper(one).unwrap()[0].base.tree, "t0");
    journal.keep_tamper(&TamperBase { key, ..next.clone() }, (&id("s"), at(7)), &[]).unwrap();
    assert!(journal.open_tamper(one).unwrap().is_empty());
    journal.begin_tamper_base(one, &next).unwrap();
    assert!(journal.accepted_tamper(one).unwrap().is_empty());
    // Two names of one repository that were not known as such.
    let joined = journal.repository(&names(&["dir:/a", "dir:/z"])).unwrap();
    assert_eq!(joined, one.min(other));
}

#[test]
fn sessions_are_kept() {
    let (_dir, mut journal) = fresh();
    let mut see = |next: Option<&[u8]>| {
        let next = next.map(<[u8]>::to_vec);
        let keep = |before: Option<&[u8]>| (next, before.map(<[u8]>::to_vec));
        journal.with_session("s", at(1), keep).unwrap()
    };
    assert_eq!(see(Some(b"one")), None);
    assert_eq!(see(Some(b"two")), Some(b"one".to_vec()));
    assert_eq!(see(None), Some(b"two".to_vec()));
    assert_eq!(see(None), None);
}

#[test]
fn pruning_removes_what_is_old_and_counts_it() {
    let (_dir, mut journal) = fresh();
    for (run, started) in [("old", 1000), ("new", 5000)] {
        begin(&mut journal, run, started);
        for n in 0..3 {
            journal.append(&id(run), at(started + n), &said("x")).unwrap();
        }
    }
    journal.with_session("s", at(1000), |_| (Some(vec![1]), ())).unwrap();
    journal.record_attempt(Path::new("/repo"), &attempt("S-1", 1000)).unwrap();
    assert_eq!(journal.prunable(at(2000), &[id("old")]).unwrap().runs, 0, "it is kept");
    let pruned = journal.prune(at(2000), &[]).unwrap();
    assert_eq!((pruned.runs, pruned.events, pruned.sessions), (1, 3, 1));
    assert!(journal.run(&id("old")).is_err());
    assert_eq!(journal.events(&id("new")).unwrap().count(), 3);
    assert_eq!(journal.attempts(Path::new("/repo")).unwrap().len(), 1);
    assert_eq!(journal.prune(at(2000), &[]).unwrap().runs, 0);
}

#[test]
fn the_state_folder_is_the_users_alone() {
    let (dir, mut journal) = fresh();
    begin(&mut journal, "r", 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("state")), 0o700);
    for (path, _) in contents(&dir.path().join("state")) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// Everything in a folder, byte for byte.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

/// A state folder with a whole journal in it, closed.
fn filled() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(dir.path()).unwrap();
    begin(&mut journal, "r", 1);
    for n in 0..2000 {
        journal.append(&id("r"), at(n), &said("x".repeat(100))).unwrap();
    }
    dir
}

#[test]
fn a_damaged_journal_is_refused_and_left_as_it_is() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("no journal at all", |bytes| *bytes = b"hello, this is some other file".to_vec()),
        ("cut short", |bytes| bytes.truncate(bytes.len() / 2)),
        ("head only", |bytes| bytes.truncate(50)),
        ("first page overwritten", |bytes| bytes[100..4000].fill(0x5a)),
    ];
    for (name, damage) in damages {
        let dir = filled();
        let path = dir.path().join("journal.sqlite");
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let before = contents(dir.path());
        let error = Journal::open(dir.path()).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { .. }), "{name}: {error:?}");
        assert_eq!(error.hint(), Some("move it away to start a new one"), "{error}");
        assert_eq!(contents(dir.path()), before, "{name}");
    }
}

#[test]
fn damage_found_later_names_the_file_too() {
    let dir = filled();
    let path = dir.path().join("journal.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 50_000].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let error = journal.check().unwrap_err();
    assert!(error.to_string().contains("journal.sqlite"), "{error}");
    // SQLite itself takes what is left of a half overwritten page for the end of the run.
    let read = journal.events(&id("r")).unwrap().find_map(Result::err).unwrap();
    assert!(matches!(read, JournalError::Corrupt { .. }), "{read:?}");
}

#[test]
fn events_that_are_missing_are_noticed_wherever_they_were() {
    for missing in ["seq = 1", "seq = 1000", "seq > 1990", "seq > 0"] {
        let dir = filled();
        let journal = Journal::open(dir.path()).unwrap();
        let other = rusqlite::Connection::open(journal.path()).unwrap();
        other.execute(&format!("DELETE FROM events WHERE {missing}"), []).unwrap();
        let error = journal.events(&id("r")).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("of run `r` is missing"), "{missing}: {error}");
    }
}

#[test]
fn a_journal_of_a_newer_flyball_is_refused_and_left_as_it_is() {
    let dir = filled();
    let other = rusqlite::Connection::open(dir.path().join("journal.sqlite")).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    drop(other);
    let before = contents(dir.path());
    let error = Journal::open(dir.path()).unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 99, .. }), "{error:?}");
    assert_eq!(contents(dir.path()), before);
    // Not yet in the file itself: the newer flyball still has it open.
    let dir = filled();
    let other = rusqlite::Connection::open(dir.path().join("journal.sqlite")).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    let error = Journal::open(dir.path()).unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 99, .. }), "{error:?}");
}

/// Not a test of its own: writes to a journal as it is told.
#[test]
fn writer() {
    let Ok(order) = std::env::var(WORKER) else { return };
    let [dir, task, name] = order.split('\n').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let dir = Path::new(dir);
    match task {
        "append" => {
            let mut journal = Journal::open(dir).unwrap();
            begin(&mut journal, name, 1);
            for n in 0..400 {
                journal.append(&id(name), at(n), &said(n.to_string())).unwrap();
                journal.append(&id("shared"), at(n), &said(format!("{name} {n}"))).unwrap();
            }
        }
        "count" => {
            for _ in 0..100 {
                // Opened anew each time, as hooks do.
                let mut journal = Journal::open(dir).unwrap();
                let count = |before: Option<&[u8]>| {
                    let text = before.map_or("0", |bytes| std::str::from_utf8(bytes).unwrap());
                    let next = text.parse::<u64>().unwrap() + 1;
                    (Some(next.to_string().into_bytes()), ())
                };
                journal.with_session("s", at(1), count).unwrap();
            }
        }
        "endless" => {
            let mut journal = Journal::open(dir).unwrap();
            begin(&mut journal, name, 1);
            let mut total = 0;
            loop {
                let event = said("y".repeat(300));
                total = journal.append_all(&id(name), &[(at(total), &event); 3]).unwrap();
            }
        }
        other => panic!("{other}"),
    }
}

fn writer_process(dir: &Path, task: &str, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::writer", "--nocapture"])
        .env(WORKER, format!("{}\n{task}\n{name}", dir.display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn eight_processes_write_at_once_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    // The journal itself is made by whoever comes first, except for the run they share.
    begin(&mut Journal::open(dir.path()).unwrap(), "shared", 1);
    let writers: Vec<_> =
        (0..8).map(|n| writer_process(dir.path(), "append", &format!("w{n}"))).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let journal = Journal::open(dir.path()).unwrap();
    journal.check().unwrap();
    for n in 0..8 {
        let events: Vec<_> = journal.events(&id(&format!("w{n}"))).unwrap().collect();
        assert_eq!(events.len(), 400);
        assert_eq!(events[399].as_ref().unwrap().event, said("399"));
    }
    let shared: Vec<_> = journal.events(&id("shared")).unwrap().map(Result::unwrap).collect();
    assert!(shared.iter().zip(1..).all(|(event, seq)| event.seq == seq));
    assert_eq!(shared.len(), 3200);
}

#[test]
fn eight_processes_open_a_new_journal_at_once_and_share_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..8).map(|_| writer_process(dir.path(), "count", "-")).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let mut journal = Journal::open(dir.path()).unwrap();
    let read = |before: Option<&[u8]>| (None, before.map(<[u8]>::to_vec));
    assert_eq!(journal.with_session("s", at(1), read).unwrap(), Some(b"800".to_vec()));
}

#[test]
fn a_writer_killed_in_the_middle_leaves_a_whole_journal() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let name = format!("k{round}");
        let mut writer = writer_process(dir.path(), "endless", &name);
        let limit = Deadline::after(LONG);
        // Killed wherever it happens to be once it has written something.
        loop {
            assert!(!limit.passed());
            thread::sleep(Duration::from_millis(7));
            let journal = Journal::open(dir.path()).unwrap();
            if journal.run(&id(&name)).is_ok_and(|run| run.events > 100) {
                break;
            }
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.check().unwrap();
        let count = journal.events(&id(&name)).unwrap().map(Result::unwrap).count();
        assert_eq!(u64::try_from(count).unwrap(), journal.run(&id(&name)).unwrap().events);
        assert_eq!(count % 3, 0, "a batch is whole or not there");
        journal.append(&id(&name), at(1), &said("goes on")).unwrap();
    }
}
