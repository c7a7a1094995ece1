//! Reports of simulated, hostile and very long runs.

use std::path::PathBuf;

use flyball_core::event::{
    AgentTraits, Commit, Exit, ExitHow, HumanFiles, RunStart, Spend, TasksSnapshot,
    WorktreeSnapshot,
};
use flyball_core::gate::{Check, CheckStatus, Counts, Finding, FindingKind, GateResult};
use flyball_core::policy::Policy;
use flyball_core::task::TaskMemory;
use flyball_core::{AgentFact, Event, GateName, IterationNo};
use flyball_testkit::sim::Sim;

use super::html::BYTES_MAX;
use super::markdown::CHARACTERS_MAX;
use super::*;
use crate::journal::{RunProgress, RunSummary};
use crate::view::Builder;

const FORMATS: [ReportFormat; 4] =
    [ReportFormat::Html, ReportFormat::Md, ReportFormat::Json, ReportFormat::Csv];

fn at(second: u64) -> Moment {
    Moment::from_millis(1_794_736_800_000 + second * 1000)
}

fn row(root: &str) -> RunSummary {
    RunSummary {
        run: RunId::new("r-1"),
        root: PathBuf::from(root),
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

fn viewed(root: &str, events: &[(Moment, Event)]) -> RunView {
    let mut run = row(root);
    let mut builder = Builder::new(&run);
    for (at, event) in events {
        builder.step(*at, event);
    }
    run.ending = builder.ending().cloned();
    builder.view(&run)
}

/// What is said wherever somebody else may say something.
const HOSTILE: &str = "</style></title><script>alert(1)</script>\"'><img src=x onerror=1>\
\u{1b}]0;x\u{7}\u{202e} [a](https://evil.example) @somebody `x` | y\n# heading\n=1+1";

/// A run of iterations in which everybody says the same.
fn run_of(words: &str, iterations: u32, checks: u32) -> Vec<(Moment, Event)> {
    let snapshot = |tree: String, commits| WorktreeSnapshot {
        head: Some(tree.clone()),
        code_tree: tree.clone(),
        progress_tree: tree.clone(),
        checkpoint_tree: tree,
        commits,
        changed: vec![words.to_owned()],
        tasks: TasksSnapshot::Absent,
        ..WorktreeSnapshot::default()
    };
    let gates = |tree: String, of: u32| {
        let mut check = Check::bare("tests", CheckStatus::Failed);
        let failed = u64::from(checks);
        check.counts = Some(Counts { passed: 1, failed, skipped: 0 });
        let finding = |number: u32| {
            let name = format!("{words} {} {number}", of % 7);
            Finding::new(FindingKind::Test, words).named(name).at(words, 7, None)
        };
        check.findings = (0..checks).map(finding).collect();
        Box::new(GateResult { tree, checks: vec![check] })
    };
    let mut rules = Policy::default().into_rules();
    rules.limits.iterations = 0;
    rules.limits.stuck = 1_000_000;
    rules.iterations.circuit_breaker = 1_000_000;
    rules.iterations.thrashing = 1_000_000;
    rules.iterations.gate_refusals = 1_000_000;
    let policy = Policy::new(rules).unwrap();
    let start = RunStart {
        run: RunId::new("r-1"),
        policy,
        gates: vec![GateName::new("tests")],
        snapshot: snapshot("t0".to_owned(), Vec::new()),
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
    let mut events = vec![Event::RunStarted(Box::new(start))];
    let iteration = IterationNo::BASELINE;
    events.push(Event::GatesFinished {
        iteration,
        result: gates("t0".into(), 0),
        tamper: Vec::new(),
    });
    for number in 1..=iterations {
        let iteration = IterationNo::new(number);
        let agent = |fact| Event::Agent { iteration, fact };
        let tree = format!("t{number}");
        let commit = Commit { hash: "0123456789ab".to_owned(), subject: words.to_owned() };
        let claims = flyball_core::claim::ClaimReading { complete: true, ..Default::default() };
        let exit = Exit { how: ExitHow::Code(0), claims, last_words: words.to_owned() };
        let spend = Spend { input_tokens: 10, output_tokens: 1, cost_micro_usd: 10_000 };
        events.extend([
            agent(AgentFact::Started { pid: None }),
            agent(AgentFact::Spent(spend)),
            agent(AgentFact::Exited(exit)),
            Event::WorktreeSeen {
                iteration,
                snapshot: Box::new(snapshot(tree.clone(), vec![commit])),
            },
            Event::GatesFinished { iteration, result: gates(tree, number), tamper: Vec::new() },
        ]);
    }
    (0..).map(at).zip(events).collect()
}

#[test]
fn nothing_that_others_say_is_markup() {
    let view = viewed("/work/<b>shop", &run_of(HOSTILE, 3, 2));
    assert_eq!(view.iterations.len(), 4, "the run goes on with the next one");
    let page = report(&view, ReportFormat::Html, at(9));
    for sign in ["<script", "<img", "<b>shop", "\u{1b}", "\u{202e}", "\u{7}"] {
        assert!(!page.contains(sign), "{sign:?}");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title>").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)"), "it is shown as text");
    let comment = report(&view, ReportFormat::Md, at(9)).replace("\\]", "");
    for sign in ["<script", "<img", "](", "://", "@somebody", "\n# heading", "\u{1b}"] {
        assert!(!comment.contains(sign), "{sign:?} in\n{comment}");
    }
    let rows: Vec<&str> = comment.lines().filter(|line| line.starts_with("| 3 |")).collect();
    let [row] = rows.as_slice() else { panic!("{comment}") };
    assert_eq!(row.replace("\\|", "").matches('|').count(), 9, "no cell more: {row}");
    let table = report(&view, ReportFormat::Csv, at(9));
    assert!(!table.contains(",=1") && table.lines().count() == 5, "{table}");
}

#[test]
fn a_page_fetches_nothing_and_runs_nothing() {
    let view = viewed("/shop", &run_of("fine", 3, 2));
    let page = report(&view, ReportFormat::Html, at(9));
    for sign in
        ["<script", "<link", "<img", "<iframe", "http://", "https://", "url(", "@import", " style="]
    {
        assert!(!page.contains(sign), "{sign}");
    }
    assert!(page.contains("default-src 'none'"));
    let mut seen = std::collections::BTreeSet::new();
    for id in page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(seen.insert(id.to_owned()), "{id} twice");
    }
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(seen.contains(target), "#{target} leads nowhere");
    }
}

