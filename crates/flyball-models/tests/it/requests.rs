//! What is sent, in every format.

use flyball_models::{
    Arguments, Block, Cache, Call, CallResult, Calls, Cancel, Effort, Message, Model, Origin,
    Request, Role, Text, Thought, Wire,
};
use flyball_testkit::model::{ModelServer, Step};
use serde_json::{Value, json};

use crate::tools::{WIRES, settings, tools};

/// What one request says.
fn sent(wire: Wire, name: &str, messages: &[Message], change: impl Fn(&mut Request<'_>)) -> Value {
    let server = ModelServer::start(vec![Step::text("ok")]).unwrap();
    let mut settings = settings(wire, &server.url());
    name.clone_into(&mut settings.model);
    let tools = tools();
    let mut request = Request::new(messages);
    request.system = "Be brief.";
    request.tools = &tools;
    change(&mut request);
    let model = Model::new(settings).unwrap();
    model.ask(&request, &Cancel::new(), &mut |_| {}).unwrap();
    server.requests().pop().unwrap().body
}

/// A talk with everything in it.
fn talk(wire: Wire, name: &str) -> Vec<Message> {
    let call = |id: &str, text: &str| {
        Block::Call(Call {
            id: id.to_owned(),
            name: "read".to_owned(),
            arguments: Arguments::read(text.to_owned()),
            signature: None,
        })
    };
    let thought = Thought { text: "hm".into(), signature: Some("sig".into()), redacted: false };
    let blocks = vec![
        Block::Thought(thought),
        Block::Text(Text { text: "I look.".into(), signature: None }),
        call("a", r#"{"path":"x"}"#),
        call("b", "{oops"),
    ];
    let origin = Some(Origin { wire, model: name.to_owned() });
    let result = |id: &str, is_error| CallResult {
        id: id.to_owned(),
        name: "read".to_owned(),
        content: format!("of {id}"),
        is_error,
    };
    vec![
        Message::user("go"),
        Message { role: Role::Assistant, blocks, origin },
        Message::results(vec![result("a", false), result("b", true)]),
    ]
}

#[test]
fn anthropic_marks_what_is_to_be_kept() {
    let name = "claude-sonnet-4-5";
    let body = sent(Wire::Anthropic, name, &talk(Wire::Anthropic, name), |_| {});
    let kept = json!({ "type": "ephemeral" });
    assert_eq!(
        body["system"],
        json!([{ "type": "text", "text": "Be brief.", "cache_control": kept }])
    );
    let wanted = json!([
        { "role": "user", "content": [{ "type": "text", "text": "go", "cache_control": kept }] },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "sig" },
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "a", "name": "read", "input": { "path": "x" } },
            { "type": "tool_use", "id": "b", "name": "read", "input": { "unparsed": "{oops" } },
        ]},
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "a", "content": "of a" },
            { "type": "tool_result", "tool_use_id": "b", "content": "of b", "is_error": true, "cache_control": kept },
        ]},
    ]);
    assert_eq!(body["messages"], wanted);
    assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(32_000), &json!(true)));
    assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
    assert!(body.get("thinking").is_none() && body.get("tool_choice").is_none());
}

