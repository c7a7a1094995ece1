//! Keys: what each one means where it is pressed. Pure: a state, a key, the next state and perhaps an
//! order.

use flyball_core::RunId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::board::Board;
use super::row::{Row, Standing};
use super::state::{Act, Pane, State, Typing};
use crate::view::words;

/// The longest filter and the longest answer that is typed.
const FILTER_MAX: usize = 60;
const DRAFT_MAX: usize = 8_000;
/// How far a page goes.
const PAGE: usize = 10;

/// What is to be done beside showing something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Leave.
    Quit,
    /// Let the shell have the terminal for a while.
    Suspend,
    /// Do this to a run.
    Perform(Act),
    /// Answer in the editor.
    Edit(RunId),
    /// Put the command that goes on with a run on the clipboard.
    CopyResume(RunId),
    /// Write the report of a run, and perhaps open it.
    Report {
        /// The run.
        run: RunId,
        /// Whether a browser is to show it.
        open: bool,
    },
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other key means anything there")]
impl State {
    /// A key was pressed.
    pub fn press(&mut self, key: KeyEvent, board: &Board) -> Option<Order> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Some(Order::Quit),
            KeyCode::Char('z') if control => return Some(Order::Suspend),
            _ => {}
        }
        if self.help {
            self.help = false;
            return None;
        }
        match std::mem::take(&mut self.typing) {
            Typing::Nothing => self.normal(key, board),
            Typing::Filter => {
                self.filtering(key);
                None
            }
            Typing::Answer { run, draft } => self.answering(key, run, draft),
            Typing::Confirm(act) => match key.code {
                KeyCode::Char('y' | 'Y') => Some(Order::Perform(act)),
                _ => self.say("Nothing was done."),
            },
            Typing::Tests(run) => match key.code {
                KeyCode::Char('b' | 'B') => Some(Order::Perform(Act::RestoreTests(run))),
                KeyCode::Char('y' | 'Y') => Some(Order::Perform(Act::AcceptTests(run))),
                _ => self.say("Nothing was done."),
            },
        }
    }

    /// Text was pasted.
    pub fn paste(&mut self, text: &str) {
        match &mut self.typing {
            Typing::Filter => self.filter.push_str(&words::line(text, FILTER_MAX)),
            Typing::Answer { draft, .. } => {
                let room = DRAFT_MAX.saturating_sub(draft.chars().count());
                draft.extend(words::lines(text).chars().take(room));
            }
            Typing::Nothing | Typing::Confirm(_) | Typing::Tests(_) => {}
        }
    }

    fn say(&mut self, words: &str) -> Option<Order> {
        self.notice(words);
        None
    }

    fn normal(&mut self, key: KeyEvent, board: &Board) -> Option<Order> {
        self.notice.clear();
        match key.code {
            KeyCode::Char('q') => return Some(Order::Quit),
            KeyCode::Char('?') => self.help = true,
            KeyCode::Tab => self.next_that_needs_you(board),
            KeyCode::Char(act @ ('a' | 'u' | 't' | 's' | 'r' | 'o' | 'y')) => {
                return self.act(act, board);
            }
            _ if self.open.is_some() => self.in_run(key.code),
            _ => self.in_list(key.code, board),
        }
        None
    }

    fn in_list(&mut self, code: KeyCode, board: &Board) {
        match code {
            KeyCode::Char('j') | KeyCode::Down => self.go(board, |place, _| place + 1),
            KeyCode::Char('k') | KeyCode::Up => self.go(board, |place, _| place.saturating_sub(1)),
            KeyCode::PageDown => self.go(board, |place, _| place + PAGE),
            KeyCode::PageUp => self.go(board, |place, _| place.saturating_sub(PAGE)),
            KeyCode::Char('g') | KeyCode::Home => self.go(board, |_, _| 0),
            KeyCode::Char('G') | KeyCode::End => self.go(board, |_, last| last),
            KeyCode::Enter => {
                let run = self.subject(board).map(|row| row.run.run.clone());
                self.enter(run);
            }
            KeyCode::Char('/') => self.typing = Typing::Filter,
            KeyCode::Esc => self.filter.clear(),
            _ => {}
        }
    }

    fn in_run(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('h') | KeyCode::Left => self.back = self.back.saturating_add(1),
            KeyCode::Char('l') | KeyCode::Right => self.back = self.back.saturating_sub(1),
            KeyCode::Home => self.back = usize::MAX,
            KeyCode::Char('G') | KeyCode::End => self.back = 0,
            KeyCode::Char('j') | KeyCode::Down => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Char('k') | KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(PAGE),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
            KeyCode::Enter => self.show(Pane::Iteration),
            KeyCode::Char('e') => self.show(Pane::Events),
            KeyCode::Char('c') => self.show(Pane::Compare),
            KeyCode::Char('g') => {
                self.guards_only = !self.guards_only;
                self.scroll = 0;
            }
            KeyCode::Esc if self.pane == Pane::Matrix => self.open = None,
            KeyCode::Esc => self.show(Pane::Matrix),
            _ => {}
        }
    }

    fn show(&mut self, pane: Pane) {
        self.pane = if self.pane == pane { Pane::Matrix } else { pane };
        // What was told last is wanted first.
        self.scroll = 0;
    }

    fn enter(&mut self, run: Option<RunId>) {
        if run.is_some() {
            self.selected.clone_from(&run);
            self.open = run;
            (self.pane, self.back, self.scroll, self.guards_only) = (Pane::Matrix, 0, 0, false);
        }
    }

    fn go(&mut self, board: &Board, next: impl Fn(usize, usize) -> usize) {
        let visible = self.visible(board);
        let last = visible.len().saturating_sub(1);
        let place = next(self.place(&visible), last).min(last);
        self.selected = visible.get(place).map(|row| row.run.run.clone());
    }

    fn next_that_needs_you(&mut self, board: &Board) {
        let needs = |row: &&Row| row.standing.needs_you();
        let waiting: Vec<&Row> = board.rows.iter().filter(needs).collect();
        let is_this = |row: &&Row| Some(&row.run.run) == self.selected.as_ref();
        let next = waiting.iter().position(is_this).map_or(0, |place| place + 1);
        let Some(row) = waiting.get(next).or_else(|| waiting.first()) else {
            self.notice("Nothing needs you.");
            return;
        };
        self.filter.clear();
        self.selected = Some(row.run.run.clone());
        if self.open.is_some() {
            self.enter(Some(row.run.run.clone()));
        }
    }

    fn act(&mut self, key: char, board: &Board) -> Option<Order> {
        let Some(row) = self.subject(board) else { return self.say("There is no run.") };
        let (run, standing) = (row.run.run.clone(), row.standing);
        match key {
            'r' => return Some(Order::Report { run, open: false }),
            'o' => return Some(Order::Report { run, open: true }),
            'y' => return Some(Order::CopyResume(run)),
            _ if self.read_only => {
                return self.say("--read-only: nothing is changed from here.");
            }
            _ => {}
        }
        let typing = match key {
            'a' if standing == Standing::Asks => Typing::Answer { run, draft: String::new() },
            // What is asked there is what becomes of them, and no text answers that.
            'a' if standing == Standing::Weakened => Typing::Tests(run),
            'a' => return self.say("Nothing is asked there."),
            'u' => Typing::Confirm(Act::Unblock(run)),
            't' if standing.is_alive() => {
                return self.say("It is at work; its tests are looked at when it has ended.");
            }
            't' => Typing::Tests(run),
            _ if standing.is_alive() => Typing::Confirm(Act::Stop(run)),
            _ => return self.say("It is not at work."),
        };
        self.typing = typing;
        None
    }

    fn filtering(&mut self, key: KeyEvent) {
        match key.code {
            // Help comes from everywhere; a question mark is in no name.
            KeyCode::Char('?') => self.help = true,
            KeyCode::Enter => return,
            KeyCode::Esc => {
                self.filter.clear();
                return;
            }
            code => edit(&mut self.filter, code, key.modifiers, FILTER_MAX),
        }
        self.typing = Typing::Filter;
    }

    fn answering(&mut self, key: KeyEvent, run: RunId, mut draft: String) -> Option<Order> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return self.say("Nothing was answered."),
            KeyCode::Char('e') if control => {
                let order = Order::Edit(run.clone());
                self.typing = Typing::Answer { run, draft };
                return Some(order);
            }
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => draft.push('\n'),
            KeyCode::Enter if draft.trim().is_empty() => {}
            KeyCode::Enter => return Some(Order::Perform(Act::Answer { run, text: draft })),
            code => edit(&mut draft, code, key.modifiers, DRAFT_MAX),
        }
        self.typing = Typing::Answer { run, draft };
        None
    }

    /// The answer was given elsewhere.
    pub fn answered(&mut self) {
        if matches!(self.typing, Typing::Answer { .. }) {
            self.typing = Typing::Nothing;
        }
    }
}

/// What a key does to a text that is being typed.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other key means anything there")]
fn edit(text: &mut String, code: KeyCode, modifiers: KeyModifiers, max: usize) {
    let control = modifiers.contains(KeyModifiers::CONTROL);
    match code {
        KeyCode::Char('u') if control => text.clear(),
        KeyCode::Char('w') if control => {
            let kept = text.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
            text.truncate(kept);
        }
        KeyCode::Char(letter) if !control && text.chars().count() < max => text.push(letter),
        KeyCode::Backspace => {
            text.pop();
        }
        _ => {}
    }
}
