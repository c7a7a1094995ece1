//! Every ending says what helps, a human's word to go on is heard, and what ran out is said.

use std::collections::BTreeSet;
use std::format;
use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story, repeats, stories};
use crate::call::{ValidationFailure, ValidationKind};
use crate::effect::Effect;
use crate::event::{AgentFact, ExitHow, Spend};
use crate::outcome::Outcome;
use crate::policy::OnSessionHalt;

fn nonsense() -> AgentFact {
    AgentFact::SpokeNonsense(ValidationFailure {
        kind: ValidationKind::UnparseableJson,
        expected: "JSON".into(),
        received: "{".into(),
        error: "it ends too early".into(),
    })
}

/// One run for each guard that can end one.
fn halts() -> Vec<(Outcome, Story)> {
    let base = || Story::new().tasks(stories(&["a"]));
    let stopping = || base().rules(|r| r.iterations.on_session_halt = OnSessionHalt::Stop);
    let mut all = Vec::new();
    let mut tell = |mut story: Story, act: &dyn Fn(u32) -> Act| {
        let outcome = story.run(act);
        all.push((outcome, story));
    };
    tell(base(), &|_| Act::idle());
    tell(base(), &|_| Act::dies());
    tell(stopping(), &|_| Act { facts: repeats(20), ..Act::idle() });
    tell(stopping(), &|_| Act { facts: vec![nonsense(); 3], ..Act::idle() });
    tell(base().gate(|_| vec![]), &|n| Act::commits(n).and_says("<promise>COMPLETE</promise>"));
    let falling = base().rules(|r| r.iterations.circuit_breaker = 20).gate(|tree| match tree {
        "start" => vec!["a"],
        "1" => vec![],
        "2" => vec!["a", "b"],
        _ => vec!["a", "b", "c"],
    });
    tell(falling, &Act::commits);
    let thrashing = base()
        .rules(|r| (r.iterations.circuit_breaker, r.iterations.regression_window) = (20, 20))
        .gate(|_| vec!["a"]);
    tell(thrashing, &Act::commits);
    all
}

#[test]
fn each_guards_ending_has_steps_of_its_own_with_the_evidence_in_them() {
    let wanted: &[(Outcome, &[&str])] = &[
        (Outcome::Stuck, &["last 3 iterations at task a", "git status", "--profile overnight"]),
        (Outcome::CircuitBreaker, &["the agent died", "flyball log run --iteration 3"]),
        (Outcome::RepetitionLoop, &["see the call it repeated", "read_file", "--iteration 1"]),
        (Outcome::ValidationFailure, &["could not be understood", "--model", "agent.output"]),
        (
            Outcome::QualityGateExhausted,
            &["5 claims were refused (open: a): flyball log run", "before COMPLETE"],
        ),
        (
            Outcome::QualityRegression,
            &[
                "1.00 (iteration 1), 0.80 (iteration 2), 0.70 (iteration 3)",
                "iteration 1 scored 1.00, the last tree 0.70; to have it back: flyball rewind run 1",
            ],
        ),
        (
            Outcome::Thrashing,
            &["src/lib.rs (5 red iterations)", "what usually helps", "tests 1 failed, first a"],
        ),
    ];
    let halts = halts();
    let mut texts = BTreeSet::new();
    for ((outcome, story), (expected, phrases)) in halts.iter().zip(wanted) {
        assert_eq!(outcome, expected);
        let steps = story.ending().next_steps.join("\n");
        for phrase in *phrases {
            assert!(steps.contains(phrase), "{outcome}: `{phrase}` in\n{steps}");
        }
        assert!(steps.ends_with("flyball run --resume run"), "{steps}");
        texts.insert(steps);
    }
    assert_eq!(texts.len(), wanted.len(), "no two the same");
}

#[test]
fn no_way_back_is_named_where_nothing_was_better() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec!["a"]);
    story.run(Act::commits);
    let steps = story.ending().next_steps.join("\n");
    assert!(!steps.contains("rewind"), "{steps}");
    assert!(steps.contains("see what stays red (red: tests 1 failed, first a)"), "{steps}");
}

