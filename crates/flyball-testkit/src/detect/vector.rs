//! Cases other detectors are tested with: what the ring says of each, beside what would be right.

use std::fmt;

use flyball_core::call::{
    CallGuard, Chant, ToolCall, ToolOutcome, ToolResult, fingerprint_words, mutates,
};
use flyball_core::guard::Rung;
use flyball_core::{CallId, Moment, Policy, RoundId, SubAgent};
use serde::Deserialize;
use serde_json::Value;

/// One case.
#[derive(Clone, Debug, Deserialize)]
struct Vector {
    id: String,
    #[serde(default)]
    system: String,
    sequence: Vec<Happening>,
    ideal: Ideal,
}

/// What would be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ideal {
    MustAlarm,
    Silent,
    NoHard,
    Either,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Happening {
    tool: Option<String>,
    args: Value,
    result: Option<Value>,
    error: bool,
    denied: bool,
    exit_code: Option<i64>,
    round: Option<Value>,
    event: Option<String>,
    text: Option<String>,
    role: Option<String>,
    channel: Option<String>,
}

/// A case the ring does not judge as would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Which.
    pub id: String,
    /// What would be right, and what was said.
    pub what: String,
    /// Why.
    pub why: &'static str,
}

/// How the cases went.
#[derive(Clone, Debug, Default)]
pub struct VectorReport {
    /// Cases in all.
    pub cases: usize,
    /// Those that went wrong.
    pub misses: Vec<Miss>,
}

impl fmt::Display for VectorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let right = self.cases - self.misses.len();
        writeln!(f, "{right} of {} as would be right", self.cases)?;
        for miss in &self.misses {
            writeln!(f, "  {:10} {}; {}", miss.id, miss.what, miss.why)?;
        }
        Ok(())
    }
}

/// Plays every case, one JSON object per line.
pub fn play_vectors(text: &str) -> Result<VectorReport, serde_json::Error> {
    let mut report = VectorReport::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let vector: Vector = serde_json::from_str(line)?;
        report.cases += 1;
        report.misses.extend(miss(&vector));
    }
    Ok(report)
}

fn miss(vector: &Vector) -> Option<Miss> {
    let said = play(vector, Missing::Constant);
    let is_right = match vector.ideal {
        Ideal::MustAlarm => said >= Rung::Nudge,
        Ideal::Silent => said == Rung::Pass,
        Ideal::NoHard => said <= Rung::Nudge,
        Ideal::Either => true,
    };
    // Where results were not recorded and each is new, nothing may be stopped.
    let is_open = vector.sequence.iter().any(|it| it.tool.is_some() && it.result.is_none());
    let unique = if is_open { play(vector, Missing::Unique) } else { Rung::Pass };
    let what = if !is_right {
        format!("{:?} expected, {said:?} said", vector.ideal)
    } else if unique > Rung::Nudge {
        format!("{unique:?} although every result is new")
    } else {
        return None;
    };
    let known = REASONS.iter().find(|(id, _)| *id == vector.id);
    let why = known.map_or("by the weights and limits of A2 and A3", |(_, why)| why);
    Some(Miss { id: vector.id.clone(), what, why })
}

/// Why the ring judges otherwise in the cases that are known.
const REASONS: [(&str, &str); 8] = [
    ("bu-01", "a question in another order of words is another call (A1)"),
    ("gem-12", "identical calls are refused beyond 25, whatever they bring (A2)"),
    ("ocw-03", "identical calls are refused beyond 25, whatever they bring (A2)"),
    ("ohv0-12", "how often a client condenses its context is told by no stream"),
    ("qwen-04", "one answer to six questions is worth a word, whatever was asked (A3)"),
    ("roo-06", "identical calls are refused beyond 25, whatever they bring (A2)"),
    ("ste-06", "a read and a refused edit, three times each, are worth a word (A3)"),
    ("ste-12", "a lap of more than the 64 pairs that are remembered (A3)"),
];

/// What stands for results that were not recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Constant,
    Unique,
}

