//! The report as a comment on a pull request. What is too long loses detail step by step; it never
//! fails, and never grows beyond what such a comment takes.

use std::fmt::Write;

use flyball_core::IterationNo;
use flyball_core::text::{count, head};

use super::project;
use crate::report::role_lines;
use crate::view::{Cell, CheckRow, ClaimVerdict, RunView, Sentence, story, words};

/// The most a comment may have. GitHub takes 65,536 characters.
pub(super) const CHARACTERS_MAX: usize = 60_000;

/// How much is told; the next where it is too much.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Rows and columns of the matrix.
    matrix: Option<(usize, usize)>,
    /// Iterations in the table.
    iterations: usize,
    /// Words of guards.
    guards: usize,
    /// Failing checks, and characters of what each says.
    findings: usize,
    message: usize,
}

const STEPS: [Detail; 5] = [
    Detail { matrix: Some((20, 15)), iterations: 100, guards: 60, findings: 60, message: 300 },
    Detail { matrix: Some((20, 15)), iterations: 100, guards: 40, findings: 60, message: 0 },
    Detail { matrix: Some((20, 15)), iterations: 20, guards: 20, findings: 30, message: 0 },
    Detail { matrix: Some((10, 10)), iterations: 0, guards: 10, findings: 10, message: 0 },
    Detail { matrix: None, iterations: 0, guards: 0, findings: 0, message: 0 },
];

/// The whole comment, as much as fits.
pub(super) fn document(run: &RunView) -> String {
    let mut text = String::new();
    for detail in STEPS {
        text = with(run, detail);
        if text.chars().count() <= CHARACTERS_MAX {
            return text;
        }
    }
    head(&text, CHARACTERS_MAX - 100)
}

fn with(run: &RunView, detail: Detail) -> String {
    let mut out = format!("<!-- flyball:{} -->\n", escaped(run.run.run.as_str()));
    top(&mut out, run);
    for sentence in story(run) {
        writeln!(out, "- {}", said(&sentence)).ok();
    }
    if let Some((rows, columns)) = detail.matrix {
        matrix(&mut out, run, rows, columns);
    }
    stories(&mut out, run);
    iterations(&mut out, run, detail.iterations);
    guards(&mut out, run, detail.guards);
    findings(&mut out, run, detail);
    let id = escaped(run.run.run.as_str());
    writeln!(
        out,
        "\n<sub>full report: <code>flyball report {id}</code> · flyball {}</sub>",
        env!("CARGO_PKG_VERSION")
    )
    .ok();
    out
}

/// The verdict and the numbers.
fn top(out: &mut String, run: &RunView) {
    let outcome = run.outcome();
    let sign = match outcome {
        Some(outcome) if outcome.is_success() => "✅",
        Some(_) => "🟥",
        None => "⏳",
    };
    let word = outcome.map_or("not ended", |outcome| outcome.as_str()).replace('_', " ");
    let project = escaped(&project(run));
    writeln!(out, "### {sign} flyball: {project} — {word}\n").ok();
    let tally = run.tally;
    let mut parts = vec![count(u64::from(tally.iterations), "iteration")];
    if tally.stories_total > 0 {
        parts.push(format!("{} of {} stories", tally.stories_complete, tally.stories_total));
    }
    if let Some((first, last)) = run.failing() {
        parts.push(format!("failing checks {first} → {last}"));
    }
    parts.push(words::span(flyball_core::Millis::new(tally.runtime_ms)).to_string());
    if tally.tokens > 0 {
        parts.push(format!("{} tokens", words::count(tally.tokens)));
    }
    if tally.cost_micro_usd > 0 {
        parts.push(words::dollars(tally.cost_micro_usd));
    }
    writeln!(out, "{}\n", parts.join(" · ")).ok();
    for line in role_lines(&run.roles) {
        writeln!(out, "- {}", escaped(&line)).ok();
    }
    if run.roles.len() > 1 {
        out.push('\n');
    }
    if let Some(broken) = &run.broken {
        writeln!(out, "Only a part could be read: {}\n", escaped(broken)).ok();
    }
}

fn said(sentence: &Sentence) -> String {
    let mut out = String::new();
    for span in &sentence.spans {
        let text = escaped(&span.text);
        if span.strong {
            let inner = text.trim();
            let front = text.len() - text.trim_start().len();
            write!(out, "{}**{inner}**", " ".repeat(front)).ok();
        } else {
            out.push_str(&text);
        }
    }
    out
}

/// Checks by iteration in signs, the newest columns and the start.
fn matrix(out: &mut String, run: &RunView, rows: usize, columns: usize) {
    let all = &run.matrix.columns;
    let hidden = all.len().saturating_sub(columns);
    let shown: Vec<usize> = (0..all.len()).filter(|at| *at == 0 || *at > hidden).collect();
    let fates = run.matrix.fates();
    if fates.is_empty() || shown.is_empty() {
        return;
    }
    out.push_str("\n| check |");
    for at in &shown {
        let number = all.get(*at).map_or(IterationNo::BASELINE, |column| column.iteration);
        let word =
            if number == IterationNo::BASELINE { "start".to_owned() } else { number.to_string() };
        write!(out, " {word} |").ok();
    }
    write!(out, "\n|---|{}\n", ":-:|".repeat(shown.len())).ok();
    for fate in fates.iter().take(rows) {
        let Some(first) = fate.first() else { continue };
        let more =
            if fate.len() > 1 { format!(" +{} alike", fate.len() - 1) } else { String::new() };
        write!(out, "| {}{more} |", code(&words::line(&first.name, 60))).ok();
        for at in &shown {
            write!(out, " {} |", sign(first, *at)).ok();
        }
        out.push('\n');
    }
    let hidden: usize = fates.iter().skip(rows).map(Vec::len).sum();
    let hidden = hidden as u64 + run.matrix.left_out;
    if hidden > 0 {
        writeln!(out, "\nand {}", count(hidden, "more check")).ok();
    }
    out.push_str("\n<sub>🟥 fails · ⬛ newly fails · ✅ fixed · · passes · ? not run</sub>\n");
}

