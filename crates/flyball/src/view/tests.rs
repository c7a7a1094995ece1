//! Runs told again: simulated ones for what must hold of all, hand-made ones for exact words.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flyball_core::claim::ClaimReading;
use flyball_core::effect::{Effect, Force, Notice};
use flyball_core::event::{Exit, ExitHow, StopCause};
use flyball_core::gate::{Check, CheckStatus, Counts, Finding, FindingKind, GateResult};
use flyball_core::guard::{GuardKind, Rung, Trip};
use flyball_core::task::Standing;
use flyball_core::tasklist::Mode;
use flyball_core::{AgentFact, Event, IterationNo, Millis, Moment, RunId, TaskId};
use flyball_testkit::sim::Sim;

use super::matrix::MatrixBuilder;
use super::*;
use crate::clock;
use crate::journal::{RunProgress, RunSummary};
use crate::terminal::Paint;

fn at(second: u64) -> Moment {
    Moment::from_millis(1_794_736_800_000 + second * 1000)
}

fn row() -> RunSummary {
    RunSummary {
        run: RunId::new("r-1"),
        root: PathBuf::from("/shop"),
        agent: "claude".to_owned(),
        pid: None,
        started: at(0),
        last_at: at(0),
        ended: None,
        outcome: None,
        max_iterations: 15,
        events: 0,
        state: RunProgress::default(),
        ending: None,
        damaged: None,
    }
}

/// The view of a simulated run, its row as the journal would have it.
fn simulated(seed: u64) -> (RunView, Vec<(Moment, Event)>) {
    let (_, journal) = Sim::new(seed).run_with_journal();
    let mut run = row();
    let mut builder = Builder::new(&run);
    for (at, event) in &journal {
        builder.step(*at, event);
    }
    run.ending = builder.ending().cloned();
    (builder.view(&run), journal)
}

