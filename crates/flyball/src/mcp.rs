//! flyball's guards as tools for any agent that speaks MCP, over standard input and output or over
//! HTTP on this machine. Everything of the SDK stays in `server`, `stdio` and `http`; the tools
//! know nothing of the protocol.

pub(crate) mod calls;
mod enclosing_run;
mod http;
mod ledger;
mod orient;
mod refused;
mod resources;
mod rules;
mod server;
mod session;
mod site;
mod stdio;
mod tool;
mod tools;
mod validate;
mod words;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::runtime::{Builder, Runtime};

use self::server::Server;
pub(crate) use self::site::Site;
use self::stdio::Stdio;
use crate::error::CliError;
use crate::http::{Token, loopback};

/// How long calls at work may take to end once the client is gone.
const ENDING_MAX: Duration = Duration::from_secs(15);

/// Serves one client over standard input and output, until it goes away.
pub(crate) fn serve_stdio(site: Site) -> Result<(), CliError> {
    let server = Server::new(Arc::new(site));
    let running = server.running();
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let transport = Stdio::open()
            .map_err(|error| CliError::io("standard input cannot be read").cause(error))?;
        // A client that goes away before it has said anything is no error.
        let Ok(service) = server.serve(transport).await else { return Ok(()) };
        let ended = service.waiting().await;
        running.cancel_all();
        ended.map(|_| ()).map_err(|error| CliError::internal("the server failed").cause(error))
    });
    running.cancel_all();
    runtime.shutdown_timeout(ENDING_MAX);
    served
}

/// Serves any number of clients over HTTP at an address of this machine, until ended.
pub(crate) fn serve_http(site: Site, address: &str, token: Token) -> Result<(), CliError> {
    let address = loopback(address)?;
    let server = Server::new(Arc::new(site));
    runtime()?.block_on(http::serve(server, address, token))
}

fn runtime() -> Result<Runtime, CliError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::io("the server could not be started").cause(error))
}