fn sign(row: &CheckRow, at: usize) -> &'static str {
    match row.cells.get(at) {
        Some(Cell::Fails) => "🟥",
        Some(Cell::Breaks) => "⬛",
        Some(Cell::Fixed) => "✅",
        Some(Cell::Passes) => "·",
        Some(Cell::Unknown) | None => "?",
    }
}

fn stories(out: &mut String, run: &RunView) {
    let touched: Vec<_> =
        run.stories.iter().filter(|story| story.iterations > 0).take(30).collect();
    if touched.is_empty() {
        return;
    }
    out.push_str("\n| story | | iterations | cost |\n|---|---|--:|--:|\n");
    for story in touched {
        let state = if story.done { "✅" } else { "open" };
        let title = escaped(&words::line(&story.title, 100));
        let task = escaped(&words::line(story.task.as_str(), 60));
        let name = if title == task { task } else { format!("{task} {title}") };
        let (times, cost) = (story.iterations, words::money(story.cost_micro_usd));
        writeln!(out, "| {name} | {state} | {times} | {cost} |").ok();
    }
}

fn iterations(out: &mut String, run: &RunView, most: usize) {
    if most == 0 || run.iterations.is_empty() {
        return;
    }
    out.push_str("\n<details><summary>Iterations</summary>\n\n");
    out.push_str("| # | result | task | checks | claim | commit | time | cost |\n|--:|---|---|---|---|---|--:|--:|\n");
    for one in run.iterations.iter().rev().take(most) {
        let column = run.matrix.column(one.iteration).and_then(|at| run.matrix.columns.get(at));
        let checks = column.map(|column| match (column.fixed, column.broken, column.failing) {
            (0, 0, failing) => {
                failing.map_or("–".to_owned(), |failing| format!("{failing} failing"))
            }
            (fixed, 0, _) => format!("{fixed} fixed"),
            (0, broken, _) => format!("{broken} broken"),
            (fixed, broken, _) => format!("{fixed} fixed, {broken} broken"),
        });
        let claim = one.claim.as_ref().map_or("", |claim| match claim.complete {
            Some(ClaimVerdict::Accepted) => "done ✅",
            Some(ClaimVerdict::Refused) => "done, refused",
            Some(ClaimVerdict::Open) => "done",
            None if claim.blocked.is_some() => "blocked",
            None => "asks",
        });
        let cells = [
            one.iteration.to_string(),
            one.result_words().0,
            escaped(&words::line(one.task.as_ref().map_or("", |task| task.as_str()), 40)),
            checks.unwrap_or_default(),
            claim.to_owned(),
            escaped(&words::line(one.subject().unwrap_or(""), 80)),
            words::span(one.duration()).to_string(),
            words::money(one.cost_micro_usd),
        ];
        writeln!(out, "| {} |", cells.join(" | ")).ok();
    }
    if let Some(more) = run.iterations.len().checked_sub(most + 1) {
        writeln!(out, "\nand {}", count(more as u64 + 1, "earlier iteration")).ok();
    }
    out.push_str("\n</details>\n");
}

fn guards(out: &mut String, run: &RunView, most: usize) {
    let acts =
        || run.iterations.iter().flat_map(|one| one.guards.iter().map(move |act| (one, act)));
    if most == 0 || acts().next().is_none() {
        return;
    }
    out.push_str("\n<details><summary>What the guards did</summary>\n\n");
    for (one, act) in acts().take(most) {
        let evidence = escaped(&words::line(&act.evidence, 300));
        let verb = crate::view::Verb::of_rung(act.rung).map_or("", crate::view::Verb::as_str);
        writeln!(
            out,
            "- iteration {}, **{}** {}: {evidence}",
            one.iteration,
            verb.to_lowercase(),
            act.guard
        )
        .ok();
    }
    let more = run.guards_spoke().saturating_sub(most as u64);
    if more > 0 {
        writeln!(out, "- and {}", count(more, "more word")).ok();
    }
    out.push_str("\n</details>\n");
}

fn findings(out: &mut String, run: &RunView, detail: Detail) {
    let open: Vec<&CheckRow> =
        run.matrix.sorted().into_iter().filter(|row| row.is_open()).collect();
    if detail.findings == 0 || open.is_empty() {
        return;
    }
    out.push_str("\n<details><summary>What still fails</summary>\n\n");
    for row in open.iter().take(detail.findings) {
        let place =
            row.place.as_ref().map(|place| format!(" ({})", escaped(place))).unwrap_or_default();
        write!(
            out,
            "- {}: {}{place}",
            escaped(row.gate.as_str()),
            code(&words::line(&row.name, 120))
        )
        .ok();
        if detail.message > 0 && row.message != row.name {
            write!(out, " — {}", escaped(&words::line(&row.message, detail.message))).ok();
        }
        out.push('\n');
    }
    if let Some(more) = open.len().checked_sub(detail.findings + 1) {
        writeln!(out, "- and {} more", more + 1).ok();
    }
    out.push_str("\n</details>\n");
}

/// Text of others in a comment: no markup, no mention of a person, no row of a table.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Behind a joiner nobody is told, no issue is linked, and no address is a link.
            '@' | '#' => out.extend([character, '\u{2060}']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => out.extend(['\\', character]),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out.replace("://", ":\u{2060}//")
}

/// Text of others as code: in HTML, where no sign of Markdown ends it.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}
