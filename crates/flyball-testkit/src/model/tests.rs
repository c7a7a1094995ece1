//! The server, asked with bare sockets.

use std::io::{Read, Write};

use super::*;

fn ask(server: &ModelServer, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    exchange(server, &format!("{head}{body}"))
}

/// Sends bytes and reads until the answer is whole.
fn exchange(server: &ModelServer, bytes: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The JSON of every `data:` line.
fn data(answer: &str) -> Vec<Value> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn whole(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

const TOOLS: &str = r#"[{"name":"Bash"}]"#;

fn with_tools(mut body: Value) -> Value {
    body["tools"] = serde_json::from_str(TOOLS).unwrap();
    body
}

fn script() -> Vec<Step> {
    vec![
        Step::call("Bash", &json!({ "command": "ls" })).saying("Look").using(100, 40, 20),
        Step::text("Done."),
    ]
}

#[test]
fn anthropic_messages_stream_text_and_calls() {
    let server = ModelServer::start(script()).unwrap();
    let body = with_tools(json!({ "model": "m", "stream": true, "messages": [] }));
    let frames = data(&ask(&server, "/v1/messages?beta=true", &body));
    assert_eq!(frames[0]["message"]["usage"]["input_tokens"], 60);
    assert_eq!(frames[0]["message"]["usage"]["cache_read_input_tokens"], 40);
    let args: Vec<_> = frames.iter().filter_map(|f| f["delta"]["partial_json"].as_str()).collect();
    assert_eq!(args, [r#"{"command":"ls"}"#]);
    let stop = frames.iter().find(|frame| frame["type"] == "message_delta").unwrap();
    assert_eq!(stop["delta"]["stop_reason"], "tool_use");
    assert_eq!(stop["usage"]["output_tokens"], 20);
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "a file" });
    let messages =
        json!([{ "role": "user", "content": [result, { "type": "text", "text": "hint" }] }]);
    let body = with_tools(json!({ "model": "m", "messages": messages }));
    let answer = whole(&ask(&server, "/v1/messages", &body));
    assert_eq!(answer["content"][0]["text"], "Done.");
    let given = server.turns()[1].given();
    assert_eq!((given.results, given.messages), (vec!["a file".into()], vec!["hint".into()]));
}

#[test]
fn openai_responses_complete_with_the_call_and_its_usage() {
    let server = ModelServer::start(script()).unwrap();
    let result = json!({ "type": "function_call_output", "call_id": "c", "output": "a file" });
    let user = json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] });
    let body = with_tools(json!({ "model": "m", "stream": true, "input": [user, result] }));
    let answer = ask(&server, "/v1/responses", &body);
    assert!(answer.contains("event: response.output_text.delta\n"));
    let last = data(&answer).pop().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][1]["arguments"], r#"{"command":"ls"}"#);
    assert_eq!(last["response"]["usage"]["input_tokens_details"]["cached_tokens"], 40);
    let given = server.turns()[0].given();
    assert_eq!((given.results, given.messages), (vec!["a file".into()], vec!["go".into()]));
}

