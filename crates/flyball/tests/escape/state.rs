//! Attempts at flyball's own state: files, mounts, the process itself.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use crate::house::{House, User, until};

/// What the system itself refuses an ordinary user, shield or not.
const FOR_ROOT: [u32; 2] = [18, 24];
/// Refused at the door, shield or not.
const AT_THE_DOOR: [u32; 1] = [29];
/// As root the disk itself is open: the shield is then against mistakes, not against intent.
const ROOT_REMAINS: [u32; 0] = [];

#[test]
fn nothing_an_agent_tries_changes_the_state_folder() {
    for user in User::all() {
        let open = House::new(user).env("FLYBALL_SANDBOX__SHIELD", "off");
        let without = open.attempts(&[], "state");
        let refused: Vec<_> = without.iter().filter(|(_, (through, _))| !through).collect();
        let known = |number: &u32| {
            AT_THE_DOOR.contains(number) || (!user.is_root() && FOR_ROOT.contains(number))
        };
        assert!(refused.iter().all(|(number, _)| known(number)), "{user:?}: {refused:#?}");

        let house = House::new(user);
        if house.falls_back() {
            return;
        }
        let with = house.attempts(&[], "state");
        assert_eq!(with.len(), without.len());
        let mut through = House::through(&with);
        through.retain(|number| !(user.is_root() && ROOT_REMAINS.contains(number)));
        assert!(through.is_empty(), "{user:?}: {through:?} of {with:#?}");
        assert_eq!(fs::read_to_string(house.path("deep/state/victim")).unwrap(), "x");
        assert!(house.said().contains("shield: on ("), "{}", house.said());
    }
}

#[test]
fn a_state_folder_that_was_swapped_ends_the_run() {
    for user in User::all() {
        let house = House::new(user);
        // A folder above is not protected: installers move things there. It is noticed.
        let script = "mv $D $D.old && mkdir -p $D/state && echo swapped && sleep 1000";
        let script = script.replace("$D", &house.text("deep"));
        let played = house.play(&["sh", "-c", &script]);
        assert_eq!(played.code, Some(6), "{}", played.said);
        let text = "the state folder was replaced during the run (was ";
        assert!(played.said.contains(text), "{}", played.said);
        assert!(played.said.contains("stopped before anything was believed"), "{}", played.said);
        assert!(played.said.contains("tampered (code 6)"), "{}", played.said);
    }
}

#[test]
fn what_is_mounted_over_the_state_folder_is_seen_by_nobody_else() {
    let house = House::new(User::Own);
    if house.falls_back() {
        return;
    }
    let script = r#"
unshare -Urm sh -c "mount -t tmpfs none $FLYBALL_STATE; echo covered; sleep 60" &
sleep 1
printf '{"type":"call","id":"1","tool":"bash","args":{}}' | $FLYBALL_TEST_PROGRAM hook flyball PreToolUse
printf '{"type":"call","id":"2","tool":"bash","args":{}}' |
    FLYBALL_STATE=/nowhere $FLYBALL_TEST_PROGRAM hook flyball PreToolUse && echo answered
"#;
    let played = house.play(&["sh", "-c", script]);
    assert_eq!(played.log.matches(r#""verdict":"pass""#).count(), 2, "{}", played.log);
    assert!(played.log.contains("answered"), "{}", played.log);
    let asked = house.flyball(&["log", "--json"]).output().unwrap();
    let asked = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(asked.matches("asked").count() >= 2, "both were judged by the run: {asked}");
}

#[test]
fn the_door_answers_nobody_from_outside_of_the_session() {
    let house = House::new(User::Own);
    let child = house.start(&["sh", "-c", "echo $FLYBALL_RUN > run; sleep 5"]);
    let run = house.path("repo/run");
    until("the agent works", || fs::read_to_string(&run).is_ok_and(|text| text.ends_with('\n')));
    let run = fs::read_to_string(&run).unwrap();
    let door = house.state().join("runs").join(run.trim()).join("door.sock");
    let mut stream = UnixStream::connect(door).unwrap();
    let head = format!(r#"{{"v":1,"run":"{}","iteration":1,"agent":"x""#, run.trim());
    // It may have hung up already.
    writeln!(stream, r#"{head},"input":{{"kind":"nothing"}}}}"#).ok();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    assert!(answer.contains("refused"), "{answer}");
    house.end(child);
}
