//! A told line on the terminal and in the log: the same word, the same colour, the same text.

use flyball_core::IterationNo;

use super::line::{Line, Severity, Verb};
use super::words;
use crate::clock;
use crate::terminal::Paint;

/// How much of a line the log shows.
const LOG_MAX: usize = 800;

/// The line as a terminal shows it while it happens: the word, the iteration, what happened, and
/// the time where an iteration begins.
pub fn terminal_lines(line: &Line, paint: Paint) -> Vec<String> {
    let mut rows = line.text.lines();
    let first = rows.next().unwrap_or("");
    let begins = line.verb == Verb::Start;
    let time = if begins { format!(" · {}", clock::rfc3339(line.at)) } else { String::new() };
    let mut out = vec![format!("{} {first}{time}", front(line, paint))];
    out.extend(rows.map(|row| format!("{:>8}  {:<4} {row}", "", "")));
    out
}

/// The line as the log shows it: when, then the same on one row. The time is left out where it is
/// that of the line before.
pub fn log_line(line: &Line, before: Option<&str>, paint: Paint) -> (String, String) {
    let time = words::time(line.at);
    let shown = if before == Some(time.as_str()) { "" } else { time.as_str() };
    let padded = format!("{shown:<19}");
    let text = words::line(&line.text, LOG_MAX);
    let row = format!("{}  {} {text}", paint.dim(&padded), front(line, paint));
    (row.trim_end().to_owned(), time)
}

/// The word and the iteration, in their columns.
fn front(line: &Line, paint: Paint) -> String {
    let number = match line.iteration {
        None | Some(IterationNo::BASELINE) => String::new(),
        Some(number) => format!("#{number}"),
    };
    let verb = format!("{:>8}", line.verb.as_str());
    format!("{}  {number:<4}", coloured(line.severity, &verb, paint))
}

fn coloured(severity: Severity, text: &str, paint: Paint) -> String {
    match severity {
        Severity::Quiet => paint.dim(text),
        Severity::Plain => text.to_owned(),
        Severity::Turn => paint.cyan(text),
        Severity::Good => paint.green(text),
        Severity::Warn => paint.yellow(text),
        Severity::Bad => paint.red(text),
    }
}
