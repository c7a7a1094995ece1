//! A told line on the terminal and in the log: the same word, the same colour, the same text, laid
//! out in the columns there are.

use flyball_core::IterationNo;

use super::line::{Line, Severity, Verb};
use super::words;
use crate::clock;
use crate::terminal::{self, Paint};

/// How much of a line the log shows.
const LOG_MAX: usize = 800;
/// The cells of the word, the iteration and the blanks behind them.
pub const FRONT: usize = 15;
/// The cells of a call where nobody says how wide a row is.
const CALL_CELLS: usize = 160;

/// The line as it is shown while it happens: the word, the iteration, what happened, and the time
/// where an iteration begins. In a terminal it is broken at its width, a call cut to one row.
pub fn terminal_lines(line: &Line, paint: Paint, columns: Option<usize>) -> Vec<String> {
    let begins = line.verb == Verb::Start;
    let time = match columns {
        _ if !begins => String::new(),
        Some(_) => format!(" · {}", clock::time_of_day(line.at)),
        None => format!(" · {}", clock::told(line.at)),
    };
    let text = format!("{}{time}", shown(line, paint));
    let front = if line.goes_on { " ".repeat(FRONT) } else { format!("{} ", front(line, paint)) };
    let mut out = Vec::new();
    for row in rows(line, &text, columns) {
        let front = if out.is_empty() { front.clone() } else { " ".repeat(FRONT) };
        let is_dim = matches!(line.verb, Verb::Stderr | Verb::Call) && !row.is_empty();
        let row = if is_dim { paint.dim(&row) } else { row };
        out.push(format!("{front}{row}").trim_end().to_owned());
    }
    out
}

/// The text in rows: as many as it has lines, and more where the terminal is narrow.
fn rows(line: &Line, text: &str, columns: Option<usize>) -> Vec<String> {
    let room = columns.map(|columns| columns.saturating_sub(FRONT));
    if line.verb == Verb::Call {
        return vec![terminal::cut(text, room.unwrap_or(CALL_CELLS))];
    }
    let lines = if text.is_empty() { vec![""] } else { text.lines().collect() };
    match room {
        None => lines.into_iter().map(ended).collect(),
        Some(room) => lines.iter().flat_map(|line| terminal::wrap(line, room)).collect(),
    }
}

/// A colour that was left on ends with its line.
fn ended(row: &str) -> String {
    let is_open = row.contains('\u{1b}') && !row.ends_with("\u{1b}[0m");
    if is_open { format!("{row}\u{1b}[0m") } else { row.to_owned() }
}

/// The text; an agent's own colours are taken out where colours are not wanted.
fn shown(line: &Line, paint: Paint) -> String {
    if line.is_speech() && paint.is_refused() {
        words::lines(&line.text)
    } else {
        line.text.clone()
    }
}

/// A text with a name in front, in rows of a terminal's width: what goes on stands below the text.
pub fn hanging(text: &str, indent: usize, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns.filter(|columns| terminal::width(text) > *columns) else {
        return vec![text.to_owned()];
    };
    let head: String = text.chars().take(indent).collect();
    let rest = text.get(head.len()..).unwrap_or("");
    let rows = terminal::wrap(rest, columns.saturating_sub(indent));
    let front = |at: usize| if at == 0 { head.clone() } else { " ".repeat(indent) };
    rows.iter().enumerate().map(|(at, row)| format!("{}{row}", front(at))).collect()
}

/// The line as the log shows it: when, then the same on one row, or on several where the terminal
/// is narrow. The time is left out where it is that of the line before.
pub fn log_lines(
    line: &Line,
    before: Option<&str>,
    paint: Paint,
    columns: Option<usize>,
) -> (Vec<String>, String) {
    // A terminal has no room to say the day on every row; the log says it once.
    let time = if columns.is_some() { clock::time_of_day(line.at) } else { clock::told(line.at) };
    let shown = if before == Some(time.as_str()) { "" } else { time.as_str() };
    let padded = format!("{shown:<0$}", time.len());
    let text = words::line(&line.text, LOG_MAX);
    let indent = time.len() + 2 + FRONT;
    let texts = match (columns, line.verb) {
        (None, Verb::Call) => vec![terminal::cut(&line.text, CALL_CELLS)],
        (None, _) => vec![text],
        (Some(columns), Verb::Call) => {
            vec![terminal::cut(&line.text, columns.saturating_sub(indent))]
        }
        (Some(columns), _) => terminal::wrap(&text, columns.saturating_sub(indent)),
    };
    let front = format!("{}  {} ", paint.dim(&padded), front(line, paint));
    let front = |at: usize| if at == 0 { front.clone() } else { " ".repeat(indent) };
    let rows = texts.iter().enumerate().map(|(at, row)| format!("{}{row}", front(at)));
    (rows.map(|row| row.trim_end().to_owned()).collect(), time)
}

/// The word and the iteration, in their columns.
fn front(line: &Line, paint: Paint) -> String {
    let number = match line.iteration {
        None | Some(IterationNo::BASELINE) => String::new(),
        Some(number) => format!("#{number}"),
    };
    let verb = format!("{:>8}", line.verb.as_str());
    format!("{}  {number:<4}", coloured(line, &verb, paint))
}

fn coloured(line: &Line, text: &str, paint: Paint) -> String {
    match (line.verb, line.severity) {
        (Verb::Says, _) => paint.blue(text),
        (Verb::Stderr, _) => paint.magenta(text),
        (_, Severity::Quiet) => paint.dim(text),
        (_, Severity::Plain) => text.to_owned(),
        (_, Severity::Turn) => paint.cyan(text),
        (_, Severity::Good) => paint.green(text),
        (_, Severity::Warn) => paint.yellow(text),
        (_, Severity::Bad) => paint.red(text),
    }
}
