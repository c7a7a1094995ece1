//! What a run tells and leaves behind: JSON lines, logs, CSV, notices to people.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::scenario::Scenario;

#[test]
fn json_lines_all_parse_and_end_with_the_end_of_the_run() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n";
    let script = "call 1 bash '{\"command\":\"ls\"}'; result 1 out null; text working; echo noise >&2; \
                  if [ $n = 1 ]; then pass a; else pass b; fi";
    let scenario = Scenario::new().config(gate).committed().speaker(script);
    let ran = scenario.run_with(&["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines[0]["type"], "run.opened");
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["outcome"]), (&"run.ended".into(), &"complete".into()));
    assert_eq!(last["exit_code"], 0);
    for kind in ["run.started", "agent", "worktree.seen", "gates.finished", "order"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "{kind}");
    }
    assert!(lines.iter().all(|line| line["type"].is_string()));
    assert!(!ran.stderr.contains("flyball summary"), "{}", ran.stderr);
}

#[test]
fn json_is_the_word_for_every_ending() {
    for (script, code) in [("true", 4), ("say '<promise>BLOCKED:x</promise>'", 2), ("exit 1", 6)] {
        let ran = Scenario::new().committed().agent(script).run_with(&["--format", "json"]);
        assert_eq!(ran.code, code);
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((&last["type"], &last["exit_code"]), (&"run.ended".into(), &code.into()));
    }
}

#[test]
fn what_is_not_a_terminal_gets_plain_text() {
    let ran = Scenario::new().committed().agent("say hello; echo oops >&2").run();
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\r'), "{:?}", ran.stderr);
    assert!(ran.stderr.contains("hello\n") && ran.stderr.contains("oops\n"), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("flyball summary\n"), "the story is on stderr: {}", ran.stdout);
    let scenario = Scenario::new().committed();
    let colored = scenario.flyball(&["--color", "always", "run", "--", "true"]);
    assert!(colored.stderr.contains("\u{1b}["), "{}", colored.stderr);
}

#[test]
fn a_terminal_gets_colours_and_a_live_line_and_no_color_is_obeyed() {
    let scenario = Scenario::new().committed().flags(&["--once"]).agent("say hello; sleep 1.2");
    let seen = scenario.run_in_terminal();
    assert!(seen.contains("\u{1b}[36m   START\u{1b}[0m  #1"), "{seen:?}");
    assert!(seen.contains("#1/1 · a · implement · "), "the live line: {seen:?}");
    assert!(seen.contains("\r\u{1b}[J"), "{seen:?}");
    let seen = scenario.env("NO_COLOR", "1").run_in_terminal();
    assert!(seen.contains("   START  #1"), "{seen:?}");
    assert!(!seen.contains("\u{1b}[3") && !seen.contains("\u{1b}[0m"), "{seen:?}");
}

#[test]
fn the_rows_of_the_summary_come_in_their_order() {
    let scenario = Scenario::new().committed().agent("pass $FLYBALL_TASK");
    scenario.run().ended(0);
    let csv = scenario.read(".flyball/logs/summary.csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,\
         timestamp,tokens,cost_usd,gates,score,outcome,task"
    );
    let rows = scenario.csv();
    let head = scenario.git(&["rev-parse", "HEAD"]);
    assert!(head.starts_with(&rows[1][3]) && rows[1][3].len() >= 7, "{rows:?}");
    assert_eq!([&rows[0][0], &rows[0][1], &rows[0][4], &rows[0][5]], ["1", "implement", "1", "2"]);
    assert!(rows[0][7].ends_with('Z') && rows[0][7].len() == 20, "{rows:?}");
}

#[test]
fn logs_of_an_earlier_run_move_away_when_a_new_one_starts() {
    let scenario = Scenario::new().committed().agent("say words of $n");
    scenario.run().ended(4);
    let first = scenario.last_run().run;
    assert_eq!(scenario.read(".flyball/logs/iteration-001.log"), "words of 1\n");
    let scenario = scenario.agent("say later words");
    let scenario = scenario.flags(&["--once"]);
    scenario.run().ended(1);
    let moved = |name: &str| scenario.read(&format!(".flyball/logs/{first}/{name}"));
    assert_eq!(moved("iteration-003.log"), "words of 3\n");
    assert_eq!(moved("summary.csv").lines().count(), 4);
    assert_eq!(scenario.read(".flyball/logs/iteration-001.log"), "later words\n");
    assert!(!scenario.has(".flyball/logs/iteration-002.log"));
    assert_eq!(scenario.column("iteration"), ["1"]);
}

