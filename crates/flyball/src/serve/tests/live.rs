//! The live stream, without a socket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{Request, StatusCode, header};
use flyball_core::RunId;
use hyper::body::Frame;
use tower::ServiceExt;

use super::house::{House, TOKEN, runtime, seed_with, simulated};
use crate::journal::Journal;
use crate::serve::looking::keep_looking;
use crate::serve::stream::STREAMS_MAX;

const RUN: &str = "20261115-100000-aaaa";
/// Only a hang reaches it.
const LONG: Duration = Duration::from_mins(1);

async fn open(house: &House) -> axum::response::Response {
    let request = Request::builder()
        .uri("/api/live")
        .header(header::HOST, "127.0.0.1:8791")
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .body(Body::empty())
        .unwrap();
    house.router.clone().oneshot(request).await.unwrap()
}

/// The next words of a stream.
async fn next(body: &mut Body) -> String {
    let frame = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_frame(context));
    let frame: Frame<_> = tokio::time::timeout(LONG, frame).await.unwrap().unwrap().unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

#[test]
fn a_change_of_the_journal_is_told_with_the_runs_it_is_about() {
    let house = House::with(|_| {});
    let state = house.window.state_dir.clone();
    keep_looking(Arc::clone(&house.window), Journal::open(&state).unwrap()).unwrap();
    runtime().block_on(async {
        let response = open(&house).await;
        assert_eq!(response.headers().get(header::CONTENT_TYPE).unwrap(), "text/event-stream");
        let mut body = response.into_body();
        assert!(next(&mut body).await.contains("event: hello"));
        let mut journal = Journal::open(&state).unwrap();
        let new = crate::journal::NewRun {
            run: RunId::new(RUN),
            root: "/nowhere/b".into(),
            agent: "claude".to_owned(),
            pid: u32::MAX - 1,
            started: crate::clock::wall(),
            max_iterations: 15,
        };
        journal.start_run(&new).unwrap();
        loop {
            let words = next(&mut body).await;
            if words.contains(RUN) {
                assert!(words.contains("event: change") && words.contains("\"asks\":1"), "{words}");
                break;
            }
        }
    });
}

#[test]
fn there_are_sixty_four_streams_and_pages_are_answered_beside_them() {
    let seed = seed_with(2);
    let house = House::with(|journal| {
        simulated(journal, (RUN, "/nowhere/shop"), seed, |event| event);
    });
    let open_streams = runtime().block_on(async {
        let mut streams = Vec::new();
        for _ in 0..STREAMS_MAX {
            let response = open(&house).await;
            assert_eq!(response.status(), StatusCode::OK);
            streams.push(response);
        }
        assert_eq!(open(&house).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        streams
    });
    house.get("/");
    drop(open_streams);
    runtime().block_on(async { assert_eq!(open(&house).await.status(), StatusCode::OK) });
}
