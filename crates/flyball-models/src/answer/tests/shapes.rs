//! Streams as services write them, with what each of them means.

use crate::wire::Wire;

/// One stream.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) wire: Wire,
    pub(super) text: String,
    /// What must have come before the answer counts as whole.
    pub(super) last: &'static str,
    pub(super) wanted: &'static str,
}

/// Events of lines: `name data`, or only data when the line begins with a bracket or a colon.
fn events(lines: &[&str]) -> String {
    let event = |line: &&str| match line.split_once(' ') {
        _ if line.starts_with(['{', '[']) => format!("data: {line}\n\n"),
        _ if line.starts_with(':') => format!("{line}\n\n"),
        Some((name, data)) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("event: {line}\n\n"),
    };
    lines.iter().map(event).collect()
}

/// Chunks of chat completions: the inside of a delta, or with `=` the inside of a choice.
fn chunks(lines: &[&str]) -> String {
    let chunk = |line: &&str| match line.strip_prefix('=') {
        Some(choice) => format!(r#"{{"id":"c","model":"m","choices":[{{{choice}}}]}}"#),
        None if line.starts_with(['{', '[', ':']) => (*line).to_owned(),
        None => format!(r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{{{line}}}}}]}}"#),
    };
    let lines: Vec<String> = lines.iter().map(chunk).collect();
    events(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Parts of Gemini: the inside of a part; with `=` a whole event.
fn parts(lines: &[&str]) -> String {
    let event = |line: &&str| match line.strip_prefix('=') {
        Some(event) => event.to_owned(),
        None => format!(r#"{{"candidates":[{{"content":{{"parts":[{{{line}}}]}}}}]}}"#),
    };
    let lines: Vec<String> = lines.iter().map(event).collect();
    events(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(super) fn shapes() -> Vec<Shape> {
    [anthropic(), responses(), chat(), chat_calls(), gemini()].into_iter().flatten().collect()
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn anthropic() -> Vec<Shape> {
    let shape = |name, lines: &[&str], wanted| Shape {
        name,
        wire: Wire::Anthropic,
        text: events(lines),
        last: "stop_reason\":\"",
        wanted,
    };
    vec![
        shape(
            "thoughts, words and two calls",
            &[
                r#"message_start {"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":1}}}"#,
                r#"ping {"type":"ping"}"#,
                r#"content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm "}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"é"}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig1"}}"#,
                r#"content_block_stop {"type":"content_block_stop","index":0}"#,
                r#"content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
                r#"content_block_stop {"type":"content_block_stop","index":1}"#,
                r#"content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}"#,
                r#"content_block_stop {"type":"content_block_stop","index":2}"#,
                r#"content_block_start {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}"#,
                r#"content_block_delta {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"th\":\"a\"}"}}"#,
                r#"content_block_stop {"type":"content_block_stop","index":3}"#,
                r#"content_block_start {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t2","name":"list","input":{}}}"#,
                r#"content_block_stop {"type":"content_block_stop","index":4}"#,
                r#"message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42}}"#,
                r#"message_stop {"type":"message_stop"}"#,
            ],
            r#"thought hm é [sig1] | redacted [xyz] | text I look. | call t1 read {"path":"a"} | call t2 list {} => Calls [10, 200, 30, 42] 0"#,
        ),
        shape(
            "cut off by the longest answer in the middle of a call",
            &[
                r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":5}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"write","input":{}}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"{\"a\":"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            r#"call t1 write invalid {"a":: EOF while parsing a value at line 1 column 5 => Length [5, 0, 0, 9] 0"#,
        ),
        shape(
            "a pause of the service, and what is not known yet",
            &[
                r#"{"type":"message_start","message":{"id":"msg_1"}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s"}}"#,
                r#"{"type":"something_new","thing":{"a":1}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            " => Paused [0, 0, 0, 0] 0",
        ),
        shape(
            "a refusal",
            &[
                r#"{"type":"message_start","message":{"id":"msg_1"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            " => Refused [0, 0, 0, 0] 0",
        ),
        shape(
            "overloaded in the stream",
            &[
                r#"{"type":"message_start","message":{"id":"msg_1"}}"#,
                r#"error {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ],
            "told Overloaded None: Overloaded",
        ),
    ]
}

fn responses() -> Vec<Shape> {
    let shape = |name, lines: &[&str], wanted| Shape {
        name,
        wire: Wire::Responses,
        text: events(lines),
        last: "\"response.completed\"",
        wanted,
    };
    vec![
        shape(
            "thoughts in two parts, words with a phase, a call",
            &[
                r#"response.created {"type":"response.created","response":{"id":"resp_1","model":"gpt","output":[]}}"#,
                r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
                r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}"#,
                r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}"#,
                r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}"#,
                r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}"#,
                r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"}],"encrypted_content":"enc"}}"#,
                r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","content":[]}}"#,
                r#"{"type":"response.output_text.delta","output_index":1,"delta":"I "}"#,
                r#"{"type":"response.output_text.delta","output_index":1,"delta":"look."}"#,
                r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}}"#,
                r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"read","arguments":""}}"#,
                r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"p\":1}"}"#,
                r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"p\":1}"}"#,
                r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"p\":1}"}}"#,
                r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":8}}}}"#,
            ],
            "thought one\n\ntwo [enc] | text I look. [commentary] | call call_a read {\"p\":1} => Calls [40, 60, 0, 20] 8",
        ),
        shape(
            "nothing but items that are done",
            &[
                r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"hi"}]}}"#,
                r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"n","arguments":""}}"#,
                r#"{"type":"response.completed","response":{"usage":null}}"#,
            ],
            "text hi | call c n {} => Calls [0, 0, 0, 0] 0",
        ),
        Shape {
            last: "\"response.incomplete\"",
            ..shape(
                "too long",
                &[
                    r#"{"type":"response.output_text.delta","output_index":0,"delta":"hi"}"#,
                    r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
                ],
                "text hi => Length [0, 0, 0, 0] 0",
            )
        },
        shape(
            "limited in the stream, with the time in words",
            &[
                r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Please try again in 2s."}}}"#,
            ],
            "told Limited None: Please try again in 2s.",
        ),
        shape(
            "an error beside any response",
            &[r#"error {"type":"error","code":"server_error","message":"oops","param":null}"#],
            "told Overloaded None: oops",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn chat() -> Vec<Shape> {
    let shape = |name, lines: &[&str], wanted| Shape {
        name,
        wire: Wire::Chat,
        text: chunks(lines),
        last: "finish_reason\":\"",
        wanted,
    };
    vec![
        shape(
            "thoughts of DeepSeek and its own count of cached tokens",
            &[
                r#""role":"assistant","content":null,"reasoning_content":"hm ""#,
                r#""content":null,"reasoning_content":"so""#,
                r#""content":"Hi","reasoning_content":null"#,
                r#"="delta":{"content":""},"finish_reason":"stop""#,
                r#"{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":7,"prompt_cache_hit_tokens":20,"completion_tokens_details":{"reasoning_tokens":3}}}"#,
                "[DONE]",
            ],
            "thought hm so [reasoning_content] | text Hi => End [30, 20, 0, 7] 3",
        ),
        shape(
            "keep-alives, details and cost of OpenRouter",
            &[
                ": OPENROUTER PROCESSING",
                r#""content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]"#,
                r#""content":"","reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]"#,
                r#""content":"Hi""#,
                r#"="delta":{},"finish_reason":"stop","native_finish_reason":"end_turn""#,
                r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"cost":0.25}}"#,
                "[DONE]",
            ],
            r#"thought hm [[{"index":0,"signature":"s","text":"hm","type":"reasoning.text"}]] | text Hi => End [9, 0, 0, 2] 0"#,
        ),
        shape(
            "an error of OpenRouter in the middle",
            &[
                r#""content":"Hi""#,
                r#"{"id":"c","error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            ],
            "told Overloaded Some(502): Provider disconnected",
        ),
        shape(
            "timings of llama.cpp, and no end of the stream told",
            &[
                r#""content":"Hi""#,
                r#"="delta":{},"finish_reason":"length""#,
                r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3},"timings":{"prompt_n":4,"cache_n":8,"predicted_n":3}}"#,
            ],
            "text Hi => Length [4, 8, 0, 3] 0",
        ),
        shape(
            "parts instead of a text",
            &[
                r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
                r#""content":[{"type":"text","text":"Hi"}]"#,
                r#"="delta":{},"finish_reason":"stop""#,
                "[DONE]",
            ],
            "thought hm [-] | text Hi => End [0, 0, 0, 0] 0",
        ),
        shape(
            "a filter",
            &[r#"="delta":{"content":"Hi"},"finish_reason":"content_filter""#, "[DONE]"],
            "text Hi => Filtered [0, 0, 0, 0] 0",
        ),
        shape(
            "an error of vLLM that is an event of its own",
            &[
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}"#,
            ],
            "told TooLong Some(400): This model's maximum context length is 4096 tokens",
        ),
    ]
}

