//! The head of a request to a proxy: where it wants to go, and what goes there.

use std::io::Read;

/// The largest head that is read.
const HEAD_MAX: usize = 64 * 1024;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Wanted {
    /// As it is told: the port only when it is no usual one.
    pub(super) fn shown(&self) -> String {
        let host: String = self.host.chars().filter(|c| !c.is_control()).take(200).collect();
        match self.port {
            80 | 443 => host,
            port => format!("{host}:{port}"),
        }
    }

    fn parse(authority: &str, usual_port: u16) -> Option<Self> {
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                (host, rest.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = port.map_or(Some(usual_port), |port| port.parse().ok())?;
        (!host.is_empty()).then(|| Self { host: host.to_ascii_lowercase(), port })
    }
}

/// A head, as far as it matters here.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) wanted: Wanted,
    /// What goes to the host; none for a tunnel, where everything does.
    pub(super) forwarded: Option<Vec<u8>>,
    /// How long the body is.
    pub(super) body: u64,
    /// What came after the head.
    pub(super) rest: Vec<u8>,
}

impl Head {
    /// Reads a head.
    pub(super) fn read(from: &mut impl Read) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        let end = loop {
            if let Some(at) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
                break at.saturating_add(4);
            }
            if bytes.len() > HEAD_MAX {
                return Err("the request's head is too long".to_owned());
            }
            match from.read(&mut chunk) {
                Ok(0) | Err(_) => return Err("the request is cut short".to_owned()),
                Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            }
        };
        let rest = bytes.split_off(end);
        let text = String::from_utf8(bytes).map_err(|_| "the request is no text".to_owned())?;
        Self::parse(&text, rest)
    }

    fn parse(text: &str, rest: Vec<u8>) -> Result<Self, String> {
        let unreadable = || "the request cannot be understood".to_owned();
        let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
        let mut first = lines.next().unwrap_or("").split(' ');
        let (Some(method), Some(target)) = (first.next(), first.next()) else {
            return Err(unreadable());
        };
        if method == "CONNECT" {
            let wanted = Wanted::parse(target, 443).ok_or_else(unreadable)?;
            return Ok(Self { wanted, forwarded: None, body: 0, rest });
        }
        let after = target.strip_prefix("http://").ok_or_else(unreadable)?;
        let (authority, path) = after.split_at(after.find(['/', '?']).unwrap_or(after.len()));
        let wanted = Wanted::parse(authority, 80).ok_or_else(unreadable)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\n");
        let mut body = 0;
        for line in lines {
            let (name, value) = line.split_once(':').ok_or_else(unreadable)?;
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                // One request, one host: a head that names another one asks for trouble.
                "host" if Wanted::parse(value, 80).as_ref() != Some(&wanted) => {
                    return Err("the request names two hosts".to_owned());
                }
                "transfer-encoding" => return Err("the length of the body is needed".to_owned()),
                "host"
                | "connection"
                | "proxy-connection"
                | "proxy-authorization"
                | "keep-alive" => {}
                other => {
                    if other == "content-length" {
                        body = value.parse().map_err(|_| unreadable())?;
                    }
                    head.push_str(line);
                    head.push_str("\r\n");
                }
            }
        }
        head.push_str("Connection: close\r\n\r\n");
        Ok(Self { wanted, forwarded: Some(head.into_bytes()), body, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head, String> {
        Head::read(&mut text.as_bytes())
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let found = head("CONNECT A.example:8443 HTTP/1.1\r\nHost: b\r\n\r\nmore").unwrap();
        assert_eq!((found.wanted.shown().as_str(), found.forwarded), ("a.example:8443", None));
        assert_eq!(found.rest, b"more");
        assert_eq!(head("CONNECT [::1]:443 HTTP/1.1\r\n\r\n").unwrap().wanted.host, "::1");
    }

    #[test]
    fn a_plain_request_goes_on_as_its_host_wants_it() {
        let text = "GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\
                    Proxy-Connection: keep-alive\r\nContent-Length: 3\r\n\r\nabc";
        let found = head(text).unwrap();
        assert_eq!((found.wanted.port, found.body), (80, 3));
        assert_eq!(
            String::from_utf8(found.forwarded.unwrap()).unwrap(),
            "GET /x?y HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nContent-Length: 3\r\n\
             Connection: close\r\n\r\n"
        );
    }

    #[test]
    fn what_is_no_such_request_is_refused() {
        for text in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "CONNECT a:x HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "nonsense\r\n\r\n",
            "CONNECT a:443 HTTP/1.1\r\n",
        ] {
            assert!(head(text).is_err(), "{text}");
        }
        assert!(
            head(&format!("GET http://a/ HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(80_000))).is_err()
        );
    }
}
