//! The only way out of a program without network: a proxy that lets through what is on a list.
//!
//! It listens at sockets in the run's own folder; keepers lead ports of a program's loopback there.
//! Names are resolved here, and what they resolve to is looked at before anything is connected.

mod request;
mod rules;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use self::request::{Head, Wanted};
use self::rules::AllowList;
use crate::platform;

/// Connections carried at once.
const CARRIED_MAX: usize = 256;
/// How long a host may take to answer a connection, and a program to send its head.
const WAIT: Duration = Duration::from_secs(30);
/// How many hosts that were refused are remembered until they are told.
const REFUSED_MAX: usize = 20;

/// Where the proxy listens.
pub(super) fn place(own: &Path) -> PathBuf {
    own.join("proxy.sock")
}

/// Where a single port of this machine is led to.
pub(super) fn port_place(own: &Path, port: u16) -> PathBuf {
    own.join(format!("port-{port}.sock"))
}

/// The open proxy of a run; dropping closes it.
#[derive(Debug)]
pub(crate) struct Proxy {
    house: Arc<House>,
    places: Vec<PathBuf>,
}

#[derive(Debug)]
struct House {
    list: AllowList,
    refused: Mutex<Refused>,
    carried: AtomicUsize,
    closing: AtomicBool,
    log: Option<PathBuf>,
}

/// What was refused: each host is told once in a run.
#[derive(Debug, Default)]
struct Refused {
    known: BTreeSet<String>,
    untold: Vec<String>,
}

/// What is behind a socket.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hosts,
    Port(u16),
}

impl Proxy {
    /// Opens the proxy in the run's own folder, for these hosts and ports.
    pub(crate) fn open(
        own: &Path,
        hosts: &[String],
        ports: &[u16],
        log: Option<PathBuf>,
    ) -> io::Result<Self> {
        let house = Arc::new(House {
            list: AllowList::new(hosts),
            refused: Mutex::default(),
            carried: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            log,
        });
        let mut proxy = Self { house, places: Vec::new() };
        proxy.listen(place(own), Way::Hosts)?;
        for port in ports {
            proxy.listen(port_place(own, *port), Way::Port(*port))?;
        }
        Ok(proxy)
    }

    fn listen(&mut self, place: PathBuf, way: Way) -> io::Result<()> {
        crate::files::remove(&place)?;
        let listener = platform::listen(&place)?;
        let house = Arc::clone(&self.house);
        thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || receive(&listener, &house, way))?;
        self.places.push(place);
        Ok(())
    }

    /// What was refused since the last time, each line once in a run.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let mut refused = self.house.refused.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut refused.untold)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.house.closing.store(true, Ordering::SeqCst);
        for place in &self.places {
            // Wakes the thread that waits for connections.
            platform::connect(place).ok();
            crate::files::remove(place).ok();
        }
    }
}

impl House {
    fn refuse(&self, wanted: &Wanted) -> String {
        let line = format!(
            "flyball: {} is not on the list of allowed hosts (sandbox.allow_hosts)",
            wanted.shown()
        );
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.known.len() < REFUSED_MAX && refused.known.insert(line.clone()) {
            refused.untold.push(line.clone());
        }
        line
    }

    fn note(&self, wanted: &Wanted, bytes: u64, word: &str) {
        let Some(path) = &self.log else { return };
        let line = format!("{word} {} {} {bytes}\n", wanted.host, wanted.port);
        // A log that cannot be written harms nobody.
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).ok();
    }
}

fn receive(listener: &UnixListener, house: &Arc<House>, way: Way) {
    for stream in listener.incoming() {
        if house.closing.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let house = Arc::clone(house);
        let serve = move || {
            if house.carried.fetch_add(1, Ordering::SeqCst) < CARRIED_MAX && is_ours(&stream) {
                // What breaks is the program's to notice.
                match way {
                    Way::Hosts => serve(&stream, &house).ok(),
                    Way::Port(port) => lead_to(&stream, port).ok(),
                };
            }
            house.carried.fetch_sub(1, Ordering::SeqCst);
        };
        // Without a thread the connection is closed.
        thread::Builder::new().name("proxied".to_owned()).spawn(serve).ok();
    }
}

