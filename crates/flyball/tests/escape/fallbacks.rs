//! Where flyball may not put walls up itself: by another program, or not at all, and then it says so.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::house::{House, User};

#[test]
fn bubblewrap_holds_as_well() {
    let user = *User::all().last().unwrap();
    let house = House::new(user);
    if house.falls_back() || Command::new("bwrap").arg("--version").output().is_err() {
        return;
    }
    // What was found is remembered; here, that only the other program may.
    house.play(&["true"]);
    let place = house.state().join("shield/means.json");
    let remembered = fs::read_to_string(&place).unwrap();
    fs::write(&place, remembered.replace("namespaces", "bubblewrap")).unwrap();
    let found = house.attempts(&[], "state");
    assert!(house.said().contains("shield: on (bubblewrap)"), "{}", house.said());
    assert!(House::through(&found).is_empty(), "{found:#?}");
    let script = "cat ~/.netrc; touch ~/x; touch mine && echo worked";
    house.file("home/.netrc", "secret\n");
    for profile in ["workspace", "offline"] {
        let played = house.play_with(&["--sandbox", profile], &["sh", "-c", script]);
        assert!(played.log.contains("worked"), "{} {}", played.log, played.said);
        assert!(!played.log.contains("secret"), "{}", played.log);
        assert!(!house.path("home/x").exists());
    }
}

/// flyball where no user namespace can be had, and no other program that could.
fn without_namespaces(house: &House, more: &[&str]) -> Output {
    let bin = house.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in ["sh", "git", "true", "touch"] {
        let from = ["/usr/bin", "/bin"].map(|folder| format!("{folder}/{name}"));
        let from = from.iter().find(|path| fs::metadata(path).is_ok()).unwrap();
        symlink(from, bin.join(name)).ok();
    }
    let flyball = house.flyball(&["run", "--max-iterations", "1", "--trust-claims"]);
    let mut command = house.command("/usr/bin/unshare");
    command.env("PATH", &bin).args(["-Ur", "sh", "-c"]);
    command.arg("echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"").arg("sh");
    command.arg(flyball.get_program()).args(flyball.get_args()).args(more);
    command.args(["--", "sh", "-c", "touch \"$FLYBALL_STATE\"/written"]).output().unwrap()
}

#[test]
fn without_any_means_the_run_goes_on_and_says_so() {
    let house = House::new(User::Own);
    if house.falls_back() {
        return;
    }
    let output = without_namespaces(&house, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let text = "shield: off: no user namespaces here (container?). Start the container with";
    assert!(said.contains(text), "{said}");
    assert!(house.state().join("written").exists(), "nothing holds there, and nothing pretends to");
}

#[test]
fn what_was_required_or_asked_for_and_cannot_be_had_is_an_error() {
    let house = House::new(User::Own);
    if house.falls_back() {
        return;
    }
    for profile in ["workspace", "offline"] {
        let output = without_namespaces(&house, &["--sandbox", profile]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(78), "{said}");
        assert!(said.contains(&format!("sandbox \"{profile}\" cannot be had here: ")), "{said}");
    }
    let house = house.env("FLYBALL_SANDBOX__SHIELD", "require");
    let output = without_namespaces(&house, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(said.contains("the shield was required and cannot be had: unshare: "), "{said}");
    assert!(!house.state().join("written").exists());
}
