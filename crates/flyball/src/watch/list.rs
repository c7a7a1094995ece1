//! The first level: all runs, who needs somebody first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::board::Board;
use super::draw::Scene;
use super::fit::{self, Piece, cells, column, put, put_pieces};
use super::row::{Row, RowMark, Standing};
use super::state::{State, Typing};
use super::tint;
use crate::terminal;
use crate::view::words;

/// Keys of this level, the most wanted first.
const KEYS: [&str; 9] = [
    "↵ open",
    "a answer",
    "u unblock",
    "t tests",
    "s stop",
    "r report",
    "o browser",
    "/ filter",
    "q quit",
];
/// How many cells a gauge has.
const GAUGE: usize = 9;
/// From how many rows on the chosen run's words are shown in full below the list.
const TALL: u16 = 12;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, scene: &Scene<'_>) {
    if area.height < 3 {
        return;
    }
    head(buffer, area, scene.board);
    let visible = scene.state.visible(scene.board);
    let place = scene.state.place(&visible);
    let below = if area.height >= TALL { 3 } else { 0 };
    let room = usize::from(area.height.saturating_sub(3 + below));
    let first = place.saturating_sub(room.saturating_sub(1));
    let form = Form::of(usize::from(area.width), &visible);
    for (line, (at, row)) in (1..).zip(visible.iter().enumerate().skip(first).take(room)) {
        let pieces = form.pieces(row);
        put_pieces(buffer, area, line, &pieces);
        if at == place {
            let chosen = Rect::new(area.x, area.y.saturating_add(line), area.width, 1);
            buffer.set_style(chosen, tint::chosen());
        }
    }
    if visible.is_empty() {
        let nothing = if scene.board.rows.is_empty() {
            "No runs yet. `flyball run` starts one."
        } else {
            "No run holds this; Esc shows all."
        };
        put(buffer, (area.x + 1, area.y + 2), usize::from(area.width), nothing, tint::dim());
    }
    if below > 0 {
        details(buffer, area, visible.get(place).copied(), below);
    }
    foot(buffer, area, scene.state);
}

fn head(buffer: &mut Buffer, area: Rect, board: &Board) {
    let (needs, alive) = board.counts();
    let mut parts = Vec::new();
    if needs > 0 {
        parts.push(format!("{needs} need{} you", if needs == 1 { "s" } else { "" }));
    }
    parts.push(format!("{alive} at work"));
    // Nobody has told what it costs: that is not the same as nothing.
    if board.today_micro_usd > 0 {
        parts.push(format!("{} today", words::dollars(board.today_micro_usd)));
    }
    let pieces: [Piece; 2] =
        [(" flyball  ".to_owned(), tint::strong()), (parts.join(" · "), Style::new())];
    put_pieces(buffer, area, 0, &pieces);
    let help = "?:help";
    let x = area.right().saturating_sub(cells(help.len() + 1));
    put(buffer, (x, area.y), help.len(), help, tint::dim());
}

/// The chosen run's words, whole.
fn details(buffer: &mut Buffer, area: Rect, row: Option<&Row>, height: u16) {
    let Some(row) = row else { return };
    let top = area.bottom().saturating_sub(2 + height);
    let width = usize::from(area.width.saturating_sub(2));
    let title = format!("{} · {}", row.project(), row.run.run);
    put(buffer, (area.x + 1, top), width, &title, tint::dim());
    let lines = terminal::wrap(&row.what, width);
    let more = lines.len() > usize::from(height - 1);
    for (y, (at, line)) in (top + 1..).zip(lines.iter().enumerate().take(usize::from(height - 1))) {
        let is_last = at + 2 == usize::from(height);
        let line = if more && is_last { format!("{line} …") } else { line.clone() };
        put(buffer, (area.x + 1, y), width, &line, Style::new());
    }
}

/// What came of the last act, and the keys.
pub(super) fn foot(buffer: &mut Buffer, area: Rect, state: &State) {
    notice(buffer, area, state);
    if state.typing == Typing::Nothing {
        fit::keys(buffer, area, &KEYS);
    }
}

/// The line above the keys: the filter, or what came of the last act.
pub(super) fn notice(buffer: &mut Buffer, area: Rect, state: &State) {
    let y = area.bottom().saturating_sub(2);
    let width = usize::from(area.width.saturating_sub(2));
    if state.typing == Typing::Filter || !state.filter.is_empty() {
        let caret = if state.typing == Typing::Filter { "_" } else { "" };
        let text = format!("/{}{caret}", state.filter);
        put(buffer, (area.x + 1, y), width, &text, tint::strong());
    } else if !state.notice.is_empty() {
        put(buffer, (area.x + 1, y), width, &state.notice, tint::needs());
    }
}

