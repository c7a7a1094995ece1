//! Many sessions, told in a terminal.

use std::collections::BTreeMap;

use flyball_core::guard::Rung;
use flyball_core::hindsight::Loop;

use super::super::columns::{self, Cell, Last, Tint};
use super::words;
use crate::clock;
use crate::inspect::{FOOTER, Listed, Overview, SourceReport, Sum, money, range, tokens};
use crate::terminal::{self, Paint};

/// Rows of a table of sums.
const ROWS_MAX: usize = 8;
/// Characters of a name in a table.
const NAME_MAX: usize = 28;
/// The width of text that no terminal shows.
const WIDTH: usize = 80;

/// The whole text.
pub(super) fn text(
    overview: &Overview,
    shown: usize,
    columns: Option<usize>,
    paint: Paint,
) -> String {
    if overview.sessions.is_empty() {
        return "No sessions. `flyball inspect PATH` looks at a file or a folder, `--since 90d` further \
                back; docs/transcripts.md says where each agent keeps its own.\n"
            .to_owned();
    }
    let wide = columns.unwrap_or(WIDTH);
    let mut out = top(overview, paint);
    out.push_str(&guards(&overview.all, paint));
    out.push_str(&worst(overview, shown, wide, paint));
    out.push_str(&kinds(overview, wide, paint));
    out.push_str(&shares("AGENT", &overview.agents, wide, paint));
    out.push_str(&shares("MODEL", &overview.models, wide, paint));
    out.push_str(&shares("PROJECT", &overview.projects, wide, paint));
    if !overview.table.is_empty() {
        let title =
            "\nRuns of which is known how they ended, as `cargo xtask detect` counts them\n";
        out.push_str(title);
        out.push_str(&overview.table.to_string());
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

/// What there was.
fn top(overview: &Overview, paint: Paint) -> String {
    let all = &overview.all;
    let count = |number: u64, noun: &str| {
        words::counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
    };
    let when = match (overview.from, overview.to) {
        (Some(from), Some(to)) => {
            let (from, to) = (clock::day(from), clock::day(to));
            if from == to { format!(", {from}") } else { format!(", {from} to {to}") }
        }
        (_, None) | (None, _) => String::new(),
    };
    let sessions = paint.cyan(&count(all.sessions, "session"));
    let mut line = format!("{sessions}{when}: {}", count(all.spent.calls, "call"));
    if all.spent.tokens() > 0 {
        line = format!("{line}, {} tokens", tokens(&all.spent));
    }
    if all.spent.known_micro_usd().is_some() {
        line = format!("{line}, {}", money(&all.spent));
    }
    let mut out = format!("{line}\n");
    if all.spent.unpriced_tokens > 0 {
        let unpriced = words::count(all.spent.unpriced_tokens);
        out.push_str(&paint.dim(&format!("Of {unpriced} tokens the price is not known\n")));
    }
    out
}

/// What guards would have done, and the waste.
fn guards(all: &Sum, paint: Paint) -> String {
    let [nudged, refused, halted] = all.reached;
    if nudged == 0 {
        return format!("{}\n", paint.green("No guard would have spoken"));
    }
    let loops = usize::try_from(all.loops).unwrap_or(usize::MAX);
    let mut out = format!(
        "Guards would have nudged in {nudged}, refused in {refused}, halted in {halted} ({})\n",
        words::counted(loops, "loop")
    );
    let [nudge, _, halt] = &all.waste;
    let waste = range(halt, nudge);
    let share = |part: u64, whole: u64| part.saturating_mul(1_000).checked_div(whole);
    let share = match (nudge.known_micro_usd(), nudge.tokens()) {
        (Some(micro), _) => share(micro, all.spent.micro_usd),
        (None, 0) => share(nudge.calls, all.spent.calls),
        (None, tokens) => share(tokens, all.spent.tokens()),
    };
    let share = share.map(|it| format!(" (up to {}.{} %)", it / 10, it % 10)).unwrap_or_default();
    let line = format!("{} {waste}{share}", paint.yellow("Waste"));
    out = format!("{out}{line}\n");
    let [_, _, harmed] = all.harmed;
    if halted > 0 {
        out = format!(
            "{out}Harm: {harmed} of the {halted} halted changed something new afterwards\n"
        );
    }
    if all.dead_tails > 0 {
        let (tails, steps) = (all.dead_tails, all.dead_steps);
        out = format!("{out}Dead tails: {tails}, of {steps} steps together\n");
    }
    out
}

fn tint(rung: Rung) -> Tint {
    match rung {
        Rung::Halt => Tint::Bad,
        Rung::Refuse | Rung::Nudge => Tint::Warn,
        Rung::Pass | Rung::Redirect | Rung::Ask => Tint::Plain,
    }
}

/// The loop of a session that says most.
fn main_loop(one: &Listed) -> Option<&Loop> {
    one.session.judged.loops.iter().max_by_key(|it| (it.highest(), it.waste().calls))
}

fn worst(overview: &Overview, shown: usize, wide: usize, paint: Paint) -> String {
    let all = overview.worst().count();
    if all == 0 {
        return String::new();
    }
    let mut out = match shown {
        usize::MAX => "\nSessions in which a guard would have spoken\n".to_owned(),
        _ => "\nThe worst\n".to_owned(),
    };
    for one in overview.worst().take(shown) {
        out.push_str(&worst_one(one, wide, paint));
    }
    let more = all.saturating_sub(shown);
    if more > 0 {
        out = format!("{out}  and {more} more; `--all` tells of all\n");
    }
    out
}

fn worst_one(one: &Listed, wide: usize, paint: Paint) -> String {
    let (session, highest) = (&one.session, one.session.highest());
    let found = main_loop(one);
    let reached = found.and_then(|it| it.rungs().into_iter().flatten().last());
    let place = reached.map(|reached| {
        format!(" at step {} of {}", reached.step + 1, session.judged.steps + session.copied)
    });
    let kind = found.map_or("", |it| it.kind.words());
    let waste = session.waste();
    let [_, _, after_halt] = &session.judged.waste;
    let rung = tint(highest).on(highest.as_str(), paint);
    let head = format!("  {rung}{}: {kind}\n", place.unwrap_or_default());
    let waste = format!("    {}\n", range(after_halt, &waste));
    let day = session.began.map(|began| format!("{} ", clock::day(began))).unwrap_or_default();
    let about = if session.title.is_empty() { &session.id } else { &session.title };
    let about = words::line(about, 200);
    let about = terminal::cut(&format!("    {day}{} {about}", session.agent), wide);
    // Without a colour it is known for a command, and never broken.
    let command = format!("    {}\n", one.command());
    format!("{head}{waste}{}\n{command}", paint.dim(&about))
}

fn kinds(overview: &Overview, wide: usize, paint: Paint) -> String {
    if overview.kinds.is_empty() {
        return String::new();
    }
    let titles = ["LOOP", "LOOPS", "NUDGE", "REFUSE", "HALT", "WASTE", "TOKENS", "COST"];
    let mut rows = vec![columns::heading(&titles)];
    for sum in overview.kinds.values() {
        let [nudge, refuse, halt] = sum.highest;
        let [waste, ..] = &sum.waste;
        let mut row = vec![Cell::plain(sum.words), Cell::plain(sum.loops.to_string())];
        row.extend([nudge, refuse, halt].map(|number| Cell::plain(words::count(number))));
        row.push(Cell::plain(words::count(waste.calls)));
        row.extend([tokens(waste), money(waste)].map(Cell::plain));
        rows.push(row);
    }
    table(rows, wide, paint)
}

fn shares(title: &str, sums: &BTreeMap<String, Sum>, wide: usize, paint: Paint) -> String {
    if sums.is_empty() {
        return String::new();
    }
    let titles =
        [title, "SESSIONS", "CALLS", "COST", "HALT", "WASTE", "OF COST", "TOKENS", "NUDGE"];
    let mut rows = vec![columns::heading(&titles)];
    let mut all: Vec<(&String, &Sum)> = sums.iter().collect();
    all.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.spent.tokens(), sum.spent.calls)));
    for (name, sum) in all.iter().take(ROWS_MAX) {
        let [nudged, _, halted] = sum.reached;
        let [waste, ..] = &sum.waste;
        let cells = [
            short(name),
            sum.sessions.to_string(),
            words::count(sum.spent.calls),
            money(&sum.spent),
            words::count(halted),
            words::count(waste.calls),
            money(waste),
            tokens(&sum.spent),
            words::count(nudged),
        ];
        rows.push(cells.into_iter().map(Cell::plain).collect());
    }
    let more = all.len().saturating_sub(ROWS_MAX);
    let more = if more > 0 { format!("and {more} more\n") } else { String::new() };
    format!("{}{more}", table(rows, wide, paint))
}

/// A name in a table; of a folder its own.
fn short(name: &str) -> String {
    let own = if name.starts_with('/') { name.rsplit('/').next().unwrap_or(name) } else { name };
    words::line(own, NAME_MAX)
}

fn table(rows: Vec<Vec<Cell>>, wide: usize, paint: Paint) -> String {
    let rows = columns::within(rows, Some(wide), Last::Figure);
    format!("\n{}", columns::render(&rows, paint))
}

/// A transcript of which a part could not be read.
pub(super) fn flaw(report: &SourceReport) -> Option<String> {
    let (record, why) = report.first_unread.as_ref()?;
    let more = match report.unread {
        0 | 1 => String::new(),
        all => format!(", and {} more", all - 1),
    };
    let path = report.path.display();
    Some(format!("not whole: {path}: record {record}: {}{more}\n", words::line(why, 200)))
}
