//! One told line: who speaks, when, in which iteration, how grave, and in which words.

use flyball_core::guard::Rung;
use flyball_core::{IterationNo, Moment};
use serde::Serialize;

use super::words;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The agent, or its client.
    Agent,
    /// A guard.
    Guard,
    /// A gate.
    Gate,
    /// flyball itself.
    Flyball,
    /// A human.
    Human,
}

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It matters less.
    Quiet,
    /// It is said.
    Plain,
    /// A part of the story begins or goes on.
    Turn,
    /// It went well.
    Good,
    /// Somebody should look.
    Warn,
    /// It did not go well.
    Bad,
}

/// Who wants to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Whoever wants to know what happened.
    Story,
    /// Whoever watches the agent at work.
    Call,
    /// Whoever looks at one iteration closely.
    Detail,
}

/// What sort of thing is told, in one word. The terminal and the log print the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// A run begins.
    Run,
    /// A remark.
    Note,
    /// A run goes on.
    Resume,
    /// An iteration begins.
    Start,
    /// The agent speaks.
    Says,
    /// The agent's program prints on standard error.
    Stderr,
    /// A tool is called.
    Call,
    /// A tool answered.
    Result,
    /// Something was malformed.
    Invalid,
    /// Tokens or money were used.
    Spend,
    /// The context window fills up.
    Context,
    /// The agent asks at the session's door.
    Door,
    /// The agent claims something of itself.
    Claim,
    /// The agent reports an attempt through a tool.
    Report,
    /// The agent's program: how it began, failed or ended.
    Agent,
    /// A gate's word.
    Gate,
    /// The run begins with red gates.
    Red,
    /// Tests or gates were weakened.
    Tamper,
    /// A guard advises.
    Nudge,
    /// A guard refuses.
    Refuse,
    /// A guard leads elsewhere.
    Redirect,
    /// A human is asked.
    Ask,
    /// A guard ends a session or the run.
    Halt,
    /// A guard found something, and nobody listens yet.
    Notice,
    /// An illegal change of the task list was undone.
    Undo,
    /// The run waits.
    Wait,
    /// Another agent goes on.
    Switch,
    /// Another agent takes one iteration.
    Rescue,
    /// A task is left.
    Leave,
    /// A human's answer is handed on.
    Answer,
    /// A human says something in between.
    Tell,
    /// A human changes limits.
    Limits,
    /// Something is stopped.
    Stop,
    /// flyball could not do what it should.
    Fault,
    /// A commit was made.
    Commit,
    /// Files were changed.
    Changed,
    /// An iteration is over.
    Done,
    /// The run is over.
    End,
    /// Another guard would have ended it too.
    Also,
    /// A task was left behind.
    Left,
    /// What helps now.
    Next,
}