/// To which call a piece belongs, as servers leave it to be guessed.
fn chat_calls() -> Vec<Shape> {
    let shape = |name, lines: &[&str], wanted| {
        let mut all = lines.to_vec();
        all.push(r#"="delta":{},"finish_reason":"tool_calls""#);
        all.push("[DONE]");
        let text = chunks(&all);
        Shape { name, wire: Wire::Chat, text, last: "finish_reason\":\"", wanted }
    };
    vec![
        shape(
            "two calls in pieces, as the format says",
            &[
                r#""tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]"#,
                r#""tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]"#,
                r#""tool_calls":[{"index":1,"id":"b","function":{"name":"list","arguments":"{"}}]"#,
                r#""tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"}"}}]"#,
            ],
            r#"call a read {"p":1} | call b list {} => Calls [0, 0, 0, 0] 0"#,
        ),
        shape(
            "no index, no id, arguments as an object, the end called stop",
            &[
                r#""tool_calls":[{"function":{"name":"read","arguments":{"p":1}}}]"#,
                r#""tool_calls":[{"function":{"name":"read","arguments":{"p":2}}}]"#,
                r#"="delta":{},"finish_reason":"stop""#,
            ],
            r#"call call_0_0 read {"p":1} | call call_0_1 read {"p":2} => Calls [0, 0, 0, 0] 0"#,
        ),
        shape(
            "every call at index 0",
            &[
                r#""tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}]"#,
                r#""tool_calls":[{"index":0,"id":"b","function":{"name":"read","arguments":"{\"p\":2}"}}]"#,
            ],
            r#"call a read {"p":1} | call b read {"p":2} => Calls [0, 0, 0, 0] 0"#,
        ),
        shape(
            "a new id for every piece",
            &[
                r#""tool_calls":[{"index":0,"id":"x1","function":{"name":"read","arguments":"{\"p\""}}]"#,
                r#""tool_calls":[{"index":0,"id":"x2","function":{"arguments":":1}"}}]"#,
            ],
            r#"call x1 read {"p":1} => Calls [0, 0, 0, 0] 0"#,
        ),
        shape(
            "the same id for two calls",
            &[
                r#""tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]"#,
                r#""tool_calls":[{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}]"#,
            ],
            "call a read {} | call call_0_1 list {} => Calls [0, 0, 0, 0] 0",
        ),
        shape(
            "the name again with every piece",
            &[
                r#""tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}]"#,
                r#""tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]"#,
            ],
            r#"call a read {"p":1} => Calls [0, 0, 0, 0] 0"#,
        ),
        shape(
            "arguments that are no JSON",
            &[
                r#""tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{'p'}"}}]"#,
            ],
            "call a read invalid {'p'}: key must be a string at line 1 column 2 => Calls [0, 0, 0, 0] 0",
        ),
    ]
}

fn gemini() -> Vec<Shape> {
    let shape = |name, lines: &[&str], wanted| Shape {
        name,
        wire: Wire::Gemini,
        text: parts(lines),
        last: "finishReason\":\"",
        wanted,
    };
    vec![
        shape(
            "thoughts, words, two calls of which the first is signed",
            &[
                r#""text":"hm","thought":true"#,
                r#""text":"I ""#,
                r#""text":"look.""#,
                r#""functionCall":{"name":"read","args":{"p":1}},"thoughtSignature":"sig""#,
                r#""functionCall":{"id":"own","name":"list","args":{}}"#,
                r#"={"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":5,"thoughtsTokenCount":7},"modelVersion":"gemini","responseId":"r"}"#,
            ],
            r#"thought hm [-] | text I look. | call call_0_0 read {"p":1} [sig] | call own list {} => Calls [60, 40, 0, 12] 7"#,
        ),
        shape(
            "a signed text stays apart, and one that is empty is kept",
            &[
                r#""text":"one","thoughtSignature":"s1""#,
                r#""text":"two""#,
                r#""text":"","thoughtSignature":"s2""#,
                r#"={"candidates":[{"finishReason":"MAX_TOKENS"}]}"#,
            ],
            "text one [s1] | text two [s2] => Length [0, 0, 0, 0] 0",
        ),
        shape(
            "a call that could not be written",
            &[r#"={"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#],
            " => Malformed [0, 0, 0, 0] 0",
        ),
        shape(
            "a blocked prompt",
            &[r#"={"promptFeedback":{"blockReason":"SAFETY"}}"#],
            "told Refused None: the prompt was blocked (SAFETY)",
        ),
        shape(
            "limited, with its details",
            &[
                r#"={"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}"#,
            ],
            "told Limited Some(429): You exceeded your current quota",
        ),
    ]
}
