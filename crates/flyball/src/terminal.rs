//! The two streams of the terminal and their colours. stdout is for what was asked, stderr for the
//! story. Whatever is printed goes through here and is made safe ([`plain()`]): no text of an agent, a
//! tool or a file drives the terminal. Never decides what to say.

mod cells;
mod outlet;
mod plain;
mod wrapping;

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

pub use self::cells::{cut, width, wrap};
use self::outlet::Stream;
pub use self::plain::{PlainText, plain};
pub use self::wrapping::{fitted, wrapped};

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
            Self::Auto if !no_color => Paint::OFF,
            Self::Auto | Self::Never => Paint::REFUSED,
        }
    }
}

/// Puts words in colour, or leaves them as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint(Wish);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    On,
    Off,
    Refused,
}

impl Paint {
    /// Colours.
    pub const ON: Self = Self(Wish::On);
    /// Plain text; who has colours of his own keeps them.
    pub const OFF: Self = Self(Wish::Off);
    /// No colour of anybody's.
    pub const REFUSED: Self = Self(Wish::Refused);

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

    /// What an agent says.
    pub fn blue(self, text: &str) -> String {
        self.wrap("34", text)
    }

    /// What its program prints beside that.
    pub fn magenta(self, text: &str) -> String {
        self.wrap("35", text)
    }

    /// Whether nobody may have colours.
    pub const fn is_refused(self) -> bool {
        matches!(self.0, Wish::Refused)
    }

    /// Everything that matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 == Wish::On { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
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
    /// Empties the line the cursor stands in, and all below it: a terminal that became narrower
    /// has broken a line in two, and the cursor stands where it began.
    ClearLive,
    /// Puts the cursor where the line began.
    LineStart,
    /// Empties the screen.
    ClearScreen,
    /// Rings.
    Bell,
}

impl Control {
    const fn sequence(self) -> &'static str {
        match self {
            Self::ClearLive => "\r\u{1b}[J",
            Self::LineStart => "\r",
            Self::ClearScreen => "\u{1b}[H\u{1b}[2J",
            Self::Bell => "\u{7}",
        }
    }
}

/// What a terminal without a known size is taken for.
const COLUMNS: usize = 80;

/// How wide the terminal behind standard error is; none where there is no terminal.
pub fn err_columns() -> Option<usize> {
    columns(&io::stderr())
}

/// How wide the terminal behind standard output is; none where there is no terminal.
pub fn out_columns() -> Option<usize> {
    columns(&io::stdout())
}

fn columns(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let told = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    let set = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Some(if told > 0 { told } else { set().unwrap_or(COLUMNS) })
}

/// Whether both streams end in the same place: what is said on one need not be said on the other.
pub fn is_one_place() -> bool {
    let place = |stream: BorrowedFd<'_>| {
        rustix::fs::fstat(stream).map(|stat| (stat.st_dev, stat.st_ino)).ok()
    };
    match (place(io::stdout().as_fd()), place(io::stderr().as_fd())) {
        (Some(out), Some(err)) => out == err,
        // A stream that was closed shows nothing.
        (None, _) => true,
        (_, None) => false,
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

thread_local! {
    /// What this thread would have printed, while somebody listens instead of the terminal.
    static OVERHEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does something whose words are wanted here and not on the terminal: what this thread prints
/// meanwhile, made safe.
pub fn overheard<T>(doing: impl FnOnce() -> T) -> (T, String) {
    OVERHEARD.with_borrow_mut(|heard| *heard = Some(String::new()));
    let done = doing();
    (done, OVERHEARD.with_borrow_mut(Option::take).unwrap_or_default())
}

/// Whether somebody listens to this thread instead of the terminal.
pub fn has_listener() -> bool {
    OVERHEARD.with_borrow(Option::is_some)
}

fn is_overheard(text: &str) -> bool {
    OVERHEARD.with_borrow_mut(|heard| heard.as_mut().map(|heard| heard.push_str(text)).is_some())
}

/// Writes to standard output. A reader that went away early is no error.
pub fn write_out(text: &str) -> Result<(), CliError> {
    write_on(text).map(|_| ())
}

/// Writes to standard output; in a terminal no line is wider than it.
pub fn write_fitted(text: &str) -> Result<(), CliError> {
    match out_columns() {
        Some(columns) => write_out(&fitted(text, columns)),
        None => write_out(text),
    }
}

/// Writes an error to standard error; in a terminal no line is wider than it.
pub fn write_error(error: &CliError, paint: Paint) {
    let text = error_text(error, paint);
    write_err(&err_columns().map_or_else(|| text.clone(), |columns| fitted(&text, columns)));
}

/// For whom something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// People: in a terminal no line is wider than it.
    Person,
    /// Programs: as it is.
    Program,
}

impl Reader {
    /// Who asks for JSON is a program.
    #[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its function")]
    pub const fn of_json(json: bool) -> Self {
        if json { Self::Program } else { Self::Person }
    }
}

/// Writes to standard output, for people or for programs.
pub fn write_told(text: &str, reader: Reader) -> Result<(), CliError> {
    match reader {
        Reader::Person => write_fitted(text),
        Reader::Program => write_out(text),
    }
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
    if is_overheard(text) || outlet::push(Stream::Out, text) {
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
    if !is_overheard(text) && !outlet::push(Stream::Err, text) {
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
        assert_eq!(ColorChoice::Never.paint(&file), Paint::REFUSED);
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
    fn what_is_overheard_does_not_reach_the_terminal() {
        let (done, heard) = overheard(|| {
            write_err("a\u{1b}[2J\n");
            write_on("b\n").map_err(|error| error.message)
        });
        assert_eq!((done, heard.as_str()), (Ok(Audience::There), "a\nb\n"));
    }

    #[test]
    fn plain_paint_changes_nothing() {
        assert_eq!(Paint::OFF.green("ok"), "ok");
        assert_eq!(Paint::ON.green("ok"), "\u{1b}[32mok\u{1b}[0m");
    }
}
