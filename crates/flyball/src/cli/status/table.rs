//! The runs as a table that fits: what matters least gives way first.

use std::path::Path;

use flyball_core::{Millis, Moment, Outcome, RunId};

use super::super::columns::{self, Cell, Tint};
use super::super::runs::{self, Life};
use super::super::words;
use super::{Shown, Status, sessions};
use crate::config::bytes;
use crate::journal::RunSummary;
use crate::report::role_lines;
use crate::terminal::{self, Paint};
use crate::view::hanging;
use crate::worktree::Stock;

/// The width where no terminal says one.
const COLUMNS: usize = 80;

/// How much of a row is shown.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each column is there or not by itself")]
struct Form {
    /// Whether names are whole.
    whole_names: bool,
    /// Whether the titles are.
    whole_titles: bool,
    /// Whether the project is named.
    project: bool,
    /// The cells of a project and of a task.
    cells: usize,
    tokens: bool,
    stories: bool,
}

/// From all there is to what must be there.
const FORMS: [Form; 8] = {
    let all = Form {
        whole_names: true,
        whole_titles: true,
        project: true,
        cells: 30,
        tokens: true,
        stories: true,
    };
    let titles = Form { whole_titles: false, ..all };
    let names = Form { whole_names: false, ..titles };
    let cells = Form { cells: 12, ..names };
    let project = Form { project: false, ..cells };
    let tokens = Form { tokens: false, ..project };
    let stories = Form { stories: false, ..tokens };
    [all, titles, Form { project: false, ..titles }, names, cells, project, tokens, stories]
};

/// Everything there is to show, in the width there is.
pub(super) fn text(status: &Status, here: Option<&Path>, now: Moment, paint: Paint) -> String {
    let columns = terminal::out_columns().unwrap_or(COLUMNS);
    let mut text = match status.runs.as_slice() {
        [] if status.totals.is_empty() => "No runs yet. `flyball run` starts one.\n".to_owned(),
        [] => "No runs here yet. `flyball run` starts one.\n".to_owned(),
        runs => runs_text(runs, columns, here, paint),
    };
    if !status.totals.is_empty() {
        text.push_str(&laid_out(&format!("\n{}", status.totals.text()), columns));
    }
    text.push_str(&laid_out(&status.checkpoints.map(stock_text).unwrap_or_default(), columns));
    text.push_str(&sessions::text(&status.sessions, now, paint));
    text
}

fn stock_text(stock: Stock) -> String {
    let (count, size) = (words::counted(stock.count, "checkpoint"), bytes::shown(stock.bytes));
    let place = if stock.vault { " in the vault" } else { "" };
    format!("{count} of this repository, {size}{place}; `flyball prune` removes old ones\n")
}

fn runs_text(shown: &[Shown], columns: usize, here: Option<&Path>, paint: Paint) -> String {
    let mut text = table(shown, columns, paint);
    for one in shown.iter().filter(|one| one.life == Life::Lost) {
        let command = runs::resume_command(&one.run.run, &one.run.root, here);
        text.push_str(&lost(&one.run, &command, columns, paint));
    }
    for one in shown.iter().filter(|one| one.life == Life::Running) {
        for line in &one.holds {
            let line = format!("{}: {}", one.run.run, words::line(line, 400));
            text.push_str(&laid_out(&format!("\n{line}\n"), columns));
        }
    }
    for one in shown {
        let lines = role_lines(&one.roles);
        if !lines.is_empty() {
            let lines = lines.join("\n  ");
            text.push_str(&laid_out(&format!("\n{}:\n  {lines}\n", one.run.run), columns));
        }
    }
    // Of the last run here: what helps now, unless another is at work or to be taken up.
    let latest = shown.iter().find(|one| one.here);
    if let Some(one) = latest.filter(|one| one.life == Life::Ended) {
        text.push_str(&laid_out(&next(one), columns));
    }
    text
}

/// The first form that fits; where none does, its rows are cut.
fn table(shown: &[Shown], columns: usize, paint: Paint) -> String {
    let all_here = shown.iter().all(|one| one.here);
    let names: Vec<&RunId> = shown.iter().map(|one| &one.run.run).collect();
    let mut rows = Vec::new();
    for form in FORMS {
        // Whose run it is must be told where it is not this repository's.
        if !form.project && form.whole_names && !all_here {
            continue;
        }
        rows = vec![columns::heading(&titles(form))];
        rows.extend(shown.iter().map(|one| row(one, &names, form)));
        if columns::width(&rows) <= columns {
            return columns::render(&rows, paint);
        }
    }
    let text = columns::render(&rows, paint);
    text.lines().map(|row| terminal::cut(row, columns) + "\n").collect()
}

