//! Signals: everything ends, the summary is printed, the code tells which it was.

use rustix::process::Signal;

use crate::scenario::{Scenario, timed};

/// Children that leave the session, ignore hang-ups, and ignore being asked.
const FAMILY: &str = r#"
setsid sleep 777 &
nohup sleep 778 > /dev/null 2>&1 &
(trap "" TERM INT HUP; sleep 779; sleep 779) &
setsid sh -c 'trap "" TERM INT HUP; sleep 780; sleep 780' &
sleep 0.1; echo up > $OUT/up
"#;

fn at_work(agent: &str) -> Scenario {
    Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .agent(&format!("{FAMILY}{agent}"))
}

#[test]
fn a_signal_ends_the_whole_family_of_the_agent() {
    for (signal, code, word) in [
        (Signal::INT, 130, "interrupted"),
        (Signal::TERM, 143, "terminated"),
        (Signal::HUP, 143, "terminated"),
    ] {
        let scenario = at_work("sleep 781");
        let running = scenario.spawn_hearing_hangups();
        scenario.until_told("up", "up");
        running.signal(signal);
        let ran = running.wait().ended(code).saying(&format!("{word} (code {code})"));
        assert!(ran.stderr.contains("--resume"), "{}", ran.stderr);
        assert!(!scenario.has(".flyball/active.json"));
        assert_eq!(scenario.last_run().outcome.as_deref(), Some(word));
        assert_eq!(scenario.column("iteration"), ["1"]);
    }
}

#[test]
fn an_agent_that_does_not_listen_is_killed_after_its_grace() {
    let scenario = at_work("trap '' INT TERM; while :; do sleep 0.1; done");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::TERM);
    let ran = running.wait().ended(143);
    let order = ["interrupting", "terminating", "killing"].map(|word| ran.stderr.find(word));
    assert!(order.is_sorted() && order[0].is_some(), "{}", ran.stderr);
}

#[test]
fn a_second_interrupt_kills_at_once() {
    let scenario = at_work("trap '' INT TERM; while :; do sleep 0.1; done")
        .env("FLYBALL_LIMITS__STOP_GRACE", "50s");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::INT);
    running.until_says("interrupting");
    running.signal(Signal::INT);
    let (ran, took) = timed(|| running.wait());
    assert!(took < 20_000, "took {took} ms");
    ran.ended(130).saying("killing").silent_on("terminating");
}

#[test]
fn an_interrupt_during_the_gates_ends_them() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e slow || exit 0; setsid sleep 700 & echo up > $OUT/gate; sleep 701\"\n";
    let scenario = Scenario::new().config(gate).committed().agent("touch slow; commit slow");
    let running = scenario.spawn();
    scenario.until_told("gate", "up");
    running.signal(Signal::INT);
    let (ran, took) = timed(|| running.wait());
    assert!(took < 20_000, "took {took} ms");
    ran.ended(130);
}

#[test]
fn an_interrupt_during_the_first_gates_ends_them_too() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"echo up > $OUT/gate; sleep 701\"\n";
    let scenario = Scenario::new().config(gate).committed().agent("touch $OUT/started");
    let running = scenario.spawn();
    scenario.until_told("gate", "up");
    running.signal(Signal::TERM);
    running.wait().ended(143);
    assert!(!scenario.outside("started").exists());
}

#[test]
fn what_an_agent_leaves_behind_is_swept_before_the_next_iteration() {
    let script = "setsid sleep 777 & nohup sleep 778 > /dev/null 2>&1 & pass a; pass b";
    Scenario::new().committed().agent(script).run().ended(0).saying("outlived the agent");
}

#[test]
fn an_agent_whose_children_hold_its_output_open_does_not_hold_the_run() {
    let scenario = Scenario::new().committed().agent("sleep 700 & pass a; pass b");
    let (ran, took) = timed(|| scenario.run());
    ran.ended(0);
    assert!(took < 20_000, "took {took} ms");
}

#[test]
fn the_agent_finds_nothing_to_wait_for_on_its_input() {
    // Reads its prompt to the end, then tries to read more.
    let script = "cat > /dev/null; read -r line && exit 9; pass a; pass b";
    Scenario::new().committed().agent(script).run().ended(0);
}

#[test]
fn a_run_can_be_stopped_from_another_terminal() {
    let scenario = at_work("sleep 781");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let stop = scenario.flyball(&["stop"]);
    assert_eq!(stop.code, 0, "{}", stop.stderr);
    running.wait().ended(143).saying("terminated (code 143)");
}
