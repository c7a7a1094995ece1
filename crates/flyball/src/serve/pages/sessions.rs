//! Sessions of the built-in agent outside of runs: that they are there, whose they are, and how to see
//! more of them.

use maud::{Markup, html};

use super::ago;
use crate::journal::ConversationRow;
use crate::process;
use crate::serve::window::{Books, Look, Problem};
use crate::view::words;

/// How many are shown.
const SHOWN: u32 = 8;

/// The latest of them; nothing without any.
pub(super) fn section(look: Look<'_>, books: &Books) -> Result<Markup, Problem> {
    let rows = books.journal.conversations(SHOWN)?;
    Ok(html! {
        section #sessions data-live {
            @if !rows.is_empty() {
                h2 { "Sessions" }
                table {
                    thead { tr { th { "Session" } th { "Project" } th { "Model" } th { "Last" } } }
                    tbody {
                        @for row in &rows {
                            tr {
                                td { code { (row.id) } @if is_at_work(row) { " at work" } }
                                td { (project(row)) }
                                td { (words::line(&row.model, 60)) }
                                td { (ago(row.last_at, look.now)) }
                            }
                        }
                    }
                }
                p.note { "What was said: " code { "flyball session --show SESSION" } " · what the guards make of it: " code { "flyball report SESSION" } }
            }
        }
    })
}

fn is_at_work(row: &ConversationRow) -> bool {
    row.pid.is_some_and(|pid| process::still_runs(pid, row.last_at))
}

fn project(row: &ConversationRow) -> String {
    let name = row.root.file_name().unwrap_or(row.root.as_os_str()).to_string_lossy();
    words::line(&name, 60)
}
