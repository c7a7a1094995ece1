//! What services say when something is wrong, and what becomes of it.

use std::time::Duration;

use flyball_models::{FailureKind, Key, Model, RetryTime, Wire};

use crate::server::{answer, serve_text};
use crate::tools::{KEY, fails, model, settings};

struct Case {
    wire: Wire,
    status: u16,
    body: &'static str,
    kind: FailureKind,
    /// Part of the words.
    words: &'static str,
}

const fn case(
    wire: Wire,
    status: u16,
    body: &'static str,
    kind: FailureKind,
    words: &'static str,
) -> Case {
    Case { wire, status, body, kind, words }
}

const CASES: [Case; 28] = [
    case(
        Wire::Anthropic,
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        FailureKind::Credentials,
        "refused the key from TEST_KEY (401): invalid x-api-key",
    ),
    case(
        Wire::Responses,
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-very-secret-123.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        FailureKind::Credentials,
        "Incorrect API key provided: [key].",
    ),
    case(
        Wire::Gemini,
        400,
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
        FailureKind::Credentials,
        "refused the key from TEST_KEY",
    ),
    case(
        Wire::Chat,
        403,
        r#"{"detail":"Forbidden"}"#,
        FailureKind::Credentials,
        "(403): Forbidden",
    ),
    case(
        Wire::Anthropic,
        404,
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: mock-model"}}"#,
        FailureKind::UnknownModel,
        "has no model `mock-model` (404): model: mock-model",
    ),
    case(
        Wire::Responses,
        400,
        r#"{"error":{"message":"The requested model 'x' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#,
        FailureKind::UnknownModel,
        "does not exist",
    ),
    case(
        Wire::Chat,
        404,
        r#"{"error":"model \"mock-model\" not found, try pulling it first"}"#,
        FailureKind::UnknownModel,
        "try pulling it first",
    ),
    case(
        Wire::Chat,
        400,
        r#"{"error":{"message":"foo/bar is not a valid model ID","code":400}}"#,
        FailureKind::UnknownModel,
        "is not a valid model ID",
    ),
    case(
        Wire::Gemini,
        404,
        r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#,
        FailureKind::UnknownModel,
        "has no model",
    ),
    case(
        Wire::Chat,
        404,
        "404 page not found",
        FailureKind::Rejected,
        "is the address right?: 404 page not found",
    ),
    case(
        Wire::Anthropic,
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        FailureKind::Quota,
        "what was paid for is used up (400)",
    ),
    case(
        Wire::Chat,
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        FailureKind::Quota,
        "used up (429)",
    ),
    case(
        Wire::Chat,
        402,
        r#"{"error":{"message":"Insufficient credits","code":402}}"#,
        FailureKind::Quota,
        "Insufficient credits",
    ),
    case(
        Wire::Anthropic,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
        FailureKind::Limited,
        "takes no more requests for now (429): slow down",
    ),
    case(
        Wire::Anthropic,
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        FailureKind::Overloaded,
        "has trouble of its own (529): Overloaded",
    ),
    case(Wire::Responses, 500, "", FailureKind::Overloaded, "has trouble of its own (500)"),
    case(
        Wire::Gemini,
        503,
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        FailureKind::Overloaded,
        "The model is overloaded.",
    ),
    case(
        Wire::Chat,
        502,
        "<html><body><h1>Bad Gateway</h1></body></html>",
        FailureKind::Overloaded,
        "(502): an HTML page came instead of an answer",
    ),
    case(
        Wire::Anthropic,
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        FailureKind::TooLong,
        "the conversation is too long for `mock-model` (400)",
    ),
    case(
        Wire::Anthropic,
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        FailureKind::TooLong,
        "too long",
    ),
    case(
        Wire::Responses,
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
        FailureKind::TooLong,
        "too long",
    ),
    case(
        Wire::Chat,
        400,
        r#"{"object":"error","message":"This model's maximum context length is 8192 tokens.","type":"BadRequestError","code":400}"#,
        FailureKind::TooLong,
        "too long",
    ),
    case(
        Wire::Chat,
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        FailureKind::TooLong,
        "too long",
    ),
    case(
        Wire::Gemini,
        400,
        r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        FailureKind::TooLong,
        "too long",
    ),
    case(
        Wire::Responses,
        400,
        r#"{"error":{"message":"Invalid prompt: your prompt was flagged","code":"invalid_prompt"}}"#,
        FailureKind::Refused,
        "blocked the request (400)",
    ),
    case(
        Wire::Anthropic,
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate"}}"#,
        FailureKind::Rejected,
        "does not accept the request (400): messages: roles must alternate",
    ),
    case(Wire::Chat, 418, "", FailureKind::Rejected, "does not accept the request (418)"),
    case(
        Wire::Chat,
        422,
        r#"{"detail":[{"loc":["body","tools"],"msg":"field required"}]}"#,
        FailureKind::Rejected,
        "field required",
    ),
];

