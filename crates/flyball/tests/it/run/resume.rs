//! A run goes on after flyball was killed, or after it ended and somebody wants more.

use std::fs;

use rustix::process::Signal;

use crate::scenario::Scenario;

#[test]
fn a_killed_run_goes_on_with_its_counts_and_nothing_is_left() {
    let script = "echo $n >> $OUT/iterations; usage 100 0.5; \
        if [ $n = 2 ]; then setsid sleep 777 & echo up > $OUT/up; sleep 778; fi; work; text ok";
    let scenario = Scenario::new().committed().speaker(script);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    scenario.until_spent(200);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, -9);
    scenario.until_quiet();
    let ran = scenario.resume(&["--max-iterations", "4"]).ended(1).saying("RESUME");
    assert!(ran.stderr.contains("Iterations:  4 / 4"), "{}", ran.stderr);
    assert_eq!(scenario.told("iterations"), "1\n2\n3\n4\n");
    assert_eq!(scenario.column("iteration"), ["1", "2", "3", "4"]);
    assert_eq!(scenario.column("outcome"), ["unchecked", "lost", "unchecked", "unchecked"]);
    let run = scenario.last_run();
    assert_eq!((run.state.tokens, run.state.cost_micro_usd), (400, 2_000_000));
    assert!(run.pid.is_none() || run.ended.is_some());
}

#[test]
fn a_lost_iteration_counts_neither_for_stuck_nor_for_the_breaker() {
    let script = "if [ $n = 2 ]; then echo up > $OUT/up; sleep 778; fi";
    let scenario = Scenario::new().committed().agent(script);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::KILL);
    running.wait();
    scenario.resume(&[]).ended(4);
    assert_eq!(scenario.column("stuck_count"), ["1", "1", "2", "3"]);
}

#[test]
fn the_agent_dies_with_a_killed_flyball() {
    let scenario = Scenario::new()
        .committed()
        .agent("setsid sh -c 'trap \"\" TERM INT HUP; sleep 700' & echo up > $OUT/up; sleep 701");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::KILL);
    running.wait();
    scenario.until_quiet();
}

#[test]
fn a_run_that_used_up_its_iterations_goes_on_with_more() {
    let scenario = Scenario::new().committed().agent("work").flags(&["--max-iterations", "2"]);
    scenario.run().ended(1);
    scenario.resume(&["--max-iterations", "3"]).ended(1).saying("Iterations:  3 / 3");
    assert_eq!(scenario.column("iteration"), ["1", "2", "3"]);
    // Without more it ends as it had ended.
    scenario.resume(&[]).ended(1).saying("Iterations:  3 / ");
}

#[test]
fn a_run_that_used_up_its_tokens_goes_on_with_more_and_does_not_start_again() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-tokens", "250"])
        .speaker("usage 100 0; work; text ok");
    scenario.run().ended(5);
    let used = scenario.last_run().state.tokens;
    scenario.resume(&["--max-tokens", "550"]).ended(5);
    assert!(scenario.last_run().state.tokens >= 550 && used >= 250);
    let rows = scenario.column("iteration").len();
    assert!((6..=7).contains(&rows), "{rows}");
}

#[test]
fn an_interrupted_run_goes_on() {
    let script = "if [ $n = 1 ]; then echo up > $OUT/up; sleep 700; fi; pass a; pass b";
    let scenario = Scenario::new().committed().agent(script);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::INT);
    running.wait().ended(130);
    let run = scenario.last_run().run;
    scenario.flyball(&["run", "--resume", run.as_str()]).ended(0);
    assert_eq!(scenario.last_run().run, run);
}

#[test]
fn a_resume_uses_the_settings_of_the_run_and_not_the_edited_file() {
    let script = "if [ $n = 1 ]; then echo up > $OUT/up; sleep 700; fi";
    let scenario = Scenario::new().config("[limits]\nstuck = 2\n").committed().agent(script);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::KILL);
    running.wait();
    scenario.write("flyball.toml", "[limits]\nstuck = 9\nno_such = 1\n");
    scenario.resume(&[]).ended(4);
    assert_eq!(scenario.column("stuck_count"), ["0", "1", "2"]);
}

#[test]
fn waiting_for_a_usage_limit_survives_a_kill() {
    let script = "echo x >> $OUT/starts; if [ ! -e $OUT/limited ]; then touch $OUT/limited; \
        printf '{\"type\":\"limit\",\"resets_at\":\"%s\"}\\n' $(date -u -d '+4 seconds' +%FT%TZ); \
        exit 1; fi; date +%s > $OUT/again; pass a; pass b; text done";
    let scenario = Scenario::new().committed().speaker(script);
    let running = scenario.spawn();
    running.until_says("waiting until");
    running.signal(Signal::KILL);
    running.wait();
    let limited = fs::metadata(scenario.outside("limited")).unwrap().modified().unwrap();
    let limited = limited.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    scenario.resume(&[]).ended(0).saying("Iterations:  1 / 15");
    let again: u64 = scenario.told("again").trim().parse().unwrap();
    assert!(again >= limited + 3, "{again} {limited}");
    assert_eq!(scenario.told("starts"), "x\nx\n");
}

#[test]
fn an_answer_given_between_death_and_resume_is_delivered() {
    let script = "if [ $n = 1 ]; then say '<promise>DECIDE:which?</promise>'; else \
                  cat > $OUT/prompt; pass a; pass b; fi";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(3);
    let file = scenario.read(".flyball/decide.txt");
    scenario.write(".flyball/decide.txt", &format!("{file}the second\n"));
    scenario.resume(&[]).ended(0);
    assert!(scenario.told("prompt").contains("the second"));
    assert!(!scenario.has(".flyball/decide.txt"));
}
