//! Whatever a session holds: its copy gives the same verdicts, and nothing of anybody is in it.

use flyball_core::call::{Chant, ValidationFailure, ValidationKind};
use flyball_core::hindsight::{Guards, Judged};
use flyball_core::{CallId, Policy, RoundId};
use proptest::prelude::*;

use super::*;
use crate::client::AgentNote;
use crate::transcript::{Entry, Sink, Tokens, What};

/// Something that can happen in a session, in numbers.
#[derive(Clone, Debug)]
enum Happens {
    Call {
        agent: u8,
        what: u8,
        round: u8,
        edits: bool,
    },
    /// The answer to the call so many calls ago.
    Answer {
        back: u8,
        what: u8,
        outcome: u8,
    },
    Words {
        agent: u8,
        what: u8,
    },
    Chant,
    Nonsense,
    Spoke,
    Human,
    Compacted,
    Used {
        agent: u8,
    },
}

fn happens() -> impl Strategy<Value = Happens> {
    let call = (0..3_u8, 0..4_u8, 0..3_u8, any::<bool>())
        .prop_map(|(agent, what, round, edits)| Happens::Call { agent, what, round, edits });
    let answer = (0..3_u8, 0..3_u8, 0..8_u8).prop_map(|(back, what, outcome)| Happens::Answer {
        back,
        what,
        outcome,
    });
    prop_oneof![
        8 => call,
        8 => answer,
        1 => (0..2_u8, 0..2_u8).prop_map(|(agent, what)| Happens::Words { agent, what }),
        1 => Just(Happens::Chant),
        1 => Just(Happens::Nonsense),
        1 => Just(Happens::Spoke),
        1 => Just(Happens::Human),
        1 => Just(Happens::Compacted),
        2 => (0..3_u8).prop_map(|agent| Happens::Used { agent }),
    ]
}

const SECRETS: [&str; 6] = ["jane", "/home", "sk-planted", "acme", "hunter2", "internal"];

fn sub_agent(number: u8) -> SubAgent {
    SubAgent::new(if number == 0 { String::new() } else { format!("jane-{number}") })
}

/// Plays a session to a sink; everything in it that is text is a secret.
struct Played {
    calls: Vec<(CallId, SubAgent)>,
    round: u64,
}

impl Played {
    fn what(&mut self, it: &Happens) -> What<'static> {
        match it {
            Happens::Call { agent, what, round, edits } => {
                // One in three goes on with the turn before; one in three is alone.
                self.round += u64::from(*round == 0);
                let id = CallId::new(format!("sk-planted-{}", self.calls.len()));
                let agent = sub_agent(*agent);
                self.calls.push((id.clone(), agent.clone()));
                let args = serde_json::json!({ "path": format!("/home/jane/{what}") });
                let tool = if *what == 0 { "Read" } else { "mcp__acme_internal" };
                let rules = &Policy::default().calls;
                let mut call = ToolCall::new(id, tool, &args, rules).by(agent);
                if *round < 2 {
                    call = call.in_round(RoundId::new(format!("acme-{}", self.round)));
                }
                call.mutating = *edits;
                What::Fact(AgentFact::CalledTool(call))
            }
            Happens::Answer { back, what, outcome } => {
                let at = self.calls.len().saturating_sub(1 + usize::from(*back));
                let (id, agent) = self.calls.get(at).cloned().unwrap_or_default();
                let outcome = match outcome {
                    0..5 => ToolOutcome::Ok,
                    5 => ToolOutcome::Exit,
                    6 => ToolOutcome::Tool,
                    _ => ToolOutcome::Refused,
                };
                let text = if *what == 0 {
                    "ok".to_owned()
                } else {
                    format!("the word is hunter2 {what}")
                };
                What::Fact(AgentFact::ToolReturned(ToolResult::new(id, outcome, &text).by(agent)))
            }
            Happens::Words { agent, what } => What::Fact(AgentFact::OnlySpoke {
                agent: sub_agent(*agent),
                words: Some(Fingerprint::of_text(&format!("hunter2 {what}"))),
            }),
            Happens::Chant => What::Fact(AgentFact::Chanted(
                Chant::at_end_of(&"hunter2 acme. ".repeat(40)).unwrap(),
            )),
            Happens::Nonsense => {
                let kind = ValidationKind::UnknownTool;
                let failure = ValidationFailure::new(kind, "acme", "hunter2", "jane");
                What::Fact(AgentFact::SpokeNonsense(failure))
            }
            Happens::Spoke => What::Fact(AgentFact::Spoke),
            Happens::Human => What::HumanSaid("jane says hunter2"),
            Happens::Compacted => What::Compacted,
            Happens::Used { agent } => What::Used(Tokens {
                agent: sub_agent(*agent),
                fresh: 10,
                cache_read: 5,
                cache_write: 1,
                output: 3,
                cost_micro_usd: Some(7),
            }),
        }
    }
}

fn judged_and_shared(all: &[Happens]) -> Option<(Judged, Recording)> {
    let rules = Guards::All.rules();
    let silent = |_: u64| {};
    let mut listener = Listener::new(&rules, Scrubber::default(), &silent);
    let (agent, parent) = ("claude", Some("jane"));
    listener.session(&SessionHead { id: "jane", agent, parent, outcome: None, source: None });
    let mut session = Played { calls: Vec::new(), round: 0 };
    let model = AgentNote::Model("gpt-5-of-acme".to_owned());
    listener.entry(Entry { at: None, record: 1, what: What::Note(model) });
    listener.entry(Entry { at: None, record: 1, what: What::Project("/home/jane/acme") });
    for (record, it) in (2..).zip(all) {
        let at = Some(Moment::from_millis(1_794_700_000_000 + record * 1_000));
        listener.entry(Entry { at, record, what: session.what(it) });
    }
    let (sessions, scrubber) = listener.finish();
    let judged = sessions.into_iter().next()?.judged;
    let text = serde_json::to_string(&scrubber.recordings.into_iter().next()?).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(!text.contains("17947"), "the time of day is nobody's business: {text}");
    Some((judged, serde_json::from_str(&text).unwrap()))
}

proptest! {
    #[test]
    fn whatever_a_session_holds_its_copy_gives_the_same_verdicts(
        all in prop::collection::vec(happens(), 1..120)
    ) {
        let Some((judged, recording)) = judged_and_shared(&all) else { return Ok(()) };
        let again = Guards::All.judge(&recording);
        let facts = |judged: &Judged| {
            let loops: Vec<_> = judged.loops.iter().map(|it| {
                let rungs = it.rungs().map(|rung| rung.map(|it| (it.step, it.guard, it.after, it.changed_later)));
                (it.kind, it.began, it.ended, rungs)
            }).collect();
            let counts = (judged.steps, judged.calls, judged.failed, judged.humans, judged.compactions);
            (counts, judged.spent, judged.firsts, judged.said, judged.harmed, judged.waste, judged.dead_tail, judged.last_change, loops)
        };
        prop_assert_eq!(facts(&again), facts(&judged));
    }
}