#[test]
fn every_error_is_told_apart_in_words_without_the_key() {
    for Case { wire, status, body, kind, words } in CASES {
        let server = serve_text(answer(status, &[("content-type", "application/json")], body));
        let failure = fails(&model(wire, &server.url));
        assert_eq!(failure.kind, kind, "{status} {body}: {failure}");
        assert!(failure.words.contains(words), "{failure}");
        assert!(!format!("{failure:?} {failure}").contains(KEY));
        assert_eq!(failure.status, Some(status));
        assert!(failure.words.len() < 700 && !failure.words.contains('\n'));
    }
}

type Headers<'a> = &'a [(&'a str, &'a str)];

#[test]
fn the_services_own_times_come_along() {
    let after = |secs| Some(RetryTime::After(Duration::from_secs(secs)));
    let info = r#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#;
    let words = r#"{"error":{"message":"Rate limit reached. Please try again in 20s.","code":"rate_limit_exceeded"}}"#;
    let reset = ("anthropic-ratelimit-unified-reset", "1794830409");
    let moment = std::time::UNIX_EPOCH + Duration::from_secs(1_794_830_409);
    let cases: [(Wire, Headers<'_>, &str, Option<RetryTime>); 5] = [
        (Wire::Anthropic, &[("retry-after", "7")], "{}", after(7)),
        (Wire::Anthropic, &[reset], "{}", Some(RetryTime::At(moment))),
        (Wire::Gemini, &[], info, after(37)),
        (Wire::Chat, &[], words, after(20)),
        (Wire::Chat, &[], "{}", None),
    ];
    for (wire, headers, body, wanted) in cases {
        let server = serve_text(answer(429, headers, body));
        let failure = fails(&model(wire, &server.url));
        assert_eq!(failure.kind, FailureKind::Limited, "{failure}");
        assert_eq!(failure.retry, wanted, "{body}");
    }
}

#[test]
fn a_key_that_is_missing_is_said_to_be_missing() {
    let server = serve_text(answer(401, &[], r#"{"error":{"message":"no"}}"#));
    let mut settings = settings(Wire::Chat, &server.url);
    settings.key = Key::none();
    let failure = fails(&Model::new(settings).unwrap());
    assert!(failure.words.contains("wants a key and was given none (401): no"), "{failure}");
}

#[test]
fn addresses_and_headers_that_cannot_be_are_refused_at_once() {
    let cases = [
        ("", "is no address"),
        ("api.example", "neither http nor https"),
        ("ftp://x/", "neither http nor https"),
        ("http://", "is no address"),
        ("http://me:pw@host/", "holds a password"),
    ];
    for (url, words) in cases {
        let failure = Model::new(settings(Wire::Chat, url)).unwrap_err();
        assert!(failure.words.contains(words), "{url}: {failure}");
        assert!(!failure.words.contains("pw@"));
    }
    let mut settings = settings(Wire::Chat, "http://127.0.0.1:1");
    settings.headers.push(("x-team".to_owned(), "a\nb".to_owned()));
    let failure = Model::new(settings.clone()).unwrap_err();
    assert_eq!(failure.words, "the header `x-team` cannot be sent");
    let shown = format!("{settings:?}");
    assert!(shown.contains("x-team") && !shown.contains("a\\nb") && !shown.contains(KEY));
}

#[test]
fn a_server_that_is_not_there_is_asked_for() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failure = fails(&model(Wire::Chat, &url));
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(
        failure.words.contains("cannot be reached")
            && failure.words.contains("is the server running?")
    );
    let nowhere = fails(&model(Wire::Chat, "http://no-such-host.invalid"));
    assert_eq!(nowhere.kind, FailureKind::Unreachable, "{nowhere}");
    assert!(!nowhere.words.contains("running?"), "{nowhere}");
}
