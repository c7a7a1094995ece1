//! What reached the agent's ears, and by which way.

use flyball_core::effect::{Effect, Notice};
use flyball_core::guard::Rung;
use flyball_core::stop::StopVerdict;
use flyball_core::{GuardKind, Outcome};

use super::witness::Witness;

/// Everything flyball says to an agent about what it does. A test fails when one of them never
/// reaches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Advice {
    SameCall,
    Lap,
    OldCalls,
    SameChange,
    StaleAnswer,
    StagnantAnswer,
    SameWords,
    Chant,
    RefusedCall,
    InvalidOutput,
    Stalled,
    ContextNotice,
    ContextWarning,
    ContextCritical,
    RefusedStop,
    MalformedPromise,
    SessionStopped,
    NoProgress,
    CompletionBlocked,
    RedBeforeTheRun,
    UndoneInTheList,
    AnsweredByAHuman,
    GoingOnAfterAHalt,
    CalledToHelp,
    ChangeApproach,
    LeaveTheTask,
    UnblockAuthority,
    WaitsForAHuman,
    SetAside,
    ResourceRanOut,
}

/// How advice reaches an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// A line it is sent.
    Steer,
    /// The answer to what it asked.
    Door,
    /// The next prompt.
    Briefing,
}

impl Advice {
    /// Everything, with words that stand in no other.
    pub const ALL: [(Self, &'static str); 30] = [
        (Self::SameCall, "had identical parameters and the same result"),
        (Self::Lap, "going round through the same"),
        (Self::OldCalls, "held little but calls made before"),
        (Self::SameChange, "the same change was made"),
        (Self::StaleAnswer, "got the same answer across"),
        (Self::StagnantAnswer, "whatever it was asked"),
        (Self::SameWords, "said the same and called nothing"),
        (Self::Chant, "circles: the same words"),
        (Self::RefusedCall, "This call was not run"),
        (Self::InvalidOutput, "Your last output could not be used"),
        (Self::Stalled, "stalled after"),
        (Self::ContextNotice, "NOTICE: "),
        (Self::ContextWarning, "WARNING: "),
        (Self::ContextCritical, "CRITICAL: "),
        // Told apart by the order that carries it, not by its words.
        (Self::RefusedStop, "\u{0}"),
        (Self::MalformedPromise, "# Malformed Promise"),
        (Self::SessionStopped, "# Fresh Start"),
        (Self::NoProgress, "# No Progress"),
        (Self::CompletionBlocked, "# Completion Blocked"),
        (Self::RedBeforeTheRun, "# Red Before This Run Began"),
        (Self::UndoneInTheList, "# Undone In The Task List"),
        (Self::AnsweredByAHuman, "# A Human Answered"),
        (Self::GoingOnAfterAHalt, "# Going On After A Halt"),
        (Self::CalledToHelp, "# You Are Called To Help"),
        (Self::ChangeApproach, "brought nothing new"),
        (Self::LeaveTheTask, "not even to check it"),
        (Self::UnblockAuthority, "you may now decide yourself"),
        (Self::WaitsForAHuman, "and take the task you are given"),
        (Self::SetAside, "was set aside: "),
        (Self::ResourceRanOut, "# A Resource Ran Out"),
    ];
}

/// Guards of the call ring whose nudges are announced when they are given (A9).
fn is_given(guard: GuardKind) -> bool {
    matches!(
        guard,
        GuardKind::Repetition | GuardKind::GoingNowhere | GuardKind::Stall | GuardKind::ContextFill
    )
}

impl Witness {
    /// What the orders of one step say to the agent. What is announced as given must be among it.
    pub(crate) fn heard(&mut self, effects: &[Effect]) {
        let mut said = Vec::new();
        for effect in effects {
            said.extend(words(effect));
        }
        for (way, words) in &said {
            let told = Advice::ALL.iter().filter(|(_, phrase)| words.contains(phrase));
            self.advice.extend(told.map(|(advice, _)| (*advice, *way)));
        }
        for effect in effects {
            let Effect::Announce(Notice::Tripped { trip, rung: Rung::Nudge }) = effect else {
                if let Effect::AnswerStop { verdict: StopVerdict::Refuse { .. }, .. } = effect {
                    self.advice.insert((Advice::RefusedStop, Way::Door));
                }
                continue;
            };
            let evidence = trip.evidence.as_str();
            let percent = trip.measured.to_string();
            // What is told of a full context or a stall are other words than the evidence.
            let told = match () {
                () if trip.guard == GuardKind::ContextFill => percent.as_str(),
                () if trip.guard == GuardKind::Stall => "stalled after",
                () => evidence,
            };
            let reaches = |(_, words): &(Way, &str)| words.contains(told);
            if is_given(trip.guard) && !said.iter().any(reaches) {
                self.broken(format!("advice was announced and told nobody: {evidence}"));
            }
        }
    }
}

/// The words of an order that reach the agent.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other orders say nothing to it")]
fn words(effect: &Effect) -> Option<(Way, &str)> {
    match effect {
        Effect::SteerAgent { message, .. } => Some((Way::Steer, message)),
        Effect::AnswerDoor { answer, .. } => Some((Way::Door, &answer.message)),
        Effect::StartAgent { briefing, .. } => Some((Way::Briefing, briefing)),
        _ => None,
    }
}

/// Whether a run that ended so told its human what to do next.
pub(crate) fn has_next_steps(outcome: Outcome, steps: &[String]) -> bool {
    !outcome.is_guard() || !steps.is_empty()
}
