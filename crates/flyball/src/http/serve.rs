//! Connections: few at a time, and closed when a request's head does not come.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::guard::{Guard, Head, Refusal};
use crate::error::CliError;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "only the window asks who is there"))]
pub(crate) struct Ends {
    /// This server's.
    pub(crate) here: SocketAddr,
    /// The client's.
    pub(crate) there: SocketAddr,
}

/// How long a request's head may take.
const HEAD_MAX: Duration = Duration::from_secs(10);
/// How long a request's body may take to come.
const BODY_MAX: Duration = Duration::from_secs(30);
/// How long a wrong token is thought about, once there were many.
pub(crate) const SLOW: Duration = Duration::from_secs(1);
/// How long nobody is let in after the system had no connection to give.
const BREATH: Duration = Duration::from_millis(100);

/// The address, when it is one of this machine only.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, CliError> {
    let address =
        text.to_socket_addrs().ok().and_then(|mut found| found.next()).ok_or_else(|| {
            CliError::usage(format!("`{text}` is no address to listen on"))
                .hint("give host and port, such as 127.0.0.1:8790")
        })?;
    if !address.ip().is_loopback() {
        return Err(CliError::usage(format!(
            "`{text}` can be reached from other machines, and this server runs commands"
        ))
        .hint("listen on 127.0.0.1 or [::1]; put a tunnel with a login of its own in front"));
    }
    Ok(address)
}

/// A router behind a guard: nothing is routed that it does not let in.
pub(crate) fn guarded(router: Router, guard: Guard) -> Router {
    router.layer(from_fn_with_state(Arc::new(guard), admit))
}

async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let Err(refusal) = judge(&guard, request.headers()) else {
        return match in_time(request, guard.body_max(), BODY_MAX).await {
            Ok(request) => next.run(request).await,
            Err(status) => status.into_response(),
        };
    };
    if refusal == (Refusal::WrongToken { slow: true }) {
        tokio::time::sleep(SLOW).await;
    }
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
    let challenge = if status == StatusCode::UNAUTHORIZED { "Bearer" } else { Default::default() };
    (status, [(header::WWW_AUTHENTICATE, challenge)], refusal.words()).into_response()
}

/// The request with its whole body: one that comes drop by drop holds its connection no longer than
/// this.
pub(crate) async fn in_time(
    request: Request,
    max: usize,
    limit: Duration,
) -> Result<Request, StatusCode> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(limit, axum::body::to_bytes(body, max)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, bytes.into())),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

fn judge(guard: &Guard, headers: &HeaderMap) -> Result<(), Refusal> {
    // What is no text is no name, no site and no token of ours.
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    guard.judge(Head {
        host: text(header::HOST),
        origin: text(header::ORIGIN),
        authorization: text(header::AUTHORIZATION),
        content_length: text(header::CONTENT_LENGTH),
    })
}

/// Serves until the process ends, so many connections at a time; more wait until one is closed.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
) -> io::Result<()> {
    let here = listener.local_addr()?;
    let places = Arc::new(Semaphore::new(connections));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
        let Ok((stream, there)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let ends = Extension(Ends { here: stream.local_addr().unwrap_or(here), there });
        let service = TowerToHyperService::new(router.clone().layer(ends));
        tokio::spawn(async move {
            let _place = place;
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
            // A client that breaks off has nobody left to be told.
            connection.serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::{Body, Bytes, HttpBody};
    use hyper::body::Frame;

    use super::*;
    use crate::error::ErrorKind;

    /// A body of which nothing more ever comes.
    struct Drip;

    impl HttpBody for Drip {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            Poll::Pending
        }
    }

    #[test]
    fn a_body_that_does_not_come_is_not_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let asked = |body: Body| {
            let request = Request::builder().body(body).unwrap();
            runtime.block_on(in_time(request, 10, Duration::from_millis(20))).map(drop)
        };
        assert_eq!(asked(Body::new(Drip)), Err(StatusCode::REQUEST_TIMEOUT));
        assert_eq!(asked(Body::from("x".repeat(11))), Err(StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(asked(Body::from("x".repeat(10))), Ok(()));
    }

    #[test]
    fn only_addresses_of_this_machine_are_taken() {
        for right in ["127.0.0.1:0", "[::1]:8790", "127.1.2.3:1"] {
            assert!(loopback(right).is_ok(), "{right}");
        }
        for wrong in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "8790", "nonsense", ""] {
            assert_eq!(loopback(wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
    }
}
