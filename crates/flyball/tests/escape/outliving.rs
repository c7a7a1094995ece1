//! Nothing outlives a run, whatever it does to its keeper, its session or its environment.

use std::fs;
use std::process::{Child, Command};

use flyball::platform::{self, Signal};

use crate::house::{House, User, until, with_argument};

/// A child that shows nothing of where it comes from and belongs to nobody.
const HIDDEN: &str =
    "env -i setsid sh -c '(setsid sleep SPAN </dev/null >/dev/null 2>&1 &)' & sleep 0.3\n";

/// A number no other process has among its arguments.
fn span(number: u32) -> String {
    format!("8{number}{}", std::process::id())
}

fn script(before: &str, number: u32, after: &str) -> String {
    format!("{before}{HIDDEN}{after}").replace("SPAN", &span(number))
}

#[track_caller]
fn gone(number: u32) {
    until("everything is gone", || with_argument(&span(number)).is_empty());
}

#[test]
fn whoever_kills_its_keeper_is_ended_by_flyball_itself() {
    for (user, shield) in User::all().into_iter().flat_map(|user| [(user, "auto"), (user, "off")]) {
        let house = House::new(user).env("FLYBALL_SANDBOX__SHIELD", shield);
        let number = 100 + u32::from(user.is_root()) * 10 + u32::from(shield == "off");
        let agent = script("", number, "echo started; kill -9 $PPID || exit 3; sleep SPAN\n");
        let agent = agent.replace("SPAN", &span(number));
        let played = house.play(&["sh", "-c", &agent]);
        // Gone when flyball is gone, not some time later.
        assert!(with_argument(&span(number)).is_empty(), "{user:?} {shield}: {}", played.said);
        // Behind the shield the keeper is not even reached.
        let refused = played.log.contains("not permitted");
        let ended = played.said.contains("outlived the agent; ended");
        assert!(refused || ended, "{user:?} {shield}: {}\n{}", played.said, played.log);
        assert!(shield == "auto" || ended, "{}", played.said);
    }
}

#[test]
fn a_keeper_that_was_stopped_is_told_to_go_on() {
    let house = House::new(User::Own);
    let agent = script("kill -STOP $PPID\n", 200, "echo done\n");
    let played = house.play(&["sh", "-c", &agent]);
    assert_eq!(played.code, Some(1), "{}", played.said);
    assert!(with_argument(&span(200)).is_empty(), "{}", played.said);
}

#[test]
fn a_keeper_that_is_stopped_again_and_again_is_done_without() {
    let house = House::new(User::Own).env("FLYBALL_LIMITS__STOP_GRACE", "300ms");
    let stopper = "K=$PPID; (while kill -STOP $K; do :; done) &\n";
    let agent = script(stopper, 300, "echo ready; sleep SPAN\n").replace("SPAN", &span(300));
    let child = house.start(&["sh", "-c", &agent]);
    until("it works", || !with_argument(&span(300)).is_empty());
    signal(&child, Signal::Terminate);
    let played = house.end(child);
    assert_eq!(played.code, Some(143), "{}", played.said);
    assert!(with_argument(&span(300)).is_empty(), "{}", played.said);
}

#[test]
fn flyball_killed_leaves_nothing_even_when_the_keeper_was_stopped() {
    for (number, before) in [(400, ""), (401, "kill -STOP $PPID\n")] {
        let house = House::new(User::Own);
        let agent = script(before, number, "echo up > up; sleep SPAN\n");
        let agent = agent.replace("SPAN", &span(number));
        let mut child = house.start(&["sh", "-c", &agent]);
        until("it works", || house.path("repo/up").exists());
        child.kill().unwrap();
        child.wait().unwrap();
        gone(number);
    }
}