/// Whether who asks was started by this very run: a socket of one run is of no use to another.
fn is_ours(stream: &UnixStream) -> bool {
    platform::peer(stream).is_ok_and(|peer| {
        peer.uid == platform::own_user() && platform::descends_from(peer.pid, std::process::id())
    })
}

/// Leads a connection to a port of this machine.
fn lead_to(stream: &UnixStream, port: u16) -> io::Result<()> {
    let outside = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), WAIT)?;
    carry(stream, &outside).map(|_| ())
}

/// Serves one request.
fn serve(stream: &UnixStream, house: &House) -> io::Result<()> {
    stream.set_read_timeout(Some(WAIT))?;
    let head = match Head::read(&mut &*stream) {
        Ok(head) => head,
        Err(why) => return answer(stream, "400 Bad Request", &format!("flyball: {why}")),
    };
    stream.set_read_timeout(None)?;
    let wanted = &head.wanted;
    let Some(outside) = connect(wanted, house) else {
        house.note(wanted, 0, "refused");
        return answer(stream, "403 Forbidden", &house.refuse(wanted));
    };
    let outside = match outside {
        Ok(outside) => outside,
        Err(error) => {
            let text = format!("flyball: {} cannot be reached: {error}", wanted.shown());
            return answer(stream, "502 Bad Gateway", &text);
        }
    };
    let bytes = match &head.forwarded {
        None => {
            (&*stream).write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n")?;
            (&outside).write_all(&head.rest)?;
            carry(stream, &outside)?
        }
        Some(forwarded) => {
            (&outside).write_all(forwarded)?;
            let begun = head.rest.get(..cut(head.body, head.rest.len())).unwrap_or_default();
            (&outside).write_all(begun)?;
            let left = head.body.saturating_sub(begun.len() as u64);
            io::copy(&mut stream.take(left), &mut &outside)?;
            io::copy(&mut &outside, &mut &*stream)?
        }
    };
    house.note(wanted, bytes, "allowed");
    Ok(())
}

fn cut(body: u64, length: usize) -> usize {
    usize::try_from(body).unwrap_or(usize::MAX).min(length)
}

/// Connects to a host that may be reached; none when it may not.
fn connect(wanted: &Wanted, house: &House) -> Option<io::Result<TcpStream>> {
    if !house.list.allows(&wanted.host, wanted.port) {
        return None;
    }
    let addresses = match (wanted.host.as_str(), wanted.port).to_socket_addrs() {
        Ok(addresses) => addresses,
        Err(error) => return Some(Err(error)),
    };
    let open: Vec<SocketAddr> =
        addresses.filter(|address| house.list.allows_address(address)).collect();
    if open.is_empty() {
        return None;
    }
    let mut failed = io::Error::from(io::ErrorKind::HostUnreachable);
    for address in open {
        match TcpStream::connect_timeout(&address, WAIT) {
            Ok(stream) => return Some(Ok(stream)),
            Err(error) => failed = error,
        }
    }
    Some(Err(failed))
}

fn answer(mut stream: &UnixStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len().saturating_add(1);
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}\n"
    )?;
    stream.shutdown(Shutdown::Both)
}

/// Carries bytes both ways until both sides have said everything; how many came back.
fn carry(inside: &UnixStream, outside: &TcpStream) -> io::Result<u64> {
    let (mut from, mut to) = (inside.try_clone()?, outside.try_clone()?);
    let up = thread::Builder::new().name("proxied up".to_owned()).spawn(move || {
        io::copy(&mut from, &mut to).ok();
        to.shutdown(Shutdown::Write).ok();
    })?;
    let bytes = io::copy(&mut &*outside, &mut &*inside).unwrap_or(0);
    inside.shutdown(Shutdown::Write).ok();
    up.join().ok();
    Ok(bytes)
}
