//! Reading a transcript: bytes to records, records to its format's reader.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use flyball_core::AgentFact;
use flyball_core::call::ValidationKind;
use flyball_core::event::ExitHow;

use super::{Source, database};
use crate::client::lenient::mended;
use crate::client::lines::{Line, Lines};
use crate::client::transcript::document::{Documents, Piece};
use crate::client::transcript::{Format, Kept, Reading, Record, RecordReader, Shape, Sink, Teller};
use crate::client::{AgentNote, Fact, ReadRequest};
use crate::files;

/// Bytes read at once.
const BITE: usize = 256 * 1024;

/// Reads a transcript from its beginning to its end. What cannot be read in it is counted; an error
/// means that nothing could be.
pub fn read(source: &Source, request: &ReadRequest, to: &mut dyn Sink) -> io::Result<Reading> {
    match &source.how.shape {
        Shape::Own(read) => read(&source.path, request, to),
        Shape::Database(rows) => database::read(source, *rows, request, to),
        Shape::Stream => stream(source, request, to),
        Shape::Lines(reader) => {
            let bytes = open(&source.path)?;
            let mut reading = Records::new(source, request, reader(), to);
            reading.lines(bytes);
            Ok(reading.end())
        }
        Shape::Document(lists, reader) => {
            let bytes = open(&source.path)?;
            let mut reading = Records::new(source, request, reader(), to);
            reading.documents(bytes, lists);
            Ok(reading.end())
        }
        Shape::Folder(reader) => {
            let files = numbered(&source.path)?;
            let mut reading = Records::new(source, request, reader(), to);
            for file in files {
                match open(&file) {
                    Ok(bytes) => reading.whole(bytes),
                    Err(error) => reading.miss(format!("`{}`: {error}", file.display())),
                }
            }
            Ok(reading.end())
        }
    }
}

/// The bytes of a file, unpacked where it is packed.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(BITE, files::open(path)?);
    if file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(MultiGzDecoder::new(file)));
    }
    Ok(Box::new(file))
}

/// The files of a folder, in the order of the first number in their names.
fn numbered(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push((number(&path), path));
        }
    }
    files.sort_unstable();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

fn number(path: &Path) -> u64 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX)
}

/// The records of one transcript on their way to its reader.
struct Records<'a> {
    reader: Box<dyn RecordReader>,
    to: Teller<'a>,
    reading: Reading,
}

impl<'a> Records<'a> {
    fn new(
        source: &Source,
        request: &'a ReadRequest,
        reader: Box<dyn RecordReader>,
        to: &'a mut dyn Sink,
    ) -> Self {
        let mut own = Self { reader, to: teller(source, request, to), reading: Reading::default() };
        own.reader.begin(&source.path, &mut own.to);
        own
    }

    fn lines(&mut self, bytes: Box<dyn Read>) {
        let mut lines = Lines::default();
        self.bites(bytes, |own, bite| lines.feed(bite, |line| own.line(&line)));
        lines.end(|line| self.line(&line));
    }

    fn line(&mut self, line: &Line<'_>) {
        match line {
            Line::Whole(text) => {
                let text = text.trim_ascii();
                if !text.is_empty() {
                    self.record("", text);
                }
            }
            Line::Overlong(_) => self.miss("the line is longer than 8 MiB"),
        }
    }