/// Systems whose cases tell a turn in the pieces in which it was streamed.
const STREAMED: [&str; 2] = ["gemini-cli", "qwen-code"];

/// The highest rung reached.
fn play(vector: &Vector, missing: Missing) -> Rung {
    let mut guard = CallGuard::new(Policy::default().calls.clone(), Moment::default);
    let is_streamed = STREAMED.contains(&vector.system.as_str());
    let mut highest = Rung::Pass;
    let mut number = 0;
    let mut rest = vector.sequence.as_slice();
    while let Some(first) = rest.first() {
        let belongs = |other: &&Happening| match (&first.tool, &other.tool) {
            (Some(_), Some(_)) => first.round.is_some() && other.round == first.round,
            (None, None) => is_streamed && first.is_piece() && other.is_piece(),
            _ => false,
        };
        let length = rest.iter().take_while(belongs).count().max(1);
        let (round, later) = rest.split_at(length);
        rest = later;
        if first.tool.is_none() {
            highest = highest.max(hear(&mut guard, first, round));
            continue;
        }
        let calls: Vec<(ToolCall, &Happening)> =
            (number..).zip(round).map(|(at, it)| (call(&guard, it, at), it)).collect();
        let mut running = Vec::new();
        for (call, it) in calls {
            let verdict = guard.before(&call);
            highest = highest.max(verdict.rung());
            running.extend(verdict.may_run().then_some((call, it)));
        }
        number += length;
        for (at, (call, it)) in (number..).zip(running) {
            let result = result(call.id, it, at, missing);
            highest = highest.max(guard.after(&result).rung());
        }
    }
    highest
}

impl Happening {
    /// Whether it is a piece of what the model says.
    fn is_piece(&self) -> bool {
        self.text.is_some()
            && self.role.as_deref() != Some("user")
            && self.channel.as_deref() == Some("content")
    }
}

/// Words of the model or of a human, or an event of the client.
fn hear<C: FnMut() -> Moment>(
    guard: &mut CallGuard<C>,
    first: &Happening,
    pieces: &[Happening],
) -> Rung {
    let is_new = matches!(first.event.as_deref(), Some("new_prompt" | "new_run" | "rewind"));
    if is_new || first.role.as_deref() == Some("user") {
        guard.human();
        return Rung::Pass;
    }
    if first.text.is_none() {
        return Rung::Pass;
    }
    let words: String = pieces.iter().filter_map(|it| it.text.as_deref()).collect();
    let chant = Chant::at_end_of(&words);
    let chanted = chant.map_or(Rung::Pass, |chant| guard.chanted(&chant).rung());
    chanted.max(guard.only_spoke(&SubAgent::default(), fingerprint_words(&words)).rung())
}

fn call<C: FnMut() -> Moment>(guard: &CallGuard<C>, it: &Happening, number: usize) -> ToolCall {
    let tool = it.tool.as_deref().unwrap_or("");
    let line = it.args.get("command").and_then(Value::as_str);
    let writes = ["edit", "write", "insert", "patch", "replace", "create"];
    let mutating = line.is_some_and(mutates) || writes.iter().any(|word| tool.contains(word));
    let round = it.round.as_ref().map_or_else(|| format!("alone {number}"), ToString::to_string);
    let id = CallId::new(number.to_string());
    let mut call = guard.call(id, tool, &it.args).in_round(RoundId::new(round));
    call.mutating = mutating;
    call
}

fn result(id: CallId, it: &Happening, number: usize, missing: Missing) -> ToolResult {
    let outcome = match (it.denied, it.error, it.exit_code) {
        (true, ..) => ToolOutcome::Refused,
        (_, _, Some(code)) if code != 0 => ToolOutcome::Exit,
        (_, true, _) => ToolOutcome::Tool,
        _ => ToolOutcome::Ok,
    };
    let text = match (&it.result, missing) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(other), _) => other.to_string(),
        (None, Missing::Constant) => String::from("the same informative result"),
        (None, Missing::Unique) => format!("an informative result, number {number}"),
    };
    ToolResult::new(id, outcome, &text)
}
