//! What is known of one session, and of the transcript it stands in.

use std::path::PathBuf;

use flyball_core::Moment;
use flyball_core::guard::Rung;
use flyball_core::hindsight::{Cost, Judged};
use serde::{Deserialize, Serialize};

/// A session, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    /// The client's own name for it.
    pub id: String,
    /// The client, or the name of a format that is nobody's own.
    pub agent: String,
    /// The session that started it, where it is a sub-agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The folder it worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The model that used most tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it began and ended, where the transcript tells times.
    pub began: Option<Moment>,
    /// When it ended.
    pub ended: Option<Moment>,
    /// What a human said first.
    #[serde(default)]
    pub title: String,
    /// What came of it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Where it was published, for recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What guards would have said.
    pub judged: Judged,
    /// Model calls that have a name: sessions that were copied share them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub model_calls: Vec<ModelCall>,
    /// Steps that stand in another session already, and count there.
    #[serde(skip)]
    pub copied: u64,
}

/// A model call with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "[u64; 7]", from = "[u64; 7]")]
pub struct ModelCall {
    /// Its identity.
    pub key: u64,
    /// Steps before it.
    pub step: u64,
    /// What it used, with the calls it made.
    pub cost: Cost,
}

impl From<ModelCall> for [u64; 7] {
    fn from(call: ModelCall) -> Self {
        let ModelCall { key, step, cost } = call;
        [
            key,
            step,
            cost.calls,
            cost.input_tokens,
            cost.output_tokens,
            cost.micro_usd,
            cost.unpriced_tokens,
        ]
    }
}

impl From<[u64; 7]> for ModelCall {
    fn from(numbers: [u64; 7]) -> Self {
        let [key, step, calls, input_tokens, output_tokens, micro_usd, unpriced_tokens] = numbers;
        let cost = Cost { calls, input_tokens, output_tokens, micro_usd, unpriced_tokens };
        Self { key, step, cost }
    }
}

impl SessionReport {
    /// The highest rung that would have been reached.
    pub fn highest(&self) -> Rung {
        let firsts = self.judged.firsts;
        match (firsts.nudge, firsts.refuse, firsts.halt) {
            (_, _, Some(_)) => Rung::Halt,
            (_, Some(_), None) => Rung::Refuse,
            (Some(_), None, None) => Rung::Nudge,
            (None, None, None) => Rung::Pass,
        }
    }

    /// What was spent after the first word of a guard, at most.
    pub fn waste(&self) -> Cost {
        self.judged.waste.first().copied().unwrap_or_default()
    }
}

/// A transcript that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Where it is.
    pub path: PathBuf,
    /// How it is written, for people.
    pub format: String,
    /// Its size when it was read.
    pub size: u64,
    /// When it had been written to.
    pub modified: Moment,
    /// How far it was read.
    pub offset: u64,
    /// The sessions in it.
    pub sessions: Vec<SessionReport>,
    /// Records that could not be read.
    pub unread: u64,
    /// The first of them: which, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unread: Option<(u64, String)>,
}
