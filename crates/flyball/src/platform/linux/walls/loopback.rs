//! The loopback of a new network namespace is down; it is brought up by one message to the kernel.

use std::io;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// "Set the flag UP of the interface with index 1", as the kernel takes it; an answer is asked for.
fn message() -> Vec<u8> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    const UP: u32 = 1;
    const LOOPBACK: i32 = 1;
    let mut bytes = Vec::with_capacity(32);
    bytes.extend_from_slice(&32_u32.to_ne_bytes());
    bytes.extend_from_slice(&NEW_LINK.to_ne_bytes());
    bytes.extend_from_slice(&REQUEST_AND_ANSWER.to_ne_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&LOOPBACK.to_ne_bytes());
    bytes.extend_from_slice(&UP.to_ne_bytes());
    bytes.extend_from_slice(&UP.to_ne_bytes());
    bytes
}

/// Brings it up.
pub(super) fn bring_up() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // The protocol of routes and links is the first one.
        None,
    )?;
    send(&socket, &message(), SendFlags::empty())?;
    let mut answer = [0; 512];
    let (_, count) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // An answer is a head of 16 bytes and the number of an error, 0 for none.
    let error = answer.get(16..20).filter(|_| count >= 20).and_then(|bytes| bytes.try_into().ok());
    match error.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(number.saturating_neg())),
        None => Err(io::Error::other("the kernel's answer about the loopback is cut short")),
    }
}