#[test]
fn a_human_who_goes_on_after_a_guards_halt_is_heard() {
    for (outcome, mut story) in halts() {
        let before = story.briefings.len();
        story.reopen();
        assert!(story.alive().is_some(), "{outcome}: the agent starts once more");
        let briefing = &story.briefings[before];
        assert!(briefing.starts_with("# Going On After A Halt"), "{outcome}: {briefing}");
        assert!(briefing.contains(outcome.as_str()), "{briefing}");
        // And the guards count anew: one more failure is not the end.
        let iteration = story.alive().unwrap();
        story.perform(iteration, Act::dies());
        assert!(story.governor.is_running(), "{outcome}: {:?}", story.governor.ending());
    }
}

#[test]
fn a_used_up_budget_still_holds_when_a_human_goes_on() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 2);
    assert_eq!(story.run(Act::commits), Outcome::MaxIterations);
    story.reopen();
    assert_eq!(story.ending().outcome, Outcome::MaxIterations);
    assert_eq!(story.briefings.len(), 2);
}

#[test]
fn what_ran_out_is_said_to_the_agent_and_to_the_human() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.run(|_| Act { exit: ExitHow::Code(1), ..Act::says("cp: No space left on device") });
    assert!(!story.briefings[0].contains("ran out"));
    assert!(story.briefings[1].contains("Disk space ran out"), "{}", story.briefings[1]);
    assert!(story.ending().next_steps[0].contains("df -h"), "{:?}", story.ending().next_steps);
    let mut story = Story::new().tasks(stories(&["a"]));
    story.run(|n| match n {
        1 => Act { exit: ExitHow::Signal(9), ..Act::idle() },
        _ => Act::idle(),
    });
    assert!(story.briefings[1].contains("Memory ran out"));
    assert!(!story.briefings[2].contains("Memory ran out"), "it is over");
}

#[test]
fn what_ran_out_stands_in_the_remedy_too() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| (r.limits.stuck, r.iterations.circuit_breaker) = (20, 20));
    story.run(|_| Act { exit: ExitHow::Code(1), ..Act::says("EMFILE: too many open files") });
    let said = story.effects.iter().any(|effect| {
        matches!(effect, Effect::RecordContext(entry)
            if entry.topic == "loop_recovery" && entry.content.contains("File descriptors ran out"))
    });
    assert!(said);
}

#[test]
fn a_malformed_promise_and_a_red_beginning_have_headings_of_their_own() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec!["old"]);
    story.run(|_| Act::says("<promise>DONE</promise>"));
    assert!(story.briefings[0].starts_with("# Red Before This Run Began: tests failed"));
    assert!(!story.briefings[0].contains("Completion Blocked"));
    assert!(story.briefings[1].contains("# Malformed Promise\n"), "{}", story.briefings[1]);
    assert!(!story.briefings[1].contains("Undone In The Task List"));
}

#[test]
fn a_session_that_told_nothing_is_charged_by_its_size_and_the_run_says_so() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.tokens = 2_000);
    let silent = AgentFact::Printed { bytes: 4_000, cost_micro_usd: 7 };
    let outcome = story.run(|n| Act::commits(n).with(silent.clone()));
    assert_eq!((outcome, story.iterations()), (Outcome::MaxTokens, 2));
    assert_eq!((story.reports[0].tokens, story.reports[0].cost_micro_usd), (1_000, 7));
    let said = format!("{:?}", story.notices);
    assert!(said.contains("UsageEstimated { bytes: 4000, tokens: 1000 }"), "{said}");
    // Where nothing is limited nothing is guessed, and who told is believed.
    let told = AgentFact::Spent(Spend { output_tokens: 5, ..Spend::default() });
    for (tokens, facts, used) in
        [(0, vec![silent.clone()], 0), (2_000, vec![told, silent.clone()], 5)]
    {
        let mut story = Story::new().tasks(stories(&["a"])).rules(|r| {
            (r.limits.tokens, r.limits.iterations) = (tokens, 1);
        });
        story.run(|n| facts.iter().fold(Act::commits(n), |act, fact| act.with(fact.clone())));
        assert_eq!(story.reports[0].tokens, used, "{facts:?}");
    }
}
