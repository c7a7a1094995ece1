//! `flyball serve`: a window on all runs of this machine, live, and the same as data.
//!
//! The truth is the journal; a page shows what `view` tells of it and decides nothing. Agent output is
//! hostile input here, and whoever runs as the same user may be an agent: see [`access`].

mod access;
mod acts;
mod admit;
mod api;
mod figures;
mod given;
mod looking;
mod metrics;
mod pages;
mod routes;
mod spread;
mod stream;
#[cfg(test)]
mod tests;
mod told;
mod totals;
mod views;
mod window;

use std::io::{BufRead, IsTerminal, Write, stdin};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use self::access::{Access, LINK_MAX, Rules};
use self::window::Window;
use crate::error::CliError;
use crate::http::{Token, is_local, loopback, serve as serve_http};
use crate::journal::Journal;
use crate::{clock, files, process, terminal};

/// What the pages of the window need beyond what a report needs.
const WINDOW_STYLE: &str = include_str!("../assets/window.css");
/// The port that is tried first.
const PORT: u16 = 8791;
/// Connections at a time: as many as may listen, and half as many to look.
const CONNECTIONS_MAX: usize = 96;
/// How much of the journal's file is held for the thread that looks whether anything changed.
const WATCHED_KIB: i64 = 64;
/// How long the last word to those who listen may take.
const BYE: Duration = Duration::from_millis(200);

/// How the window is served.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Options {
    /// Another address than loopback, or another port.
    pub(crate) listen: Option<String>,
    /// Which port of loopback; none tries the usual one, then any.
    pub(crate) port: Option<u16>,
    /// The name the page is at, instead of a random one.
    pub(crate) host: Option<String>,
    /// Further names.
    pub(crate) allowed: Vec<String>,
    /// For scripts.
    pub(crate) token_file: Option<PathBuf>,
    /// Whether scripts may act.
    pub(crate) token_writes: bool,
    /// Nobody may act.
    pub(crate) read_only: bool,
    /// Whether a browser is opened.
    pub(crate) open: bool,
}

/// Serves until the process is ended.
pub(crate) fn run(options: &Options, state_dir: &Path) -> Result<(), CliError> {
    let token = options.token_file.as_deref().map(Token::given).transpose()?;
    let address = address(options, token.as_ref())?;
    if let Some(host) = &options.host {
        warn_of(host);
    }
    let rules = Rules {
        host: options.host.clone(),
        allowed: options.allowed.clone(),
        token,
        token_writes: options.token_writes,
        read_only: options.read_only,
    };
    let failed =
        |error: std::io::Error| CliError::io("the server could not be started").cause(error);
    let access = Access::new(rules).map_err(failed)?;
    let window = Arc::new(Window::open(state_dir.to_path_buf(), access)?);
    let watched = Journal::open(state_dir)?.holding_at_most(WATCHED_KIB)?;
    looking::keep_looking(Arc::clone(&window), watched).map_err(failed)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .thread_stack_size(1024 * 1024)
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let listener = listen(address, options).await?;
        let here = listener.local_addr().map_err(failed)?;
        greet(&window, here, options)?;
        let router = routes::router(Arc::clone(&window));
        say_goodbye(Arc::clone(&window)).map_err(failed)?;
        serve_http(listener, router, CONNECTIONS_MAX).await.map_err(failed)
    })
}

