//! The scripted model, in all four formats.

use std::time::{Duration, SystemTime};

use flyball_models::{
    Arguments, Block, CallResult, Cancel, Event, FailureKind, Message, Patience, Request, Retries,
    Stop, Wire,
};
use flyball_testkit::model::{ModelServer, Step};
use serde_json::{Value, json};

use crate::tools::{KEY, WIRES, ask, fails, model, tools, within};

fn results(message: &Message) -> Message {
    let result = |call: &flyball_models::Call| CallResult {
        id: call.id.clone(),
        name: call.name.clone(),
        content: format!("result of {}", call.arguments.json().unwrap()["path"]),
        is_error: false,
    };
    Message::results(message.calls().map(result).collect())
}

#[test]
fn words_thoughts_and_parallel_calls_go_round_in_every_format() {
    for wire in WIRES {
        let step = Step::call("read", &json!({ "path": "a" }))
            .and_call("list", &json!({ "path": "b" }))
            .saying("I look.")
            .thinking("hm", "signature-1")
            .using(100, 40, 20);
        let server = ModelServer::start(vec![step, Step::text("Done.")]).unwrap();
        let model = model(wire, &server.url());
        let mut messages = vec![Message::user("go")];
        let (reply, streamed) = ask(&model, &messages);
        let reply = reply.unwrap();
        assert_eq!(streamed.replace(")(", ""), "(hm)I look.<read><list>", "{wire:?}");
        assert_eq!(reply.stop, Stop::Calls, "{wire:?}");
        assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (60, 40, 20));
        assert_eq!(reply.usage.prompt(), 100);
        let arguments: Vec<&Value> =
            reply.message.calls().map(|call| call.arguments.json().unwrap()).collect();
        assert_eq!(arguments, [&json!({ "path": "a" }), &json!({ "path": "b" })], "{wire:?}");

        // Kept and brought back as a session would, and gone on with.
        let kept = serde_json::to_string(&reply.message).unwrap();
        messages.push(serde_json::from_str(&kept).unwrap());
        messages.push(results(&reply.message).and_text("and now?"));
        let (reply, _) = ask(&model, &messages);
        assert_eq!(reply.unwrap().message.text(), "Done.", "{wire:?}");
        let turns = server.turns();
        let given = turns[1].given();
        assert_eq!(given.results, ["result of \"a\"", "result of \"b\""], "{wire:?}");
        assert_eq!(given.messages.last().unwrap(), "and now?", "{wire:?}");
        let sent = turns[1].body.to_string();
        let goes_back = match wire {
            Wire::Chat => "\"reasoning_content\":\"hm\"",
            Wire::Anthropic | Wire::Responses | Wire::Gemini => "signature-1",
        };
        assert!(sent.contains(goes_back), "{wire:?}: {sent}");
        assert!(turns.iter().all(|turn| !turn.body.to_string().contains(KEY)));
        assert!(turns[0].headers.iter().any(|(_, value)| value.contains(KEY)), "{wire:?}");
    }
}

#[test]
fn arguments_that_are_no_json_come_with_their_error_and_go_back_harmless() {
    for wire in WIRES {
        let steps = vec![Step::malformed("read", "{\"path\": "), Step::text("Sorry.")];
        let server = ModelServer::start(steps).unwrap();
        let model = model(wire, &server.url());
        let mut messages = vec![Message::user("go")];
        let reply = ask(&model, &messages).0.unwrap();
        if wire == Wire::Gemini {
            assert_eq!(reply.stop, Stop::Malformed);
            continue;
        }
        let call = reply.message.calls().next().unwrap().clone();
        let Arguments::Invalid { text, error } = &call.arguments else { panic!("{call:?}") };
        assert_eq!(text, "{\"path\": ");
        assert!(error.starts_with("EOF while parsing"), "{error}");
        messages.push(reply.message);
        messages.push(Message::results(vec![CallResult {
            id: call.id,
            name: call.name,
            content: error.clone(),
            is_error: true,
        }]));
        assert_eq!(ask(&model, &messages).0.unwrap().message.text(), "Sorry.");
        let sent = server.turns()[1].body.to_string();
        assert!(sent.contains("unparsed"), "{sent}");
    }
}

#[test]
fn a_cut_stream_is_no_answer_and_gives_what_had_come() {
    for wire in WIRES {
        let words = "half of what was to be said, and more of it";
        let step = Step::text(words).cut();
        let server = ModelServer::start(vec![step]).unwrap();
        let failure = fails(&model(wire, &server.url()));
        assert_eq!(failure.kind, FailureKind::Cut, "{wire:?}: {failure}");
        assert!(failure.words.ends_with("ended before its end"), "{failure}");
        // Half of the events: with Responses no words are among them, with chat all are.
        let partial = failure.partial.unwrap().message.text();
        assert_eq!(partial.is_empty(), wire == Wire::Responses, "{wire:?}");
        assert!(words.starts_with(&partial), "{wire:?}: {partial}");
    }
}

#[test]
fn an_error_in_the_stream_is_the_services_own_word() {
    for wire in WIRES {
        let error = json!({ "type": "overloaded_error", "code": 529, "message": "Overloaded" });
        let step = Step::text("half of what was to be said").breaking(error);
        let server = ModelServer::start(vec![step]).unwrap();
        let failure = fails(&model(wire, &server.url()));
        assert_eq!(failure.kind, FailureKind::Overloaded, "{wire:?}: {failure}");
        assert!(failure.words.contains("has trouble of its own"), "{failure}");
        assert!(failure.passes());
    }
}

