//! `flyball watch`: the runs of this machine in one terminal. Looks four times a second, draws when
//! something changed, and does what the keys say through the commands of the same names.

mod acts;
mod screen;

use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use clap::Args;
use flyball_core::RunId;
use ratatui::crossterm::event::{Event, KeyEventKind};

use self::screen::Ended;
pub use self::screen::Screen;
use super::status::{self, StatusArgs};
use super::{Globals, answer, fault, place, runs, words};
use crate::clock::{self, Deadline};
use crate::error::CliError;
use crate::journal::Journal;
use crate::terminal;
use crate::view::RunView;
use crate::watch::{Look, Order, Reader, Scene, State, draw};

/// Between two looks at the journal, and so between two frames that no key asked for.
const BEAT: Duration = Duration::from_millis(250);

/// Watch the runs of this machine in a terminal window
///
/// Who needs you comes first. Enter opens a run: its failing checks by iteration, guards, claims,
/// cost and story. `?` names the keys; answering, unblocking, stopping and the others ask once. Runs
/// go on when it is closed. Without a terminal it prints what `flyball status --watch` prints.
#[derive(Clone, Debug, Default, Args)]
pub struct WatchArgs {
    /// The run to open, or the beginning of its name; without it, the list of all
    pub run: Option<String>,
    /// Only look: no key changes anything
    #[arg(long)]
    pub read_only: bool,
}

/// Shows the runs until somebody leaves.
pub fn run(args: &WatchArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let open = args.run.as_deref().map(|asked| runs::find(&journal, asked)).transpose()?;
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !stdout().is_terminal() || !stdin().is_terminal() || is_dumb {
        let status = StatusArgs { all: true, watch: true, json: false };
        return status::run(&status, globals);
    }
    let paint = globals.color.for_stdout();
    let color = paint == terminal::Paint::ON;
    let mut window = Window {
        journal,
        reader: Reader::default(),
        state: State::new(open.map(|run| run.run), args.read_only),
        view: None,
        before: None,
        look: Look::of_environment(color),
        globals: globals.clone(),
        news: mpsc::channel(),
    };
    let mut screen = Screen::enter()?;
    let ended = window.show(&mut screen);
    drop(screen);
    let lines: String = window.reader.ended().into_iter().map(|line| line + "\n").collect();
    terminal::write_out(&lines)?;
    match ended? {
        Ended::Left => Ok(ExitCode::SUCCESS),
        Ended::Signal(signal) => Ok(ExitCode::from(signal.saturating_add(128))),
    }
}

/// What came of something done in the background.
enum News {
    /// A sentence about it.
    Said(String),
    /// The same, and what was asked is answered.
    Answered(String),
}

/// Everything behind the screen.
struct Window {
    journal: Journal,
    reader: Reader,
    state: State,
    view: Option<RunView>,
    before: Option<RunView>,
    look: Look,
    globals: Globals,
    news: (Sender<News>, Receiver<News>),
}

impl Window {
    fn show(&mut self, screen: &mut Screen) -> Result<Ended, CliError> {
        let mut beat = Deadline::after(Duration::ZERO);
        loop {
            if let Some(signal) = screen.ended_by() {
                return Ok(Ended::Signal(signal));
            }
            if screen.is_asked_to_stop() {
                screen.stop()?;
            }
            let mut is_new = self.hear_news();
            if beat.passed() {
                beat = Deadline::after(BEAT);
                is_new |= self.look()?;
            }
            if is_new || screen.is_stale() {
                self.draw(screen)?;
            }
            let Some(event) = screen.wait(beat.left())? else { continue };
            if let Some(ended) = self.happened(screen, event)? {
                return Ok(ended);
            }
            self.draw(screen)?;
        }
    }

    /// Looks at the journal; whether something is to be drawn.
    fn look(&mut self) -> Result<bool, CliError> {
        let is_new = self.reader.look(&self.journal, clock::wall()).map_err(fault::journal)?;
        if is_new {
            self.open()?;
        }
        Ok(is_new)
    }