#[test]
fn nobody_inside_can_kill_flyball_and_its_keeper_at_once() {
    for (user, number) in User::all().into_iter().zip([700, 701]) {
        let house = House::new(user);
        if house.falls_back() {
            return;
        }
        // The keeper, flyball above it, and everything else flyball has started.
        let kill = "up=$(awk '{print $4}' /proc/$PPID/stat); \
                    kill -9 $PPID $up $(cat /proc/$up/task/*/children) 2>&1; echo tried\n";
        let agent = script("", number, &format!("{kill}sleep 0.2\n"));
        let played = house.play(&["sh", "-c", &agent]);
        assert!(played.code.is_some(), "{user:?}: flyball was killed: {}", played.said);
        assert!(played.log.contains("tried"), "{user:?}: {}", played.log);
        assert!(with_argument(&span(number)).is_empty(), "{user:?}: {}", played.said);
        // Among themselves they can.
        let played = house.play(&["sh", "-c", "sleep 100 & kill -9 $! && echo killed"]);
        assert!(played.log.contains("killed"), "{user:?}: {}", played.log);
    }
}

#[test]
fn what_outlived_both_is_found_by_the_next_run() {
    let house = House::new(User::Own);
    if house.falls_back() {
        return;
    }
    // Whoever kills keeper and flyball at once stays, and carries no mark that it could take off.
    let agent = script("", 500, "echo up > up; sleep 1000\n");
    let mut child = house.start(&["sh", "-c", &agent]);
    until("it works", || house.path("repo/up").exists());
    let all: Vec<_> = platform::below(&platform::snapshot(), child.id());
    let flyball = platform::look(child.id()).unwrap();
    // At once: nobody who would end the rest hears of the other's death.
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-STOP", &id]).status().unwrap().success());
    for keeper in all.iter().filter(|process| process.parent == child.id()) {
        platform::signal(keeper, Signal::Kill);
    }
    platform::signal(&flyball, Signal::Kill);
    child.wait().unwrap();
    assert!(!with_argument(&span(500)).is_empty(), "nothing is left to be found");
    // It is told where people look, and a new run ends it just as a resumed one does.
    let doctor = house.flyball(&["doctor"]).output().unwrap();
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(told.contains("was lost and left processes"), "{told}");
    let next = house
        .flyball(&["run", "--max-iterations", "1", "--trust-claims", "--", "true"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&next.stderr).into_owned();
    assert!(with_argument(&span(500)).is_empty(), "{said}");
    assert!(said.contains("which was lost, ended"), "{said}");
}

#[test]
fn what_a_filter_of_git_starts_ends_with_the_run() {
    let house = House::new(User::Own);
    house.file("repo/.gitattributes", "* filter=x\n");
    let filter = format!("(setsid sleep {} </dev/null >/dev/null 2>&1 &); cat", span(600));
    let agent = format!("git config filter.x.clean '{filter}'; echo x > new");
    house.play(&["sh", "-c", &agent]);
    assert!(with_argument(&span(600)).is_empty());
}

#[test]
fn a_hangup_that_was_ignored_stays_ignored() {
    let house = House::new(User::Own);
    let agent = house.text("agent.sh");
    house.file("agent.sh", "echo up > up; while [ ! -e go ]; do sleep 0.05; done; echo through");
    let flyball = house.flyball(&["run", "--max-iterations", "1", "--trust-claims", "--"]);
    let mut command = house.command("nohup");
    command.arg(flyball.get_program()).args(flyball.get_args()).args(["sh", &agent]);
    let said = fs::File::create(house.path("said")).unwrap();
    let child = command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap();
    until("it works", || house.path("repo/up").exists());
    Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    fs::write(house.path("repo/go"), "").unwrap();
    let played = house.end(child);
    assert_eq!(played.code, Some(1), "{}", played.said);
    assert!(played.log.contains("through"), "{}", played.log);
}

#[test]
fn a_stop_from_the_keyboard_is_refused_with_a_word() {
    let house = House::new(User::Own);
    let child = house.start(&["sh", "-c", "echo up > up; while [ ! -e go ]; do sleep 0.05; done"]);
    until("it works", || house.path("repo/up").exists());
    Command::new("kill").args(["-TSTP", &child.id().to_string()]).status().unwrap();
    until("it is refused", || house.said().contains("not stopped: the agent would go on"));
    assert!(!platform::is_stopped(child.id()));
    fs::write(house.path("repo/go"), "").unwrap();
    assert_eq!(house.end(child).code, Some(1));
}

fn signal(child: &Child, signal: Signal) {
    assert!(platform::signal(&platform::look(child.id()).unwrap(), signal));
}
