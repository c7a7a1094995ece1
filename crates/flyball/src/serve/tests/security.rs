//! Every route, asked in every way that must not be answered.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use flyball_core::RunId;

use super::house::{House, Said, TOKEN, simulated};
use crate::serve::access::{Rules, Visitor};
use crate::serve::routes::ROUTES;

const RUN: &str = "20261115-100000-aaaa";

fn house() -> House {
    House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), 3, |event| event);
    })
}

/// The addresses of routes, with a run that is there.
fn addresses() -> Vec<(&'static str, String)> {
    ROUTES.iter().map(|(method, path)| (*method, path.replace("RUN", RUN))).collect()
}

fn is_open(path: &str) -> bool {
    path == "/healthz" || path.starts_with("/open/")
}

/// Asks with a changed head; live streams never end, so nothing is read of those that are let in.
fn asked(house: &House, request: Request<Body>) -> Said {
    house.ask(request)
}

#[test]
fn the_table_names_every_route() {
    let source = include_str!("../routes.rs");
    let routes = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let fits = |route: &str, address: &str| {
        let address = address.split('?').next().unwrap_or("");
        let (own, other): (Vec<&str>, Vec<&str>) =
            (route.split('/').collect(), address.split('/').collect());
        let alike = |(own, other): (&&str, &&str)| own.starts_with('{') || own == other;
        own.len() == other.len() && own.iter().zip(&other).all(alike)
    };
    let mut count = 0;
    for route in routes {
        count += 1;
        let is_known = route == "/healthz" || ROUTES.iter().any(|(_, known)| fits(route, known));
        assert!(is_known, "{route} is not tried");
    }
    assert!(count > 15, "only {count} routes were found");
    for (act, _) in crate::serve::acts::ACTS {
        let address = format!("/api/runs/RUN/{act}");
        assert!(ROUTES.contains(&("POST", address.as_str())), "{act} is not tried");
    }
}

#[test]
fn a_look_at_the_address_of_an_act_does_nothing() {
    let house = house();
    for (_, path) in addresses().into_iter().filter(|(method, _)| *method == "POST") {
        for method in ["GET", "HEAD"] {
            let request = house.request(method, &path).body(Body::empty()).unwrap();
            let status = asked(&house, request).status;
            let refused = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
            assert!(refused.contains(&status), "{method} {path}: {status}");
        }
    }
    assert!(house.window.books().journal.acts(&RunId::new(RUN), 10).unwrap().is_empty());
}

#[test]
fn every_route_is_answered_to_the_page_and_to_who_knows_the_token() {
    let house = house();
    for (method, path) in addresses() {
        if path == "/api/live" || is_open(&path) || method == "POST" {
            continue;
        }
        let said = asked(&house, house.request(method, &path).body(Body::empty()).unwrap());
        assert_eq!(said.status, StatusCode::OK, "{path}: {}", said.text);
        let script = Request::builder()
            .method(method)
            .uri(&path)
            .header(header::HOST, "127.0.0.1:8791")
            .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
            .body(Body::empty())
            .unwrap();
        assert_eq!(asked(&house, script).status, StatusCode::OK, "{path} with a token");
    }
}

#[test]
fn every_route_turns_away_whom_it_must() {
    let house = house();
    let host = house.host();
    let label = house.window.access.host().to_owned();
    let cookie = house.cookie.clone();
    let other_port = format!("http://{label}:1");
    // Host, Origin, Cookie, Authorization, and what must be said.
    let cases: [(&str, &str, &str, &str, u16); 10] = [
        (&host, "", "", "", 401),
        (&host, "", "flyball=k0000", "", 401),
        ("evil.example", "", &cookie, "", 403),
        ("127.0.0.1.evil.example:8791", "", &cookie, "", 403),
        ("localhost:8791", "", &cookie, "", 401),
        ("", "", &cookie, "", 403),
        (&host, "http://evil.example", &cookie, "", 403),
        (&host, "null", &cookie, "", 403),
        (&host, &other_port, &cookie, "", 403),
        ("127.0.0.1:8791", "", "", "Bearer wrong", 401),
    ];
    for (method, path) in addresses() {
        for (host, origin, cookie, authorization, status) in cases {
            // The link is for who has no cookie yet; what it guards, it guards by its code.
            if is_open(&path) && status == 401 {
                continue;
            }
            let mut request = Request::builder().method(method).uri(&path);
            for (name, value) in [
                (header::HOST, host),
                (header::ORIGIN, origin),
                (header::COOKIE, cookie),
                (header::AUTHORIZATION, authorization),
            ] {
                if !value.is_empty() {
                    request = request.header(name, value);
                }
            }
            let said = asked(&house, request.body(Body::empty()).unwrap());
            assert_eq!(said.status.as_u16(), status, "{path} {host} {origin} {cookie}");
            assert!(!said.text.contains(RUN), "{path} tells of runs");
        }
    }
}

