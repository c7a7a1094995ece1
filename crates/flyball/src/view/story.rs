//! A run in a few sentences: how it began, who broke and who repaired what, what was claimed, what
//! it cost, and what is left. Every number is counted from the run.

use flyball_core::{GateName, IterationNo, Outcome};
use serde::{Serialize, Serializer};

use super::iteration::IterationView;
use super::matrix::Cell;
use super::run_view::RunView;
use super::words;

/// How much of a reason is told.
const WHY_MAX: usize = 300;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The words.
    pub text: String,
    /// Whether they matter most.
    pub strong: bool,
    /// The iteration they speak of.
    pub iteration: Option<IterationNo>,
}

/// A sentence, or two that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// Its pieces, in order.
    pub spans: Vec<Span>,
}

impl Sentence {
    fn new() -> Self {
        Self::default()
    }

    fn say(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span { text: text.into(), strong: false, iteration: None });
        self
    }

    fn stress(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span { text: text.into(), strong: true, iteration: None });
        self
    }

    fn name(mut self, text: impl Into<String>, iteration: IterationNo) -> Self {
        self.spans.push(Span { text: text.into(), strong: false, iteration: Some(iteration) });
        self
    }

    /// Its words.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// The story of a run, in at most seven sentences.
pub fn story(run: &RunView) -> Vec<Sentence> {
    [beginning(run), breaking(run), claims(run), dearest(run), cost(run), flaky(run), end(run)]
        .into_iter()
        .flatten()
        .filter(|sentence| !sentence.spans.is_empty())
        .collect()
}

/// How it began, and how many iterations made it better.
fn beginning(run: &RunView) -> Option<Sentence> {
    let closed: Vec<&IterationView> = closed(run).collect();
    let moved = closed.iter().filter(|one| one.progress == Some(true)).count();
    let start = run.matrix.columns.first();
    let start = start.filter(|column| column.iteration == IterationNo::BASELINE);
    let mut sentence = match start.and_then(|column| column.failing) {
        Some(0) => Sentence::new().stress("Every check passed at the start."),
        Some(failing) => {
            let verb = checks(failing);
            Sentence::new().stress(format!("{verb} failed at the start."))
        }
        None if run.gates.is_empty() => Sentence::new().stress("No gate checked this work."),
        None if closed.is_empty() => return None,
        None => Sentence::new(),
    };
    if closed.iter().any(|one| one.progress.is_some()) {
        let gap = if sentence.spans.is_empty() { "" } else { " " };
        let noun = if closed.len() == 1 { "iteration" } else { "iterations" };
        let text = match (moved, closed.len()) {
            (0, 1) => format!("{gap}The one iteration moved nothing forward."),
            (0, count) => format!("{gap}None of {count} iterations moved it forward."),
            (1, 1) => format!("{gap}One iteration did the work."),
            (moved, count) => format!("{gap}{moved} of {count} {noun} moved it forward."),
        };
        sentence = sentence.say(text);
    }
    Some(sentence)
}

/// Who broke what had worked, and who repaired it.
fn breaking(run: &RunView) -> Option<Sentence> {
    let columns = run.matrix.columns.iter().enumerate();
    let broke: Vec<(usize, IterationNo, u64)> = columns
        .filter(|(_, column)| column.broken > 0)
        .map(|(at, column)| (at, column.iteration, column.broken))
        .collect();
    let count: u64 = broke.iter().map(|(_, _, broken)| broken).sum();
    let still = run
        .matrix
        .rows
        .iter()
        .filter(|row| row.is_open() && row.cells.contains(&Cell::Breaks))
        .count();
    match broke.as_slice() {
        [] => None,
        [(at, iteration, broken)] => {
            let sentence = Sentence::new()
                .name(format!("Iteration {iteration}"), *iteration)
                .stress(format!(" broke {}", checks(*broken)))
                .say(" that had worked; ");
            let (pronoun, are) = if *broken == 1 { ("it", "is") } else { ("them", "are") };
            Some(match (still, repairer(run, *at)) {
                (0, Some(by)) => {
                    let whose = format!("iteration {by}");
                    sentence.name(whose, by).say(format!(" repaired {pronoun}."))
                }
                (0, None) => sentence.say(format!("later iterations repaired {pronoun}.")),
                (still, _) if still as u64 == *broken => sentence.stress(format!(
                    "{} still red.",
                    if *broken == 1 { "it is" } else { "they are" }
                )),
                (still, _) => sentence.stress(format!("{still} of {pronoun} {are} still red.")),
            })
        }
        several => {
            let sentence = Sentence::new()
                .say(format!("{} iterations ", several.len()))
                .stress(format!("broke {}", checks(count)))
                .say(" that had worked; ");
            Some(if still == 0 {
                sentence.say("all were repaired.")
            } else {
                let verb = if still == 1 { "is" } else { "are" };
                sentence.stress(format!("{still} {verb} still red."))
            })
        }
    }
}

/// The one iteration that repaired all that was broken in a column; none when there were several.
fn repairer(run: &RunView, broken_in: usize) -> Option<IterationNo> {
    let mut by = None;
    for row in run.matrix.rows_in(broken_in, Cell::Breaks) {
        let after = row.cells.iter().enumerate().skip(broken_in + 1);
        let fixed = after.into_iter().find(|(_, cell)| **cell == Cell::Fixed)?.0;
        let fixed = run.matrix.columns.get(fixed)?.iteration;
        if by.is_some_and(|by| by != fixed) {
            return None;
        }
        by = Some(fixed);
    }
    by
}

