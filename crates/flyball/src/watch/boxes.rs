//! What lies above the rest: help, an answer being written, a question before something is done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::draw::Scene;
use super::fit::{cells, put};
use super::state::Typing;
use super::tint;
use crate::terminal;

/// Every key, for people.
const HELP: [&str; 14] = [
    "j k ↑ ↓      next, previous; in a run: scroll",
    "g G          first, last; in a run: g guards only",
    "Enter        open the run; in a run: its iteration",
    "Esc          back",
    "Tab          next run that needs you",
    "/            filter; Enter keeps it, Esc clears it",
    "← →          iteration of the run",
    "e c          events; beside the run before it",
    "a            answer (Ctrl-E: in your editor)",
    "u            unblock      t  weakened tests",
    "s            stop         y  copy the resume command",
    "r            report       o  report in the browser",
    "?            this, also while filtering",
    "q            quit; runs go on",
];

pub(super) fn draw(buffer: &mut Buffer, area: Rect, scene: &Scene<'_>) {
    if scene.state.help {
        let lines: Vec<String> = HELP.iter().map(|line| (*line).to_owned()).collect();
        window(buffer, area, "keys", &lines);
        return;
    }
    match &scene.state.typing {
        Typing::Nothing | Typing::Filter => {}
        Typing::Answer { run, draft } => {
            let question = scene.board.row(run).map(|row| row.what.clone()).unwrap_or_default();
            answer(buffer, area, &question, draft);
        }
        Typing::Confirm(act) => {
            ask(buffer, area, &format!("{}  y yes · any other key no", act.question()));
        }
        Typing::Tests(run) => ask(
            buffer,
            area,
            &format!(
                "Weakened tests of {run}:  b bring them back · y accept them · any other key leaves them"
            ),
        ),
    }
}

/// A question on the last rows.
fn ask(buffer: &mut Buffer, area: Rect, text: &str) {
    let width = usize::from(area.width.saturating_sub(2));
    let lines = terminal::wrap(text, width);
    let top = area.bottom().saturating_sub(cells(lines.len()));
    for (y, line) in (top..).zip(&lines) {
        blank(buffer, Rect::new(area.x, y, area.width, 1));
        put(buffer, (area.x + 1, y), width, line, tint::needs());
    }
}

/// The question above, what is written so far below; its end is always seen.
fn answer(buffer: &mut Buffer, area: Rect, question: &str, draft: &str) {
    let width = usize::from(area.width.saturating_sub(6));
    let room = usize::from(area.height.saturating_sub(5)).max(2);
    let mut asked = terminal::wrap(question, width);
    asked.truncate((room / 2).max(1));
    let mut written: Vec<String> =
        draft.split('\n').flat_map(|line| terminal::wrap(line, width.saturating_sub(1))).collect();
    if let Some(last) = written.last_mut() {
        last.push('_');
    }
    let most = room.saturating_sub(asked.len() + 1).max(1);
    let skipped = written.len().saturating_sub(most);
    let mut lines = asked;
    lines.push(String::new());
    lines.extend(written.into_iter().skip(skipped));
    window(buffer, area, "answer: ↵ send · Ctrl-E editor · Esc leave", &lines);
}

/// A box in the middle.
fn window(buffer: &mut Buffer, area: Rect, title: &str, lines: &[String]) {
    let widest = lines.iter().map(|line| terminal::width(line)).max().unwrap_or(0);
    let width =
        widest.max(terminal::width(title) + 2).saturating_add(4).min(usize::from(area.width));
    let height = (lines.len() + 2).min(usize::from(area.height));
    let x = area.x + (area.width - cells(width)) / 2;
    let y = area.y + (area.height - cells(height)) / 2;
    blank(buffer, Rect::new(x, y, cells(width), cells(height)));
    let rule = "─".repeat(width.saturating_sub(2));
    put(buffer, (x, y), width, &format!(" {rule} "), tint::dim());
    put(buffer, (x + 2, y), width.saturating_sub(4), &format!(" {title} "), tint::strong());
    for (row, line) in (y + 1..).zip(lines.iter().take(height.saturating_sub(2))) {
        put(buffer, (x + 2, row), width.saturating_sub(4), line, Style::new());
    }
    let last = y + cells(height).saturating_sub(1);
    put(buffer, (x, last), width, &format!(" {rule} "), tint::dim());
}

fn blank(buffer: &mut Buffer, area: Rect) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}