#[test]
fn a_log_holds_both_streams_up_to_its_size() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LOG__MAX_BYTES", "100000")
        .flags(&["--once"])
        .agent("echo to stderr >&2; until grep -q 'to stderr' .flyball/logs/iteration-001.log; do sleep 0.01; done; head -c 5000000 /dev/zero | tr '\\0' 'x'; say; say the end");
    scenario.run().ended(1).saying("the log of this iteration is full");
    let log = scenario.read(".flyball/logs/iteration-001.log");
    assert!(log.len() < 101_000, "{}", log.len());
    assert!(log.contains("to stderr\n") && log.contains("[flyball: "));
}

#[test]
fn the_sign_of_a_run_at_work_tells_who_and_where() {
    let scenario = Scenario::new()
        .committed()
        .agent("cp .flyball/active.json $OUT/active-$n; work")
        .flags(&["--max-iterations", "2"]);
    scenario.run().ended(1);
    let active: Value = serde_json::from_str(&scenario.told("active-2")).unwrap();
    assert_eq!(active["run"], scenario.last_run().run.as_str());
    assert_eq!((&active["iteration"], &active["mode"]), (&2.into(), &"implement".into()));
    for name in ["pid", "stuckCount", "snapshot"] {
        assert!(!active[name].is_null(), "{name}");
    }
    assert!(!scenario.has(".flyball/active.json"));
}

#[test]
fn a_command_is_told_of_every_end() {
    let toml = "[notify]\ncommand = \"echo $FLYBALL_OUTCOME $FLYBALL_EXIT_CODE >> $OUT/told; echo \\\"$1\\\" > $OUT/message\"\n";
    for (script, told) in [
        ("pass a; pass b", "complete 0"),
        ("true", "stuck 4"),
        ("say '<promise>BLOCKED:no key</promise>'", "blocked 2"),
        ("say '<promise>DECIDE:a or b?</promise>'", "decide 3"),
        ("exit 1", "circuit_breaker 6"),
    ] {
        let scenario = Scenario::new().config(toml).committed().agent(script);
        scenario.run();
        assert_eq!(scenario.told("told").trim(), told);
        let message: Value = serde_json::from_str(&scenario.told("message")).unwrap();
        assert_eq!(message["event"], "run.ended");
        assert_eq!(message["run"], scenario.last_run().run.as_str());
    }
}

#[test]
fn a_completion_is_told_to_nobody_when_that_is_asked_for() {
    let toml =
        "[notify]\nto = [\"command:echo $FLYBALL_TITLE >> $OUT/told\"]\nquiet_on_success = true\n";
    let scenario = Scenario::new().config(toml).committed().agent("pass a; pass b");
    scenario.run().ended(0);
    assert_eq!(scenario.told("told"), "");
    let scenario = Scenario::new().config(toml).committed().agent("true");
    scenario.run().ended(4);
    assert!(scenario.told("told").trim().ends_with(": stuck"), "{}", scenario.told("told"));
}

#[test]
fn a_notice_that_fails_or_hangs_does_not_hurt_the_run() {
    for command in ["exit 3", "no-such-program-anywhere", "sleep 700"] {
        let toml = format!("[notify]\ncommand = \"{command}\"\ntimeout = \"500ms\"\n");
        let scenario = Scenario::new().config(&toml).committed().agent("pass a; pass b");
        scenario.run().ended(0).saying("warning: `notify`: command `");
    }
    let toml = "[notify]\nwebhook = \"http://127.0.0.1:9/none\"\ntimeout = \"500ms\"\n";
    let scenario = Scenario::new().config(toml).committed().agent("pass a; pass b");
    scenario.run().ended(0).saying("warning: `notify`: webhook at 127.0.0.1:9 failed");
}

/// Takes one request and answers it; what it was.
fn one_request(listener: &TcpListener) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
        });
        if read == 0 || length.is_some_and(|length: usize| body.len() >= length) {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
    String::from_utf8(request).unwrap()
}

#[test]
fn a_webhook_is_sent_the_end_as_json() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || one_request(&listener));
    let toml = format!("[notify]\nwebhook = \"http://{address}/hook\"\n");
    let scenario = Scenario::new().config(&toml).committed();
    scenario.agent("say '<promise>BLOCKED:no key</promise>'").run().ended(2).silent_on("warning");
    let request = server.join().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    let message: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&message["outcome"], &message["exit_code"]), (&"blocked".into(), &2.into()));
    assert_eq!(message["why"], "no key");
}

#[test]
fn the_demo_tells_its_story_in_time() {
    let scenario = Scenario::no_repository();
    let (ran, took) = crate::scenario::timed(|| scenario.flyball(&["demo"]));
    assert_eq!((ran.code, ran.left.len()), (0, 0), "{}", ran.stderr);
    assert!(took < 10_000, "took {took} ms");
    for words in ["NUDGE", "complete (code 0)", "greets_the_world"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}
