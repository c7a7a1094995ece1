//! The pages of the window: complete without a script, bounded whatever the journal holds.

mod act;
mod ask;
mod card;
mod compare;
mod ended;
mod frame;
mod guards;
mod log;
mod overview;
mod run;
mod sessions;
mod tamper;
mod tasks;

pub(super) use self::compare::{CompareQuery, compare};
pub(super) use self::frame::{goes_on, icon, problem};
pub(super) use self::guards::guards;
pub(super) use self::log::{LogQuery, log};
pub(super) use self::overview::{ListQuery, overview};
pub(super) use self::run::run;
pub(super) use self::tamper::tamper;
pub(super) use self::tasks::tasks;

use flyball_core::{Millis, Moment};
use maud::{Markup, html};

use crate::journal::RunSummary;
use crate::view::words;

/// The most a page has, in bytes.
const BYTES_MAX: usize = 49_000;

/// The largest of these that fits.
fn fitting<T: Copy>(steps: &[T], render: impl Fn(T) -> Markup) -> Markup {
    let mut page = html! {};
    for step in steps {
        page = render(*step);
        if page.0.len() <= BYTES_MAX {
            break;
        }
    }
    page
}

/// Words with `names` in them, the names set apart.
fn ticked(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // The last mark of an odd number opens nothing.
    let closed = parts.len().saturating_sub(1) / 2 * 2;
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 0 { (part) } @else if at < closed { code { (part) } } @else { "`" (part) }
        }
    }
}

/// The project, as a person calls it.
fn project(run: &RunSummary) -> String {
    let name = run.root.file_name().unwrap_or(run.root.as_os_str()).to_string_lossy();
    words::line(&name, 60)
}

/// The last part of a run's name, enough to tell it from its neighbours.
fn short(run: &RunSummary) -> &str {
    run.run.as_str().rsplit('-').next().unwrap_or("")
}

/// The address of a run's page.
fn address(run: &RunSummary) -> String {
    format!("/runs/{}", run.run)
}

/// How long ago, kept up to date by the script where there is one.
fn ago(at: Moment, now: Moment) -> Markup {
    html! { span data-ago=(at.as_millis()) { (span_words(now.since(at))) " ago" } }
}

/// A span in the two units that matter: `8 s`, `4 min`, `3 h 12 min`, `2 d 4 h`.
fn span_words(span: Millis) -> String {
    let seconds = span.get() / 1000;
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, _) => format!("{minutes} min"),
        (0, hours, 0, _) => format!("{hours} h"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, 0, ..) => format!("{days} d"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_set_apart_and_a_lone_mark_stays() {
        let said = |text: &str| ticked(text).into_string();
        assert_eq!(said("no run `a` in `b`"), "no run <code>a</code> in <code>b</code>");
        assert_eq!(said("it`s <b>"), "it`s &lt;b&gt;");
        assert_eq!(said("`a` and `b"), "<code>a</code> and `b");
        assert_eq!(said(""), "");
    }
    #[test]
    fn a_span_has_no_unit_that_is_nothing() {
        let said = |seconds: u64| span_words(Millis::from_secs(seconds));
        assert_eq!([said(8), said(240), said(4 * 3600)], ["8 s", "4 min", "4 h"]);
        assert_eq!([said(11_520), said(86_400)], ["3 h 12 min", "1 d"]);
        assert_eq!(said(187_200), "2 d 4 h");
    }
}
