//! Turns the output of a check into counts and findings, line by line as it streams in.
//!
//! It never starts anything, never reads a file and never decides whether a gate is green: it
//! only reads what a tool printed. Memory is bounded whatever the size of the output.

use std::io::{self, Read};

use crate::reading::Reading;
use crate::rounds::Rounds;
use crate::{Counts, Difference, Executed, Exit, Finding, Label, report};

/// How much is read at once.
const BUFFER: usize = 64 * 1024;

/// Reads all that `command` printed and says what is in it, now that it has ended.
///
/// The output is read piece by piece and never kept as a whole.
pub fn read(command: &str, exit: impl Into<Exit>, mut output: impl Read) -> io::Result<Parsed> {
    let mut parser = Parser::new(command);
    let mut buffer = vec![0_u8; BUFFER];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return Ok(parser.finish(exit)),
            Ok(length) => parser.feed(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What the output of one check says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Tests counted, summed over all runners that printed a count.
    pub counts: Option<Counts>,
    /// What is red, in the order of the output; at most [`Parsed::FINDINGS_MAX`], none on exit 0.
    pub findings: Vec<Finding>,
    /// How many further findings were seen and left out.
    pub findings_left_out: u64,
    /// The last lines of the output, without colours. When no finding explains a red check: the first
    /// lines that speak of an error before them, and the exit code of one that printed nothing.
    pub tail: String,
    /// Which tests ran, one entry per runner that tells.
    pub executed: Vec<Executed>,
    /// The formats that were recognised.
    pub tools: Vec<&'static str>,
}

impl Parsed {
    /// How many findings are kept.
    pub const FINDINGS_MAX: usize = report::FINDINGS_MAX;

    /// What changed since an earlier reading of the same check, `gate`.
    pub fn difference(&self, before: &Self, gate: &str) -> Difference {
        Difference::between(&before.labels(gate), &self.labels(gate))
    }

    fn labels(&self, gate: &str) -> Vec<Label> {
        let label =
            |found: &Finding| Label { identity: found.identity(gate), label: found.label(gate) };
        self.findings.iter().map(label).collect()
    }
}

/// Reads the output of one check as it arrives.
pub struct Parser {
    reading: Reading,
    rounds: Rounds,
}

impl Parser {
    /// A parser for the output of `command`. The command line is only a hint: what a tool prints
    /// decides.
    pub fn new(command: &str) -> Self {
        Self { reading: Reading::new(command), rounds: Rounds::default() }
    }

    /// Takes the next bytes of stdout or stderr, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.rounds.feed(bytes, &mut self.reading);
    }

    /// What it all says, now that the check has ended.
    pub fn finish(self, exit: impl Into<Exit>) -> Parsed {
        self.rounds.finish(self.reading, exit.into())
    }
}
