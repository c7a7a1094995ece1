//! The screen of a run, as a person sees it: 60 × 16 and 80 × 24, made narrower and wider in
//! between, without colours, and in a pipe.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::pty::{Terminal, drawn_on};
use crate::scenario::{Scenario, timed};

/// Waits for a file that the test writes.
const WAITS: &str = r#"until_file() { while [ ! -e "$OUT/$1" ]; do sleep 0.02; done; }"#;

fn go(scenario: &Scenario, name: &str) {
    fs::write(scenario.outside(name), "").unwrap();
}

/// The rows of the live line: there is never more than one.
fn live(rows: &[String]) -> Vec<String> {
    rows.iter().filter(|row| row.starts_with("#1/15")).cloned().collect()
}

#[test]
fn the_live_line_fits_the_terminal_and_there_is_never_more_than_one() {
    let script = format!(
        "{WAITS}
text 'I look at the tests first.'
usage 108400 0.32
call 1 Bash '{{\"command\":\"cargo test --workspace --all-features -- --nocapture\"}}'
until_file go
result 1 fine null
pass a; pass b"
    );
    let gate = "[[gates.check]]\nname = \"slow-tests\"\ncommand = \"while [ ! -e $OUT/checked ]; do sleep 0.02; done\"\n";
    let scenario = Scenario::new().config(gate).committed().speaker(&script).flags(&[
        "--max-cost",
        "5",
        "--max-runtime",
        "4h",
    ]);
    let terminal = Terminal::start(&scenario, &scenario.arguments(&[]), (80, 24));
    // The gates run before anything else, and the line names the one that does.
    terminal.until(|rows| rows.iter().any(|row| row.starts_with("baseline · gate slow-tests")));
    go(&scenario, "checked");
    let says = |rows: &[String], part: &str| live(rows).iter().any(|row| row.contains(part));
    terminal.until(|rows| says(rows, "#1/15 · a · Bash cargo test") && says(rows, "last output"));
    for (columns, shown, dropped) in [
        (60, "#1/15 · a · Bash cargo test --", "tokens"),
        (120, " · $0.32 of $5.00", "never"),
        (40, "#1/15 · a · Bash cargo ", "last output"),
        (140, " · 108k tokens · $0.32 of $5.00 · 3h59m left", "never"),
    ] {
        terminal.resize(columns, 16);
        // A line of before is cut at the edge by the screen; one that was drawn anew is not.
        let fits = |row: &String| row.chars().count() < usize::from(columns);
        let rows = terminal
            .until(|rows| says(rows, shown) && !says(rows, dropped) && live(rows).iter().all(fits));
        assert_eq!(live(&rows).len(), 1, "{rows:#?}");
    }
    go(&scenario, "go");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0, "{raw}");
}

const SPEAKS: &str = r#"
text 'First I look.'
text 'Then I write a sentence that is much longer than a terminal of sixty columns is wide, as agents do.'
echo 'warning: a very old flag is used here and it will go away in the next version of it' >&2
call 1 run_shell_command '{"command":"cargo test --lib -- --test-threads=1 --nocapture some::very::long::path"}'
result 1 fine null
call 2 Edit '{"file_path":"'$PWD'/src/cart.rs","old_string":"a"}'
result 2 fine null
printf '{"type":"text","text":"no line end"}\n'
pass a; pass b
"#;

fn speaking() -> Scenario {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n";
    Scenario::new().config(gate).committed().speaker(SPEAKS)
}

#[test]
fn at_sixty_columns_every_row_fits_and_each_voice_has_its_mark() {
    for (columns, rows) in [(60, 16), (80, 24)] {
        let scenario = speaking();
        let terminal = Terminal::start(&scenario, &scenario.arguments(&[]), (columns, rows));
        let (code, raw) = terminal.end();
        assert_eq!(code, 0, "{raw}");
        let mut whole = drawn_on(columns, 200);
        whole.process(raw.as_bytes());
        let shown: Vec<String> =
            whole.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        let text = shown.join("\n");
        for mark in [
            "    SAYS  #1   First I look.\n               Then I write a sentence that",
            "  STDERR  #1   warning: a very old flag",
            "    CALL  #1   Bash  cargo test --lib",
            "    CALL  #1   Edit  src/cart.rs\n    SAYS  #1   no line end\n",
            "    GATE       tests passed",
            "flyball summary\n",
        ] {
            assert!(text.contains(mark), "{mark:?} in\n{text}");
        }
        let call = shown.iter().find(|row| row.contains("Bash  cargo test")).unwrap();
        assert!(call.ends_with('…'), "{call}");
        // A row the terminal itself broke would begin at its edge.
        let broken: Vec<&String> = shown
            .iter()
            .filter(|row| row.starts_with("of sixty") || row.starts_with("goes"))
            .collect();
        assert!(broken.is_empty(), "{text}");
        assert_eq!(text.matches("flyball summary").count(), 1, "{text}");
        // Marks have colours of their own.
        for mark in
            ["\u{1b}[34m    SAYS", "\u{1b}[35m  STDERR", "\u{1b}[2m    CALL", "\u{1b}[32m    GATE"]
        {
            assert!(raw.contains(mark), "{mark:?} in {raw:?}");
        }
    }
}

