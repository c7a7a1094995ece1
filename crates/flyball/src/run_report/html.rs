//! The report as one HTML file.

use flyball_core::Moment;
use maud::html;

use super::{project, settings};
use crate::page::{self, Shown, Style};
use crate::view::{RunView, words};

/// The most a file may have, in bytes.
pub(super) const BYTES_MAX: usize = 200_000;

/// How much is shown; the next where it is too much.
const STEPS: [Shown; 6] = [
    Shown { iterations: 100, text: 1_500, items: 20, rows: 40, columns: 40 },
    Shown { iterations: 60, text: 800, items: 12, rows: 40, columns: 40 },
    Shown { iterations: 40, text: 300, items: 8, rows: 40, columns: 40 },
    Shown { iterations: 25, text: 120, items: 5, rows: 40, columns: 40 },
    Shown { iterations: 12, text: 0, items: 3, rows: 40, columns: 40 },
    Shown { iterations: 0, text: 0, items: 0, rows: 40, columns: 40 },
];

/// The whole file, as much as fits.
pub(super) fn document(run: &RunView, now: Moment) -> String {
    let mut text = String::new();
    for shown in STEPS {
        text = with(run, now, shown);
        if text.len() <= BYTES_MAX {
            break;
        }
    }
    text
}

fn with(run: &RunView, now: Moment, shown: Shown) -> String {
    let project = project(run);
    let title = format!("{project} · {} · flyball", run.run.run);
    let when = format!("report of {} UTC", words::utc_time(now));
    let body = html! {
        (page::verdict(run, &project))
        (page::facts(run))
        (page::moved(run, shown))
        (page::iterations(run, shown))
        (page::stories(run))
        (page::ended(run, shown.text.clamp(80, 300)))
        (page::settings(&settings::changed(&run.policy)))
        p.foot {
            "flyball " (env!("CARGO_PKG_VERSION")) " · run " code { (run.run.run) }
            " · began " (words::utc_time(run.run.started)) " UTC · "
            (run.run.events) " events · again: " code { "flyball report " (run.run.run) }
            @if run.outcome().is_none_or(|outcome| !outcome.is_success()) {
                " · to go on: " code { "flyball run --resume " (run.run.run) }
            }
        }
    };
    page::frame(&title, &when, Style::Inside, &body).into_string()
}
