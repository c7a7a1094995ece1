//! Weakened tests and gates, each with what was changed; accepting is never the first button.

use std::collections::BTreeSet;

use flyball_core::Outcome;
use flyball_core::text::head;
use maud::{Markup, html};

use super::frame::{Place, frame};
use super::{act, address, fitting, project, ticked};
use crate::desk::{TamperDesk, files_of, mark};
use crate::serve::acts;
use crate::serve::window::{Books, Look, Problem};
use crate::view::words;

/// How much of each difference is shown.
const LINES: [usize; 4] = [120, 50, 20, 6];
/// How many findings are shown.
const FINDINGS_MAX: usize = 20;

/// A finding with its differences.
struct Shown {
    mark: String,
    message: String,
    diffs: Vec<(String, String)>,
}

/// The page.
pub(in crate::serve) fn tamper(
    look: Look<'_>,
    books: &mut Books,
    name: &str,
) -> Result<Markup, Problem> {
    let run = books.run(name)?;
    let asks = books.asks()?.len();
    let desk = acts::tamper(look.window, &run);
    let (found, why) = match &desk {
        Ok(desk) => (shown(desk), String::new()),
        Err(error) => (Vec::new(), error.to_string()),
    };
    let title = format!("{} · weakened tests", project(&run));
    let is_asked = run.ending.as_ref().is_some_and(|ending| ending.outcome == Outcome::Decide);
    let stands = if is_asked {
        "The work verifies only with these changes."
    } else {
        "They are still there."
    };
    Ok(fitting(&LINES, |lines| {
        let body = html! {
            p.crumb { a href="/" { "Runs" } " / " a href=(address(&run)) { (project(&run)) " / " code { (run.run) } } " / weakened tests" }
            @if found.is_empty() {
                h1 { "Nothing is weakened" }
                p.why { "What this run found is undone, accepted, or was never there. " (words::line(&why, 300)) }
            } @else {
                h1.warn { (flyball_core::text::count(found.len() as u64, "weakened check")) }
                p.why { (stands) " Compared with the tree the run began on." }
                @if look.may_act() {
                    div.row {
                        (act::form(look, &run, "restore-tamper", &html! {
                            @for one in &found { input type="hidden" name="finding" value=(one.mark); }
                            button.go { "Bring it back" }
                        }))
                        (act::form(look, &run, "accept-tamper", &html! {
                            @for one in &found { input type="hidden" name="finding" value=(one.mark); }
                            button.stop { "Accept as it is" }
                        }))
                    }
                }
                @for one in found.iter().take(FINDINGS_MAX) {
                    section {
                        h2 { (ticked(&words::line(&one.message, 300))) }
                        @for (file, diff) in &one.diffs { (difference(file, diff, lines)) }
                    }
                }
                @if found.len() > FINDINGS_MAX { p.note { "and " (found.len() - FINDINGS_MAX) " more" } }
            }
        };
        frame(&title, Place::Runs, asks, &body)
    }))
}

fn shown(desk: &TamperDesk) -> Vec<Shown> {
    // Several findings of one file have one difference: it stands below the first.
    let mut told = BTreeSet::new();
    let one = |open| {
        let files = files_of(open).into_iter().take(4);
        let diffs = files.map(|file| {
            let diff = desk.diff(open, &file);
            (file, diff)
        });
        let diffs = diffs.filter(|diff| told.insert(diff.clone())).collect();
        let message = open.row.kept.finding.finding.message.clone();
        Shown { mark: mark(open), message, diffs }
    };
    desk.open.iter().map(one).collect()
}

fn difference(file: &str, diff: &str, most: usize) -> Markup {
    // What git says of the file itself is in the heading.
    let safe = words::lines(diff);
    let lines: Vec<&str> = safe.lines().skip_while(|line| !line.starts_with("@@")).collect();
    html! {
        @if !lines.is_empty() {
            h3 { code { (words::line(file, 200)) } }
            pre.diff tabindex="0" {
                @for line in lines.iter().take(most) {
                    @match line.chars().next() {
                        Some('+') => span.plus { (head(line, 200)) },
                        Some('-') => span.minus { (head(line, 200)) },
                        _ => { (head(line, 200)) "\n" },
                    }
                }
                @if lines.len() > most { "… " (lines.len() - most) " more lines" }
            }
        }
    }
}
