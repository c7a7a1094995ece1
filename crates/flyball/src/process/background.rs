//! flyball itself, started anew and left on its own: it outlives who started it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::orphans::start_own;
use crate::platform;

/// A flyball in the background, as long as somebody waits for its beginning.
#[derive(Debug)]
pub struct Background(Child);

/// Starts flyball with these arguments; what it prints goes into the file. On its standard input it
/// finds what it is given, and nothing else: whoever started it may go.
pub fn start_in_background(
    arguments: &[OsString],
    input: Option<&str>,
    output: &File,
) -> io::Result<Background> {
    let program = platform::own_program()?;
    let mut command = Command::new(program);
    let input = input.map(as_file).transpose()?.map_or_else(Stdio::null, Stdio::from);
    command.args(arguments).stdin(input).stdout(output.try_clone()?).stderr(output.try_clone()?);
    start_own(&mut command).map(Background)
}

/// The same, told nothing, and in a session of its own: it has no terminal and nobody's signals.
pub fn start_alone(arguments: &[OsString], output: &File) -> io::Result<Background> {
    let mut command = Command::new(platform::own_program()?);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(output.try_clone()?).stderr(output.try_clone()?).process_group(0);
    start_own(&mut command).map(Background)
}

/// A text as a file without a name, to be read from its beginning.
fn as_file(text: &str) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

impl Background {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, once it has.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }
}
