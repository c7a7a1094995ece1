//! Git made slow, led astray or killed in the midst: nothing of it holds a run up, or outlives it.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::scenario::{Scenario, timed};

/// Every file is read through a program that takes for ever and leaves somebody behind.
const SLOW_FILTER: &str = r"
git config filter.slow.clean 'setsid sleep 771 & echo up > $OUT/filter; sleep 772'
echo '* filter=slow' > .gitattributes
echo new > new.txt
";

fn slow() -> Scenario {
    Scenario::new().committed().env("FLYBALL_LIMITS__STOP_GRACE", "300ms").agent(SLOW_FILTER)
}

fn refs(scenario: &Scenario) -> Vec<String> {
    let text = scenario.git(&["for-each-ref", "--format=%(refname)", "refs/flyball"]);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_filter_that_sleeps_holds_up_no_signal() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let scenario = slow();
        let running = scenario.spawn();
        scenario.until_told("filter", "up");
        running.signal(signal);
        let (ran, took) = timed(|| running.wait());
        assert!(took < 15_000, "took {took} ms");
        ran.ended(code);
        assert_eq!(scenario.column("iteration"), ["1"]);
    }
}

#[test]
fn a_filter_that_sleeps_holds_up_no_limit() {
    let scenario = slow().flags(&["--max-runtime", "3s"]);
    scenario.run().ended(5).saying("max_runtime");
}

#[test]
fn flyball_stop_is_heard_while_a_filter_sleeps() {
    let scenario = slow();
    let running = scenario.spawn();
    scenario.until_told("filter", "up");
    assert_eq!(scenario.flyball(&["stop"]).code, 0);
    running.wait().ended(143);
}

#[test]
fn git_and_its_filters_end_with_flyball_however_it_ends() {
    let scenario = slow();
    let running = scenario.spawn();
    scenario.until_told("filter", "up");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, -9);
    scenario.until_quiet();
    scenario.git(&["config", "--unset", "filter.slow.clean"]);
    let scenario = scenario.agent("pass a; pass b");
    scenario.resume(&[]).ended(0);
}

#[test]
fn what_a_filter_leaves_running_goes_with_the_call() {
    let agent = r"
git config filter.slow.clean 'cat; setsid sleep 773 < /dev/null > /dev/null 2>&1 & echo up > $OUT/filter'
echo '* filter=slow' > .gitattributes
pass a; pass b
echo new > new.txt
";
    let scenario = Scenario::new().committed().agent(agent);
    let (ran, took) = timed(|| scenario.run());
    ran.ended(0);
    assert!(took < 30_000, "took {took} ms");
    assert_eq!(scenario.told("filter"), "up\n");
}

#[test]
fn a_worktree_set_elsewhere_is_not_followed() {
    let agent = "mkdir -p $OUT/elsewhere; echo new > new.txt; \
                 git config core.worktree $OUT/elsewhere";
    let scenario = Scenario::new().committed().agent(agent).flags(&["--max-iterations", "1"]);
    scenario.run().ended(1);
    let last = refs(&scenario).pop().unwrap();
    let files = scenario.git(&["ls-tree", "-r", "--name-only", &last]);
    assert!(files.contains("new.txt") && files.contains("a.txt"), "{files}");
}

#[test]
fn a_lock_that_flyball_left_by_ending_the_agent_is_removed() {
    let agent = "touch .git/index.lock; echo up > $OUT/up; sleep 774";
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .flags(&["--max-runtime", "2s"])
        .agent(agent);
    scenario.run().ended(5).saying("removed git's lock");
    assert!(!scenario.root().join(".git/index.lock").exists());
}

#[test]
fn every_lock_of_a_commit_that_flyball_ended_is_removed() {
    let locks = ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"];
    let agent =
        "for lock in HEAD refs/heads/main packed-refs; do touch .git/$lock.lock; done; sleep 773";
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .flags(&["--max-runtime", "2s"])
        .agent(agent);
    let mut ran = scenario.run().ended(5);
    for lock in locks {
        ran = ran.saying(&format!("{lock}: what held it was ended"));
        assert!(!scenario.root().join(".git").join(lock).exists(), "{lock}");
    }
}

#[test]
fn a_lock_that_somebody_holds_stays() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STOP_GRACE", "300ms")
        .flags(&["--max-runtime", "2s"])
        .agent("touch .git/index.lock; echo up > $OUT/up; sleep 775");
    let lock = scenario.root().join(".git/index.lock");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let held = fs::File::open(&lock).unwrap();
    running.wait().ended(5).silent_on("removed git's lock");
    assert!(lock.exists());
    drop(held);
}

#[test]
fn a_lock_that_was_there_before_is_an_error_before_anything_is_started() {
    let scenario = Scenario::new().committed().agent("echo up > $OUT/up");
    let lock = scenario.root().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let said = scenario.run().refused(74);
    assert!(said.contains(&format!("rm {}", lock.display())), "{said}");
    assert_eq!(scenario.told("up"), "");
    // A git at work has it for a moment only.
    let path = lock.clone();
    let git = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        fs::remove_file(path).unwrap();
    });
    let scenario = scenario.agent("pass a; pass b");
    scenario.run().ended(0);
    git.join().unwrap();
}

#[test]
fn a_run_that_was_lost_with_a_lock_goes_on() {
    let agent =
        "test -e up || { echo up > up; touch .git/index.lock; echo up > $OUT/up; sleep 776; }
                 pass a; pass b";
    let scenario = Scenario::new().committed().agent(agent);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::KILL);
    running.wait();
    scenario.until_quiet();
    scenario.resume(&[]).ended(0).saying("removed git's lock");
}

#[test]
fn a_run_that_was_lost_while_a_checkpoint_was_written_goes_on() {
    let agent = "test -e up || { echo up > up; echo up > $OUT/up; sleep 777; }; pass a; pass b";
    let scenario = Scenario::new().committed().agent(agent);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::KILL);
    running.wait();
    scenario.until_quiet();
    // As git leaves it when it is killed between taking the lock and writing the ref.
    let folder = scenario.root().join(".git/refs/flyball");
    let run = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for number in 0..4 {
        fs::write(run.join(format!("{number}.lock")), "").unwrap();
    }
    scenario.resume(&[]).ended(0).saying("1.lock").saying("it was left when the run was lost");
    assert!(!run.join("1.lock").exists());
}
