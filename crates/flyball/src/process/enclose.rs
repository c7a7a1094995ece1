//! The keeper's side of walls: they are put up before anything is started, and ports of a program
//! without network lead to flyball through the keeper.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::keeper::first_line;
use super::message::{Order, Report, line, parse};
use crate::platform::{self, Forward, Walls};

/// Connections of one program that are carried at once.
const CARRIED_MAX: usize = 256;

/// Puts the walls up around this process. Who may do what inside is written by flyball where this
/// process may not.
pub(super) fn enclose(
    walls: &Walls,
    mut control: &UnixStream,
    received: &mut Vec<u8>,
) -> io::Result<()> {
    let mapped = || {
        control.write_all(&line(&Report::AsksForMaps)?)?;
        let gone = || io::Error::other("flyball is gone");
        let answer = first_line(control, received, &mut Vec::new())?.ok_or_else(gone)?;
        match parse(&answer)? {
            Order::Mapped { why: None } => Ok(()),
            Order::Mapped { why: Some(why) } => Err(io::Error::other(why)),
            Order::Stop(_) => Err(gone()),
        }
    };
    platform::enter(walls, mapped)
}

/// Leads the ports of the program's own loopback to their sockets outside.
pub(super) fn forward(walls: &Walls) -> io::Result<()> {
    for Forward { port, socket } in walls.network.iter().flatten() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
        let (socket, carried) = (socket.clone(), Arc::new(AtomicUsize::new(0)));
        thread::Builder::new()
            .name("port".to_owned())
            .spawn(move || receive(&listener, &socket, &carried))?;
    }
    Ok(())
}

fn receive(listener: &TcpListener, socket: &Path, carried: &Arc<AtomicUsize>) {
    loop {
        let Ok((inside, _)) = listener.accept() else {
            // Out of descriptors, for instance: those who are carried give theirs back.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if carried.fetch_add(1, Ordering::SeqCst) >= CARRIED_MAX {
            carried.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (socket, count) = (socket.to_path_buf(), Arc::clone(carried));
        let work = move || {
            // A connection that breaks is the program's to notice.
            platform::connect(&socket).and_then(|outside| carry(&inside, &outside)).ok();
            count.fetch_sub(1, Ordering::SeqCst);
        };
        if thread::Builder::new().name("carry".to_owned()).spawn(work).is_err() {
            carried.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Carries bytes both ways until both sides have said everything.
fn carry(inside: &TcpStream, outside: &UnixStream) -> io::Result<()> {
    let (mut from_inside, mut to_outside) = (inside.try_clone()?, outside.try_clone()?);
    let up = thread::Builder::new().name("carry up".to_owned()).spawn(move || {
        io::copy(&mut from_inside, &mut to_outside).ok();
        to_outside.shutdown(Shutdown::Write).ok();
    })?;
    io::copy(&mut &*outside, &mut &*inside).ok();
    inside.shutdown(Shutdown::Write).ok();
    up.join().ok();
    Ok(())
}
