//! All formats, in the order in which a file is compared with them.

use std::path::Path;

use super::{atif, mcp_log, openhands, otel, recording, swe_agent};
use crate::client::registry;
use crate::client::transcript::{Format, Head, Transcripts};

/// Formats that are nobody's own.
static FOREIGN: [&Format; 6] = [
    &recording::FORMAT,
    &atif::FORMAT,
    &otel::FORMAT,
    &swe_agent::FORMAT,
    &openhands::DOCUMENT,
    &mcp_log::FORMAT,
];

/// The clients that write transcripts.
pub(super) fn clients() -> impl Iterator<Item = (&'static str, &'static dyn Transcripts)> {
    registry::adapters().filter_map(|client| Some((client.name(), client.transcripts()?)))
}

/// The format of a file.
pub(super) fn recognise(head: &Head<'_>) -> Option<&'static Format> {
    let own = clients().flat_map(|(_, client)| client.formats());
    FOREIGN.into_iter().chain(own).find(|format| (format.recognises)(head))
}

/// The format of a folder that is one transcript.
pub(super) fn of_folder(path: &Path) -> Option<&'static Format> {
    openhands::is_folder(path).then_some(&openhands::FOLDER)
}
