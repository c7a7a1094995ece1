//! Frames as a person sees them, at three sizes, and keys as they are pressed.

use std::path::PathBuf;

use flyball_core::effect::{Ending, Tally};
use flyball_core::{IterationNo, Moment, Outcome, RunId, TaskId};
use flyball_testkit::sim::Sim;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::*;
use crate::journal::{RunProgress, RunSummary};
use crate::view::{Builder, RunView};

const SIZES: [(u16, u16); 3] = [(60, 16), (80, 24), (200, 50)];
const PLAIN: Look = Look { color: false, unicode: true };

fn at(second: u64) -> Moment {
    Moment::from_millis(1_794_736_800_000 + second * 1000)
}

fn summary(run: &str, project: &str, outcome: Option<Outcome>) -> RunSummary {
    let state = RunProgress {
        iteration: IterationNo::new(6),
        task: Some(TaskId::new("US-003")),
        phase: "iterating".to_owned(),
        cost_micro_usd: 4_710_000,
        stories_complete: 2,
        stories_total: 3,
        ..RunProgress::default()
    };
    let ending = outcome.map(|outcome| Ending {
        outcome,
        why: "gates green on tree f01ee5a9".to_owned(),
        trip: None,
        also: Vec::new(),
        left: Vec::new(),
        nothing_left: false,
        rescues: Vec::new(),
        roles: Vec::new(),
        flaky: std::collections::BTreeMap::new(),
        next_steps: Vec::new(),
        tally: Tally { runtime_ms: 61_000, ..Tally::default() },
    });
    RunSummary {
        run: RunId::new(run),
        root: PathBuf::from("/home").join(project),
        agent: "claude".to_owned(),
        pid: None,
        started: at(0),
        last_at: at(10),
        ended: outcome.map(|_| at(10)),
        outcome: outcome.map(|outcome| outcome.as_str().to_owned()),
        max_iterations: 15,
        events: 0,
        state,
        ending,
        damaged: None,
    }
}

fn row(run: &str, project: &str, standing: Standing, what: &str) -> Row {
    let outcome = match standing {
        Standing::AtWork | Standing::Waits | Standing::Lost => None,
        Standing::Done => Some(Outcome::Complete),
        Standing::Asks | Standing::Weakened => Some(Outcome::Decide),
        Standing::Blocked => Some(Outcome::Blocked),
        Standing::Ended => Some(Outcome::Stuck),
    };
    Row {
        run: summary(run, project, outcome),
        standing,
        strip: vec![RowMark::Green, RowMark::Better, RowMark::Red, RowMark::Halted, RowMark::Now],
        failing: Some(4),
        cost_limit: 6_000_000,
        what: what.to_owned(),
    }
}

fn board() -> Board {
    let rows = vec![
        row("r-1", "billing", Standing::Asks, "Should a downgrade refund the unused days at once?"),
        row("r-2", "auth", Standing::Weakened, "test_refresh_keeps_user was deleted"),
        row("r-3", "checkout", Standing::AtWork, "Bash cargo test · 8s · 108k tokens"),
        row("r-4", "ledger", Standing::Waits, "waits · 12m00s left · goes on at 19:00:00"),
        row("r-5", "docs", Standing::Done, "1m01s · $0.86 · gates green on tree f01ee5a9"),
    ];
    Board { rows, today_micro_usd: 18_120_000 }
}

fn frame(scene: &Scene<'_>, (columns, rows): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, scene)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_owned()).collect()
}

fn scene<'s>(board: &'s Board, state: &'s State, run: Option<&'s RunView>) -> Scene<'s> {
    Scene { board, state, run, before: None, look: PLAIN, now: at(20) }
}

fn press(state: &mut State, board: &Board, code: KeyCode) -> Option<Order> {
    state.press(KeyEvent::new(code, KeyModifiers::NONE), board)
}

fn types(state: &mut State, board: &Board, text: &str) {
    for letter in text.chars() {
        assert_eq!(press(state, board, KeyCode::Char(letter)), None, "{letter}");
    }
}

