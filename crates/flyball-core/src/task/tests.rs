//! Tables over the ring's memory, its remedies and their texts.

use alloc::format;
use alloc::string::ToString;

use proptest::prelude::*;

use super::texts::CHARS_MAX;
use super::*;
use crate::moment::Millis;
use crate::policy::{ForceNextMarks, Policy, Preset, TaskRules};

fn rules() -> TaskRules {
    Policy::default().tasks.clone()
}

fn run() -> RunId {
    RunId::new("r")
}

fn set(items: &[&str]) -> BTreeSet<String> {
    items.iter().map(ToString::to_string).collect()
}

fn attempt(task: &str, status: AttemptStatus, blockers: &[&str]) -> Attempt {
    Attempt {
        task: TaskId::new(task),
        at: Moment::from_millis(1_000),
        run: run(),
        iteration: IterationNo::new(1),
        status,
        blockers: set(blockers),
        work: BTreeSet::new(),
        session: "s".into(),
    }
}

fn ring_of(attempts: &[Attempt]) -> TaskRing {
    TaskRing::new(TaskMemory { attempts: attempts.to_vec(), ..TaskMemory::default() })
}

fn now() -> Moment {
    Moment::from_millis(2_000)
}

fn applied(ring: &mut TaskRing, rules: &TaskRules, task: &str) -> (Detection, Applied) {
    let found = ring.detect(rules, &run(), now(), &TaskId::new(task)).unwrap();
    let applied = ring.apply(rules, now(), &found, "e");
    (found, applied)
}

fn topics(applied: &Applied) -> Vec<(&str, &str)> {
    applied.entries.iter().map(|entry| (entry.id.as_str(), entry.topic.as_str())).collect()
}

#[test]
fn the_presets_are_as_documented() {
    let cases = [
        (Preset::Conservative, (5, 8, false)),
        (Preset::Recommended, (3, 5, true)),
        (Preset::Aggressive, (2, 3, true)),
    ];
    for (preset, expected) in cases {
        let rules = rules().with_preset(preset);
        let limits = (rules.max_attempts, rules.max_attempts_before_force_next, rules.auto_unblock);
        assert_eq!(limits, expected);
    }
    assert_eq!(rules().with_preset(Preset::Recommended), rules());
}