fn titles(form: Form) -> Vec<&'static str> {
    let mut titles = vec!["", "RUN"];
    titles.extend(form.project.then_some("PROJECT"));
    titles.extend(["STATE", if form.whole_titles { "ITERATION" } else { "ITER" }, "TASK"]);
    titles.push(if form.whole_titles { "ELAPSED" } else { "TIME" });
    titles.extend(form.tokens.then_some("TOKENS"));
    titles.push("COST");
    titles.extend(form.stories.then_some("STORIES"));
    titles
}

fn row(one: &Shown, names: &[&RunId], form: Form) -> Vec<Cell> {
    let RunSummary { run, max_iterations, state, .. } = &one.run;
    let root = one.project();
    let name = if form.whole_names { run.as_str() } else { runs::short_name(run, names) };
    let iteration = match max_iterations {
        0 => state.iteration.to_string(),
        max => format!("{}/{max}", state.iteration),
    };
    let folder = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    let task = state.task.as_ref().map_or("-", |task| task.as_str());
    let cut = |text: &str| Cell::plain(terminal::cut(&words::line(text, 200), form.cells));
    let elapsed = Millis::new(one.elapsed_ms);
    let mut cells = vec![Cell::plain(if one.here { "*" } else { " " }), Cell::plain(name)];
    cells.extend(form.project.then(|| cut(&folder)));
    cells.extend([state_cell(one), Cell::plain(iteration), cut(task)]);
    cells.push(Cell::plain(if form.whole_titles {
        elapsed.to_string()
    } else {
        words::short_span(elapsed)
    }));
    cells.extend(form.tokens.then(|| Cell::plain(words::count(state.tokens))));
    cells.push(Cell::plain(words::money(state.cost_micro_usd)));
    let stories = words::share(state.stories_complete, state.stories_total);
    cells.extend(form.stories.then(|| Cell::plain(stories)));
    cells
}

fn state_cell(one: &Shown) -> Cell {
    match one.life {
        Life::Running => Cell::new(one.run.state.phase.clone(), Tint::Name),
        Life::Lost => Cell::new("lost", Tint::Warn),
        Life::Ended => {
            let ended = one.run.ending.as_ref().map(|ending| ending.outcome);
            let is_good = ended.is_some_and(Outcome::is_success);
            let named = || one.run.outcome.clone().unwrap_or_default();
            let word = ended.map_or_else(named, |outcome| outcome.to_string());
            Cell::new(word, if is_good { Tint::Good } else { Tint::Bad })
        }
    }
}

fn next(one: &Shown) -> String {
    let run = &one.run;
    let steps = run.ending.iter().flat_map(|ending| &ending.next_steps);
    let land =
        format!("bring it back: flyball land {0}, or away with it: flyball drop {0}", run.run);
    let land = Some(land).filter(|_| one.to_land);
    let damaged =
        run.damaged.as_ref().map(|why| format!("its row in the journal is damaged: {why}"));
    let steps = steps.cloned().chain(land).chain(damaged);
    let lines: Vec<String> = steps.map(|step| format!("  {}\n", words::line(&step, 400))).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("\nNext for {}:\n{}", run.run, lines.concat())
    }
}

fn lost(run: &RunSummary, command: &str, columns: usize, paint: Paint) -> String {
    let said = format!("{} was lost; to go on with it:", run.run);
    let is_short = terminal::width(&said) + 1 + terminal::width(command) <= columns;
    // A command is left whole: it is copied.
    let gap = if is_short { " " } else { "\n  " };
    format!("\n{said}{gap}{}\n", paint.cyan(command))
}

/// Lines broken at the width, what goes on below their beginning.
fn laid_out(text: &str, columns: usize) -> String {
    let rows = text.lines().flat_map(|line| {
        let indent = if line.starts_with("  ") { 4 } else { 2 };
        let head: String = line.chars().take_while(|c| *c == ' ').collect();
        if terminal::width(line) <= columns {
            return vec![line.to_owned()];
        }
        // The beginning stands where it did, the rest a little further in.
        let padded = format!("{head:indent$}{}", line.trim_start());
        let mut rows = hanging(&padded, indent, Some(columns));
        if let Some(first) = rows.first_mut() {
            *first = format!("{head}{}", first.trim_start());
        }
        rows
    });
    rows.map(|row| row + "\n").collect()
}