/// Where to listen: loopback, unless another address was given with a token.
fn address(options: &Options, token: Option<&Token>) -> Result<SocketAddr, CliError> {
    let Some(text) = &options.listen else {
        let port = options.port.unwrap_or(PORT);
        return Ok(SocketAddr::from((IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
    };
    let wide: Option<SocketAddr> =
        text.parse().ok().filter(|one: &SocketAddr| !one.ip().is_loopback());
    match wide {
        None => loopback(text),
        Some(address) if token.is_some() => Ok(address),
        Some(_) => Err(CliError::usage(format!(
            "`{text}` can be reached from other machines, and what runs print may hold secrets"
        ))
        .hint("give --token-file FILE too, which only you may read")
        .hint("or stay on this machine and use `ssh -L 8791:127.0.0.1:8791 HOST`")),
    }
}

fn warn_of(host: &str) {
    if is_local(host) {
        terminal::write_err(&format!(
            "warning: at {host} the page's cookie is sent to every port of this machine, so to any \
             server an agent starts and you open; leave out --host where NAME.localhost works\n"
        ));
    }
}

async fn listen(address: SocketAddr, options: &Options) -> Result<TcpListener, CliError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(_) if options.port.is_none() && options.listen.is_none() => {
            let any = SocketAddr::new(address.ip(), 0);
            TcpListener::bind(any).await.map_err(|error| {
                CliError::io("no port of this machine could be listened on").cause(error)
            })
        }
        Err(error) => {
            Err(CliError::io(format!("`{address}` could not be listened on")).cause(error))
        }
    }
}

/// Says where the page is; each further line on standard input asks for a new link.
fn greet(window: &Arc<Window>, here: SocketAddr, options: &Options) -> Result<(), CliError> {
    let link = link(window, here)?;
    let mut text = format!("flyball is at {link}\n");
    text.extend([format!(
        "The link works once, within {} s; press Enter for a new one, Ctrl-C ends.\n",
        LINK_MAX.get() / 1000
    )]);
    if options.read_only {
        text.push_str("Nothing can be changed there (--read-only).\n");
    }
    if let Some(file) = &options.token_file {
        let acts = if options.token_writes { "look and act" } else { "look" };
        text.extend([format!("Scripts {acts} with the token in {}.\n", file.display())]);
    }
    if !stdin().is_terminal() || std::env::var_os("SSH_CONNECTION").is_some() {
        let port = here.port();
        text.extend([format!(
            "From another machine: ssh -L {port}:127.0.0.1:{port} HOST, then open the link there.\n"
        )]);
    }
    terminal::write_out(&text)?;
    if options.open {
        open_browser(window, here)?;
    }
    let window = Arc::clone(window);
    let more = move || {
        for line in stdin().lock().lines() {
            let (Ok(_), Ok(link)) = (line, link_of(&window, here)) else { return };
            if terminal::write_out(&format!("{link}\n")).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("links".to_owned())
        .stack_size(256 * 1024)
        .spawn(more)
        .map_err(|error| CliError::io("the server could not be started").cause(error))?;
    Ok(())
}

fn link(window: &Window, here: SocketAddr) -> Result<String, CliError> {
    link_of(window, here).map_err(|error| CliError::io("no link could be made").cause(error))
}

fn link_of(window: &Window, here: SocketAddr) -> std::io::Result<String> {
    let code = window.access.new_code(clock::wall())?;
    Ok(format!("http://{}:{}/open/{code}", window.access.host(), here.port()))
}

/// Opens a browser through a file only the user can read: a command line can be read by all.
fn open_browser(window: &Arc<Window>, here: SocketAddr) -> Result<(), CliError> {
    let link = link(window, here)?;
    let failed =
        |error: std::io::Error| CliError::io("the link could not be handed over").cause(error);
    let path = window.state_dir.join("open.html");
    files::remove(&path).ok();
    let mut file = files::create_private(&path).map_err(failed)?;
    let page = format!(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={link}\">\
         <title>flyball</title><a href=\"{link}\">On to flyball</a>\n"
    );
    file.write_all(page.as_bytes()).map_err(failed)?;
    if let Err(why) = process::open_for_user(&path) {
        files::remove(&path).ok();
        terminal::write_err(&format!(
            "warning: no browser could be opened ({why}); use the link\n"
        ));
        return Ok(());
    }
    let remove = move || {
        thread::sleep(Duration::from_secs(LINK_MAX.get() / 1000));
        files::remove(&path).ok();
    };
    thread::Builder::new().stack_size(128 * 1024).spawn(remove).map_err(failed)?;
    Ok(())
}

/// Tells those who listen that this is the end, when it is.
fn say_goodbye(window: Arc<Window>) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let ends = move || {
        let Some(signal) = signals.forever().next() else { return };
        window.streams.tell("bye", "{}");
        thread::sleep(BYE);
        files::remove(&window.state_dir.join("open.html")).ok();
        // As if nobody had listened for it.
        signal_hook::low_level::emulate_default_handler(signal).ok();
    };
    thread::Builder::new().name("ending".to_owned()).stack_size(128 * 1024).spawn(ends)?;
    Ok(())
}
