//! Who the simulated agent is. One line each in [`Persona::ALL`]; what it does is in `script.rs`.

use flyball_core::Outcome;

/// A character an agent can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Persona {
    /// Does one story after the other and says so when all is done.
    Honest,
    /// The same, through implement, review and review-fix.
    HonestWithReview,
    /// Starts, ends, and leaves nothing.
    Idle,
    /// Prints for ever and never ends.
    Chatty,
    /// Commits something every time and claims to be done when nothing is.
    Lying,
    /// Dies by itself.
    Crashing,
    /// Never ends and obeys nothing but a kill.
    IgnoringStop,
    /// Commits the same two trees in turn.
    FlipFlopping,
    /// Makes the same 1 to 5 calls round and round.
    Looping,
    /// Starts and is never heard of again.
    Silent,
    /// Says things nobody understands.
    Nonsense,
    /// Has tools that fail.
    ToolFailer,
    /// Uses tokens without end.
    TokenSpender,
    /// Uses money without end.
    MoneySpender,
    /// Runs into a usage limit now and then, with the time of its reset.
    Limited,
    /// Runs into a usage limit now and then and does not know until when.
    LimitedBlindly,
    /// Runs into a usage limit that is not lifted in time.
    LimitedForLong,
    /// Cannot reach its model.
    Unreachable,
    /// Has credentials nobody accepts.
    Unauthorised,
    /// Is a program that cannot be started.
    NotStartable,
    /// Is stopped by its client's own loop guard.
    SelfStopped,
    /// Says that it is blocked, always by the same.
    Blocker,
    /// Asks questions.
    Decider,
    /// Approves its own stories.
    SelfApprover,
    /// Takes stories out of the list, or leaves a list that cannot be read.
    StoryRemover,
    /// Does the work and weakens a test.
    Tamperer,
    /// Leaves red tests every time.
    RedMaker,
    /// Makes one more test red every time.
    Regressor,
    /// Breaks one test as it mends another, always in the same file.
    Thrasher,
    /// Mends one red test at a time.
    Improver,
    /// Goes on working at stories that are done.
    Revisiter,
    /// Is blocked by something else every time, round all stories.
    TaskCycler,
    /// Fills its context window while it works.
    ContextFiller,
    /// Has tools with very long answers.
    LargeResponder,
    /// Commits something new every time and is never done.
    SlowSteady,
    /// Works for hours.
    Sleeper,
    /// Asks at its door about the same call again and again, and makes it whatever it is told.
    AskingLooper,
    /// Wants to stop while tests are red, and mends them one by one when it is sent back.
    StopsRed,
    /// Wants to stop before it has committed, and commits when it is sent back.
    StopsUncommitted,
    /// Wants to stop while tests are red, is sent back and does nothing but ask again.
    StopsAgain,
    /// Cannot be killed.
    Undead,
    /// Is asked to work where nothing could ever verify it, or a human has to act first.
    Hopeless,
    /// Works where nobody checks, and is believed.
    Trusted,
    /// Goes round through the same 3 to 6 calls.
    LapRunner,
    /// Makes old calls over and over, in no order.
    OldCallShuffler,
    /// Makes the same two changes in turn.
    Reapplier,
    /// Polls something that moves, and then does its work.
    PatientPoller,
    /// Makes the same call several times at once, and then does its work.
    Twins,
    /// Has parallel calls cancelled because the first of them failed, and then does its work.
    CancelledSiblings,
    /// Repeats what a human asks for, again and again, and then does its work.
    Redirected,
    /// Claims in tags that are none.
    MalformedClaimer,
    /// Passes one story after the other while the gate stays red until the last.
    StoryByStory,
    /// Mends one error and meets the next that it hid.
    Uncoverer,
    /// Dies, but another agent can do the work.
    Rescued,
    /// Uses tokens and never tells.
    Unmetered,
    /// Says the same again and again, and then does its work.
    Chanter,
    /// Gets the same answer whatever it changes or asks, and then does its work.
    Asker,
    /// Makes the same change again and again, and then does its work.
    Inserter,
    /// Builds a guarded loop of its own beside its work.
    LoopBuilder,
}