impl Verb {
    /// The word, as it is printed; at most eight letters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "RUN",
            Self::Note => "NOTE",
            Self::Resume => "RESUME",
            Self::Start => "START",
            Self::Says => "SAYS",
            Self::Stderr => "STDERR",
            Self::Call => "CALL",
            Self::Result => "RESULT",
            Self::Invalid => "INVALID",
            Self::Spend => "SPEND",
            Self::Context => "CONTEXT",
            Self::Door => "DOOR",
            Self::Claim => "CLAIM",
            Self::Report => "REPORT",
            Self::Agent => "AGENT",
            Self::Gate => "GATE",
            Self::Red => "RED",
            Self::Tamper => "TAMPER",
            Self::Nudge => "NUDGE",
            Self::Refuse => "REFUSE",
            Self::Redirect => "REDIRECT",
            Self::Ask => "ASK",
            Self::Halt => "HALT",
            Self::Notice => "NOTICE",
            Self::Undo => "UNDO",
            Self::Wait => "WAIT",
            Self::Switch => "SWITCH",
            Self::Rescue => "RESCUE",
            Self::Leave => "LEAVE",
            Self::Answer => "ANSWER",
            Self::Tell => "TELL",
            Self::Limits => "LIMITS",
            Self::Stop => "STOP",
            Self::Fault => "FAULT",
            Self::Commit => "COMMIT",
            Self::Changed => "CHANGED",
            Self::Done => "DONE",
            Self::End => "END",
            Self::Also => "ALSO",
            Self::Left => "LEFT",
            Self::Next => "NEXT",
        }
    }

    /// What a guard does on this rung; nothing where it lets pass.
    pub const fn of_rung(rung: Rung) -> Option<Self> {
        match rung {
            Rung::Pass => None,
            Rung::Nudge => Some(Self::Nudge),
            Rung::Refuse => Some(Self::Refuse),
            Rung::Redirect => Some(Self::Redirect),
            Rung::Ask => Some(Self::Ask),
            Rung::Halt => Some(Self::Halt),
        }
    }

    /// Who says such a thing.
    const fn speaker(self) -> Speaker {
        match self {
            Self::Says
            | Self::Stderr
            | Self::Call
            | Self::Result
            | Self::Invalid
            | Self::Spend
            | Self::Context
            | Self::Door
            | Self::Claim
            | Self::Report
            | Self::Agent
            | Self::Commit
            | Self::Changed => Speaker::Agent,
            Self::Gate | Self::Red | Self::Tamper => Speaker::Gate,
            Self::Nudge
            | Self::Refuse
            | Self::Redirect
            | Self::Ask
            | Self::Halt
            | Self::Notice
            | Self::Undo
            | Self::Also => Speaker::Guard,
            Self::Answer | Self::Tell | Self::Limits => Speaker::Human,
            Self::Run
            | Self::Note
            | Self::Resume
            | Self::Start
            | Self::Wait
            | Self::Switch
            | Self::Rescue
            | Self::Leave
            | Self::Stop
            | Self::Fault
            | Self::Done
            | Self::End
            | Self::Left
            | Self::Next => Speaker::Flyball,
        }
    }
}

/// One told line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// When.
    pub at: Moment,
    /// In which iteration; none outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<IterationNo>,
    /// Who speaks.
    pub speaker: Speaker,
    /// What sort of thing.
    pub verb: Verb,
    /// How grave.
    pub severity: Severity,
    /// Who wants to read it.
    #[serde(skip)]
    pub weight: Weight,
    /// The thing, without control characters; may have several lines. What an agent says keeps its
    /// colours, and nothing else that a terminal would obey.
    pub text: String,
    /// Whether it only goes on with what the line before began.
    #[serde(skip)]
    pub goes_on: bool,
}

impl Line {
    /// A line of the story, outside of an iteration, said by whoever says such things.
    pub fn new(at: Moment, verb: Verb, severity: Severity, text: impl AsRef<str>) -> Self {
        let text = words::lines(text.as_ref().trim());
        let speaker = verb.speaker();
        let (weight, goes_on) = (Weight::Story, false);
        Self { at, iteration: None, speaker, verb, severity, weight, text, goes_on }
    }

    /// A line of what an agent says, made safe for a terminal already.
    #[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
    pub(super) fn spoken(
        at: Moment,
        verb: Verb,
        severity: Severity,
        safe: String,
        goes_on: bool,
    ) -> Self {
        Self { text: safe, goes_on, ..Self::new(at, verb, severity, "") }
    }

    /// Whether it is the agent's own voice, as it comes.
    pub fn is_speech(&self) -> bool {
        matches!(self.verb, Verb::Says | Verb::Stderr)
    }

    /// The same, of an iteration.
    #[must_use]
    pub fn of(mut self, iteration: impl Into<Option<IterationNo>>) -> Self {
        self.iteration = iteration.into();
        self
    }

    /// The same, said by somebody else.
    #[must_use]
    pub fn said_by(mut self, speaker: Speaker) -> Self {
        self.speaker = speaker;
        self
    }

    /// The same, for other readers.
    #[must_use]
    pub fn for_readers_of(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }
}
