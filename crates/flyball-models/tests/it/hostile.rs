//! Servers that hang, lie, flood and vanish, and people who have waited long enough.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use flyball_models::{Cancel, Event, FailureKind, Message, Request, Wire};

use crate::server::{Visit, answer, serve, serve_text};
use crate::tools::{KEY, ask, fails, model, within};

const WORDS: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

/// Asks until the server is seen to be at work, then cancels from another thread.
#[test]
fn cancelling_ends_the_wait_at_once_and_closes_the_connection() {
    for streams in [false, true] {
        let (arrived, arrivals) = channel();
        let (closed, closings) = channel();
        let server = serve(vec![Box::new(move |visit: &mut Visit| {
            if streams {
                visit.stream_head();
                visit.say(WORDS);
            } else {
                arrived.send(()).unwrap();
            }
            closed.send(visit.sees_the_end()).unwrap();
        })]);
        let model = model(Wire::Chat, &server.url);
        let cancel = Cancel::new();
        let other = cancel.clone();
        let waiting = thread::spawn(move || {
            if !streams {
                arrivals.recv().unwrap();
                other.cancel();
            }
        });
        let messages = [Message::user("go")];
        // With words on the way it is the one who listens that has enough.
        let failure = model
            .ask(&Request::new(&messages), &cancel, &mut |event| {
                if matches!(event, Event::Text(_)) {
                    cancel.cancel();
                }
            })
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        assert_eq!(failure.begun(), streams);
        waiting.join().unwrap();
        assert!(closings.recv().unwrap(), "the server was left");
        let late = model.ask(&Request::new(&messages), &cancel, &mut |_| {}).unwrap_err();
        assert_eq!(late.kind, FailureKind::Cancelled, "once cancelled, nothing is sent");
    }
}

#[test]
fn keep_alives_are_signs_of_life_and_nothing_else() {
    let server = serve(vec![Box::new(|visit: &mut Visit| {
        visit.stream_head();
        for _ in 0..20 {
            visit.say(": still here\n\n");
            thread::sleep(Duration::from_millis(30));
        }
        visit.say(format!("{WORDS}{END}data: [DONE]\n\n"));
    })]);
    // The whole takes longer than any one silence may.
    let model = within(Wire::Chat, &server.url, |limits| {
        limits.between_bytes = Duration::from_millis(500);
    });
    let mut alive = 0;
    let messages = [Message::user("go")];
    let reply = model.ask(&Request::new(&messages), &Cancel::new(), &mut |event| {
        if let Event::Alive { bytes } = event {
            alive += bytes;
        }
    });
    assert_eq!(reply.unwrap().message.text(), "hi");
    assert!(alive >= 20 * 14, "{alive}");
}

#[test]
fn an_end_without_farewell_is_an_end() {
    let hangs = serve(vec![Box::new(|visit: &mut Visit| {
        visit.stream_head();
        visit.say(format!("{WORDS}{END}"));
        visit.hang();
    })]);
    let model = within(Wire::Chat, &hangs.url, |limits| {
        limits.between_bytes = Duration::from_millis(100);
    });
    assert_eq!(ask(&model, &[Message::user("go")]).0.unwrap().message.text(), "hi");
    // And one that said farewell but keeps the line is not waited for.
    let lingers = serve(vec![Box::new(|visit: &mut Visit| {
        visit.stream_head();
        visit.say(format!("{WORDS}{END}data: [DONE]\n\n"));
        visit.hang();
    })]);
    let model = crate::tools::model(Wire::Chat, &lingers.url);
    assert_eq!(ask(&model, &[Message::user("go")]).0.unwrap().message.text(), "hi");
}

#[test]
fn floods_are_refused() {
    let flood = |line: String| {
        serve(vec![Box::new(move |visit: &mut Visit| {
            visit.stream_head();
            for _ in 0..4000 {
                visit.say(&line);
            }
        })])
    };
    let thoughts =
        flood("data: {\"choices\":[{\"delta\":{\"reasoning\":\"on and on\"}}]}\n\n".into());
    let asked = within(Wire::Chat, &thoughts.url, |limits| limits.response_bytes = 100_000);
    let failure = fails(&asked);
    assert_eq!(failure.kind, FailureKind::TooLarge, "{failure}");
    assert!(failure.partial.is_some());
    let line = flood("x".repeat(1000));
    let asked = within(Wire::Chat, &line.url, |limits| limits.line_bytes = 50_000);
    assert_eq!(fails(&asked).words, "a line of the answer is longer than allowed");
    let error = serve_text(format!("HTTP/1.1 500 x\r\n\r\n{}", "y".repeat(1_000_000)));
    let failure = fails(&model(Wire::Chat, &error.url));
    assert!(failure.words.len() < 700, "{}", failure.words.len());
}

#[test]
fn lies_about_what_comes_are_seen_through() {
    let cases = [
        ("HTTP/1.1 200 OK\r\n\r\n<html>Welcome</html>", FailureKind::Cut),
        ("HTTP/1.1 200 OK\r\n\r\ndata: {broken\n\n", FailureKind::Unreadable),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", FailureKind::Cut),
        ("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\ndata: {}\n\n", FailureKind::Cut),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:", FailureKind::Cut),
        ("", FailureKind::Cut),
    ];
    for (text, kind) in cases {
        let server = serve_text(text);
        let failure = fails(&model(Wire::Chat, &server.url));
        assert_eq!(failure.kind, kind, "{text:?}: {failure}");
    }
    let garbage = serve_text("\0\0not http at all\r\n\r\n");
    let failure = fails(&model(Wire::Chat, &garbage.url));
    assert!(!failure.begun() && !failure.words.contains('\0'), "{failure:?}");
}

#[test]
fn a_redirect_never_gets_the_key() {
    let (seen, sees) = channel();
    let thief = serve(vec![Box::new(move |visit: &mut Visit| drop(seen.send(visit.head.clone())))]);
    let to = format!("{}/v1/chat/completions", thief.url);
    let server = serve_text(answer(307, &[("location", &to)], ""));
    let failure = fails(&model(Wire::Chat, &server.url));
    assert_eq!((failure.kind, failure.status), (FailureKind::Rejected, Some(307)), "{failure}");
    assert!(sees.try_recv().is_err(), "nobody followed");
    assert!(!failure.words.contains(KEY));
}

#[test]
fn connections_are_used_again_and_a_dead_one_is_noticed() {
    let (seen, visits) = channel();
    let server = serve(vec![Box::new(move |visit: &mut Visit| {
        let body = format!("{WORDS}{END}data: [DONE]\n\n");
        for _ in 0..2 {
            let length = body.len();
            visit.say(format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
            ));
            seen.send(()).unwrap();
            if !visit.next_request() {
                return;
            }
        }
    })]);
    let model = model(Wire::Chat, &server.url);
    for _ in 0..2 {
        assert_eq!(ask(&model, &[Message::user("go")]).0.unwrap().message.text(), "hi");
        visits.recv().unwrap();
    }
}
