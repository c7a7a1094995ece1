//! The server over streamable HTTP, for this machine only.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::Server;
use crate::error::CliError;
use crate::terminal;

/// The largest message that is taken.
const BODY_MAX: usize = 16 * 1024 * 1024;
/// Where the service is.
const PATH: &str = "/mcp";

/// The address, when it is one of this machine only.
pub(super) fn loopback(text: &str) -> Result<SocketAddr, CliError> {
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

/// Serves until the process is ended.
pub(super) async fn serve(server: Server, address: SocketAddr) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        CliError::io(format!("`{address}` could not be listened on")).cause(error)
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    // Pages of other sites that a browser shows may not reach it.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(BODY_MAX)
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    terminal::write_err(&format!("listening on http://{address}{PATH}\n"));
    axum::serve(listener, Router::new().nest_service(PATH, service)).await.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