#[test]
fn silence_has_two_limits_the_first_byte_and_the_next() {
    for wire in WIRES {
        let hour = Duration::from_hours(1);
        let steps = vec![Step::text("late").after(hour)];
        let server = ModelServer::start(steps).unwrap();
        let limit = Duration::from_millis(80);
        let before = within(wire, &server.url(), |limits| limits.first_byte = limit);
        let failure = fails(&before);
        assert_eq!((failure.kind, failure.begun()), (FailureKind::Silent, false), "{wire:?}");
        assert!(failure.words.contains("for 80 ms"), "{failure}");

        let step = Step::text("half of it, then nothing").pausing(hour);
        let server = ModelServer::start(vec![step]).unwrap();
        let between = within(wire, &server.url(), |limits| limits.between_bytes = limit);
        let failure = fails(&between);
        assert_eq!((failure.kind, failure.begun()), (FailureKind::Silent, true), "{wire:?}");
        assert!(failure.words.contains("in the middle of its answer"), "{failure}");
    }
}

#[test]
fn reasons_to_stop_in_every_formats_word() {
    let cases = [
        (Wire::Anthropic, "max_tokens", Stop::Length),
        (Wire::Anthropic, "refusal", Stop::Refused),
        (Wire::Anthropic, "pause_turn", Stop::Paused),
        (Wire::Anthropic, "model_context_window_exceeded", Stop::Window),
        (Wire::Responses, "max_output_tokens", Stop::Length),
        (Wire::Responses, "content_filter", Stop::Filtered),
        (Wire::Chat, "length", Stop::Length),
        (Wire::Chat, "content_filter", Stop::Filtered),
        (Wire::Chat, "new_reason", Stop::Other("new_reason".to_owned())),
        (Wire::Gemini, "MAX_TOKENS", Stop::Length),
        (Wire::Gemini, "SAFETY", Stop::Filtered),
        (Wire::Gemini, "STOP", Stop::End),
    ];
    for (wire, word, stop) in cases {
        let server = ModelServer::start(vec![Step::text("x").stopping(word)]).unwrap();
        let reply = ask(&model(wire, &server.url()), &[Message::user("go")]).0.unwrap();
        assert_eq!(reply.stop, stop, "{wire:?} {word}");
    }
}

#[test]
fn a_limited_service_is_asked_again_when_it_wants_and_not_otherwise() {
    let tools = tools();
    let messages = [Message::user("go")];
    let mut request = Request::new(&messages);
    request.tools = &tools;
    for wire in WIRES {
        let limited = |secs: &str| Step::error(429).header("retry-after", secs);
        let steps =
            vec![limited("0"), Step::error(503).header("retry-after", "0"), Step::text("ok")];
        let server = ModelServer::start(steps).unwrap();
        let patience = Patience { retries: Retries::default(), now: &|| SystemTime::UNIX_EPOCH };
        let mut again = Vec::new();
        let asked = model(wire, &server.url());
        let reply = asked.ask_patiently(&request, &Cancel::new(), &patience, &mut |event| {
            if let Event::Again { failure, attempt, wait } = event {
                again.push((failure.kind, attempt, wait));
            }
        });
        assert_eq!(reply.unwrap().message.text(), "ok", "{wire:?}");
        let wanted = [
            (FailureKind::Limited, 1, Duration::ZERO),
            (FailureKind::Overloaded, 2, Duration::ZERO),
        ];
        assert_eq!(again, wanted, "{wire:?}");

        let server = ModelServer::start(vec![limited("3600")]).unwrap();
        let asked = model(wire, &server.url());
        let failure =
            asked.ask_patiently(&request, &Cancel::new(), &patience, &mut |_| {}).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Limited);
        let wait = failure.retry.unwrap().from(SystemTime::UNIX_EPOCH);
        assert_eq!(wait, Duration::from_hours(1), "{wire:?}");
        assert_eq!(server.turns().len(), 1);
    }
}

#[test]
fn a_conversation_begun_with_one_service_goes_on_with_another() {
    for first in WIRES {
        let step = Step::call("read", &json!({ "path": "a" })).thinking("mine", "my-signature");
        let server = ModelServer::start(vec![step]).unwrap();
        let mut messages = vec![Message::user("go")];
        let reply = ask(&model(first, &server.url()), &messages).0.unwrap();
        let had_thought = reply.message.blocks.iter().any(|b| matches!(b, Block::Thought(_)));
        assert!(had_thought);
        messages.push(reply.message);
        for second in WIRES.into_iter().filter(|wire| *wire != first) {
            let server = ModelServer::start(vec![Step::text("Done.")]).unwrap();
            let reply = ask(&model(second, &server.url()), &messages).0.unwrap();
            assert_eq!(reply.message.text(), "Done.");
            let turn = &server.turns()[0];
            assert!(!turn.body.to_string().contains("my-signature"), "{first:?} {second:?}");
            let wanted = "no result: the session ended before this call did";
            assert_eq!(turn.given().results, [wanted], "{first:?} {second:?}");
        }
    }
}