    fn documents(&mut self, bytes: Box<dyn Read>, lists: &'static [(&'static str, Kept)]) {
        let mut documents = Documents::new(lists);
        self.bites(bytes, |own, bite| documents.feed(bite, |piece| own.piece(&piece)));
        documents.end(|piece| self.piece(&piece));
    }

    fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Begin => {}
            Piece::Value { list, bytes } => self.record(list, &String::from_utf8_lossy(bytes)),
            Piece::Overlong => self.miss("a value is longer than 8 MiB"),
            Piece::Broken => self.miss("it is no JSON here, or cut off"),
        }
    }

    /// A file that is one record.
    fn whole(&mut self, bytes: Box<dyn Read>) {
        const MAX: u64 = 8 * 1024 * 1024;
        let mut text = String::new();
        match bytes.take(MAX + 1).read_to_string(&mut text) {
            Err(error) => self.miss(error.to_string()),
            Ok(_) if text.len() as u64 > MAX => self.miss("the file is longer than 8 MiB"),
            Ok(read) => {
                self.progress(read);
                self.record("", text.trim_ascii());
            }
        }
    }

    /// Reads to the end, or as far as can be read.
    fn bites(&mut self, mut bytes: Box<dyn Read>, mut each: impl FnMut(&mut Self, &[u8])) {
        let mut bite = vec![0; BITE];
        loop {
            match bytes.read(&mut bite) {
                Ok(0) => return,
                Ok(read) => {
                    self.progress(read);
                    each(self, bite.get(..read).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.miss(error.to_string()),
            }
        }
    }

    fn record(&mut self, list: &str, text: &str) {
        self.reading.records += 1;
        self.to.record(self.reading.records);
        let mut read = self.reader.record(&Record { text, list }, &mut self.to);
        // Half a character spoils a line, and is rare: nobody looks for it before it does.
        if read.is_err()
            && let Cow::Owned(mended) = mended(text)
        {
            read = self.reader.record(&Record { text: &mended, list }, &mut self.to);
        }
        self.to.flush();
        if let Err(why) = read {
            self.reading.miss(why);
        }
    }

    fn miss(&mut self, why: impl Into<String>) {
        self.reading.records += 1;
        self.reading.miss(why);
    }

    fn progress(&mut self, read: usize) {
        let read = u64::try_from(read).unwrap_or(0);
        self.reading.bytes += read;
        self.to.progress(read);
    }

    fn end(mut self) -> Reading {
        self.reader.end(&mut self.to);
        self.reading.sessions = self.to.end();
        self.reading
    }
}

/// What a client printed, read as it would have been.
fn stream(source: &Source, request: &ReadRequest, to: &mut dyn Sink) -> io::Result<Reading> {
    let mut bytes = open(&source.path)?;
    let mut reader = (source.how.output)().reader(request);
    let mut to = teller(source, request, to);
    let mut reading = Reading { records: 1, ..Reading::default() };
    let (mut bite, mut facts) = (vec![0; BITE], Vec::new());
    loop {
        let read = match bytes.read(&mut bite) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                reading.miss(error.to_string());
                break;
            }
        };
        let count = u64::try_from(read).unwrap_or(0);
        reading.bytes += count;
        to.progress(count);
        for line in bite.get(..read).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            to.record(reading.records);
            reader.stdout(line, &mut facts);
            printed(&mut facts, &mut reading, &mut to);
            reading.records += u64::from(line.ends_with(b"\n"));
        }
    }
    reader.finish(ExitHow::Lost, &mut facts);
    printed(&mut facts, &mut reading, &mut to);
    reading.sessions = to.end();
    Ok(reading)
}

/// Facts of a stream, one by one: which session they belong to is among them.
fn printed(facts: &mut Vec<Fact>, reading: &mut Reading, to: &mut Teller<'_>) {
    for fact in facts.drain(..) {
        match fact {
            Fact::Agent(AgentFact::SpokeNonsense(failure))
                if failure.kind == ValidationKind::BadStreamLine =>
            {
                reading.miss(failure.error);
            }
            Fact::AgentNote(AgentNote::Session(id)) => to.session(&id),
            other @ (Fact::Agent(_) | Fact::AgentNote(_)) => to.take(other),
        }
    }
}

fn teller<'a>(source: &Source, request: &'a ReadRequest, to: &'a mut dyn Sink) -> Teller<'a> {
    let Format { agent, output, .. } = source.how;
    let stem = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Teller::new(agent, output(), stem, request, to)
}
