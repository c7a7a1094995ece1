//! Hand-made runs with known answers, and what must hold of every run.

mod doubts;

use std::path::PathBuf;

use flyball_core::call::{Fingerprint, ToolCall, ToolOutcome, ToolResult};
use flyball_core::claim::ClaimReading;
use flyball_core::effect::{Effect, Notice};
use flyball_core::event::{
    AgentTraits, Commit, Exit, ExitHow, HumanFiles, RunStart, Spend, TasksSnapshot,
    WorktreeSnapshot,
};
use flyball_core::gate::{Check, CheckStatus, Counts, Finding, FindingKind, GateResult};
use flyball_core::guard::{GuardKind, Rung, Trip};
use flyball_core::policy::Policy;
use flyball_core::task::TaskMemory;
use flyball_core::{AgentFact, CallId, Event, GateName, Governor, IterationNo, Moment, RunId};
use flyball_testkit::sim::Sim;

use super::watch::Watch;
use super::what_if::{best, speaks_for};
use super::*;
use crate::journal::{RunProgress, RunSummary};
use crate::replay::Change;

fn at(second: u64) -> Moment {
    Moment::from_millis(1_794_736_800_000 + second * 1000)
}

fn row(run: &str) -> RunSummary {
    RunSummary {
        run: RunId::new(run),
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

fn policy(stuck: u32) -> Policy {
    let mut rules = Policy::default().into_rules();
    rules.limits.stuck = stuck;
    // Only being stuck shall end these.
    rules.iterations.circuit_breaker = 100;
    Policy::new(rules).unwrap()
}

fn snapshot(tree: &str) -> WorktreeSnapshot {
    WorktreeSnapshot {
        head: Some(tree.to_owned()),
        code_tree: tree.to_owned(),
        progress_tree: tree.to_owned(),
        checkpoint_tree: tree.to_owned(),
        tasks: TasksSnapshot::Absent,
        ..WorktreeSnapshot::default()
    }
}

fn red(tree: &str, failing: u64) -> GateResult {
    let mut check = Check::bare("tests", CheckStatus::Failed);
    check.counts = Some(Counts { passed: 10 - failing, failed: failing, skipped: 0 });
    let finding = |number| Finding::new(FindingKind::Test, "no").named(format!("t{number}"));
    check.findings = (0..failing).map(finding).collect();
    GateResult { tree: tree.to_owned(), checks: vec![check] }
}

/// A run of iterations at a cent each, until it ends; those named fix one check each.
fn events(stuck: u32, iterations: u32, fixes: &[u32]) -> Vec<(Moment, Event)> {
    let start = RunStart {
        run: RunId::new("r"),
        policy: policy(stuck),
        gates: vec![GateName::new("tests")],
        snapshot: snapshot("t0"),
        human_files: HumanFiles::default(),
        memory: TaskMemory::default(),
        agent: AgentTraits::default(),
        other_agents: Vec::new(),
        fallbacks: 0,
        rescue: None,
        agent_names: Vec::new(),
        review: None,
        request: None,
    };
    let baseline = Event::GatesFinished {
        iteration: IterationNo::BASELINE,
        result: Box::new(red("t0", 9)),
        tamper: Vec::new(),
    };
    let mut all = vec![Event::RunStarted(Box::new(start)), baseline];
    let (mut tree, mut failing) = ("t0".to_owned(), 9);
    for number in 1..=iterations {
        let iteration = IterationNo::new(number);
        let agent = |fact| Event::Agent { iteration, fact };
        let spend = Spend { input_tokens: 90, output_tokens: 10, cost_micro_usd: 10_000 };
        let exit = Exit {
            how: ExitHow::Code(0),
            claims: ClaimReading::default(),
            last_words: String::new(),
        };
        all.extend([agent(AgentFact::Started { pid: None }), agent(AgentFact::Spent(spend))]);
        all.push(agent(AgentFact::Exited(exit)));
        let moves = fixes.contains(&number);
        if moves {
            (tree, failing) = (format!("t{number}"), failing - 1);
        }
        let mut seen = snapshot(&tree);
        if moves {
            seen.commits = vec![Commit { hash: tree.clone(), subject: "fix".to_owned() }];
        }
        all.push(Event::WorktreeSeen { iteration, snapshot: Box::new(seen) });
        if moves {
            let (result, tamper) = (Box::new(red(&tree, failing)), Vec::new());
            all.push(Event::GatesFinished { iteration, result, tamper });
        }
    }
    let mut governor = Governor::new();
    let mut told: Vec<(Moment, Event)> = Vec::new();
    for (second, event) in (0..).zip(all) {
        if governor.ending().is_some() {
            break;
        }
        governor.step(at(second), &event);
        told.push((at(second), event));
    }
    told
}

fn figures(run: &mut RunSummary, events: &[(Moment, Event)]) -> RunFigures {
    let mut governor = Governor::new();
    let mut figures = Figures::new(run);
    for (at, event) in events {
        governor.step(*at, event);
        figures.step(*at, event);
    }
    run.ending = governor.ending().cloned();
    run.ended = run.ending.as_ref().and(events.last()).map(|(at, _)| *at);
    figures.finish(run, None)
}

fn asked(events: &[(Moment, Event)], change: &str) -> WhatIf {
    let change = Change::parse(change).unwrap();
    let run = row("r");
    let told = what_if(&change, &[&run], |_, to| {
        for (at, event) in events {
            to(*at, event);
        }
        Ok::<(), ()>(())
    });
    told.unwrap()
}

#[test]
fn a_halt_is_worth_the_next_iteration_at_least_and_its_limits_at_most() {
    let one = figures(&mut row("r"), &events(3, 9, &[1]));
    let halt = one.halt.as_ref().unwrap();
    assert_eq!((halt.guard, halt.left), (GuardKind::Stuck, Some(11)), "4 of 15 are used");
    assert_eq!((halt.at_least.micro_usd, halt.at_most.unwrap().micro_usd), (10_000, 110_000));
    assert_eq!((halt.at_least.tokens, halt.at_most.unwrap().tokens), (100, 1_100));
    assert_eq!((one.spent.micro_usd, one.idle.micro_usd), (40_000, 30_000));
    assert_eq!((one.fixed, one.broken, one.iterations), (1, 0, 4));
    let stats = sum(&[one]);
    let stuck = &stats.guards["stuck"];
    assert_eq!((stuck.halts, stuck.rungs["halt"], stuck.runs), (1, 1, 1));
    assert_eq!((stuck.at_least.micro_usd, stuck.at_most.micro_usd), (10_000, 110_000));
    assert_eq!(stats.all.per_story(), None);
}

#[test]
fn a_stricter_limit_gains_what_was_idle_and_harms_what_moved_later() {
    let idle = events(5, 9, &[1]);
    let told = asked(&idle, "limits.stuck=2");
    assert_eq!((told.earlier.len(), told.harmed.len(), told.let_go.len()), (1, 0, 0));
    assert_eq!((told.gain_micro_usd, told.cost_micro_usd), (30_000, 60_000), "iterations 4 to 6");
    let late = events(5, 9, &[1, 5]);
    let told = asked(&late, "limits.stuck=2");
    assert_eq!((told.earlier.len(), told.harmed.len(), told.gain_micro_usd), (1, 1, 0));
    let told = asked(&idle, "limits.stuck=8");
    assert_eq!((told.earlier.len(), told.let_go.len()), (0, 1));
    let told = asked(&idle, "limits.stuck=5");
    assert_eq!((told.earlier.len(), told.let_go.len()), (0, 0), "as it was");
}

#[test]
fn what_holds_of_every_run() {
    for seed in 0..120 {
        let (_, journal) = Sim::new(seed).run_with_journal();
        let Some((_, Event::RunStarted(start))) = journal.first() else { continue };
        let limits = start.policy.limits.clone();
        let one = figures(&mut row("r"), &journal);
        assert!(one.idle.micro_usd <= one.spent.micro_usd, "seed {seed}");
        assert!(one.streaks.1 <= one.streaks.0 && one.advised.1 <= one.advised.0, "seed {seed}");
        assert!(one.claims.2 <= one.claims.1 && one.claims.1 <= one.claims.0, "seed {seed}");
        let resumed = journal.iter().any(|(_, event)| matches!(event, Event::RunResumed(_)));
        if let Some(halt) = one.halt.filter(|_| !resumed) {
            if limits.iterations > 0 {
                let left = u64::from(limits.iterations).saturating_sub(one.iterations);
                assert!(halt.left.unwrap() <= left + 1, "seed {seed}");
            }
            if let (Some(left), Some(most)) = (halt.left, halt.at_most) {
                assert!(left == 0 || halt.at_least.micro_usd <= most.micro_usd, "seed {seed}");
            }
            assert!(resumed || limits.stuck > 0);
        }
        // With its own limit a run goes as it went.
        let told = asked(&journal, &format!("limits.stuck={}", limits.stuck));
        let own = resumed || (told.earlier.is_empty() && told.let_go.is_empty());
        assert!(own, "seed {seed}: {told:?}");
    }
}

/// A call of a tool that only reads, or of one named `write`.
fn call(id: &str, fingerprint: &str, tool: &str) -> Event {
    let mut call = ToolCall::identified(CallId::new(id), tool, print(fingerprint));
    call.mutating = tool == "write";
    Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::CalledTool(call) }
}

fn print(letter: &str) -> Fingerprint {
    letter.repeat(32).parse().unwrap()
}

fn answer(id: &str, result: &str) -> Event {
    let mut answer = ToolResult::new(CallId::new(id), ToolOutcome::Ok, "text");
    answer.result = print(result);
    Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ToolReturned(answer) }
}