#[test]
fn openai_chat_streams_pieces_and_ends_with_done() {
    let server = ModelServer::start(script()).unwrap();
    let messages = json!([
        { "role": "user", "content": "go" }, { "role": "tool", "tool_call_id": "c", "content": "a file" },
    ]);
    let body = with_tools(json!({ "model": "m", "stream": true, "messages": messages }));
    let answer = ask(&server, "/v1/chat/completions", &body);
    assert!(answer.trim_end().ends_with("data: [DONE]"));
    let frames = data(&answer);
    let args: String = frames
        .iter()
        .filter_map(|f| f["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str())
        .collect();
    assert_eq!(args, r#"{"command":"ls"}"#);
    assert_eq!(frames.last().unwrap()["usage"]["prompt_tokens"], 100);
    let given = server.turns()[0].given();
    assert_eq!((given.results, given.messages), (vec!["a file".into()], vec!["go".into()]));
}

#[test]
fn gemini_streams_parts_and_says_malformed_in_its_own_way() {
    let script = [script(), vec![Step::malformed("Bash", "{\"command\": ")]].concat();
    let server = ModelServer::start(script).unwrap();
    let response =
        json!({ "functionResponse": { "name": "x", "response": { "output": "a file" } } });
    let contents = json!([{ "role": "user", "parts": [{ "text": "go" }, response] }]);
    let body = with_tools(json!({ "contents": contents }));
    let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    let frames = data(&ask(&server, path, &body));
    assert_eq!(frames.len(), 3);
    assert_eq!(
        frames[2]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]["command"],
        "ls"
    );
    assert_eq!(frames[2]["usageMetadata"]["cachedContentTokenCount"], 40);
    let given = server.turns()[0].given();
    assert_eq!((given.results, given.messages), (vec!["a file".into()], vec!["go".into()]));
    ask(&server, path, &body);
    let malformed = data(&ask(&server, path, &body));
    assert_eq!(malformed[0]["candidates"][0]["finishReason"], "MALFORMED_FUNCTION_CALL");
}

#[test]
fn only_requests_with_tools_consume_a_step_and_the_last_step_repeats() {
    let server = ModelServer::start(script()).unwrap();
    let bare = json!({ "model": "m", "messages": [], "tools": [] });
    assert_eq!(whole(&ask(&server, "/v1/messages", &bare))["content"][0]["text"], "ok");
    for wanted in ["Look", "Done.", "Done.", "Done."] {
        let answer = whole(&ask(&server, "/v1/messages", &with_tools(bare.clone())));
        assert_eq!(answer["content"][0]["text"], wanted);
    }
    let steps: Vec<_> = server.requests().iter().map(|request| request.step).collect();
    assert_eq!(steps, [None, Some(0), Some(1), Some(1), Some(1)]);
}

#[test]
fn an_error_has_its_status_headers_and_the_shape_of_its_format() {
    let step = Step::error(429).saying("slow down").header("retry-after", "1");
    let server = ModelServer::start(vec![step]).unwrap();
    let body = with_tools(json!({}));
    let answer = ask(&server, "/v1/messages", &body);
    assert!(answer.starts_with("HTTP/1.1 429 "));
    assert!(answer.contains("retry-after: 1\r\n"));
    assert_eq!(whole(&answer)["error"]["type"], "rate_limit_error");
    let chat = whole(&ask(&server, "/v1/chat/completions", &body));
    assert_eq!(chat["error"]["code"], "rate_limit_exceeded");
    let gemini = whole(&ask(&server, "/v1beta/models/x:generateContent", &body));
    assert_eq!(gemini["error"]["status"], "RESOURCE_EXHAUSTED");
}

#[test]
fn a_cut_stream_ends_without_its_end() {
    let server = ModelServer::start(vec![Step::text("partial words").cut()]).unwrap();
    let body = with_tools(json!({ "stream": true, "messages": [] }));
    let answer = ask(&server, "/v1/messages", &body);
    assert!(answer.contains("text_delta") && !answer.contains("message_stop"), "{answer}");
}

#[test]
fn a_hanging_answer_does_not_outlive_the_server() {
    let server =
        ModelServer::start(vec![Step::text("late").after(Duration::from_hours(1))]).unwrap();
    let body = with_tools(json!({ "messages": [] })).to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    while server.requests().is_empty() {
        thread::yield_now();
    }
    drop(server);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("late"));
}

#[test]
fn a_chunked_body_is_read_and_a_connection_serves_several_requests() {
    let server = ModelServer::start(script()).unwrap();
    let chunked = "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
        e\r\n{\"tools\":[{}],\r\nf\r\n\"messages\": []}\r\n0\r\n\r\n";
    let models = "GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n";
    let answer = exchange(&server, &format!("{chunked}{models}"));
    assert!(answer.contains("\"Look\"") && answer.contains("mock-model"), "{answer}");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.turns().len(), 1);
}

#[test]
fn a_step_that_lasts_answers_until_its_time_is_over() {
    let error = Step::error(429).lasting(Duration::from_millis(300));
    let server = ModelServer::start(vec![error, Step::text("well")]).unwrap();
    let body = with_tools(json!({ "model": "m", "messages": [] }));
    let asked = || ask(&server, "/v1/chat/completions", &body);
    assert!(asked().starts_with("HTTP/1.1 429"));
    assert!(asked().starts_with("HTTP/1.1 429"));
    thread::sleep(Duration::from_millis(350));
    assert!(asked().starts_with("HTTP/1.1 200"));
    let steps: Vec<_> = server.turns().iter().map(|turn| turn.step).collect();
    assert_eq!(steps, [Some(0), Some(0), Some(1)]);
}

#[test]
fn thoughts_come_before_words_and_stops_in_the_formats_own_word() {
    let step = Step::text("Done.").thinking("hm", "sig").stopping("refusal");
    let server = ModelServer::start(vec![step]).unwrap();
    let body = with_tools(json!({ "model": "m", "stream": true, "messages": [] }));
    let frames = data(&ask(&server, "/v1/messages", &body));
    assert_eq!(frames[1]["content_block"]["type"], "thinking");
    assert!(frames.iter().any(|frame| frame["delta"]["signature"] == "sig"));
    assert!(frames.iter().any(|frame| frame["delta"]["stop_reason"] == "refusal"));
    let responses = data(&ask(&server, "/v1/responses", &body));
    let last = &responses.last().unwrap()["response"];
    assert_eq!(last["output"][0]["encrypted_content"], "sig");
    assert_eq!(last["incomplete_details"]["reason"], "refusal");
    let chat = data(&ask(&server, "/v1/chat/completions", &body));
    assert!(chat.iter().any(|frame| frame["choices"][0]["delta"]["reasoning_content"] == "h"));
    let gemini = data(&ask(&server, "/v1beta/models/m:streamGenerateContent", &body));
    assert_eq!(gemini[0]["candidates"][0]["content"]["parts"][0]["thought"], true);
}

#[test]
fn a_stream_can_break_in_the_middle_with_an_error() {
    let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
    let server = ModelServer::start(vec![Step::text("some words").breaking(error)]).unwrap();
    let body = with_tools(json!({ "stream": true, "messages": [] }));
    for path in ["/v1/messages", "/v1/responses", "/v1/chat/completions"] {
        let last = data(&ask(&server, path, &body)).pop().unwrap();
        assert_eq!(last["error"]["message"], "Overloaded", "{path}");
    }
}

#[test]
fn a_pause_in_the_middle_does_not_outlive_the_server() {
    let step = Step::text("some words").pausing(Duration::from_hours(1));
    let server = ModelServer::start(vec![step]).unwrap();
    let body = with_tools(json!({ "stream": true, "messages": [] })).to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut first = [0; 64];
    assert!(stream.read(&mut first).unwrap() > 0, "the first half comes");
    drop(server);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("message_stop"));
}
