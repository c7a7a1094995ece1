//! One session, told in a terminal step by step.

use flyball_core::guard::Rung;

use super::words;
use crate::clock;
use crate::inspect::{
    Detail, FOOTER, Folded, Shown, SpokenLine, StepShown, curve, fold, money, range, tokens,
};
use crate::terminal::{self, Paint};

/// The width of text that no terminal shows.
const WIDTH: usize = 80;
/// The widest curve.
const CURVE_MAX: usize = 100;
/// Folded lines that are shown.
const LINES_MAX: usize = 2_000;
/// Characters of what a guard would have said.
const SAID_MAX: usize = 600;

/// The whole text.
pub(super) fn text(detail: &Detail, path: &str, columns: Option<usize>, paint: Paint) -> String {
    let wide = columns.unwrap_or(WIDTH);
    let mut out = top(detail, path, paint);
    let evidence = detail.curve();
    let highest = evidence.iter().copied().max().unwrap_or(0);
    let cells = wide.saturating_sub(2).min(CURVE_MAX);
    out = format!(
        "{out}\nEvidence of going nowhere, at most {highest} of 40 (nudge 10, refuse 14, halt 20)\n  {}\n\n",
        curve(&evidence, cells)
    );
    let folded = fold(&detail.lines);
    let width = digits(detail.session.judged.steps);
    for one in folded.iter().take(LINES_MAX) {
        out.push_str(&line(*one, width, wide, paint));
    }
    let more = folded.len().saturating_sub(LINES_MAX) as u64 + detail.left_out;
    if more > 0 {
        out = format!("{out}  and {more} more; `--json` has them\n");
    }
    out.push('\n');
    for words in FOOTER {
        for row in terminal::wrap(words, wide) {
            out.push_str(&paint.dim(&row));
            out.push('\n');
        }
    }
    out
}

fn digits(number: u64) -> usize {
    number.to_string().len()
}

fn top(detail: &Detail, path: &str, paint: Paint) -> String {
    let (session, judged) = (&detail.session, &detail.session.judged);
    let mut lines = vec![format!("Session {} of {}", paint.cyan(&session.id), session.agent)];
    if !session.title.is_empty() {
        lines.push(words::line(&session.title, 160));
    }
    lines.push(paint.dim(path));
    let mut facts = Vec::new();
    if let (Some(began), Some(ended)) = (session.began, session.ended) {
        let took = words::short_span(ended.since(began));
        facts.push(format!("{} for {took}", clock::told(began)));
    }
    facts.extend(session.model.clone());
    facts.push(words::counted(usize::try_from(judged.calls).unwrap_or(usize::MAX), "call"));
    if judged.spent.tokens() > 0 {
        facts.push(format!("{} tokens", tokens(&judged.spent)));
    }
    if judged.spent.known_micro_usd().is_some() {
        facts.push(money(&judged.spent));
    }
    lines.push(facts.join(" · "));
    // A higher rung reaches the lower ones; told is what would have been said.
    let firsts = judged.firsts.as_array().into_iter().zip(judged.said);
    let said: Vec<String> = ["nudged", "refused", "halted"]
        .iter()
        .zip(firsts)
        .filter(|(_, (_, times))| *times > 0)
        .filter_map(|(word, (step, _))| Some(format!("{word} at step {}", step? + 1)))
        .collect();
    if said.is_empty() {
        lines.push(paint.green("No guard would have spoken"));
    } else {
        let [nudge, _, halt] = &judged.waste;
        lines.push(format!("Guards would have {}", said.join(", ")));
        lines.push(format!("{} {}", paint.yellow("Waste"), range(halt, nudge)));
    }
    if judged.dead_tail > 0 {
        lines.push(format!("Dead tail: the last {} steps", judged.dead_tail));
    }
    lines.join("\n") + "\n"
}

fn line(folded: Folded<'_>, width: usize, wide: usize, paint: Paint) -> String {
    let steps: Vec<&StepShown> = folded.lines.iter().filter_map(Shown::as_step).collect();
    let first = steps.first().map(|step| step.step.to_string()).unwrap_or_default();
    let laps: Vec<String> = folded.first().iter().map(|shown| told(shown, paint)).collect();
    let what = laps.join(" → ");
    let what = match folded.times() {
        1 => what,
        times if folded.lap == 1 => format!("{times} × {what}, same answer"),
        times => format!("{times} × ({what}), same answers"),
    };
    let head = terminal::cut(&format!("  {first:>width$}  {what}"), wide.max(20));
    let mut out = format!("{head}\n");
    for step in steps {
        for said in &step.said {
            out.push_str(&spoken(step.step, said, width, wide, paint));
        }
    }
    out
}

fn told(shown: &Shown, paint: Paint) -> String {
    match shown {
        Shown::Human { words, .. } => format!("{} {words}", paint.blue("human:")),
        Shown::Compacted { .. } => paint.dim("the context was condensed"),
        Shown::Step(step) => {
            let who = match step.agent.as_str() {
                "" => String::new(),
                name => format!("{} ", paint.dim(&words::line(name, 20))),
            };
            let how =
                step.outcome_word().map(|word| format!(" {}", paint.dim(&format!("({word})"))));
            format!("{who}{}{}", step.words, how.unwrap_or_default())
        }
    }
}

/// What a guard would have said, below the step it would have said it at.
fn spoken(step: u64, said: &SpokenLine, width: usize, wide: usize, paint: Paint) -> String {
    let rung = match said.rung {
        Rung::Halt => paint.red("halt"),
        Rung::Refuse => paint.yellow("refuse"),
        Rung::Pass | Rung::Nudge | Rung::Redirect | Rung::Ask => paint.yellow("nudge"),
    };
    let indent = " ".repeat(width + 4);
    let head = format!("{indent}▲ {rung} at step {step}\n");
    let message = words::line(&said.message, SAID_MAX);
    let room = wide.saturating_sub(width + 6).max(20);
    let rows = terminal::wrap(&message, room);
    let rows: Vec<String> = rows.iter().map(|row| format!("{indent}  {row}\n")).collect();
    format!("{head}{}", rows.concat())
}