    /// Reads the opened run, and the one before it where both are compared.
    fn open(&mut self) -> Result<(), CliError> {
        let read = |run: &RunId| self.reader.run(&self.journal, run).map_err(fault::journal);
        let open = self.state.open();
        let is_same = |view: &RunView| {
            // A run that is over does not change.
            Some(&view.run.run) == open && view.run.ended.is_some()
        };
        if !self.view.as_ref().is_some_and(is_same) {
            self.view = open.map(read).transpose()?;
        }
        let before = open.filter(|_| self.state.compares()).and_then(|run| self.reader.before(run));
        if before.as_ref() != self.before.as_ref().map(|view| &view.run.run) {
            self.before = before.as_ref().map(read).transpose()?;
        }
        Ok(())
    }

    fn draw(&self, screen: &mut Screen) -> Result<(), CliError> {
        let scene = Scene {
            board: self.reader.board(),
            state: &self.state,
            run: self.view.as_ref(),
            before: self.before.as_ref(),
            look: self.look,
            now: clock::wall(),
        };
        screen.draw(|frame| draw(frame, &scene))
    }

    fn happened(&mut self, screen: &mut Screen, event: Event) -> Result<Option<Ended>, CliError> {
        let order = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.state.press(key, self.reader.board())
            }
            Event::Paste(text) => {
                self.state.paste(&text);
                None
            }
            Event::Key(_)
            | Event::Mouse(_)
            | Event::Resize(..)
            | Event::FocusGained
            | Event::FocusLost => None,
        };
        self.open()?;
        match order {
            None => {}
            Some(Order::Quit) => return Ok(Some(Ended::Left)),
            Some(Order::Suspend) => screen.stop()?,
            Some(Order::Edit(run)) => self.edit(screen, &run)?,
            Some(Order::CopyResume(run)) => self.copy(&run)?,
            Some(Order::Perform(act)) => {
                self.state.notice("…");
                let globals = self.globals.clone();
                self.aside(move || News::Said(acts::perform(&act, &globals)));
            }
            Some(Order::Report { run, open }) => {
                self.state.notice(format!("Writes the report of {run} …"));
                self.aside(move || News::Said(acts::report(&run, open)));
            }
        }
        Ok(None)
    }

    /// Does something beside the screen, which goes on.
    fn aside(&self, doing: impl FnOnce() -> News + Send + 'static) {
        let sender = self.news.0.clone();
        thread::spawn(move || sender.send(doing()).ok());
    }

    fn hear_news(&mut self) -> bool {
        let mut is_new = false;
        while let Ok(news) = self.news.1.try_recv() {
            let said = match news {
                News::Said(said) => said,
                News::Answered(said) => {
                    self.state.answered();
                    said
                }
            };
            self.state.notice(said);
            self.reader.forget();
            is_new = true;
        }
        is_new
    }

    /// Hands the terminal to the editor, as `flyball answer` without text does.
    fn edit(&mut self, screen: &mut Screen, run: &RunId) -> Result<(), CliError> {
        if answer::editor().is_none() {
            self.state.notice("Neither VISUAL nor EDITOR names an editor.");
            return Ok(());
        }
        let args = answer::AnswerArgs { text: None, run: Some(run.to_string()) };
        let globals = &self.globals;
        let (done, heard) = screen.aside(|| terminal::overheard(|| answer::run(&args, globals)))?;
        let is_done = done.is_ok();
        let said = acts::told(done, &heard);
        let news = if is_done { News::Answered(said) } else { News::Said(said) };
        self.news.0.send(news).ok();
        Ok(())
    }

    fn copy(&mut self, run: &RunId) -> Result<(), CliError> {
        let Some(row) = self.reader.board().row(run) else { return Ok(()) };
        let command = words::line(&runs::resume_command(run, &row.run.root, None), 2_000);
        Screen::copy(&command)?;
        self.state.notice(format!("Copied: {command}"));
        Ok(())
    }
}
