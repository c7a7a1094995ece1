//! One run more closely: an iteration with its guards, gates and calls, what was told, and the run
//! beside the one before it.

use flyball_core::IterationNo;
use ratatui::style::Style;

use super::fit::Piece;
use super::tint;
use crate::terminal;
use crate::view::{Cell, IterationView, Line, RunView, Severity, terminal_lines, words};

/// The cells of a title and the blanks around it.
const TITLE: usize = 11;
/// How many checks, files and commits are named.
const NAMED_MAX: usize = 20;

/// An iteration, line by line.
pub(super) fn lines(run: &RunView, number: Option<IterationNo>, width: u16) -> Vec<Vec<Piece>> {
    let room = usize::from(width).saturating_sub(TITLE);
    let Some(number) = number else { return vec![quiet("Nothing has happened yet.")] };
    let mut lines = vec![vec![(format!(" Iteration {number}"), tint::strong())]];
    if let Some(one) = run.iteration(number) {
        about(one, &mut lines);
    } else {
        lines.push(quiet("Before the run: the gates on what was there."));
    }
    checks(run, number, &mut lines);
    if let Some(one) = run.iteration(number) {
        work(one, room, &mut lines);
    }
    lines
}

fn quiet(text: &str) -> Vec<Piece> {
    vec![(format!(" {text}"), tint::dim())]
}

fn fact(title: &str, text: String) -> Vec<Piece> {
    vec![(format!(" {title:<9} "), tint::dim()), (text, Style::new())]
}

fn about(one: &IterationView, lines: &mut Vec<Vec<Piece>>) {
    let (result, _) = one.result_words();
    let task = one.task.as_ref().map(|task| format!("{} · ", words::line(task.as_str(), 40)));
    let span = words::short_span(one.duration());
    let cost = words::money(one.cost_micro_usd);
    let tokens = words::count(one.tokens);
    let head = format!("{}{result} · {span} · {cost} · {tokens} tokens", task.unwrap_or_default());
    lines.push(fact("result", head));
    for act in &one.guards {
        let told = format!(
            "{} {}: {} of {}  {}",
            act.guard.as_str(),
            act.rung.as_str(),
            act.measured,
            act.allowed,
            act.evidence
        );
        lines.push(vec![(" guard     ".to_owned(), tint::dim()), (told, tint::needs())]);
    }
    if one.guards_left_out > 0 {
        lines.push(fact("", format!("… {} more", one.guards_left_out)));
    }
    for gate in &one.gates {
        let style = if gate.red { tint::bad() } else { tint::good() };
        let span = words::short_span(gate.duration);
        let told = format!("{} {} · {span}", gate.gate, gate.status);
        lines.push(vec![(" gate      ".to_owned(), tint::dim()), (told, style)]);
    }
}

fn checks(run: &RunView, number: IterationNo, lines: &mut Vec<Vec<Piece>>) {
    let Some(column) = run.matrix.column(number) else { return };
    for (wanted, title, style) in [
        (Cell::Breaks, "broke", tint::bad()),
        (Cell::Fixed, "fixed", tint::good()),
        (Cell::Fails, "fails", tint::bad()),
    ] {
        for row in run.matrix.rows_in(column, wanted).take(NAMED_MAX) {
            let place = row.place.as_ref().map(|place| format!("  {place}")).unwrap_or_default();
            lines.push(vec![
                (format!(" {title:<9} "), tint::dim()),
                (row.name.clone(), style),
                (format!("{place}  {}", row.message), Style::new()),
            ]);
        }
    }
}

