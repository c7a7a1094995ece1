//! Transcripts that are databases: opened to look and never to write, with little patience for whoever
//! works with them; the client reads its rows.

use std::io;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Source;
use crate::client::ReadRequest;
use crate::client::transcript::{Reading, RowReader, Sink, Teller};
use crate::files;

/// A client at work is never kept waiting, and neither is whoever looks.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads all sessions of a database. What cannot be read is counted; an error means that nothing could be.
pub(super) fn read(
    source: &Source,
    rows: RowReader,
    request: &ReadRequest,
    to: &mut dyn Sink,
) -> io::Result<Reading> {
    // Looked at first: the database would open what is no file, too.
    let bytes = files::open(&source.path)?.metadata()?.len();
    let mut reading = Reading { bytes, ..Reading::default() };
    to.progress(bytes);
    // Each session is named in its rows.
    let output = (source.how.output)();
    let mut teller = Teller::new(source.agent, output, String::new(), request, to);
    let read = open(source).and_then(|database| rows(&database, &mut teller, &mut reading));
    if let Err(error) = read {
        reading.miss(error.to_string());
        if reading.records == 0 {
            return Err(io::Error::other(error));
        }
    }
    reading.sessions = teller.end();
    Ok(reading)
}

fn open(source: &Source) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&source.path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}
