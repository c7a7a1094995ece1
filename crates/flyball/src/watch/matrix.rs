//! Checks by iteration, with lanes for guards, claims and cost on the same axis.

use flyball_core::guard::Rung;
use flyball_core::{IterationNo, Millis};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::fit::{self, Piece, cells, put, put_pieces};
use super::state::State;
use super::tint;
use crate::terminal;
use crate::view::{Cell, CheckRow, ClaimVerdict, IterationView, RunView, words};

/// The cells of one iteration.
const COLUMN: usize = 3;
/// Lanes below the checks.
const LANES: u16 = 3;

/// The iteration that is chosen, counted back from the latest.
pub(super) fn chosen(run: &RunView, back: usize) -> Option<IterationNo> {
    let last = run.matrix.columns.len().checked_sub(1)?;
    run.matrix.columns.get(last.saturating_sub(back)).map(|column| column.iteration)
}

/// Draws it; how many rows it took.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, run: &RunView, state: &State) -> u16 {
    let name = name_width(run, area.width);
    let room = usize::from(area.width).saturating_sub(name + 2) / COLUMN;
    let axis = Axis::of(run, state.back, room.max(1));
    if state.guards_only {
        return guards(buffer, area, run, state.scroll);
    }
    let grid = Grid { name, axis, x: area.x + 1 };
    let is_chosen = chosen(run, state.back);
    put(buffer, (grid.x, area.y), name, "check", tint::dim());
    for (place, number) in grid.axis.shown(run) {
        let style = if Some(number) == is_chosen { tint::chosen() } else { tint::dim() };
        grid.put(buffer, (place, area.y), &number.to_string(), style);
    }
    let fates = run.matrix.fates();
    let most = usize::from(area.height.saturating_sub(LANES + 2)).min(40);
    let mut y = area.y + 1;
    let is_cut = fates.len() > most;
    let kept = if is_cut { most.saturating_sub(1) } else { most };
    for fate in fates.iter().take(kept) {
        grid.fate(buffer, y, fate);
        y += 1;
    }
    if is_cut {
        let more = format!("… {} more", fates.len() - kept);
        put(buffer, (grid.x, y), name, &more, tint::dim());
        y += 1;
    }
    if fates.is_empty() {
        put(buffer, (grid.x, y), name, "(none has failed)", tint::dim());
        y += 1;
    }
    for (title, lane) in
        [("guards", Lane::Guards), ("says done", Lane::Claims), ("cost", Lane::Cost)]
    {
        put(buffer, (grid.x, y), name, title, tint::dim());
        for (place, number) in grid.axis.shown(run) {
            if let Some(one) = run.iteration(number) {
                let (text, style) = lane.cell(one, run);
                grid.put(buffer, (place, y), &text, style);
            }
        }
        y += 1;
    }
    y.saturating_sub(area.y)
}

/// As wide as the longest name, where the iterations leave room for it.
fn name_width(run: &RunView, width: u16) -> usize {
    let fates = run.matrix.fates();
    let firsts = fates.iter().filter_map(|fate| fate.first());
    let longest = firsts.map(|row| terminal::width(&row.name) + 4).max().unwrap_or(0);
    let least = usize::from(width / 3).clamp(12, 34);
    let free = usize::from(width).saturating_sub(run.matrix.columns.len() * COLUMN + 2);
    longest.clamp(17, free.max(least).max(17))
}

/// Which iterations there is room for: the latest, or those around the chosen one.
struct Axis {
    first: usize,
    count: usize,
}

impl Axis {
    fn of(run: &RunView, back: usize, room: usize) -> Self {
        let all = run.matrix.columns.len();
        let chosen = all.saturating_sub(1).saturating_sub(back);
        let first = all.saturating_sub(room).min(chosen);
        Self { first, count: room.min(all.saturating_sub(first)) }
    }

    fn shown<'r>(&self, run: &'r RunView) -> impl Iterator<Item = (usize, IterationNo)> + use<'r> {
        let columns = run.matrix.columns.iter().skip(self.first).take(self.count);
        columns.enumerate().map(|(place, column)| (place, column.iteration))
    }
}

struct Grid {
    name: usize,
    axis: Axis,
    x: u16,
}