/// Every act, as the page sends it, but for what is changed.
fn act(house: &House, path: &str, change: impl Fn(&mut Vec<(&'static str, String)>)) -> Said {
    let mut headers = vec![
        ("host", house.host()),
        ("origin", format!("http://{}", house.host())),
        ("cookie", house.cookie.clone()),
        ("content-type", "application/x-www-form-urlencoded".to_owned()),
        ("accept", "application/json".to_owned()),
        ("x-flyball-page", house.window.access.page_token(Visitor::Page(1), RUN)),
    ];
    change(&mut headers);
    let mut request = Request::builder().method("POST").uri(path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    asked(house, request.body(Body::from("text=x")).unwrap())
}

fn set(headers: &mut Vec<(&'static str, String)>, name: &'static str, value: &str) {
    headers.retain(|(known, _)| *known != name);
    if !value.is_empty() {
        headers.push((name, value.to_owned()));
    }
}

#[test]
fn every_act_refuses_whom_it_must() {
    let house = house();
    let other = house.window.access.page_token(Visitor::Page(1), "another-run");
    let cases: [(&'static str, &str, u16); 12] = [
        ("cookie", "", 401),
        ("cookie", "flyball=wrong", 401),
        ("host", "evil.example", 403),
        ("host", "127.0.0.1:8791", 403),
        ("origin", "", 403),
        ("origin", "http://evil.example", 403),
        ("origin", "null", 403),
        ("content-type", "text/plain", 415),
        ("content-type", "", 415),
        ("content-type", "multipart/form-data", 415),
        ("x-flyball-page", "", 403),
        ("x-flyball-page", &other, 403),
    ];
    for (_, path) in addresses().into_iter().filter(|(method, _)| *method == "POST") {
        for (name, value, status) in cases {
            let said = act(&house, &path, |headers| set(headers, name, value));
            assert_eq!(said.status.as_u16(), status, "{path} with {name}: {value}: {}", said.text);
        }
    }
    assert!(house.window.books().journal.acts(&RunId::new(RUN), 10).unwrap().is_empty());
}

#[test]
fn nothing_is_changed_where_nobody_may_act() {
    let rules = Rules { read_only: true, ..Rules::default() };
    let house = House::ruled(rules, |journal| {
        simulated(journal, (RUN, "/nowhere/shop"), 3, |event| event);
    });
    for (_, path) in addresses().into_iter().filter(|(method, _)| *method == "POST") {
        assert_eq!(act(&house, &path, |_| {}).status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(!house.get("/").contains("<form method=\"post\""));
}

#[test]
fn no_look_changes_anything() {
    let house = house();
    let before = house.window.books().journal.data_version().unwrap();
    let outside = crate::journal::Journal::open(&house.window.state_dir).unwrap();
    let version = outside.data_version().unwrap();
    for (_, path) in addresses() {
        if path != "/api/live" {
            asked(&house, house.request("GET", &path).body(Body::empty()).unwrap());
        }
    }
    assert_eq!(house.window.books().journal.data_version().unwrap(), before);
    assert_eq!(outside.data_version().unwrap(), version);
}

#[test]
fn every_route_refuses_other_methods() {
    let house = house();
    for (_, path) in addresses() {
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
            let request = house.request(method, &path).body(Body::empty()).unwrap();
            let said = asked(&house, request);
            assert_eq!(said.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
}

#[test]
fn every_answer_carries_the_policy_and_nothing_allows_another_site() {
    let house = house();
    let mut paths = addresses();
    paths.extend([("GET", "/nothing".to_owned()), ("GET", "/healthz".to_owned())]);
    for (method, path) in paths {
        if path == "/api/live" {
            continue;
        }
        let said = asked(&house, house.request(method, &path).body(Body::empty()).unwrap());
        let policy = said.headers.get("content-security-policy").unwrap().to_str().unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(said.headers.get(name).unwrap(), value, "{path}");
        }
        let allows = said.headers.keys().any(|name| name.as_str().starts_with("access-control"));
        assert!(!allows, "{path}");
    }
}

#[test]
fn the_link_works_once_and_leads_to_the_page_s_own_name() {
    let house = house();
    let code = house.window.access.new_code(crate::clock::wall()).unwrap();
    let path = format!("/open/{code}");
    let at = |host: &str| {
        let request = Request::builder().uri(&path).header(header::HOST, host);
        asked(&house, request.body(Body::empty()).unwrap())
    };
    // Under a usual name it only leads on, and is not used up.
    for name in ["127.0.0.1:9999", "localhost:9999"] {
        let said = at(name);
        assert_eq!(said.status, StatusCode::SEE_OTHER);
        let expected = format!("http://{}:9999{path}", house.window.access.host());
        assert_eq!(said.headers.get(header::LOCATION).unwrap(), expected.as_str());
        assert!(!said.headers.contains_key(header::SET_COOKIE));
    }
    let said = at(&house.host());
    assert_eq!(said.status, StatusCode::SEE_OTHER);
    assert_eq!(said.headers.get(header::LOCATION).unwrap(), "/");
    assert!(said.headers.contains_key(header::SET_COOKIE));
    let said = at(&house.host());
    assert_eq!(said.status, StatusCode::UNAUTHORIZED, "used twice");
    assert!(!said.headers.contains_key(header::SET_COOKIE));
}

#[test]
fn a_way_that_began_in_a_file_goes_on_in_the_page() {
    let house = house();
    let code = house.window.access.new_code(crate::clock::wall()).unwrap();
    let request = Request::builder()
        .uri(format!("/open/{code}"))
        .header(header::HOST, house.host())
        .header("sec-fetch-site", "cross-site");
    let said = asked(&house, request.body(Body::empty()).unwrap());
    assert_eq!(said.status, StatusCode::OK);
    assert!(said.text.contains("http-equiv=\"refresh\""));
    assert!(said.headers.contains_key(header::SET_COOKIE));
}

#[test]
fn health_says_nothing_but_the_version_and_needs_no_token() {
    let house = house();
    let request = Request::builder().uri("/healthz").header(header::HOST, "127.0.0.1:8791");
    let said = asked(&house, request.body(Body::empty()).unwrap());
    assert_eq!(said.status, StatusCode::OK);
    assert_eq!(said.text, concat!("ok flyball ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_name_that_was_allowed_is_answered_behind_a_tunnel() {
    let rules = Rules { allowed: vec!["fly.example".to_owned()], ..Rules::default() };
    let house = House::ruled(rules, |_| {});
    let ask = |host: &str, origin: &str| {
        let request = Request::builder()
            .uri("/")
            .header(header::HOST, host)
            .header(header::ORIGIN, origin)
            .header(header::COOKIE, &house.cookie);
        asked(&house, request.body(Body::empty()).unwrap()).status
    };
    assert_eq!(ask("fly.example", "https://fly.example"), StatusCode::OK);
    assert_eq!(ask("fly.example", "https://other.example"), StatusCode::FORBIDDEN);
    assert_eq!(ask("other.example", "https://other.example"), StatusCode::FORBIDDEN);
}

#[test]
fn a_run_is_a_name_in_the_journal_and_nothing_else() {
    let house = house();
    for name in ["..", "..%2f..%2fetc%2fpasswd", "nope", "%00", "a'%20OR%20'1'='1"] {
        for path in
            [format!("/runs/{name}"), format!("/api/runs/{name}"), format!("/runs/{name}/report")]
        {
            let said = asked(&house, house.request("GET", &path).body(Body::empty()).unwrap());
            assert_eq!(said.status, StatusCode::NOT_FOUND, "{path}");
        }
    }
    for query in ["/?x=1", "/api/runs?x=1", "/api/stats?since=never", "/runs/a/events?show=x"] {
        let said = asked(&house, house.request("GET", query).body(Body::empty()).unwrap());
        assert_eq!(said.status, StatusCode::BAD_REQUEST, "{query}");
    }
}