fn tripped(guard: GuardKind, rung: Rung) -> Effect {
    Effect::Announce(Notice::Tripped { trip: Trip::new(guard, 1_u32, 1_u32, "so"), rung })
}

#[test]
fn advice_is_heeded_when_the_next_call_is_another() {
    let mut watch = Watch::default();
    let nudge = tripped(GuardKind::Repetition, Rung::Nudge);
    watch.happened(at(0), &call("1", "a", "read"));
    watch.decided(at(0), &nudge);
    watch.happened(at(1), &call("2", "b", "read"));
    assert_eq!((watch.streaks, watch.heeded), (1, 1));
    watch.decided(at(1), &nudge);
    watch.happened(at(2), &call("3", "b", "read"));
    watch.decided(at(2), &nudge);
    watch.happened(at(3), &call("4", "c", "read"));
    assert_eq!((watch.streaks, watch.heeded), (2, 1), "one streak, advised twice, went on");
}

#[test]
fn shares_are_told_with_their_uncertainty_from_ten_cases_on() {
    assert_eq!(wilson(1, 9), None);
    let (low, high) = wilson(1, 10).unwrap();
    assert!((low - 1.79).abs() < 0.01 && (high - 40.42).abs() < 0.01, "{low} {high}");
    let runs = |count: usize| (0..count).map(|number| RunId::new(number.to_string())).collect();
    let mut evidence =
        WhatIf { earlier: runs(30), gain_micro_usd: 5, cost_micro_usd: 100, ..WhatIf::default() };
    assert!(speaks_for(&evidence));
    evidence.harmed = runs(1);
    assert!(!speaks_for(&evidence), "one was harmed");
    evidence = WhatIf { harmed: Vec::new(), earlier: runs(29), ..evidence };
    assert!(!speaks_for(&evidence), "too few");
    evidence = WhatIf { earlier: runs(30), gain_micro_usd: 4, ..evidence };
    assert!(!speaks_for(&evidence), "too little");
}

