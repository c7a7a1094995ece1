//! Who is at the other end of a connection on this machine, by the system's own table.

use std::fs;
use std::net::{IpAddr, SocketAddr};

/// The process that holds the far end of a connection; none where it is not on this machine, or not
/// to be seen.
pub fn tcp_peer(here: SocketAddr, there: SocketAddr) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inode = tables.iter().find_map(|table| {
        let text = fs::read_to_string(table).ok()?;
        inode_of(&text, there, here)
    })?;
    holder_of(inode)
}

/// The socket with these ends, in a table of the system's.
fn inode_of(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (own, far) = (address(fields.next()?)?, address(fields.next()?)?);
        let inode = fields.nth(6)?.parse().ok()?;
        let is_it = same(own, local) && same(far, remote) && inode != 0;
        is_it.then_some(inode)
    })
}

/// The bytes of an address and its port, as the table writes them.
fn address(text: &str) -> Option<(Vec<u8>, u16)> {
    let (host, port) = text.split_once(':')?;
    let words = host.as_bytes().chunks(8).map(|word| {
        let word = std::str::from_utf8(word).ok()?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    });
    let words: Vec<[u8; 4]> = words.collect::<Option<_>>()?;
    Some((words.concat(), u16::from_str_radix(port, 16).ok()?))
}

/// Whether the table means this address; one of the older sort may stand there in the newer form.
fn same((host, port): (Vec<u8>, u16), wanted: SocketAddr) -> bool {
    let is_host = match wanted.ip() {
        IpAddr::V4(ip) => host == ip.octets() || host == ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => {
            let older = ip.to_ipv4_mapped().is_some_and(|ip| host == ip.octets());
            older || host == ip.octets()
        }
    };
    is_host && port == wanted.port()
}

/// The process that holds a socket.
fn holder_of(inode: u64) -> Option<u32> {
    let wanted = format!("socket:[{inode}]");
    let entries = fs::read_dir("/proc").ok()?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids {
        let Ok(held) = fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
        let holds = held.filter_map(Result::ok).any(|one| {
            fs::read_link(one.path()).is_ok_and(|link| link.as_os_str() == wanted.as_str())
        });
        if holds {
            return Some(pid);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::clock::Deadline;

    #[test]
    fn the_far_end_of_a_connection_is_found_by_its_process() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else { continue };
            let here = listener.local_addr().unwrap();
            let own = TcpStream::connect(here).unwrap();
            let (_accepted, there) = listener.accept().unwrap();
            assert_eq!(tcp_peer(here, there), Some(std::process::id()), "{host}");
            drop(own);
        }
    }

    #[test]
    fn another_process_is_told_from_this_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{}; read -r line <&3", here.port());
        let mut child =
            Command::new("bash").args(["-c", &script]).stdin(Stdio::null()).spawn().unwrap();
        let (accepted, there) = listener.accept().unwrap();
        let limit = Deadline::after(std::time::Duration::from_mins(1));
        let found = loop {
            let found = tcp_peer(here, there);
            if found.is_some() || limit.passed() {
                break found;
            }
        };
        drop(accepted);
        child.wait().unwrap();
        assert_eq!(found, Some(child.id()));
    }

    #[test]
    fn a_table_is_read_in_both_forms() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1\n   1: 0000000000000000FFFF00000100007F:1F91 0000000000000000FFFF00000100007F:C002 01 00000000:00000000 00:00000000 00000000  1000        0 4343 1\n";
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(inode_of(table, at(0x1F90), at(0xC001)), Some(4242));
        assert_eq!(inode_of(table, at(0x1F91), at(0xC002)), Some(4343));
        assert_eq!(inode_of(table, at(0x1F90), at(0xC002)), None);
    }
}