#[test]
fn sixty_by_sixteen_is_enough() {
    let (board, state) = (board(), State::default());
    let shown = frame(&scene(&board, &state, None), (60, 16));
    let wanted = [
        " flyball  2 need you · 2 at work · $18.12 today      ?:help",
        " ! billing   asks       6      \"Should a downgrade refund t…",
        " ! auth      weakened   6      test_refresh_keeps_user was…",
        " ● checkout  iterating  6/15   Bash cargo test · 8s · 108k…",
        " ◌ ledger    waits      6/15   waits · 12m00s left · goes o…",
        "   docs      complete   6      1m01s · $0.86 · gates green…",
        "",
        "",
        "",
        "",
        "",
        " billing · r-1",
        " Should a downgrade refund the unused days at once?",
        "",
        "",
        " ↵ open  a answer  u unblock  t tests  s stop  r report",
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn wider_shows_more_and_no_row_leaves_the_screen() {
    let (board, state) = (board(), State::default());
    let [_, middle, wide] = SIZES.map(|size| frame(&scene(&board, &state, None), size).join("\n"));
    assert!(
        middle.contains("checkout  iterating  US-003  6/15   ▇▅▁!●   Bash cargo test"),
        "{middle}"
    );
    assert!(!middle.contains("fail 4"), "{middle}");
    let checkout = "● checkout  iterating  US-003  6/15   ▇▅▁!●            fail 4    \
                    $4.71/6.00   ▓▓▓▓▓▓▓░░  Bash cargo test · 8s · 108k tokens";
    assert!(wide.contains(checkout), "{wide}");
    assert!(wide.contains("/ filter  q quit"), "{wide}");
    // Nothing falls over at any size.
    for columns in [1, 2, 10, 39, 61, 79, 97, 131] {
        for rows in 1..20 {
            let mut state = State::default();
            frame(&scene(&board, &state, None), (columns, rows));
            press(&mut state, &board, KeyCode::Char('a'));
            frame(&scene(&board, &state, None), (columns, rows));
            press(&mut state, &board, KeyCode::Esc);
            press(&mut state, &board, KeyCode::Char('?'));
            frame(&scene(&board, &state, None), (columns, rows));
        }
    }
}

fn opened(seed: u64) -> RunView {
    let (_, journal) = Sim::new(seed).run_with_journal();
    let mut run = summary("r-3", "checkout", None);
    let mut builder = Builder::new(&run);
    for (at, event) in &journal {
        builder.step(*at, event);
    }
    run.ending = builder.ending().cloned();
    run.ended = Some(at(10));
    builder.view(&run)
}

#[test]
fn a_run_shows_its_checks_guards_claims_and_story_at_every_size() {
    let board = board();
    for seed in 0..40 {
        let view = opened(seed);
        let mut state = State::new(Some(RunId::new("r-3")), false);
        for size in SIZES {
            let shown = frame(&scene(&board, &state, Some(&view)), size);
            let outcome = view.outcome().unwrap().to_string().to_uppercase();
            assert!(shown[0].starts_with(" checkout › r-3  "), "{}", shown[0]);
            assert!(shown[0].contains(&outcome), "{seed}: {}", shown[0]);
            let text = shown.join("\n");
            for lane in [" check ", "\n guards", "\n says done", "\n cost", "←→ iteration"] {
                assert!(text.contains(lane), "{seed} {size:?} {lane}\n{text}");
            }
            let story = crate::view::story(&view)[0].text();
            let begins: String = story.split(' ').take(2).collect::<Vec<_>>().join(" ");
            assert!(text.contains(&begins), "{seed} {size:?} {begins}\n{text}");
        }
        for key in ['e', 'c', 'g'] {
            press(&mut state, &board, KeyCode::Char(key));
            for size in SIZES {
                frame(&scene(&board, &state, Some(&view)), size);
            }
        }
        press(&mut state, &board, KeyCode::Enter);
        for _ in 0..view.iterations.len() + 2 {
            let text = frame(&scene(&board, &state, Some(&view)), (80, 24)).join("\n");
            assert!(text.contains(" Iteration ") && text.contains("say") | !text.is_empty());
            press(&mut state, &board, KeyCode::Left);
        }
    }
}

#[test]
fn two_runs_stand_beside_each_other() {
    let (board, view, other) = (board(), opened(3), opened(7));
    let mut state = State::new(Some(RunId::new("r-3")), false);
    press(&mut state, &board, KeyCode::Char('c'));
    assert!(state.compares());
    let both = Scene { before: Some(&other), ..scene(&board, &state, Some(&view)) };
    let text = frame(&both, (80, 24)).join("\n");
    for part in [" outcome ", " failing ", " idle cost ", "failing checks after each iteration"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let alone = frame(&scene(&board, &state, Some(&view)), (80, 24)).join("\n");
    assert!(alone.contains("There is no earlier run"), "{alone}");
}

#[test]
fn the_chosen_run_stays_chosen_when_others_come() {
    let (mut board, mut state) = (board(), State::default());
    press(&mut state, &board, KeyCode::Char('j'));
    press(&mut state, &board, KeyCode::Down);
    board.rows.insert(0, row("r-0", "first", Standing::Blocked, "no database"));
    press(&mut state, &board, KeyCode::Enter);
    assert_eq!(state.open(), Some(&RunId::new("r-3")));
    press(&mut state, &board, KeyCode::Esc);
    assert_eq!(state.open(), None);
    for (key, chosen) in [('g', "r-0"), ('G', "r-5"), ('k', "r-4"), ('\t', "r-0"), ('\t', "r-1")] {
        let code = if key == '\t' { KeyCode::Tab } else { KeyCode::Char(key) };
        press(&mut state, &board, code);
        let subject = state.subject(&board).unwrap();
        assert_eq!(subject.run.run, RunId::new(chosen), "{key:?}");
    }
}

#[test]
fn help_comes_while_filtering_and_the_filter_is_kept() {
    let (board, mut state) = (board(), State::default());
    types(&mut state, &board, "/led?");
    let text = frame(&scene(&board, &state, None), (60, 16)).join("\n");
    assert!(text.contains("this, also while filtering"), "{text}");
    press(&mut state, &board, KeyCode::Esc);
    let text = frame(&scene(&board, &state, None), (60, 16)).join("\n");
    assert!(
        text.contains("/led_") && text.contains("ledger") && !text.contains("billing"),
        "{text}"
    );
    press(&mut state, &board, KeyCode::Enter);
    assert_eq!(state.subject(&board).unwrap().run.run, RunId::new("r-4"));
    press(&mut state, &board, KeyCode::Esc);
    assert_eq!(state.visible(&board).len(), 5);
}

#[test]
fn acts_ask_once_and_any_other_key_is_a_no() {
    let board = board();
    let chosen = |run: &str| State { selected: Some(RunId::new(run)), ..State::default() };
    let yes = |act| Some(Order::Perform(act));
    let of = RunId::new;
    let table: [(&str, char, char, Option<Order>); 9] = [
        ("r-3", 's', 'y', yes(Act::Stop(of("r-3")))),
        ("r-3", 's', 'n', None),
        ("r-5", 's', 'y', Some(Order::CopyResume(of("r-5")))),
        ("r-1", 'u', 'y', yes(Act::Unblock(of("r-1")))),
        ("r-2", 't', 'b', yes(Act::RestoreTests(of("r-2")))),
        ("r-2", 't', 'y', yes(Act::AcceptTests(of("r-2")))),
        ("r-2", 't', 'x', None),
        ("r-2", 'a', 'b', yes(Act::RestoreTests(of("r-2")))),
        ("r-3", 'a', 'j', None),
    ];
    for (run, key, then, wanted) in table {
        let mut state = chosen(run);
        assert_eq!(press(&mut state, &board, KeyCode::Char(key)), None, "{key}");
        frame(&scene(&board, &state, None), (60, 16));
        assert_eq!(press(&mut state, &board, KeyCode::Char(then)), wanted, "{run} {key} {then}");
    }
    for (key, order) in [
        ('r', Order::Report { run: of("r-1"), open: false }),
        ('o', Order::Report { run: of("r-1"), open: true }),
        ('q', Order::Quit),
    ] {
        assert_eq!(press(&mut chosen("r-1"), &board, KeyCode::Char(key)), Some(order));
    }
    let control = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    assert_eq!(chosen("r-1").press(control('c'), &board), Some(Order::Quit));
    assert_eq!(chosen("r-1").press(control('z'), &board), Some(Order::Suspend));
}

#[test]
fn an_answer_is_typed_while_everything_around_it_changes() {
    let (mut board, mut state) = (board(), State::default());
    press(&mut state, &board, KeyCode::Char('a'));
    types(&mut state, &board, "no, q");
    board.rows.rotate_left(2);
    board.rows[1].what = "something else".to_owned();
    types(&mut state, &board, "uite?x");
    press(&mut state, &board, KeyCode::Backspace);
    let text = frame(&scene(&board, &state, None), (60, 16)).join("\n");
    assert!(text.contains("Should a downgrade") && text.contains("no, quite?_"), "{text}");
    let control = KeyEvent::new(KeyCode::Char('e'), KeyModifiers::CONTROL);
    assert_eq!(state.press(control, &board), Some(Order::Edit(RunId::new("r-1"))));
    state.paste(" And\u{1b}[2J\nmore");
    let text = "no, quite? And\nmore".to_owned();
    let sent = Order::Perform(Act::Answer { run: RunId::new("r-1"), text });
    assert_eq!(press(&mut state, &board, KeyCode::Enter), Some(sent));
    // An empty one is not sent, and Esc leaves.
    press(&mut state, &board, KeyCode::Char('g'));
    state.selected = Some(RunId::new("r-1"));
    press(&mut state, &board, KeyCode::Char('a'));
    assert_eq!(press(&mut state, &board, KeyCode::Enter), None);
    press(&mut state, &board, KeyCode::Esc);
    assert_eq!(press(&mut state, &board, KeyCode::Char('q')), Some(Order::Quit));
}

#[test]
fn read_only_changes_nothing() {
    let (board, mut state) = (board(), State::new(None, true));
    for run in ["r-1", "r-2", "r-3", "r-5"] {
        state.selected = Some(RunId::new(run));
        for key in ['a', 'u', 't', 's'] {
            press(&mut state, &board, KeyCode::Char(key));
            assert!(state.notice.starts_with("--read-only"), "{run} {key}: {}", state.notice);
        }
    }
}

#[test]
fn colours_can_be_left_out_and_marks_be_ascii() {
    let (board, state) = (board(), State::default());
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut colours = |look: Look| {
        let scene = Scene { look, ..scene(&board, &state, None) };
        terminal.draw(|frame| draw(frame, &scene)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        (coloured, cells.iter().all(|cell| cell.symbol().is_ascii()))
    };
    assert_eq!(colours(Look { color: true, unicode: true }), (true, false));
    assert_eq!(colours(Look { color: false, unicode: false }), (false, true));
    let scene =
        Scene { look: Look { color: false, unicode: false }, ..scene(&board, &state, None) };
    let text = frame(&scene, (80, 24)).join("\n");
    assert!(text.contains(" * checkout  iterating  US-003  6/15   #+_!*"), "{text}");
}

#[test]
fn what_agents_write_does_not_drive_the_terminal() {
    let mut board = board();
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\u{0}\r\n\u{1b}Px\u{1b}\\";
    for row in &mut board.rows {
        row.what = hostile.repeat(20);
        row.run.root = PathBuf::from(format!("/x/{hostile}"));
        row.run.state.task = Some(TaskId::new(hostile));
        row.run.state.phase = hostile.to_owned();
    }
    let mut state = State::default();
    for key in [KeyCode::Null, KeyCode::Char('a'), KeyCode::Esc, KeyCode::Enter] {
        press(&mut state, &board, key);
        for size in SIZES {
            for row in frame(&scene(&board, &state, None), size) {
                let is_bad = |c: char| c.is_control() || c == '\u{202e}';
                assert!(!row.contains(is_bad), "{row:?}");
            }
        }
    }
}