#[test]
fn a_looser_limit_is_spoken_for_by_two_doubts_and_not_by_one() {
    let runs = |names: &[&str]| names.iter().map(|name| RunId::new(*name)).collect::<Vec<_>>();
    let let_go = |names: &[&str]| WhatIf { let_go: runs(names), ..WhatIf::default() };
    let tried = std::collections::BTreeMap::from([
        (3, let_go(&[])),
        (4, let_go(&["a"])),
        (5, let_go(&["a", "b", "c"])),
        (6, let_go(&["a", "b", "c"])),
    ]);
    let (a, b, x) = (RunId::new("a"), RunId::new("b"), RunId::new("x"));
    let one = std::collections::BTreeSet::from([&a, &x]);
    assert_eq!(best("limits.stuck", &tried, &one), None, "one doubt of such a run");
    let two = std::collections::BTreeSet::from([&a, &b]);
    let told = best("limits.stuck", &tried, &two).unwrap();
    assert_eq!((told.toml.as_str(), told.way), ("limits.stuck = 5", Way::Looser));
    assert_eq!((told.doubted, told.harm_at_most_percent), (runs(&["a", "b"]), None));
}

#[test]
fn what_was_likely_is_said_when_twenty_others_stood_the_same_way() {
    let halted = figures(&mut row("halted"), &events(3, 9, &[1]));
    let stood = |count: usize| -> Vec<RunFigures> {
        let others = (0..count).map(|number| {
            // Stood at three as well, and was allowed to go on: six iterations came after.
            let mut run = row(&format!("other-{number}"));
            run.root = PathBuf::from(format!("/other-{number}"));
            figures(&mut run, &events(9, 9, &[1, 9]))
        });
        others.chain([halted.clone()]).collect()
    };
    // Those others have not ended: nothing is known of them.
    assert_eq!(sum(&stood(20)).guards["stuck"].likely, None);
    let ended = |count: usize| -> Vec<RunFigures> {
        let mut runs = stood(count);
        for run in &mut runs {
            run.outcome = run.outcome.or(Some(flyball_core::Outcome::MaxIterations));
        }
        runs
    };
    assert_eq!(sum(&ended(19)).guards["stuck"].likely, None, "one too few");
    let stats = sum(&ended(20));
    let stuck = &stats.guards["stuck"];
    let likely = stuck.likely.unwrap();
    assert_eq!((likely.micro_usd, stuck.likely_of), (50_000, 1), "iterations 5 to 9, a cent each");
    assert!(stuck.at_least.micro_usd <= likely.micro_usd);
    assert!(likely.micro_usd <= stuck.at_most.micro_usd);
}

#[test]
fn rates_are_what_was_fixed_less_what_was_broken() {
    let one = figures(&mut row("r"), &events(3, 9, &[1]));
    let stats = sum(&[one]);
    assert_eq!((stats.all.fix_rate(), stats.all.fix_rate_per_dollar()), (Some(25), Some(2_500)));
    assert_eq!((Share::default().fix_rate(), Share::default().fix_rate_per_dollar()), (None, None));
}