#[test]
fn what_holds_of_every_run() {
    for seed in 0..250 {
        let (view, journal) = simulated(seed);
        let mut failing = BTreeMap::new();
        for (_, event) in &journal {
            if let Event::GatesFinished { iteration, result, .. } = event {
                failing.insert(*iteration, result.failing().len());
            }
        }
        for (place, column) in view.matrix.columns.iter().enumerate() {
            let red = view.matrix.rows.iter().filter(|row| row.cells[place].is_red()).count();
            // Without a word of their own, the gates' last one holds, or nothing is known.
            let before = place.checked_sub(1).and_then(|before| view.matrix.columns.get(before));
            let wanted = failing.get(&column.iteration).copied();
            let holds = wanted.map_or(red == 0 || column.failing.is_some(), |wanted| red == wanted);
            assert!(holds, "seed {seed}, iteration {}: {red} {wanted:?}", column.iteration);
            if wanted.is_none() && column.failing.is_some() {
                assert!(before.is_some() && (column.fixed, column.broken) == (0, 0), "seed {seed}");
            }
        }
        let width = view.matrix.columns.len();
        assert!(view.matrix.rows.iter().all(|row| row.cells.len() == width), "seed {seed}");
        let rows: usize = view.matrix.fates().iter().map(Vec::len).sum();
        assert_eq!(rows, view.matrix.rows.len(), "seed {seed}");

        let cost: u64 = view.iterations.iter().map(|one| one.cost_micro_usd).sum();
        assert!(cost <= view.tally.cost_micro_usd, "seed {seed}");
        assert!(view.cost_without_progress().unwrap_or(0) <= cost, "seed {seed}");
        let (said, refused) = view.completions();
        assert!(refused <= said, "seed {seed}");
        assert!(view.iterations.is_sorted_by_key(|one| one.iteration), "seed {seed}");

        let sentences = story(&view);
        assert!((1..=7).contains(&sentences.len()), "seed {seed}: {sentences:?}");
        for sentence in &sentences {
            let text = sentence.text();
            assert!(text.ends_with('.') && !text.contains("  "), "seed {seed}: {text}");
        }
        for line in &view.lines {
            assert!(!line.text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            assert!(!line.text.is_empty(), "seed {seed}: {line:?}");
        }
    }
}

#[test]
fn a_view_that_is_fed_bit_by_bit_is_the_whole_one() {
    for seed in [3, 17, 99] {
        let (whole, journal) = simulated(seed);
        let run = row();
        let mut builder = Builder::new(&run);
        for (at, event) in &journal {
            builder.step(*at, event);
            // Looking changes nothing.
            builder.view(&run);
        }
        let fed = builder.view(&run);
        assert_eq!((fed.matrix, fed.iterations), (whole.matrix, whole.iterations));
        assert_eq!(fed.lines, whole.lines);
    }
}

/// Events and orders, and the one line each is told in.
#[test]
fn each_thing_has_one_line_and_one_word() {
    let trip = Trip::new(GuardKind::Repetition, 6_u32, 5_u32, "the same \u{1b}[2Jcall");
    let one = IterationNo::new(1);
    let (started, waits) = (clock::told(at(7)), clock::told(at(60)));
    let started = format!("   START  #1   review · B · with a briefing · {started}");
    let waits = format!("    WAIT  #1   limit; waiting until {waits}");
    let table: Vec<(Effect, &str)> = vec![
        (
            Effect::StartAgent {
                iteration: one,
                mode: Mode::Review,
                task: Some(TaskId::new("B")),
                briefing: "x".to_owned(),
                agent: 0,
            },
            &started,
        ),
        (
            Effect::Announce(Notice::TasksRepaired { violations: vec!["B was removed".into()] }),
            "    UNDO  #1   B was removed",
        ),
        (Effect::Announce(Notice::Waiting { until: at(60), message: "limit".into() }), &waits),
        (
            Effect::Announce(Notice::AgentChanged { agent: 2, message: "limit".into() }),
            "  SWITCH  #1   limit; fallback agent 2 goes on",
        ),
        (
            Effect::Announce(Notice::Tripped { trip: trip.clone(), rung: Rung::Redirect }),
            "REDIRECT  #1   repetition: the same call",
        ),
        (
            Effect::Announce(Notice::TaskLeft {
                task: TaskId::new("B"),
                standing: Standing::SetAside,
                why: "too\nhard".into(),
            }),
            "   LEAVE  #1   B (set aside): too\n               hard",
        ),
        (
            Effect::StopAgent { iteration: one, force: Force::Kill },
            "    STOP  #1   killing the agent",
        ),
    ];
    let mut narrator = Narrator::default();
    for (effect, wanted) in table {
        let lines = narrator.decided(at(7), &effect);
        let shown: Vec<String> =
            lines.iter().flat_map(|line| terminal_lines(line, Paint::OFF, None)).collect();
        assert_eq!(shown.join("\n"), wanted);
    }
}

#[test]
fn facts_are_told_by_those_who_say_them() {
    let claims = ClaimReading { complete: true, ..ClaimReading::default() };
    let exit = |how, claims| AgentFact::Exited(Exit { how, claims, last_words: String::new() });
    let one = IterationNo::new(1);
    let agent = |fact| Event::Agent { iteration: one, fact };
    let stop = Event::StopRequested { cause: StopCause::Command };
    let facts = [
        (agent(exit(ExitHow::Code(0), claims)), "CLAIM  #1   COMPLETE", Speaker::Agent),
        (
            agent(exit(ExitHow::Signal(9), ClaimReading::default())),
            "AGENT  #1   ended by signal 9",
            Speaker::Agent,
        ),
        (stop, "STOP   asked to end by `flyball stop`", Speaker::Human),
    ];
    let mut narrator = Narrator::default();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (event, wanted, speaker) in facts {
        let [line] = &narrator.happened(at(8), &event)[..] else { panic!("{event:?}") };
        assert_eq!(line.speaker, speaker);
        let (row, time) = log_lines(line, None, Paint::OFF, None);
        assert_eq!(words(&row.concat()), words(&format!("{} {wanted}", clock::told(at(8)))));
        let (again, _) = log_lines(line, Some(&time), Paint::OFF, None);
        assert!(again[0].starts_with("                   "), "the same time is not told twice");
    }
}

fn test(name: &str) -> Finding {
    Finding::new(FindingKind::Test, "wrong").named(name).at("a.rs", 7, None)
}

fn tests(passed: u64, failing: &[&str]) -> GateResult {
    let failed = failing.len() as u64;
    let status = if failed == 0 { CheckStatus::Passed } else { CheckStatus::Failed };
    let mut check = Check::bare("tests", status);
    check.counts = Some(Counts { passed, failed, skipped: 0 });
    check.findings = failing.iter().map(|name| test(name)).collect();
    check.duration = Millis::new(10);
    GateResult { tree: "t".to_owned(), checks: vec![check] }
}

fn uncompiled() -> GateResult {
    let mut check = Check::bare("tests", CheckStatus::Failed);
    check.findings = vec![Finding::new(FindingKind::Compile, "expected `;`").named("E1")];
    GateResult { tree: "t".to_owned(), checks: vec![check] }
}

fn drawn(results: &[GateResult]) -> Vec<String> {
    let mut builder = MatrixBuilder::default();
    for (number, result) in (0..).zip(results) {
        builder.take(IterationNo::new(number), result);
    }
    let mark = |cell: &Cell| match cell {
        Cell::Unknown => '?',
        Cell::Passes => '.',
        Cell::Fails => 'f',
        Cell::Breaks => '!',
        Cell::Fixed => 'x',
    };
    let row = |row: &&CheckRow| {
        format!("{} {}", row.name, row.cells.iter().map(mark).collect::<String>())
    };
    builder.matrix().sorted().iter().map(row).collect()
}

#[test]
fn a_check_fails_breaks_is_fixed_or_is_not_known() {
    let runs = [tests(1, &["a", "b"]), tests(2, &["b"]), tests(1, &["c", "b"]), tests(3, &[])];
    assert_eq!(drawn(&runs), ["c ..!x", "a fx..", "b fffx"]);
    // What does not compile says nothing of the tests behind it, and breaks none of them.
    let runs = [tests(1, &["a"]), uncompiled(), tests(1, &["a"]), tests(2, &[])];
    assert_eq!(drawn(&runs), ["E1 .!x.", "a f?fx"]);
    // One that was never seen passing before is no breakage.
    let skipped = GateResult { tree: "t".into(), checks: vec![Check::skipped("tests", "later")] };
    assert_eq!(drawn(&[skipped, tests(1, &["a"])]), ["a ?f"]);
    // A gate that was cut, or that names only a part, says nothing of the others.
    let mut part = tests(1, &["b"]);
    part.checks[0].findings_left_out = 3;
    assert_eq!(drawn(&[tests(1, &["a"]), part]), ["b .!", "a f?"]);
}

#[test]
fn an_iteration_that_changed_nothing_has_the_gates_last_word() {
    use Cell::{Breaks, Fails, Fixed, Passes, Unknown};
    let mut builder = MatrixBuilder::default();
    builder.take(IterationNo::BASELINE, &tests(2, &["a"]));
    builder.take(IterationNo::new(1), &tests(2, &["b"]));
    builder.begin(IterationNo::new(2));
    builder.carry(IterationNo::new(3));
    builder.take(IterationNo::new(4), &tests(2, &["c"]));
    let cells = |name: &str| {
        let row = builder.matrix().rows.iter().find(|row| row.name == name).unwrap();
        row.cells.clone()
    };
    assert_eq!(cells("a"), [Fails, Fixed, Unknown, Passes, Passes]);
    assert_eq!(cells("b"), [Passes, Breaks, Unknown, Fails, Fixed]);
    assert_eq!(cells("c"), [Passes, Passes, Unknown, Passes, Breaks]);
    assert_eq!(builder.matrix().columns[3].failing, Some(1));
}

#[test]
fn checks_of_the_same_fate_stand_together() {
    let mut builder = MatrixBuilder::default();
    builder.take(IterationNo::BASELINE, &tests(0, &["a", "b", "c"]));
    builder.take(IterationNo::new(1), &tests(2, &["c"]));
    let fates = builder.matrix().fates();
    let names: Vec<Vec<&str>> =
        fates.iter().map(|fate| fate.iter().map(|row| row.name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["c"], vec!["a", "b"]]);
    let column = &builder.matrix().columns[1];
    assert_eq!((column.failing, column.fixed, column.broken), (Some(1), 2, 0));
}

#[test]
fn more_checks_than_can_be_followed_are_counted() {
    let names: Vec<String> = (0..1_200).map(|number| format!("t{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut builder = MatrixBuilder::default();
    builder.take(IterationNo::BASELINE, &tests(0, &names));
    assert_eq!((builder.matrix().rows.len(), builder.matrix().left_out), (1_000, 200));
    assert_eq!(builder.matrix().columns[0].failing, Some(1_200));
}
