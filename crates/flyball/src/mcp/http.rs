//! The server over streamable HTTP, for this machine only and for who knows the token.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::Server;
use crate::error::CliError;
use crate::http::{self, Guard, Token};
use crate::terminal;

/// The largest message that is taken.
const BODY_MAX: usize = 16 * 1024 * 1024;
/// Connections at a time.
const CONNECTIONS_MAX: usize = 64;
/// Sessions at a time. One that is silent for some minutes is closed.
const SESSIONS_MAX: usize = 64;
/// Where the service is.
const PATH: &str = "/mcp";
/// The header that names a session; without it a request wants a new one.
const SESSION: &str = "mcp-session-id";

/// Serves until the process is ended.
pub(super) async fn serve(
    server: Server,
    address: SocketAddr,
    token: Token,
) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        CliError::io(format!("`{address}` could not be listened on")).cause(error)
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let said = format!(
        "listening on http://{address}{PATH}\ntoken: {} (send it as `Authorization: Bearer TOKEN`)\n",
        token.path().display()
    );
    let sessions = Arc::new(LocalSessionManager::default());
    // Hosts and origins are the guard's care; it stands before this.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(BODY_MAX)
        .disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
    let router =
        Router::new().nest_service(PATH, service).layer(from_fn_with_state(sessions, has_room));
    terminal::write_err(&said);
    http::serve(
        listener,
        http::guarded(router, Guard::new(token, BODY_MAX as u64)),
        CONNECTIONS_MAX,
    )
    .await
    .map_err(failed)
}

/// Refuses a further session while there are many.
async fn has_room(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let wants_one = request.method() == Method::POST && !request.headers().contains_key(SESSION);
    if wants_one && sessions.sessions.read().await.len() >= SESSIONS_MAX {
        let words = "flyball: too many sessions; close one, or wait until a silent one is closed\n";
        return (StatusCode::SERVICE_UNAVAILABLE, words).into_response();
    }
    next.run(request).await
}
