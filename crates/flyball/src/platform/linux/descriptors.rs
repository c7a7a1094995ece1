//! Descriptors handed to another process over a socket (`SCM_RIGHTS`): the other side needs no
//! path to what it is given, and may be shut in by then.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// How many descriptors are handed over at once at most.
const DESCRIPTORS_MAX: usize = 4;

/// Sends bytes, and with the first of them these descriptors; how many bytes went. At most four
/// descriptors, and at least one byte.
pub fn send_with_descriptors(
    socket: &UnixStream,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = descriptors.is_empty() || control.push(SendAncillaryMessage::ScmRights(descriptors));
    if !fits || bytes.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // A closed socket is an error here, never a signal.
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?)
}

/// Receives bytes, and takes the descriptors that came with them; how many bytes came, 0 at the
/// end. Programs that are started do not inherit them.
pub fn receive_with_descriptors(
    socket: &UnixStream,
    bytes: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(handed) = message {
            descriptors.extend(handed);
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    #[test]
    fn what_is_handed_over_is_the_very_thing_and_is_not_inherited() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut reader, mut writer) = io::pipe().unwrap();
        let sent = send_with_descriptors(&here, b"two", &[writer.as_fd(), here.as_fd()]).unwrap();
        assert_eq!(sent, 3);
        let (mut bytes, mut handed) = ([0; 8], Vec::new());
        assert_eq!(receive_with_descriptors(&there, &mut bytes, &mut handed).unwrap(), 3);
        assert_eq!((bytes.get(..3), handed.len()), (Some(&b"two"[..]), 2));
        for descriptor in &handed {
            let flags = rustix::io::fcntl_getfd(descriptor).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
        writer.write_all(b"a").unwrap();
        drop(writer);
        File::from(handed.swap_remove(0)).write_all(b"b").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ab", "the pipe ends when the last holder is gone");
    }

    #[test]
    fn bytes_without_descriptors_come_as_well_and_the_end_is_no_bytes() {
        let (here, there) = UnixStream::pair().unwrap();
        send_with_descriptors(&here, b"x", &[]).unwrap();
        drop(here);
        let (mut bytes, mut handed) = ([0; 8], Vec::new());
        assert_eq!(receive_with_descriptors(&there, &mut bytes, &mut handed).unwrap(), 1);
        assert_eq!(receive_with_descriptors(&there, &mut bytes, &mut handed).unwrap(), 0);
        assert!(handed.is_empty());
    }

    #[test]
    fn too_many_descriptors_and_a_socket_nobody_listens_to_are_errors() {
        let (here, there) = UnixStream::pair().unwrap();
        let many = [here.as_fd(); DESCRIPTORS_MAX + 8];
        assert!(send_with_descriptors(&here, b"x", &many).is_err());
        assert!(send_with_descriptors(&here, b"", &[]).is_err());
        drop(there);
        assert!(send_with_descriptors(&here, b"x", &[]).is_err());
    }
}