fn work(one: &IterationView, room: usize, lines: &mut Vec<Vec<Piece>>) {
    let tools: Vec<String> =
        one.tools.iter().take(NAMED_MAX).map(|(tool, count)| format!("{tool} {count}")).collect();
    if !tools.is_empty() {
        lines.push(fact("calls", tools.join(" · ")));
    }
    if let Some(fill) = one.context_permille {
        lines.push(fact("context", format!("{} % full at most", fill / 10)));
    }
    for commit in one.commits.iter().take(NAMED_MAX) {
        lines.push(fact("commit", format!("{} {}", commit.hash, commit.subject)));
    }
    if !one.changed.is_empty() {
        let shown: Vec<&str> = one.changed.iter().take(NAMED_MAX).map(String::as_str).collect();
        lines.push(fact("files", shown.join(", ")));
    }
    for finding in &one.tamper {
        lines.push(vec![(" weakened  ".to_owned(), tint::dim()), (finding.clone(), tint::needs())]);
    }
    for (title, text) in [("said", &one.last_words), ("briefing", &one.briefing)] {
        let rows = text.lines().flat_map(|line| terminal::wrap(line, room));
        for (place, row) in rows.enumerate() {
            lines.push(fact(if place == 0 { title } else { "" }, row));
        }
    }
}

/// What was told of the run.
pub(super) fn events(run: &RunView, width: u16) -> Vec<Vec<Piece>> {
    let mut lines = Vec::new();
    let columns = Some(usize::from(width.saturating_sub(1)));
    for line in &run.lines {
        let style = style_of(line);
        for row in terminal_lines(line, terminal::Paint::REFUSED, columns) {
            lines.push(vec![(format!(" {row}"), style)]);
        }
    }
    if run.lines_left_out > 0 {
        let left = format!("{} lines in between: flyball log {}", run.lines_left_out, run.run.run);
        lines.insert(0, quiet(&left));
    }
    lines
}

const fn style_of(line: &Line) -> Style {
    match line.severity {
        Severity::Quiet => Style::new().add_modifier(ratatui::style::Modifier::DIM),
        Severity::Plain => Style::new(),
        Severity::Turn => Style::new().add_modifier(ratatui::style::Modifier::BOLD),
        Severity::Good => Style::new().fg(ratatui::style::Color::Green),
        Severity::Warn => Style::new().fg(ratatui::style::Color::Yellow),
        Severity::Bad => Style::new().fg(ratatui::style::Color::Red),
    }
}

/// One thing two runs are compared by.
type Fact = fn(&RunView) -> String;

/// The run beside the one before it in the same repository.
pub(super) fn compared(run: &RunView, before: Option<&RunView>) -> Vec<Vec<Piece>> {
    let Some(before) = before else {
        return vec![quiet("There is no earlier run of this repository to compare with.")];
    };
    let mut lines = vec![vec![
        (format!(" {:<12} ", ""), Style::new()),
        (format!("{:<26} ", before.run.run.as_str()), tint::strong()),
        (run.run.run.to_string(), tint::strong()),
    ]];
    let facts: [(&str, Fact); 7] = [
        ("outcome", |run| {
            run.outcome().map_or_else(|| "at work".to_owned(), |one| one.to_string())
        }),
        ("iterations", |run| run.iterations.len().to_string()),
        ("stories", |run| words::share(run.tally.stories_complete, run.tally.stories_total)),
        ("failing", |run| {
            run.failing()
                .map_or_else(|| "-".to_owned(), |(first, last)| format!("{first} → {last}"))
        }),
        ("cost", |run| words::money(run.tally.cost_micro_usd)),
        ("idle cost", |run| {
            run.cost_without_progress().map_or_else(|| "-".to_owned(), words::money)
        }),
        ("guards", |run| run.guards_spoke().to_string()),
    ];
    for (title, of) in facts {
        lines.push(vec![
            (format!(" {title:<12} "), tint::dim()),
            (format!("{:<26} ", of(before)), Style::new()),
            (of(run), Style::new()),
        ]);
    }
    lines.push(Vec::new());
    lines.push(quiet("failing checks after each iteration"));
    let most = run.matrix.columns.len().max(before.matrix.columns.len());
    for place in 0..most {
        let at = |run: &RunView| {
            let column = run.matrix.columns.get(place);
            column.map(|column| column.failing.map_or_else(|| "?".to_owned(), |n| n.to_string()))
        };
        let (one, other) = (at(before), at(run));
        let is_apart = one.is_some() && other.is_some() && one != other;
        let style = if is_apart { tint::needs() } else { Style::new() };
        lines.push(vec![
            (format!(" {place:<12} "), tint::dim()),
            (format!("{:<26} ", one.unwrap_or_default()), Style::new()),
            (other.unwrap_or_default(), style),
        ]);
    }
    lines
}
