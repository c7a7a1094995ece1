//! Who is let in, and who is not.

use super::*;

const NOW: Moment = Moment::from_millis(1_000_000);

fn access(rules: Rules) -> (Access, String) {
    let access = Access::new(rules).unwrap();
    let code = access.new_code(NOW).unwrap();
    let cookie = access.exchange(&code, NOW).unwrap().unwrap();
    let pair = cookie.split(';').next().unwrap().to_owned();
    (access, pair)
}

#[test]
fn a_link_works_once_and_for_a_minute() {
    let access = Access::new(Rules::default()).unwrap();
    let code = access.new_code(NOW).unwrap();
    assert!(code.len() >= 32, "128 bits at least");
    assert!(access.exchange("k0", NOW).unwrap().is_none());
    let cookie = access.exchange(&code, NOW).unwrap().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    for part in ["Domain", "Max-Age", "Expires"] {
        assert!(!cookie.contains(part), "{cookie}");
    }
    assert!(access.exchange(&code, NOW).unwrap().is_none(), "used twice");
    let code = access.new_code(NOW).unwrap();
    assert!(access.exchange(&code, NOW.plus(LINK_MAX)).unwrap().is_none(), "too old");
}

#[test]
fn only_the_page_itself_acts() {
    let (access, cookie) = access(Rules::default());
    let host = format!("{}:8791", access.host());
    let origin = format!("http://{host}");
    let right = Head {
        method: "POST",
        path: "/api/runs/a/stop",
        host: Some(&host),
        origin: Some(&origin),
        cookie: Some(&cookie),
        content_type: Some("application/x-www-form-urlencoded"),
        content_length: Some("10"),
        authorization: None,
    };
    assert_eq!(access.judge(right), Ok(Visitor::Page(1)));
    let tunnel = format!("{}:9999", access.host());
    let tunnel_origin = format!("http://{tunnel}");
    let other = Head { host: Some(&tunnel), origin: Some(&tunnel_origin), ..right };
    assert_eq!(access.judge(other), Ok(Visitor::Page(1)), "ssh -L at another port");
    let foreign = format!("http://{}:1", access.host());
    let cases = [
        (Head { host: None, ..right }, Refusal::Host),
        (Head { host: Some("evil.example"), ..right }, Refusal::Host),
        (Head { host: Some("other.localhost:8791"), ..right }, Refusal::Host),
        (Head { origin: None, ..right }, Refusal::Origin),
        (Head { origin: Some("http://evil.example"), ..right }, Refusal::Origin),
        (Head { origin: Some(&foreign), ..right }, Refusal::Origin),
        (Head { origin: Some("null"), ..right }, Refusal::Origin),
        (Head { cookie: None, ..right }, Refusal::Unknown),
        (Head { cookie: Some("flyball=x"), ..right }, Refusal::Unknown),
        (Head { method: "PUT", ..right }, Refusal::Method),
        (Head { method: "DELETE", ..right }, Refusal::Method),
        (Head { content_type: Some("text/plain"), ..right }, Refusal::Form),
        (Head { content_type: None, ..right }, Refusal::Form),
        (Head { content_length: Some("1048577"), ..right }, Refusal::TooLarge),
        (Head { content_length: Some("x"), ..right }, Refusal::TooLarge),
        (Head { authorization: Some("Bearer x"), ..right }, Refusal::WrongToken { slow: false }),
    ];
    for (head, refusal) in cases {
        assert_eq!(access.judge(head), Err(refusal), "{head:?}");
    }
    // The same machine under its usual name has no cookie of ours, whatever it sends.
    let (local, local_origin) = ("127.0.0.1:8791", "http://127.0.0.1:8791");
    let local = Head { host: Some(local), origin: Some(local_origin), ..right };
    assert_eq!(access.judge(local), Err(Refusal::Unknown));
}

#[test]
fn scripts_look_and_act_only_when_they_were_allowed_to() {
    let rules = |token_writes| Rules {
        token: Some(Token::of("0123456789abcdef")),
        token_writes,
        ..Rules::default()
    };
    let head = |method| Head {
        method,
        path: "/api/runs",
        host: Some("127.0.0.1:1"),
        authorization: Some("Bearer 0123456789abcdef"),
        content_type: Some("application/json"),
        ..Head::default()
    };
    let (reads, _) = access(rules(false));
    assert_eq!(reads.judge(head("GET")), Ok(Visitor::Script));
    assert_eq!(reads.judge(head("POST")), Err(Refusal::ReadOnly));
    let (acts, _) = access(rules(true));
    assert_eq!(acts.judge(head("POST")), Ok(Visitor::Script));
    let (none, _) = access(Rules { read_only: true, ..rules(true) });
    assert_eq!(none.judge(head("POST")), Err(Refusal::ReadOnly));
    let guess = Head { authorization: Some("Bearer x"), ..head("GET") };
    let slow = (0..12).map(|_| acts.judge(guess)).last();
    assert_eq!(slow, Some(Err(Refusal::WrongToken { slow: true })));
}

#[test]
fn a_token_of_one_page_is_no_token_of_another() {
    let (access, _) = access(Rules::default());
    let code = access.new_code(NOW).unwrap();
    access.exchange(&code, NOW).unwrap().unwrap();
    let (first, second) = (Visitor::Page(1), Visitor::Page(2));
    let token = access.page_token(first, "run-a");
    assert!(access.is_page_token(first, "run-a", &token));
    assert!(!access.is_page_token(first, "run-b", &token));
    assert!(!access.is_page_token(second, "run-a", &token));
    assert!(!access.is_page_token(Visitor::Page(9), "run-a", ""));
    assert!(!access.is_page_token(Visitor::Anybody, "run-a", &token));
}

#[test]
fn two_starts_have_two_names() {
    let one = Access::new(Rules::default()).unwrap();
    let two = Access::new(Rules::default()).unwrap();
    assert_ne!(one.host(), two.host());
    assert!(one.host().ends_with(".localhost") && one.host().len() > 18);
}