#[test]
fn without_colours_the_marks_are_left_and_a_pipe_gets_whole_lines() {
    let scenario = speaking().env("NO_COLOR", "1");
    let terminal = Terminal::start(&scenario, &scenario.arguments(&[]), (60, 16));
    let (_, raw) = terminal.end();
    assert!(!raw.contains("\u{1b}[3") && !raw.contains("\u{1b}[0m"), "{raw:?}");
    assert!(raw.contains("    SAYS  #1   First I look."), "{raw:?}");
    let piped = speaking().run();
    let said = "               Then I write a sentence that is much longer than a terminal of sixty columns is wide, as agents do.\n";
    assert!(piped.stderr.contains(said), "{}", piped.stderr);
    assert!(!piped.stderr.contains('\u{1b}') && !piped.stderr.contains('\r'), "{:?}", piped.stderr);
}

#[test]
fn the_summary_is_on_standard_output_too_unless_both_are_one_place() {
    let apart = speaking().run().ended(0);
    assert!(apart.stdout.starts_with("flyball summary\n"), "{}", apart.stdout);
    assert!(apart.stdout.contains("Exit:        complete (code 0)"), "{}", apart.stdout);
    // `flyball run > log 2>&1` says it once.
    let scenario = speaking();
    let both = fs::File::create(scenario.outside("both")).unwrap();
    let status = scenario
        .program(env!("CARGO_BIN_EXE_flyball"))
        .args(scenario.arguments(&[]))
        .stdout(both.try_clone().unwrap())
        .stderr(both)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(scenario.told("both").matches("flyball summary").count(), 1);
    let json = speaking().run_with(&["--format", "json"]);
    assert!(!json.stdout.contains("flyball summary"), "{}", json.stdout);
}

#[test]
fn the_summary_names_a_log_that_is_there_wherever_it_is_read() {
    for place in ["repo", "elsewhere"] {
        let scenario = speaking().file("deep/down/x", "");
        fs::create_dir_all(scenario.outside("elsewhere")).unwrap();
        let here = scenario.outside(place);
        let root = scenario.root().to_string_lossy().into_owned();
        let arguments: Vec<&str> =
            ["-C", &root].into_iter().chain(scenario.arguments(&[])).collect();
        let output = scenario
            .program(env!("CARGO_BIN_EXE_flyball"))
            .current_dir(&here)
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let log = text.lines().find_map(|line| line.strip_prefix("Log:")).unwrap().trim();
        assert!(here.join(log).is_file(), "{log} from {}", here.display());
    }
    let demo = Scenario::no_repository().flyball(&["demo"]);
    assert!(
        !demo.stderr.contains("summary.csv") && !demo.stderr.contains("flyball log"),
        "{}",
        demo.stderr
    );
}

#[test]
fn a_resize_is_answered_at_once_and_not_with_the_next_beat() {
    let script = format!("{WAITS}\ncall 1 Bash '{{\"command\":\"cargo test\"}}'\nuntil_file go");
    let scenario = Scenario::new().committed().speaker(&script);
    let terminal = Terminal::start(&scenario, &scenario.arguments(&[]), (80, 24));
    terminal.until(|rows| live(rows).len() == 1);
    let resize = |columns: u16| {
        terminal.resize(columns, 16);
        let pid = i32::try_from(terminal.pid()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::WINCH).unwrap();
    };
    let drawn = || terminal.raw().matches("#1/15").count();
    let until_drawn = |times: usize| {
        terminal.until(|_| drawn() >= times);
    };
    // What a beat is here and now, and how long as many resizes take: as often as it needs on a
    // machine that has other things to do.
    let is_prompt = (0..10).any(|_| {
        let before = drawn();
        let ((), beats) = timed(|| until_drawn(before + 4));
        let ((), resizes) = timed(|| {
            for columns in [60, 90, 70, 100] {
                let before = drawn();
                resize(columns);
                until_drawn(before + 1);
            }
        });
        2 * resizes < beats
    });
    assert!(is_prompt, "the line is drawn with the beats alone");
    assert_eq!(live(&terminal.rows()).len(), 1, "{:#?}", terminal.rows());
    go(&scenario, "go");
    terminal.end();
}

#[test]
fn a_cost_nobody_knows_is_never_called_nothing() {
    let script = format!(
        "{WAITS}\nprintf '{{\"type\":\"usage\",\"input_tokens\":108400,\"output_tokens\":20}}\\n'\nuntil_file go\npass a; pass b"
    );
    let scenario = Scenario::new().committed().speaker(&script);
    let terminal = Terminal::start(&scenario, &scenario.arguments(&[]), (120, 24));
    terminal.until(|rows| live(rows).iter().any(|row| row.contains("108k tokens")));
    let status = scenario.flyball(&["status"]);
    go(&scenario, "go");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0, "{raw}");
    let mut said = vec![raw, status.stdout];
    for command in [
        &["status"][..],
        &["status", "--all"],
        &["log"],
        &["log", "--iteration", "1"],
        &["report", "--format", "md"],
        &["report", "--format", "html"],
        &["stats"],
    ] {
        let ran = scenario.flyball(command);
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.stderr);
        said.push(ran.stdout);
    }
    assert!(said.iter().any(|text| text.contains("108")), "nothing tells the tokens");
    for text in said {
        assert!(!text.contains("$0.00"), "{text}");
    }
}