#[test]
fn the_grant_is_for_this_task_and_these_blockers_and_leaves_the_gates_alone() {
    let spin = attempt("t", AttemptStatus::Blocked, &["no key", "no db"]);
    let mut ring = ring_of(&[spin.clone(), spin.clone(), spin]);
    let (found, applied) = applied(&mut ring, &rules(), "t");
    assert_eq!(found.remedy, Some(Remedy::UnblockAuthority));
    assert_eq!(topics(&applied), [("e", "unblock_authority")]);
    assert_eq!((applied.standing_changes.len(), applied.notify), (0, false));
    let text = applied.briefing.unwrap();
    for part in
        ["`t`", "- no key", "- no db", "1.", "5.", "gates, tests and flyball's configuration"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(applied.entries[0].content, text);
    assert_eq!(applied.entries[0].evidence.len(), 3);
    assert_eq!(applied.entries[0].kind, "decision");
}

#[test]
fn leaving_a_task_sets_it_aside_or_marks_it_done_but_a_done_one_just_stays_done() {
    let idle = attempt("t", AttemptStatus::InProgress, &[]);
    let done = attempt("t", AttemptStatus::Done, &[]);
    let cases = [
        (&idle, 5, ForceNextMarks::SetAside, Some(Standing::SetAside)),
        (&idle, 5, ForceNextMarks::Done, Some(Standing::ForcedDone)),
        (&done, 3, ForceNextMarks::SetAside, None),
        (&done, 3, ForceNextMarks::Done, None),
    ];
    for (one, number, marks, expected) in cases {
        let mut ring = ring_of(&alloc::vec![one.clone(); number]);
        let rules = TaskRules { force_next_marks: marks, ..rules() };
        let (found, applied) = applied(&mut ring, &rules, "t");
        assert_eq!(found.remedy, Some(Remedy::ForceNext));
        let (why, state) = if one.status == AttemptStatus::Done {
            ("it is done and was taken up again", "is done")
        } else {
            ("its attempts brought nothing new", "is left for now")
        };
        let [record, directive] = &applied.entries[..] else { panic!("{applied:?}") };
        assert_eq!(
            record.content,
            format!("Task `t` was left after {number} attempts in the window: {why}.")
        );
        let told = format!("Task `t` {state} after {number} attempts. Do not go back to it");
        assert!(directive.content.starts_with(&told), "{}", directive.content);
        assert_eq!(
            topics(&applied),
            [("e", "loop_recovery"), ("e-directive", "loop_recovery_directive")]
        );
        let changes: Vec<_> = expected.map(|it| (TaskId::new("t"), it)).into_iter().collect();
        assert_eq!(applied.standing_changes, changes);
        assert_eq!(ring.standing(&TaskId::new("t")), expected.unwrap_or_default());
    }
}

#[test]
fn a_round_between_tasks_escalates_all_of_them_once() {
    let mut ring = TaskRing::default();
    for round in 0..3 {
        for task in ["a", "b", "c"] {
            let blocker = format!("{task}{round}");
            ring.record(attempt(task, AttemptStatus::Blocked, &[&blocker]));
        }
    }
    let (found, applied) = applied(&mut ring, &rules(), "c");
    let tasks = ["a", "b", "c"].map(TaskId::new);
    assert_eq!((found.pattern, found.evidence.len()), (Pattern::TaskCycle, 9));
    assert_eq!(found.tasks_in_cycle, tasks);
    assert_eq!(topics(&applied), [("e", "loop_escalation")]);
    assert_eq!(applied.entries[0].related_tasks, tasks);
    let words = &applied.entries[0].content;
    assert!(words.contains("went round between `a`, `b`, `c` for"), "{words}");
    assert!(applied.notify && tasks.iter().all(|task| ring.standing(task) == Standing::Escalated));
    ring.record(attempt("a", AttemptStatus::Blocked, &["a3"]));
    let again = ring.detect(&rules(), &run(), now(), &TaskId::new("a")).unwrap();
    assert_eq!((again.pattern, again.remedy), (Pattern::TaskCycle, None));
    let nothing = ring.apply(&rules(), now(), &again, "x");
    assert_eq!(nothing, Applied::default());
}

#[test]
fn a_human_brings_back_what_was_left_but_not_what_was_marked_done() {
    let mut ring = TaskRing::default();
    let all = [
        ("asked", Standing::Asked),
        ("blocked", Standing::Blocked),
        ("escalated", Standing::Escalated),
        ("forced", Standing::ForcedDone),
        ("set aside", Standing::SetAside),
    ];
    for (task, standing) in all {
        ring.set_standing(TaskId::new(task), standing);
    }
    let back = ring.bring_back();
    assert_eq!(back, ["asked", "blocked", "escalated", "set aside"].map(TaskId::new));
    assert_eq!(ring.memory().standings, [(TaskId::new("forced"), Standing::ForcedDone)]);
    ring.set_standing(TaskId::new("forced"), Standing::Open);
    assert_eq!(ring.memory(), TaskMemory::default());
}

#[test]
fn an_escalated_task_that_was_brought_back_gets_its_attempts_before_the_next_escalation() {
    let rules = TaskRules { auto_unblock: false, ..rules() };
    let spin = attempt("t", AttemptStatus::Blocked, &["b"]);
    let mut ring = ring_of(&[spin.clone(), spin.clone(), spin.clone()]);
    applied(&mut ring, &rules, "t");
    ring.bring_back();
    for expected in [None, None, Some(Remedy::Escalate)] {
        ring.record(spin.clone());
        let found = ring.detect(&rules, &run(), now(), &spin.task).unwrap();
        assert_eq!((found.pattern, found.remedy), (Pattern::BlockedTaskSpin, expected));
    }
}

#[test]
fn the_ladder_goes_on_in_the_next_run_where_the_last_one_left_it() {
    let spin = attempt("t", AttemptStatus::Blocked, &["b"]);
    let mut ring = ring_of(&[spin.clone(), spin.clone(), spin.clone()]);
    applied(&mut ring, &rules(), "t");
    let mut next = TaskRing::new(ring.memory());
    assert_eq!(next, ring);
    let later =
        |at: u64| Attempt { run: RunId::new("next"), at: Moment::from_millis(at), ..spin.clone() };
    let mut due = Vec::new();
    for at in [3_000, 4_000, 5_000] {
        next.record(later(at));
        let found = next.detect(&rules(), &RunId::new("next"), Moment::from_millis(at), &spin.task);
        due.push(found.and_then(|found| found.remedy));
    }
    assert_eq!(due, [None, None, Some(Remedy::Escalate)]);
}

#[test]
fn an_attempt_without_a_run_counts_only_within_the_window() {
    let outside = Attempt { run: RunId::default(), ..attempt("t", AttemptStatus::Done, &[]) };
    let ring = ring_of(&[outside.clone(), outside.clone(), outside.clone()]);
    let at = |millis: u64| Moment::from_millis(1_000).plus(Millis::new(millis));
    for run in [RunId::default(), RunId::new("r")] {
        assert!(ring.detect(&rules(), &run, at(3_599_999), &outside.task).is_some());
        assert_eq!(ring.detect(&rules(), &run, at(3_600_000), &outside.task), None);
    }
}

#[test]
fn memory_is_bounded_while_counting_goes_on() {
    let mut ring = TaskRing::default();
    for number in 0..3_000_u32 {
        let mut one = attempt("busy", AttemptStatus::InProgress, &[]);
        one.work = (0..300).map(|item| format!("{number} {item}")).collect();
        ring.record(one);
        ring.record(attempt(&format!("t{}", number % 1_500), AttemptStatus::Pending, &[]));
    }
    let memory = ring.memory();
    assert_eq!(memory.attempts.len(), 1_024);
    assert!(memory.attempts.iter().filter(|one| one.task.as_str() == "busy").count() <= 64);
    assert!(memory.attempts.iter().all(|one| one.work.len() <= 128));
    let status = ring.status(&rules(), now(), &run());
    let busy = status.iter().find(|one| one.task.as_str() == "busy").unwrap();
    assert_eq!((busy.attempts, busy.pattern), (3_000, None));
    assert_eq!(status.len(), 1_501);
}

#[test]
fn work_that_differs_only_where_it_is_cut_is_still_new() {
    let with = |last: &str| {
        let mut one = attempt("t", AttemptStatus::InProgress, &[]);
        one.work = (0..200).map(|item| format!("f{item:03}")).collect();
        one.work.insert(last.into());
        one
    };
    let task = TaskId::new("t");
    let found = |third: &str| {
        ring_of(&[with("z1"), with("z1"), with(third)]).detect(&rules(), &run(), now(), &task)
    };
    assert_eq!(found("z1").map(|it| it.pattern), Some(Pattern::NoProgressRepeat));
    assert_eq!(found("z2"), None);
    let long = "x".repeat(5_000);
    assert_eq!(found(&format!("a{long}")), None);
}

#[test]
fn what_was_cut_to_size_once_stays_as_it_is() {
    let mut one = attempt("t", AttemptStatus::Blocked, &[&"ä".repeat(401), &"x".repeat(9_000)]);
    one.work = (0..500).map(|item| format!("f{item:03}")).collect();
    let ring = ring_of(&[one]);
    let memory = ring.memory();
    assert!(memory.attempts[0].blockers.iter().all(|it| it.chars().count() <= 400));
    assert_eq!(TaskRing::new(memory), ring);
}

#[test]
fn a_memory_that_was_cut_knows_from_its_remedies_how_many_attempts_there_were() {
    let remedy = AppliedRemedy {
        times: 1,
        task: TaskId::new("t"),
        pattern: Pattern::BlockedTaskSpin,
        remedy: Remedy::UnblockAuthority,
        at: Moment::from_millis(1_500),
        attempts: 90,
        blockers: set(&["b"]),
    };
    let spin = attempt("t", AttemptStatus::Blocked, &["b"]);
    let later = Attempt { at: now(), ..spin.clone() };
    let attempts = alloc::vec![spin.clone(), spin, later.clone(), later.clone()];
    let memory = TaskMemory { attempts, remedies: alloc::vec![remedy], ..TaskMemory::default() };
    let mut ring = TaskRing::new(memory);
    assert_eq!(ring.status(&rules(), now(), &run())[0].attempts, 92);
    let due = |ring: &TaskRing| ring.detect(&rules(), &run(), now(), &later.task).unwrap().remedy;
    assert_eq!(due(&ring), None);
    ring.record(later.clone());
    assert_eq!(due(&ring), Some(Remedy::Escalate));
}

#[test]
fn of_what_was_done_the_latest_is_kept_for_the_same_blockers() {
    let one = |remedy: Remedy, blocker: &str, attempts: u64| AppliedRemedy {
        times: 1,
        task: TaskId::new("t"),
        pattern: Pattern::BlockedTaskSpin,
        remedy,
        at: Moment::from_millis(attempts),
        attempts,
        blockers: set(&[blocker]),
    };
    let mut ring = TaskRing::default();
    for (remedy, blocker, attempts) in [
        (Remedy::UnblockAuthority, "no key", 3),
        (Remedy::UnblockAuthority, "no db", 4),
        (Remedy::Escalate, "no key", 5),
        (Remedy::UnblockAuthority, "no key", 6),
    ] {
        ring.remember(one(remedy, blocker, attempts));
    }
    let kept: Vec<u64> = ring.memory().remedies.iter().map(|one| one.attempts).collect();
    assert_eq!(kept, [4, 5, 6]);
}

#[test]
fn a_blocked_task_is_told_what_helped_elsewhere_and_no_other_task_is() {
    let met = attempt("B", AttemptStatus::Blocked, &["no database"]);
    let past = attempt("B", AttemptStatus::Done, &[]);
    let known = catalogue(&[met, past].map(|one| (String::from("/x/shop"), one)), &[]);
    let blocked = attempt("t", AttemptStatus::Blocked, &["no database"]);
    let attempts = alloc::vec![blocked, attempt("u", AttemptStatus::InProgress, &[])];
    let mut ring = TaskRing::new(TaskMemory { attempts, known, ..TaskMemory::default() });
    let told = ring.known_ways_out(&TaskId::new("t")).unwrap();
    assert!(told.contains("\"no database\" went away before: at task B in shop"), "{told}");
    assert_eq!(ring.known_ways_out(&TaskId::new("u")), None, "not blocked");
    assert_eq!(ring.known_ways_out(&TaskId::new("v")), None, "never tried");
    ring.record(attempt("t", AttemptStatus::InProgress, &["no database"]));
    assert_eq!(ring.known_ways_out(&TaskId::new("t")), None, "no longer blocked");
}

#[test]
fn a_task_was_tried_in_the_run_of_its_attempt_and_in_no_other() {
    let ring = ring_of(&[attempt("t", AttemptStatus::InProgress, &[])]);
    assert!(ring.was_tried_in(&run(), &TaskId::new("t")));
    assert!(!ring.was_tried_in(&run(), &TaskId::new("u")));
    assert!(!ring.was_tried_in(&RunId::new("other"), &TaskId::new("t")));
}

#[test]
fn the_status_shows_what_is_due_and_then_what_was_done() {
    let spin = attempt("t", AttemptStatus::Blocked, &["b"]);
    let mut ring = ring_of(&[spin.clone(), spin.clone(), spin]);
    ring.set_standing(TaskId::new("other"), Standing::Asked);
    let before = ring.status(&rules(), now(), &run());
    assert_eq!(before[0].task.as_str(), "other");
    assert_eq!((before[0].attempts, before[0].last_attempt), (0, None));
    assert_eq!(before[1].pattern, Some(Pattern::BlockedTaskSpin));
    assert_eq!(before[1].remedy, Some(Remedy::UnblockAuthority));
    assert_eq!(before[1].last_attempt, Some(Moment::from_millis(1_000)));
    applied(&mut ring, &rules(), "t");
    assert_eq!(ring.status(&rules(), now(), &run()), before);
}

#[test]
fn the_ring_comes_back_from_json_as_it_was() {
    let spin = attempt("t", AttemptStatus::Blocked, &["b"]);
    let mut ring = ring_of(&[spin.clone(), spin.clone(), spin]);
    applied(&mut ring, &rules(), "t");
    let text = serde_json::to_string(&ring).unwrap();
    assert_eq!(serde_json::from_str::<TaskRing>(&text).unwrap(), ring);
}

fn any_attempt() -> impl Strategy<Value = Attempt> {
    let status = prop::sample::select(alloc::vec![
        AttemptStatus::Pending,
        AttemptStatus::InProgress,
        AttemptStatus::Blocked,
        AttemptStatus::Blocked,
        AttemptStatus::Done,
    ]);
    let blocker = prop::option::of(prop::sample::select(alloc::vec!["x", "y"]));
    let work = prop::option::weighted(0.2, prop::sample::select(alloc::vec!["w", "v"]));
    let task = prop::sample::select(alloc::vec!["a", "b"]);
    (task, status, blocker, work, 0_u64..10_000_000).prop_map(
        |(task, status, blocker, work, at)| {
            let mut one = attempt(task, status, &[]);
            one.blockers.extend(blocker.map(String::from));
            one.work.extend(work.map(String::from));
            one.at = Moment::from_millis(at);
            one.run = if at % 3 == 0 { run() } else { RunId::new("old") };
            one
        },
    )
}

proptest! {
    #[test]
    fn new_work_in_the_last_attempt_is_never_a_loop_unless_the_task_is_done(
        attempts in prop::collection::vec(any_attempt(), 0..30),
    ) {
        let mut last = attempt("a", AttemptStatus::InProgress, &[]);
        last.work.insert("never seen".into());
        let mut ring = ring_of(&attempts);
        ring.record(last);
        prop_assert_eq!(ring.detect(&rules(), &run(), now(), &TaskId::new("a")), None);
    }

    #[test]
    fn a_remedy_is_never_due_twice_for_the_same_attempts_and_texts_are_bounded(
        attempts in prop::collection::vec(any_attempt(), 0..40),
        name in "\\PC{0,3000}", blocker in "\\PC{0,3000}",
    ) {
        let mut ring = TaskRing::default();
        for mut one in attempts {
            one.task = TaskId::new(format!("{}{name}", one.task));
            one.blockers = one.blockers.into_iter().map(|it| format!("{it}{blocker}")).collect();
            ring.record(one.clone());
            let Some(found) = ring.detect(&rules(), &run(), now(), &one.task) else { continue };
            let applied = ring.apply(&rules(), now(), &found, "e");
            for text in applied.entries.iter().map(|it| &it.content).chain(&applied.briefing) {
                prop_assert!(text.chars().count() <= CHARS_MAX);
                prop_assert!(text.ends_with(['.', '`']), "cut: {}", text);
            }
            let again = ring.detect(&rules(), &run(), now(), &one.task);
            let due = again.filter(|it| it.pattern == found.pattern).and_then(|it| it.remedy);
            prop_assert_eq!(due, None);
            prop_assert_eq!(&TaskRing::new(ring.memory()).memory(), &ring.memory());
        }
    }
}
