//! What every command shows a person: at 60 × 16 and 80 × 24 no row is wider than the terminal, without
//! colours there are none, and a pipe gets whole lines.

use crate::pty::{Terminal, drawn_on};
use crate::scenario::Scenario;

/// A repository with a story of everything: a run that was reviewed by somebody else, one that is
/// blocked, a long title, and a folder with a long name.
fn lived_in() -> Scenario {
    let tasks = r#"{"userStories":[
{"id":"US-001","title":"A title that says what is wanted in so many words that no terminal of sixty columns has room for all of them","acceptanceCriteria":["`true` exits with 0"],"passes":false,"notes":""},
{"id":"US-002","title":"short","dependsOn":["US-001"],"passes":false,"notes":""}]}"#;
    let gate = "[[gates.check]]\nname = \"tests-of-the-whole-workspace\"\ncommand = \"echo 'FAILED tests/test_cart.py::test_a_name_that_goes_on_and_on - AssertionError: assert 1 == 2'; exit 1\"\n";
    let scenario = Scenario::bare()
        .tasks(tasks)
        .config(&format!("[review]\nenabled = false\n{gate}"))
        .committed()
        .agent("say \"I cannot go on: the database is not there, and nobody has told me where it might be found\"; say \"<promise>BLOCKED:the database at db.internal.example.com does not answer, and the credentials are missing</promise>\"");
    scenario.run().ended(2);
    scenario
}

/// The rows of a screen that is high enough for all of it.
fn drawn(raw: &str, columns: u16) -> Vec<String> {
    let mut screen = drawn_on(columns, 400);
    screen.process(raw.as_bytes());
    screen.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
}

/// Lines as they were sent, colours taken out.
fn sent(raw: &str) -> Vec<String> {
    let lines = raw.lines().map(|line| line.trim_end_matches('\r'));
    lines.map(flyball::terminal::plain).collect()
}

const COMMANDS: [&[&str]; 10] = [
    &["status"],
    &["status", "--all"],
    &["log"],
    &["doctor"],
    &["tasks"],
    &["stats"],
    &["prune", "--dry-run"],
    // An error with hints, and settings that are there already.
    &["stop"],
    &["init"],
    &["run"],
];

#[test]
fn every_screen_fits_sixty_and_eighty_columns() {
    let scenario = lived_in();
    for command in COMMANDS {
        for (columns, rows) in [(60, 16), (80, 24)] {
            let arguments = match command {
                ["run"] => scenario.arguments(&[]),
                _ => command.to_vec(),
            };
            let (_, raw) = Terminal::start(&scenario, &arguments, (columns, rows)).end();
            let shown = drawn(&raw, columns).join("\n");
            assert!(shown.trim().lines().count() > 0, "{command:?} shows nothing");
            assert!(!shown.contains(" · ends"), "a live line is left:\n{shown}");
            for line in sent(&raw) {
                let is_whole = is_copied(&line) || line.is_empty();
                let cells = flyball::terminal::width(&line);
                assert!(is_whole || cells <= usize::from(columns), "{command:?}: {line}\n{shown}");
            }
        }
    }
}

/// Whether a line holds something that people copy, which is never broken: a command, or a path alone.
fn is_copied(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_path = words.len() <= 3 && words.iter().any(|word| word.contains('/'));
    is_path || line.contains("flyball -C ") || line.contains("--resume")
}

#[test]
fn without_colours_and_in_a_pipe_there_are_none() {
    let scenario = lived_in();
    for command in COMMANDS.iter().filter(|command| **command != ["run"]) {
        let piped = scenario.flyball(command);
        let said = format!("{}{}", piped.stdout, piped.stderr);
        assert!(!said.contains('\u{1b}') && !said.contains('\r'), "{command:?}: {said:?}");
        let coloured = Terminal::start(&scenario, command, (80, 24)).end().1;
        let has_colour = |raw: &str| raw.contains("\u{1b}[3") || raw.contains("\u{1b}[2m");
        assert!(has_colour(&coloured) || command.contains(&"prune"), "{command:?}: {coloured:?}");
    }
    let scenario = scenario.env("NO_COLOR", "1");
    for command in COMMANDS.iter().filter(|command| **command != ["run"]) {
        let (_, raw) = Terminal::start(&scenario, command, (80, 24)).end();
        assert!(!raw.contains('\u{1b}'), "{command:?}: {raw:?}");
    }
}

#[test]
fn a_run_in_the_background_is_watched_at_any_width() {
    let waits = "say working; echo up > $OUT/up; while ! test -e $OUT/go; do sleep 0.05; done; pass a; pass b";
    let scenario = Scenario::new().committed().agent(waits);
    let started = scenario.run_with(&["--detach"]);
    assert_eq!(started.code, 0, "{}", started.stderr);
    scenario.until_told("up", "up");
    let terminal = Terminal::start(&scenario, &["attach"], (60, 16));
    let is_live = |row: &String| row.starts_with("#1/15");
    let fits = |columns: usize| {
        move |rows: &[String]| {
            let live: Vec<&String> = rows.iter().filter(|row| is_live(row)).collect();
            matches!(live.as_slice(), [row] if row.chars().count() < columns)
        }
    };
    terminal.until(fits(60));
    for columns in [40, 100] {
        terminal.resize(columns, 16);
        terminal.until(fits(usize::from(columns)));
    }
    std::fs::write(scenario.outside("go"), "").unwrap();
    let (code, raw) = terminal.end();
    assert_eq!(code, 0, "{raw}");
    assert!(raw.contains("flyball summary"), "{raw}");
    scenario.until_quiet();
}