#[test]
fn the_longest_run_stays_within_its_bounds() {
    let long = "a rather long name of a check that says what it is about ".repeat(20);
    for (iterations, checks) in [(1, 2_000), (100, 200), (600, 30)] {
        let view = viewed("/shop", &run_of(&long, iterations, checks));
        let page = report(&view, ReportFormat::Html, at(9));
        assert!(page.len() <= BYTES_MAX, "{iterations} iterations: {} bytes", page.len());
        assert!(page.ends_with("</html>"), "whole");
        let comment = report(&view, ReportFormat::Md, at(9));
        let length = comment.chars().count();
        assert!(length <= CHARACTERS_MAX, "{iterations} iterations: {length} characters");
        assert!(comment.starts_with("<!-- flyball:r-1 -->\n"));
        assert!(comment.contains("full report"), "told where the rest is");
        assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
    }
}

#[test]
fn every_simulated_run_has_a_report_in_every_form() {
    for seed in 0..60 {
        let (_, journal) = Sim::new(seed).run_with_journal();
        let view = viewed("/shop", &journal);
        for format in FORMATS {
            let text = report(&view, format, at(9));
            assert!(!text.is_empty(), "seed {seed}");
            if format == ReportFormat::Json {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(value["run"]["run"]["run"], "r-1", "seed {seed}");
                let count = value["run"]["iterations"].as_array().unwrap().len();
                assert_eq!(count, view.iterations.len(), "seed {seed}");
            }
            if format == ReportFormat::Csv {
                assert_eq!(text.lines().count(), view.iterations.len() + 1, "seed {seed}");
            }
        }
    }
}

#[test]
fn strangers_learn_no_names() {
    let words =
        "see /home/ada/secret/notes.txt and /work/shop/src/a.rs on lovelace by ada, an adapter";
    let mut view = viewed("/work/shop", &run_of(words, 1, 1));
    Redaction::new(Path::new("/work/shop"), Some("ada"), Some("lovelace")).apply(&mut view);
    for format in FORMATS {
        let text = report(&view, format, at(9));
        let text = text.replace("adapter", "");
        for name in ["ada", "lovelace", "/work", "secret"] {
            assert!(!text.contains(name), "{name} in {format:?}:\n{text}");
        }
    }
    let page = report(&view, ReportFormat::Html, at(9));
    assert!(page.contains("shop") && page.contains("src/a.rs on"), "the project is still named");
    assert!(page.contains("an adapter"), "a name is no part of a word");
}