/// Which columns there is room for, and how wide they are.
#[derive(Clone, Copy, Debug)]
struct Form {
    project: usize,
    state: usize,
    task: usize,
    strip: usize,
    failing: bool,
    cost: usize,
}

impl Form {
    fn of(width: usize, rows: &[&Row]) -> Self {
        let widest = |of: fn(&Row) -> String, most: usize| {
            rows.iter().map(|row| terminal::width(&of(row))).max().unwrap_or(0).clamp(4, most)
        };
        let state = |row: &Row| Self::state_of(row);
        Self {
            project: widest(Row::project, if width < 100 { 10 } else { 20 }),
            state: widest(state, if width < 80 { 9 } else { 14 }),
            task: if width < 80 { 0 } else { widest(Row::task, if width < 120 { 8 } else { 16 }) },
            strip: match width {
                0..80 => 0,
                80..120 => 6,
                _ => 15,
            },
            failing: width >= 96,
            cost: match width {
                0..96 => 0,
                96..130 => 12,
                _ => 13 + GAUGE,
            },
        }
    }

    /// The state in one word where a second column would be needed.
    fn state_of(row: &Row) -> String {
        if row.standing == Standing::Weakened { "weakened".to_owned() } else { row.state() }
    }

    fn pieces(self, row: &Row) -> Vec<Piece> {
        let style = style_of(row.standing);
        let gap = || ("  ".to_owned(), Style::new());
        let mut pieces = vec![
            (format!(" {} ", row.standing.mark()), style),
            (column(&row.project(), self.project), tint::strong()),
            gap(),
            (column(&Self::state_of(row), self.state), style),
            gap(),
        ];
        if self.task > 0 {
            pieces.extend([(column(&row.task(), self.task), Style::new()), gap()]);
        }
        pieces.extend([(column(&row.iteration(), 5), Style::new()), gap()]);
        if self.strip > 0 {
            pieces.extend(self.strip_of(row));
            pieces.push(gap());
        }
        if self.failing {
            let failing = row.failing.map(|failing| format!("fail {failing}")).unwrap_or_default();
            pieces.extend([(column(&failing, 8), Style::new()), gap()]);
        }
        if self.cost > 0 {
            pieces.extend([(column(&self.cost_of(row), self.cost), Style::new()), gap()]);
        }
        let what = if row.standing == Standing::Asks {
            (format!("\"{}\"", row.what), Style::new())
        } else {
            (row.what.clone(), Style::new())
        };
        pieces.push(what);
        pieces
    }

    /// The newest iterations, one cell each.
    fn strip_of(self, row: &Row) -> Vec<Piece> {
        let skipped = row.strip.len().saturating_sub(self.strip);
        let shown: Vec<&RowMark> = row.strip.iter().skip(skipped).collect();
        let gap = self.strip - shown.len();
        let mut pieces: Vec<Piece> =
            shown.iter().map(|mark| (mark.glyph().to_owned(), style_of_mark(**mark))).collect();
        pieces.push((" ".repeat(gap), Style::new()));
        pieces
    }

    /// What it cost, with its limit, and how full that is.
    fn cost_of(self, row: &Row) -> String {
        let spent = row.run.state.cost_micro_usd;
        if row.cost_limit == 0 {
            return words::money(spent);
        }
        let limit = words::dollars(row.cost_limit);
        let sums = format!("{}/{}", words::dollars(spent), limit.trim_start_matches('$'));
        if self.cost < GAUGE + 13 {
            return sums;
        }
        format!("{} {}", column(&sums, 12), gauge(spent, row.cost_limit, GAUGE))
    }
}

/// How full something is.
pub(super) fn gauge(part: u64, whole: u64, width: usize) -> String {
    let wide = width as u64;
    let full = part.saturating_mul(wide).checked_div(whole).unwrap_or(0).min(wide);
    let full = usize::try_from(full).unwrap_or(width);
    format!("{}{}", "▓".repeat(full), "░".repeat(width - full))
}

pub(super) fn style_of(standing: Standing) -> Style {
    match standing {
        Standing::Asks | Standing::Weakened | Standing::Blocked | Standing::Lost => tint::needs(),
        Standing::AtWork | Standing::Waits => tint::work(),
        Standing::Done => tint::good(),
        Standing::Ended => tint::bad(),
    }
}

fn style_of_mark(mark: RowMark) -> Style {
    match mark {
        RowMark::Green => tint::good(),
        RowMark::Better | RowMark::Now => tint::work(),
        RowMark::Red | RowMark::Halted => tint::bad(),
    }
}
