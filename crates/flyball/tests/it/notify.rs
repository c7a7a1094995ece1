//! `[notify]`: who is told, how, and what `flyball notify test` says about it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use serde_json::Value;

use crate::world::World;

/// A server that takes this many messages and gives back what it was sent.
fn listener(messages: usize) -> (String, JoinHandle<Vec<String>>) {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    let taken = std::thread::spawn(move || {
        (0..messages)
            .map(|_| {
                let (mut stream, _) = socket.accept().unwrap();
                let mut seen = Vec::new();
                let mut piece = [0; 4096];
                while !whole(&seen) {
                    let read = stream.read(&mut piece).unwrap();
                    assert!(read > 0, "the message was cut off");
                    seen.extend_from_slice(&piece[..read]);
                }
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                String::from_utf8(seen).unwrap()
            })
            .collect()
    });
    (address, taken)
}

/// Whether head and body of a request are there.
fn whole(seen: &[u8]) -> bool {
    let text = String::from_utf8_lossy(seen);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}

/// A repository with these settings, on a machine that has a shell.
fn world(settings: &str) -> World {
    World::repository()
        .script("sh", "#!/bin/sh\nexec /bin/sh \"$@\"\n")
        .file("flyball.toml", settings)
}

#[test]
fn a_test_message_goes_every_way_and_each_is_told() {
    let (address, taken) = listener(3);
    let settings = format!(
        "[notify]\nto = [\"desktop\", \"ntfy:{address}/topic\", \"slack:{address}/services/secret\",\n\
         \"command:printf '%s' \\\"$FLYBALL_EVENT $FLYBALL_TITLE\\\" > told\"]\nwebhook = \"{address}/hook\"\n"
    );
    let shows = "#!/bin/sh\nprintf '%s|' \"$@\" > shown\n";
    let world = world(&settings).script("notify-send", shows);
    let said = world.run(&["notify", "test"]).ok();
    for line in [
        "sent    desktop\n",
        "sent    ntfy at 127.0.0.1:",
        "sent    slack at",
        "sent    webhook at",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(!said.contains("secret") && !said.contains("topic"), "{said}");
    assert_eq!(world.read("told"), "test project: a test message");
    let shown = world.read("shown");
    assert!(shown.contains("project: a test message|sent by `flyball notify test`|"), "{shown}");
    let [ntfy, slack, hook] = &taken.join().unwrap()[..] else { panic!("three messages") };
    assert!(
        ntfy.starts_with("POST /topic ") && ntfy.contains("title: project: a test message"),
        "{ntfy}"
    );
    let body = |text: &str| -> Value {
        serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    assert!(body(slack)["text"].as_str().unwrap().starts_with("*project: a test message*"));
    assert_eq!(body(hook)["event"], "test");
}

#[test]
fn what_does_not_arrive_is_said_and_changes_the_exit_code() {
    let settings = "[notify]\nto = [\"desktop\", \"bell\", \"command:exit 3\"]\n";
    let world = world(settings);
    let said = world.run(&["notify", "test"]);
    assert_eq!(said.code, 74, "{}", said.stderr);
    for line in [
        "failed  desktop: no program",
        "failed  bell: standard error is no terminal",
        "it exited with 3",
    ] {
        assert!(said.stdout.contains(line), "{line} in {}", said.stdout);
    }
    let json: Value =
        serde_json::from_str(&world.run(&["notify", "test", "--json"]).stdout).unwrap();
    assert_eq!(json["notifications"][2]["sent"], false);
    assert_eq!(json["notifications"].as_array().unwrap().len(), 3);
}

#[test]
fn nobody_to_tell_and_ways_that_do_not_exist_are_wrong_configuration() {
    let nobody = World::repository().run(&["notify", "test"]).failed(78);
    assert!(nobody.contains("`notify.to` is empty") && nobody.contains("ntfy:TOPIC"), "{nobody}");
    let world = World::repository().file("flyball.toml", "[notify]\nto = [\"dekstop\"]\n");
    let wrong = world.run(&["notify", "test"]).failed(78);
    assert!(wrong.contains("did you mean `desktop`?"), "{wrong}");
}
