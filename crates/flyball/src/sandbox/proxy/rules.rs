//! Which hosts may be reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Ports a host is reached at unless its entry says another one.
const PORTS: [u16; 2] = [80, 443];

/// The hosts that may be reached.
#[derive(Clone, Debug)]
pub(super) struct AllowList(Vec<Allowed>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allowed {
    /// A name, or what a name ends with.
    name: String,
    /// Whether only what is below the name is meant.
    below: bool,
    port: Option<u16>,
}

impl AllowList {
    /// A list of entries like `example.org`, `*.example.org` or `example.org:8443`.
    pub(super) fn new(entries: &[String]) -> Self {
        Self(entries.iter().map(|entry| parse(entry)).collect())
    }

    /// Whether a host may be reached at a port.
    pub(super) fn allows(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|allowed| {
            let named = if allowed.below {
                host.strip_suffix(&allowed.name).is_some_and(|front| front.ends_with('.'))
            } else {
                host == allowed.name
            };
            named && allowed.port.map_or(PORTS.contains(&port), |wanted| wanted == port)
        })
    }

    /// Whether an address a name has led to may be connected to: a public one, or one on the list.
    pub(super) fn allows_address(&self, address: &SocketAddr) -> bool {
        is_public(address.ip()) || self.allows(&address.ip().to_string(), address.port())
    }
}

fn parse(entry: &str) -> Allowed {
    let entry = entry.trim().to_ascii_lowercase();
    let (below, rest) = match entry.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, entry.as_str()),
    };
    // An address of the longer kind is written in brackets when a port follows.
    let (name, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None if rest.matches(':').count() == 1 => {
            rest.split_once(':').map_or((rest, None), |(name, port)| (name, Some(port)))
        }
        None => (rest, None),
    };
    let port = port.and_then(|port| port.parse().ok());
    Allowed { name: name.trim_end_matches('.').to_owned(), below, port }
}

/// Whether an address is one of the internet, and none of this machine or network.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => is_public_four(four),
        IpAddr::V6(six) => {
            if let Some(four) = six.to_ipv4() {
                is_public_four(four)
            } else {
                let first = six.segments().first().copied().unwrap_or(0);
                // Unique local, link local, and what is neither one host's nor the internet's.
                let is_local = first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80;
                !is_local && !six.is_loopback() && !six.is_unspecified() && !six.is_multicast()
            }
        }
    }
}

fn is_public_four(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_reserved = a == 0 || a >= 240 || (a == 198 && (b == 18 || b == 19));
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || is_shared
        || is_reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> AllowList {
        AllowList::new(&entries.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_host_is_allowed_by_its_name_or_the_one_above_it() {
        let list = list(&["a.example", "*.b.example", "c.example:8443", "[::1]:5432"]);
        for (host, port, allowed) in [
            ("a.example", 443, true),
            ("A.Example.", 80, true),
            ("a.example", 22, false),
            ("x.a.example", 443, false),
            ("x.b.example", 443, true),
            ("x.y.b.example", 443, true),
            ("b.example", 443, false),
            ("xb.example", 443, false),
            ("c.example", 8443, true),
            ("c.example", 443, false),
            ("::1", 5432, true),
            ("1.2.3.4", 443, false),
            ("", 443, false),
        ] {
            assert_eq!(list.allows(host, port), allowed, "{host}:{port}");
        }
    }

    #[test]
    fn addresses_of_this_machine_and_network_are_allowed_only_when_listed() {
        let list = list(&["10.0.0.7:80", "x.example"]);
        for (address, allowed) in [
            ("93.184.216.34:443", true),
            ("10.0.0.7:80", true),
            ("10.0.0.8:80", false),
            ("127.0.0.1:443", false),
            ("169.254.169.254:80", false),
            ("192.168.1.1:443", false),
            ("172.16.3.4:443", false),
            ("100.64.0.1:443", false),
            ("0.0.0.0:443", false),
            ("[::1]:443", false),
            ("[::ffff:127.0.0.1]:443", false),
            ("[fd00::1]:443", false),
            ("[fe80::1]:443", false),
            ("[2606:2800:220:1::1]:443", true),
        ] {
            assert_eq!(list.allows_address(&address.parse().unwrap()), allowed, "{address}");
        }
    }
}