#[test]
fn no_more_places_are_kept_than_the_service_allows() {
    let mut messages = Vec::new();
    for _ in 0..9 {
        messages.push(Message::user("go"));
        messages.push(Message { role: Role::Assistant, ..Message::user("well") });
    }
    messages.push(Message::user("go"));
    let body = sent(Wire::Anthropic, "claude-opus-5", &messages, |request| {
        request.cache = Cache::Long;
    });
    let text = body.to_string();
    assert_eq!(text.matches("cache_control").count(), 4);
    assert_eq!(text.matches(r#""ttl":"1h""#).count(), 4);
    let off = sent(Wire::Anthropic, "claude-opus-5", &messages, |request| {
        request.cache = Cache::Off;
    });
    assert!(!off.to_string().contains("cache_control"));
}

#[test]
fn how_much_to_think_is_said_in_every_models_way() {
    let messages = [Message::user("go")];
    let high = |wire, name| sent(wire, name, &messages, |r| r.effort = Some(Effort::High));
    let adaptive = high(Wire::Anthropic, "claude-opus-5");
    assert_eq!(adaptive["thinking"], json!({ "type": "adaptive" }));
    assert_eq!(adaptive["output_config"], json!({ "effort": "high" }));
    let budget = high(Wire::Anthropic, "claude-sonnet-4-5");
    assert_eq!(budget["thinking"], json!({ "type": "enabled", "budget_tokens": 16_000 }));
    assert!(budget.get("output_config").is_none());
    let never = high(Wire::Anthropic, "claude-3-5-haiku-20241022");
    assert!(never.get("thinking").is_none());
    let responses = high(Wire::Responses, "gpt-5.5");
    assert_eq!(responses["reasoning"], json!({ "effort": "high", "summary": "auto" }));
    assert_eq!(responses["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(high(Wire::Chat, "qwen3")["reasoning_effort"], "high");
    let level = &high(Wire::Gemini, "gemini-3-pro")["generationConfig"]["thinkingConfig"];
    assert_eq!(*level, json!({ "includeThoughts": true, "thinkingLevel": "high" }));
    let tokens = &high(Wire::Gemini, "gemini-2.5-pro")["generationConfig"]["thinkingConfig"];
    assert_eq!(*tokens, json!({ "includeThoughts": true, "thinkingBudget": 24_576 }));
    assert!(
        high(Wire::Gemini, "gemini-2.0-flash")["generationConfig"].get("thinkingConfig").is_none()
    );
}

#[test]
fn responses_carry_items_and_keep_nothing() {
    let name = "gpt-5";
    let body = sent(Wire::Responses, name, &talk(Wire::Responses, name), |request| {
        request.conversation = Some("session-1");
        request.max_tokens = Some(500);
    });
    let wanted = json!([
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] },
        { "type": "reasoning", "summary": [], "encrypted_content": "sig" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I look." }] },
        { "type": "function_call", "call_id": "a", "name": "read", "arguments": r#"{"path":"x"}"# },
        { "type": "function_call", "call_id": "b", "name": "read", "arguments": r#"{"unparsed":"{oops"}"# },
        { "type": "function_call_output", "call_id": "a", "output": "of a" },
        { "type": "function_call_output", "call_id": "b", "output": "of b" },
    ]);
    assert_eq!(body["input"], wanted);
    assert_eq!((&body["store"], &body["instructions"]), (&json!(false), &json!("Be brief.")));
    assert_eq!(body["prompt_cache_key"], "session-1");
    assert_eq!(body["max_output_tokens"], 500);
}

#[test]
fn chat_carries_results_as_messages_and_thoughts_while_the_work_lasts() {
    let name = "deepseek";
    let mut messages = talk(Wire::Chat, name);
    let body = sent(Wire::Chat, name, &messages, |request| request.max_tokens = Some(9));
    let calls = json!([
        { "id": "a", "type": "function", "function": { "name": "read", "arguments": r#"{"path":"x"}"# } },
        { "id": "b", "type": "function", "function": { "name": "read", "arguments": r#"{"unparsed":"{oops"}"# } },
    ]);
    let wanted = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": "I look.", "tool_calls": calls, "reasoning_content": "hm" },
        { "role": "tool", "tool_call_id": "a", "content": "of a" },
        { "role": "tool", "tool_call_id": "b", "content": "of b" },
    ]);
    assert_eq!(body["messages"], wanted);
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(9), None));
    messages.push(Message { role: Role::Assistant, ..Message::user("It is there.") });
    messages.push(Message::user("and now?"));
    let later = sent(Wire::Chat, name, &messages, |_| {});
    assert!(!later.to_string().contains("reasoning_content"), "{later}");
    let reasoner = sent(Wire::Chat, "gpt-5", &messages, |request| request.max_tokens = Some(9));
    assert_eq!((reasoner.get("max_tokens"), &reasoner["max_completion_tokens"]), (None, &json!(9)));
}

#[test]
fn gemini_carries_parts_and_stands_in_for_signatures_it_never_gave() {
    let body = sent(Wire::Gemini, "gemini-3-pro", &talk(Wire::Anthropic, "claude"), |_| {});
    let wanted = json!([
        { "role": "user", "parts": [{ "text": "go" }] },
        { "role": "model", "parts": [
            { "text": "I look." },
            { "functionCall": { "id": "a", "name": "read", "args": { "path": "x" } },
              "thoughtSignature": "skip_thought_signature_validator" },
            { "functionCall": { "id": "b", "name": "read", "args": { "unparsed": "{oops" } } },
        ]},
        { "role": "user", "parts": [
            { "functionResponse": { "id": "a", "name": "read", "response": { "output": "of a" } } },
            { "functionResponse": { "id": "b", "name": "read", "response": { "error": "of b" } } },
        ]},
    ]);
    assert_eq!(body["contents"], wanted);
    assert_eq!(body["systemInstruction"], json!({ "parts": [{ "text": "Be brief." }] }));
    let schema = &body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"];
    assert_eq!(schema["type"], "object");
}

#[test]
fn calls_can_be_forbidden_with_the_tools_still_told() {
    let messages = [Message::user("sum up")];
    for wire in WIRES {
        let body = sent(wire, "m", &messages, |request| request.calls = Calls::Forbidden);
        let choice = match wire {
            Wire::Anthropic => &body["tool_choice"]["type"],
            Wire::Gemini => &body["toolConfig"]["functionCallingConfig"]["mode"],
            Wire::Responses | Wire::Chat => &body["tool_choice"],
        };
        assert!(choice.as_str().unwrap().eq_ignore_ascii_case("none"), "{wire:?}");
        assert!(body["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
    }
}

#[test]
fn addresses_and_headers_in_every_format() {
    let cases = [
        (Wire::Anthropic, "", "/v1/messages", "x-api-key"),
        (Wire::Anthropic, "/v1/", "/v1/messages", "x-api-key"),
        (Wire::Responses, "/v1", "/v1/responses", "authorization"),
        (Wire::Chat, "/api/v1", "/api/v1/chat/completions", "authorization"),
        (Wire::Gemini, "", "/v1beta/models/a%20b:streamGenerateContent", "x-goog-api-key"),
        (Wire::Gemini, "/v1", "/v1/models/a%20b:streamGenerateContent", "x-goog-api-key"),
    ];
    for (wire, base, path, header) in cases {
        let server = ModelServer::start(vec![Step::text("ok")]).unwrap();
        let mut settings = settings(wire, &format!("{}{base}", server.url()));
        settings.model = "a b".to_owned();
        settings.headers.push(("X-Team".to_owned(), "nine".to_owned()));
        let own = Model::new(settings.clone()).unwrap();
        let messages = [Message::user("go")];
        own.ask(&Request::new(&messages), &Cancel::new(), &mut |_| {}).unwrap();
        settings.headers.push((header.to_owned(), "of a gateway".to_owned()));
        let gateway = Model::new(settings).unwrap();
        gateway.ask(&Request::new(&messages), &Cancel::new(), &mut |_| {}).unwrap();
        let requests = server.requests();
        assert_eq!(requests[0].path, path);
        let values = |number: usize, wanted: &str| -> Vec<String> {
            let of = |(name, value): &(String, String)| (name == wanted).then(|| value.clone());
            requests[number].headers.iter().filter_map(of).collect()
        };
        assert_eq!(values(0, header).len(), 1);
        assert_eq!(values(0, "x-team"), ["nine"]);
        assert_eq!(values(1, header), ["of a gateway"], "one's own header replaces the key");
    }
}