impl Persona {
    /// Everyone.
    pub const ALL: [Self; 59] = [
        Self::Honest,
        Self::HonestWithReview,
        Self::Idle,
        Self::Chatty,
        Self::Lying,
        Self::Crashing,
        Self::IgnoringStop,
        Self::FlipFlopping,
        Self::Looping,
        Self::Silent,
        Self::Nonsense,
        Self::ToolFailer,
        Self::TokenSpender,
        Self::MoneySpender,
        Self::Limited,
        Self::LimitedBlindly,
        Self::LimitedForLong,
        Self::Unreachable,
        Self::Unauthorised,
        Self::NotStartable,
        Self::SelfStopped,
        Self::Blocker,
        Self::Decider,
        Self::SelfApprover,
        Self::StoryRemover,
        Self::Tamperer,
        Self::RedMaker,
        Self::Regressor,
        Self::Thrasher,
        Self::Improver,
        Self::Revisiter,
        Self::TaskCycler,
        Self::ContextFiller,
        Self::LargeResponder,
        Self::SlowSteady,
        Self::Sleeper,
        Self::AskingLooper,
        Self::StopsRed,
        Self::StopsUncommitted,
        Self::StopsAgain,
        Self::Undead,
        Self::Hopeless,
        Self::Trusted,
        Self::LapRunner,
        Self::OldCallShuffler,
        Self::Reapplier,
        Self::PatientPoller,
        Self::Twins,
        Self::CancelledSiblings,
        Self::Redirected,
        Self::MalformedClaimer,
        Self::StoryByStory,
        Self::Uncoverer,
        Self::Rescued,
        Self::Unmetered,
        Self::Chanter,
        Self::Asker,
        Self::Inserter,
        Self::LoopBuilder,
    ];

    /// Outcomes this character may lead to by itself, whatever the limits are. Budgets, humans and
    /// faults of flyball are judged by their own evidence.
    pub(crate) const fn outcomes(self) -> &'static [Outcome] {
        use Outcome as O;
        match self {
            Self::Honest
            | Self::HonestWithReview
            | Self::ContextFiller
            | Self::LargeResponder
            | Self::Improver
            | Self::Revisiter
            | Self::Limited
            | Self::LimitedBlindly
            | Self::PatientPoller
            | Self::Twins
            | Self::CancelledSiblings
            | Self::Redirected
            | Self::StoryByStory
            | Self::Uncoverer
            | Self::Chanter
            | Self::LoopBuilder => &[O::Complete],
            // Limits far below the defaults refuse them.
            Self::Asker | Self::Inserter => {
                &[O::Complete, O::CircuitBreaker, O::RepetitionLoop, O::Blocked]
            }
            Self::StopsUncommitted => &[O::Complete, O::QualityGateExhausted],
            // Let go in the end, some leave red tests behind.
            Self::StopsRed => &[
                O::Complete,
                O::QualityGateExhausted,
                O::CircuitBreaker,
                O::QualityRegression,
                O::Thrashing,
            ],
            Self::StopsAgain => {
                &[O::QualityGateExhausted, O::CircuitBreaker, O::QualityRegression, O::Thrashing]
            }
            Self::LimitedForLong | Self::Unreachable => &[O::UsageLimit],
            Self::Unauthorised => &[O::AgentRefused],
            Self::NotStartable => &[O::AgentNotStarted],
            Self::Idle | Self::FlipFlopping => &[O::Stuck, O::Blocked],
            Self::Chatty | Self::IgnoringStop | Self::Silent => {
                &[O::CircuitBreaker, O::Stalled, O::Blocked]
            }
            Self::Looping | Self::LapRunner => {
                &[O::CircuitBreaker, O::RepetitionLoop, O::Stalled, O::Blocked]
            }
            Self::MalformedClaimer => &[O::ValidationFailure, O::Stuck, O::Blocked],
            Self::SelfStopped | Self::AskingLooper | Self::OldCallShuffler | Self::Reapplier => {
                &[O::CircuitBreaker, O::RepetitionLoop, O::Blocked]
            }
            Self::Crashing => &[O::CircuitBreaker, O::Blocked],
            Self::Nonsense => &[O::CircuitBreaker, O::ValidationFailure, O::Blocked],
            Self::ToolFailer => &[O::CircuitBreaker, O::ConsecutiveFailures, O::Blocked],
            Self::Lying => &[O::QualityGateExhausted],
            Self::TokenSpender | Self::MoneySpender => &[O::CircuitBreaker, O::Stalled],
            Self::SlowSteady | Self::Sleeper | Self::Unmetered => &[],
            Self::Blocker | Self::TaskCycler => &[O::Blocked],
            Self::Decider => &[O::Decide],
            Self::SelfApprover | Self::StoryRemover => {
                &[O::Stuck, O::Blocked, O::QualityGateExhausted]
            }
            Self::Tamperer => &[O::Complete, O::Decide, O::QualityGateExhausted],
            Self::RedMaker | Self::Regressor | Self::Thrasher => {
                &[O::CircuitBreaker, O::QualityRegression, O::Thrashing]
            }
            Self::Undead => &[O::Fault],
            // Once a human has cleared the way it is merely idle.
            Self::Hopeless => &[O::Fault, O::Blocked, O::Decide, O::Stuck],
            Self::Trusted => &[O::CompleteUnverified],
            Self::Rescued => &[O::Complete, O::CircuitBreaker, O::Blocked],
        }
    }
}