impl Grid {
    fn put(&self, buffer: &mut Buffer, (place, y): (usize, u16), text: &str, style: Style) {
        let x = self.x + cells(self.name + 1 + place * COLUMN);
        put(buffer, (x, y), COLUMN, text, style);
    }

    fn fate(&self, buffer: &mut Buffer, y: u16, fate: &[&CheckRow]) {
        let Some(first) = fate.first() else { return };
        let more = fate.len() - 1;
        let alike = if more > 0 { format!(" +{more}") } else { String::new() };
        let room = self.name.saturating_sub(alike.len() + 1);
        let name = format!("{}{alike}", fit::end(&first.name, room));
        put(buffer, (self.x, y), self.name, &name, Style::new());
        for (place, cell) in
            first.cells.iter().skip(self.axis.first).take(self.axis.count).enumerate()
        {
            let (glyph, style) = glyph(*cell);
            self.put(buffer, (place, y), glyph, style);
        }
    }
}

fn glyph(cell: Cell) -> (&'static str, Style) {
    match cell {
        Cell::Unknown => (" ", Style::new()),
        Cell::Passes => ("·", tint::dim()),
        Cell::Fails => ("■", tint::bad()),
        Cell::Breaks => ("!", tint::bad()),
        Cell::Fixed => ("✓", tint::good()),
    }
}

/// What else is told of an iteration on the same axis.
#[derive(Clone, Copy)]
enum Lane {
    Guards,
    Claims,
    Cost,
}

impl Lane {
    fn cell(self, one: &IterationView, run: &RunView) -> (String, Style) {
        match self {
            Self::Guards => {
                let is_halt = |act: &crate::view::GuardAct| act.rung == Rung::Halt;
                let (halts, others): (Vec<_>, Vec<_>) =
                    one.guards.iter().partition(|act| is_halt(act));
                let dots = others.len().min(2 - usize::from(!halts.is_empty()));
                let stop = if halts.is_empty() { "" } else { "■" };
                (format!("{}{stop}", "●".repeat(dots)), tint::needs())
            }
            Self::Claims => match one.claim.as_ref().and_then(|claim| claim.complete) {
                Some(ClaimVerdict::Accepted) => ("✓".to_owned(), tint::good()),
                Some(ClaimVerdict::Refused) => ("✗".to_owned(), tint::bad()),
                Some(ClaimVerdict::Open) => ("?".to_owned(), tint::needs()),
                None => (String::new(), Style::new()),
            },
            Self::Cost => {
                let dearest =
                    run.iterations.iter().map(|one| one.cost_micro_usd).max().unwrap_or(0);
                (bar(one.cost_micro_usd, dearest).to_owned(), tint::dim())
            }
        }
    }
}

/// A sum beside the largest, in one cell.
fn bar(part: u64, whole: u64) -> &'static str {
    match part.saturating_mul(3).checked_div(whole) {
        None => "",
        Some(0) => "▁",
        Some(1..=2) => "▅",
        Some(_) => "▇",
    }
}

/// Only what guards did, in order.
fn guards(buffer: &mut Buffer, area: Rect, run: &RunView, scroll: usize) -> u16 {
    let acts = run.iterations.iter().flat_map(|one| one.guards.iter().map(move |act| (one, act)));
    let lines: Vec<Vec<Piece>> = acts
        .map(|(one, act)| {
            let since = words::short_span(Millis::new(act.at.since(run.run.started).get()));
            vec![
                (format!(" #{} {since}  ", one.iteration), tint::dim()),
                (format!("{} {}", act.guard.as_str(), act.rung.as_str()), tint::needs()),
                (format!("  {} of {}  {}", act.measured, act.allowed, act.evidence), Style::new()),
            ]
        })
        .collect();
    if lines.is_empty() {
        put(
            buffer,
            (area.x + 1, area.y),
            usize::from(area.width),
            "No guard has spoken.",
            tint::dim(),
        );
        return 1;
    }
    let room = usize::from(area.height);
    let first = scroll.min(lines.len().saturating_sub(room));
    for (row, pieces) in (0..).zip(lines.iter().skip(first).take(room)) {
        put_pieces(buffer, area, row, pieces);
    }
    cells(lines.len().min(room))
}
