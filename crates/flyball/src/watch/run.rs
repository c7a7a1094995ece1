//! The second level: one run, its checks by iteration and its story.

use flyball_core::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::draw::Scene;
use super::fit::{self, Piece, put, put_pieces};
use super::state::{Pane, Typing};
use super::{iteration, list, matrix, tint};
use crate::terminal;
use crate::view::{RunView, story, words};

/// Keys of this level, the most wanted first.
const KEYS: [&str; 7] = [
    "←→ iteration",
    "↵ its guards, gates, calls",
    "e events",
    "g guards only",
    "c compare",
    "esc back",
    "q quit",
];
/// The same in fewer words.
const SHORT_KEYS: [&str; 7] =
    ["←→ iteration", "↵ open", "e events", "g guards", "c compare", "esc back", "q quit"];
/// From how many cells on the story stands beside the checks.
const WIDE: u16 = 100;
/// How wide it is there.
const STORY: u16 = 40;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, scene: &Scene<'_>, run: &RunView) {
    if area.height < 4 {
        return;
    }
    head(buffer, area, scene, run);
    let body = Rect::new(area.x, area.y + 1, area.width, area.height - 3);
    match scene.state.pane {
        Pane::Matrix => checks(buffer, body, scene, run),
        Pane::Iteration => {
            let chosen = matrix::chosen(run, scene.state.back);
            let lines = iteration::lines(run, chosen, body.width);
            scrolled(buffer, body, &lines, scene.state.scroll);
        }
        Pane::Events => {
            let lines = iteration::events(run, body.width);
            // The last one is wanted first: scrolling goes back from there.
            let last = lines.len().saturating_sub(usize::from(body.height));
            scrolled(buffer, body, &lines, last.saturating_sub(scene.state.scroll));
        }
        Pane::Compare => {
            let lines = iteration::compared(run, scene.before);
            scrolled(buffer, body, &lines, scene.state.scroll);
        }
    }
    list::notice(buffer, area, scene.state);
    if scene.state.typing == Typing::Nothing {
        fit::keys(buffer, area, if area.width < WIDE { &SHORT_KEYS } else { &KEYS });
    }
}

fn head(buffer: &mut Buffer, area: Rect, scene: &Scene<'_>, run: &RunView) {
    let row = scene.board.row(&run.run.run);
    let project = row.map(super::row::Row::project).unwrap_or_default();
    let (word, style) = match (run.outcome(), row) {
        (Some(outcome), _) => {
            let style = if outcome.is_success() { tint::good() } else { tint::bad() };
            (outcome.to_string().to_uppercase(), style)
        }
        (None, Some(row)) => (row.state().to_uppercase(), list::style_of(row.standing)),
        (None, None) => (String::new(), Style::new()),
    };
    let tally = &run.tally;
    let mut parts = Vec::new();
    if tally.stories_total > 0 {
        parts.push(format!("{}/{} stories", tally.stories_complete, tally.stories_total));
    }
    parts.push(words::counted(run.iterations.len(), "iteration"));
    if tally.cost_micro_usd > 0 {
        parts.push(words::dollars(tally.cost_micro_usd));
    }
    if tally.tokens > 0 {
        parts.push(format!("{} tokens", words::count(tally.tokens)));
    }
    parts.push(words::short_span(Millis::new(tally.runtime_ms)));
    let pieces: [Piece; 4] = [
        (format!(" {project} › "), tint::strong()),
        (run.run.run.to_string(), Style::new()),
        (format!("  {word}  "), style),
        (parts.join("  "), Style::new()),
    ];
    put_pieces(buffer, area, 0, &pieces);
}

fn checks(buffer: &mut Buffer, body: Rect, scene: &Scene<'_>, run: &RunView) {
    let told = told(run, scene);
    let is_wide = body.width >= WIDE;
    let left = if is_wide { body.width - STORY - 2 } else { body.width };
    let place = Rect::new(body.x, body.y, left, body.height);
    let used = matrix::draw(buffer, place, run, scene.state);
    let (x, top, width) = if is_wide {
        (body.x + left + 2, body.y, STORY)
    } else {
        (body.x + 1, body.y.saturating_add(used).saturating_add(1), body.width.saturating_sub(2))
    };
    let rows = told.iter().flat_map(|sentence| terminal::wrap(sentence, usize::from(width)));
    let room = usize::from(body.bottom().saturating_sub(top));
    for (y, row) in (top..).zip(rows.skip(scene.state.scroll).take(room)) {
        put(buffer, (x, y), usize::from(width), &row, Style::new());
    }
}

/// The story; for a run at work what it does comes first.
fn told(run: &RunView, scene: &Scene<'_>) -> Vec<String> {
    let row = scene.board.row(&run.run.run);
    let now = row.filter(|row| row.run.ended.is_none() || row.standing.needs_you());
    let now = now.map(|row| row.what.clone()).filter(|what| !what.is_empty());
    let sentences = story(run).into_iter().map(|sentence| sentence.text());
    now.into_iter().chain(sentences).chain(run.broken.clone()).collect()
}

/// Lines from one on, and how many there are.
fn scrolled(buffer: &mut Buffer, body: Rect, lines: &[Vec<Piece>], scroll: usize) {
    let room = usize::from(body.height);
    let first = scroll.min(lines.len().saturating_sub(room));
    for (row, pieces) in (0..).zip(lines.iter().skip(first).take(room)) {
        put_pieces(buffer, body, row, pieces);
    }
}