/// How often the agent said it was done, and was right.
fn claims(run: &RunView) -> Option<Sentence> {
    let (said, refused) = run.completions();
    let times = |count: usize| match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    };
    let sentence = Sentence::new();
    Some(match (said, refused) {
        (0, _) => return None,
        (1, 0) => sentence.say("The agent said once that it was done."),
        (said, 0) => sentence.say(format!("The agent said {} that it was done.", times(said))),
        (1, 1) => sentence
            .say("The agent said once that it was done; ")
            .stress("it was not")
            .say(", and was told what is missing."),
        (said, refused) => {
            let not = if said == refused {
                "each time it was not".to_owned()
            } else {
                format!("{} it was not", times(refused))
            };
            sentence
                .say(format!("The agent said {} that it was done; ", times(said)))
                .stress(not)
                .say(", and was told what is missing.")
        }
    })
}

/// The dearest iteration without progress, by money or else by time.
fn dearest(run: &RunView) -> Option<Sentence> {
    let idle = || closed(run).filter(|one| one.progress == Some(false));
    let by_cost = idle().max_by_key(|one| one.cost_micro_usd).filter(|one| one.cost_micro_usd > 0);
    let longest = idle().max_by_key(|one| one.duration());
    let longest = longest.filter(|_| idle().count() > 1);
    let one = by_cost.or(longest)?;
    let (word, price) = match by_cost {
        Some(_) => ("dearest", words::dollars(one.cost_micro_usd)),
        None => ("longest", words::span(one.duration()).to_string()),
    };
    let mut parts = vec![price];
    if one.calls > 0 {
        parts.push(flyball_core::text::count(one.calls, "call"));
    }
    if one.guards_spoke() > 0 {
        let count = flyball_core::text::count(one.guards_spoke(), "word");
        parts.push(format!("{count} from the guards"));
    }
    let sentence = Sentence::new()
        .say(format!("The {word} iteration without progress was "))
        .name(one.iteration.to_string(), one.iteration)
        .say(": ")
        .stress(parts.join(", "))
        .say(".");
    Some(sentence)
}

/// What it cost, for each story, and what of it moved nothing.
fn cost(run: &RunView) -> Option<Sentence> {
    let cost = run.tally.cost_micro_usd;
    if cost == 0 {
        return None;
    }
    let mut sentence = Sentence::new().say("In all ").stress(words::dollars(cost));
    let passed = u64::from(run.stories_passed());
    if passed > 0 && run.outcome().is_some_and(Outcome::is_success) {
        let each = words::dollars(cost / passed);
        sentence = sentence.say(format!(", {each} for each verified story"));
    }
    sentence = match run.cost_without_progress() {
        Some(idle) if idle > 0 => {
            let percent = idle.min(cost).saturating_mul(100) / cost;
            sentence.say(format!("; {percent} % went into iterations that moved nothing forward"))
        }
        Some(_) | None => sentence,
    };
    Some(sentence.say("."))
}

/// What ended it and what is left; or where it stands.
fn end(run: &RunView) -> Option<Sentence> {
    let Some(ending) = &run.run.ending else {
        let one = run.iterations.last()?;
        let task = one.task.as_ref().map(|task| format!(" at {task}")).unwrap_or_default();
        let sentence = Sentence::new().say("It has not ended; the last iteration is ");
        return Some(
            sentence.name(one.iteration.to_string(), one.iteration).say(format!("{task}.")),
        );
    };
    let failing = run.failing().map_or(0, |(_, last)| last);
    if ending.outcome.is_success() && ending.left.is_empty() {
        return None;
    }
    let mut sentence = Sentence::new();
    if !ending.outcome.is_success() {
        let why = words::line(ending.why.lines().next().unwrap_or(""), WHY_MAX);
        sentence = sentence.say("It ended as ").stress(ending.outcome.as_str());
        if !why.is_empty() {
            sentence = sentence.say(format!(": {}", why.trim_end_matches('.')));
        }
        sentence = sentence.say(".");
    }
    let mut left = Vec::new();
    if failing > 0 && !ending.outcome.is_success() {
        left.push(format!("{} still failing", checks(failing)));
    }
    left.extend(
        ending
            .left
            .iter()
            .take(3)
            .map(|one| format!("{} {}", words::line(one.task.as_str(), 60), one.standing.words())),
    );
    if let Some(more) = ending.left.len().checked_sub(4) {
        left.push(format!("{} more left", more + 1));
    }
    if !left.is_empty() {
        let gap = if sentence.spans.is_empty() { "" } else { " " };
        sentence = sentence.say(format!("{gap}Left: {}.", left.join(", ")));
    }
    Some(sentence)
}

/// The checks that had both colours on one tree.
fn flaky(run: &RunView) -> Option<Sentence> {
    const NAMED: usize = 4;
    let flaky = &run.run.ending.as_ref()?.flaky;
    let one = |(gate, why): (&GateName, &String)| {
        format!("{} ({})", words::line(gate.as_str(), 60), words::line(why, 100))
    };
    let mut shown: Vec<String> = flaky.iter().take(NAMED).map(one).collect();
    if flaky.len() > NAMED {
        shown.push(format!("{} more", flaky.len() - NAMED));
    }
    (!shown.is_empty()).then(|| Sentence::new().say(format!("Flaky: {}.", shown.join(", "))))
}

fn closed(run: &RunView) -> impl Iterator<Item = &IterationView> {
    run.iterations.iter().filter(|one| one.result.is_some())
}

fn checks(count: u64) -> String {
    flyball_core::text::count(count, "check")
}
