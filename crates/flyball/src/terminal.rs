//! The two streams of the terminal and their colours. stdout is for what was asked, stderr for the
//! story. Whatever is printed goes through here and is made safe ([`plain()`]): no text of an agent, a
//! tool or a file drives the terminal. Never decides what to say.

mod outlet;
mod plain;

use std::io::{self, IsTerminal, Write};

use self::outlet::Stream;
pub use self::plain::{PlainText, plain};

use crate::error::CliError;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// When the stream is a terminal and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// The colours for standard output.
    pub fn for_stdout(self) -> Paint {
        self.paint(&io::stdout())
    }

    /// The colours for standard error.
    pub fn for_stderr(self) -> Paint {
        self.paint(&io::stderr())
    }

    fn paint(self, stream: &impl IsTerminal) -> Paint {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Auto if stream.is_terminal() && !no_color => Paint::ON,
            Self::Always => Paint::ON,
            Self::Auto | Self::Never => Paint::OFF,
        }
    }
}

/// Puts words in colour, or leaves them as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint(bool);

impl Paint {
    /// Colours.
    pub const ON: Self = Self(true);
    /// Plain text.
    pub const OFF: Self = Self(false);

    /// Failed.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Passed.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Warned.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Names and hints.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// Everything that matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// An error as the terminal shows it: `error:`, then `caused by:`, then `hint:` lines.
pub fn error_text(error: &CliError, paint: Paint) -> String {
    let mut lines = vec![format!("{} {}", paint.red("error:"), error.message)];
    lines.extend(error.causes.iter().map(|cause| format!("  caused by: {cause}")));
    lines.extend(error.hints.iter().map(|hint| format!("  {} {hint}", paint.cyan("hint:"))));
    lines.join("\n") + "\n"
}

/// What flyball itself may do to the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Empties the line the cursor stands in.
    ClearLine,
    /// Empties the screen.
    ClearScreen,
    /// Ends a colour somebody left on.
    ResetColour,
    /// Rings.
    Bell,
}

impl Control {
    const fn sequence(self) -> &'static str {
        match self {
            Self::ClearLine => "\r\u{1b}[2K",
            Self::ClearScreen => "\u{1b}[H\u{1b}[2J",
            Self::ResetColour => "\u{1b}[0m",
            Self::Bell => "\u{7}",
        }
    }
}

/// From now on a stream that nobody reads holds nobody up: what a run prints is handed to a thread.
pub fn never_wait() {
    outlet::open();
}

/// Waits, for a moment only, until what was handed on is printed.
pub fn flush() {
    outlet::flush();
}

/// Writes to standard output. A reader that went away early is no error.
pub fn write_out(text: &str) -> Result<(), CliError> {
    write_on(text).map(|_| ())
}

/// Whether anybody still reads what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Somebody may.
    There,
    /// The other end was closed.
    Gone,
}

/// Writes to standard output, and says whether it is worth writing more.
pub fn write_on(text: &str) -> Result<Audience, CliError> {
    write_on_raw(&plain(text))
}

/// Does something to the screen behind standard output.
pub fn control_out(control: Control) -> Result<Audience, CliError> {
    write_on_raw(control.sequence())
}

fn write_on_raw(text: &str) -> Result<Audience, CliError> {
    if outlet::push(Stream::Out, text) {
        return Ok(Audience::There);
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Audience::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Audience::Gone),
        Err(error) => Err(CliError::io("standard output could not be written").cause(error)),
    }
}

/// Writes to standard error; when even that fails there is nobody left to tell.
pub fn write_err(text: &str) {
    write_err_raw(&plain(text));
}

/// Writes a piece of a longer text of somebody else's to standard error.
pub fn write_err_piece(bytes: &[u8], cleaner: &mut PlainText) {
    let mut safe = String::with_capacity(bytes.len());
    cleaner.push_bytes(bytes, &mut safe);
    write_err_raw(&safe);
}

/// Does something to the screen behind standard error.
pub fn control_err(control: Control) {
    write_err_raw(control.sequence());
}

fn write_err_raw(text: &str) {
    if !outlet::push(Stream::Err, text) {
        drop(io::stderr().lock().write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_made_by_the_user_outranks_the_terminal() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(ColorChoice::Always.paint(&file), Paint::ON);
        assert_eq!(ColorChoice::Never.paint(&file), Paint::OFF);
        assert_eq!(ColorChoice::Auto.paint(&file), Paint::OFF);
    }

    #[test]
    fn an_error_is_printed_with_its_causes_before_its_hints() {
        let error = CliError::io("`a` could not be read").hint("look").cause("no such file");
        assert_eq!(
            error_text(&error, Paint::OFF),
            "error: `a` could not be read\n  caused by: no such file\n  hint: look\n"
        );
        assert!(error_text(&error, Paint::ON).starts_with("\u{1b}[31merror:\u{1b}[0m `a`"));
    }

    #[test]
    fn plain_paint_changes_nothing() {
        assert_eq!(Paint::OFF.green("ok"), "ok");
        assert_eq!(Paint::ON.green("ok"), "\u{1b}[32mok\u{1b}[0m");
    }
}
