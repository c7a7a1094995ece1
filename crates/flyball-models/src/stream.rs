//! An event stream (`text/event-stream`) read in pieces cut anywhere, in bounded memory.

/// The mark some servers begin a text with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Its name; empty when it has none.
    pub(crate) name: &'a str,
    /// Its data, lines joined.
    pub(crate) data: &'a str,
}

/// A line, or the data of an event, is longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

/// Cuts bytes into lines and lines into events.
#[derive(Debug)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    name: String,
    /// None until the event has data.
    data: Option<String>,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
    at_start: bool,
    longest: usize,
}

impl EventStream {
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            line: Vec::new(),
            name: String::new(),
            data: None,
            after_return: false,
            at_start: true,
            longest,
        }
    }

    /// Takes the next bytes and hands on every event that is whole with them.
    pub(crate) fn feed<E: From<LineTooLong>>(
        &mut self,
        mut bytes: &[u8],
        on_frame: &mut dyn FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len().saturating_add(line.len()) > self.longest {
                return Err(LineTooLong.into());
            }
            self.line.extend_from_slice(line);
            bytes = rest;
            if let Some((ending, rest)) = rest.split_first() {
                self.after_return = *ending == b'\r';
                bytes = rest;
                self.end_of_line(on_frame)?;
            }
        }
        Ok(())
    }

    /// The stream has ended: what was begun counts, even without the empty line after it.
    pub(crate) fn finish<E: From<LineTooLong>>(
        &mut self,
        on_frame: &mut dyn FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_of_line(on_frame)?;
        }
        self.dispatch(on_frame)
    }

    fn end_of_line<E: From<LineTooLong>>(
        &mut self,
        on_frame: &mut dyn FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        let mut bytes = line.as_slice();
        if std::mem::take(&mut self.at_start) {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        let result = if bytes.is_empty() {
            self.dispatch(on_frame)
        } else {
            self.field(&String::from_utf8_lossy(bytes)).map_err(E::from)
        };
        // The room is used again, unless one line made it large.
        if line.capacity() <= 64 * 1024 {
            self.line = line;
            self.line.clear();
        }
        result
    }

    /// Takes one field of an event; a line that begins with a colon is a comment.
    fn field(&mut self, line: &str) -> Result<(), LineTooLong> {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                let before = self.data.as_ref().map_or(0, String::len);
                if before.saturating_add(value.len()) >= self.longest {
                    return Err(LineTooLong);
                }
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        on_frame: &mut dyn FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let result = match self.data.take() {
            Some(data) => on_frame(Frame { name: &self.name, data: &data }),
            None => Ok(()),
        };
        self.name.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames(pieces: &[&[u8]], longest: usize) -> Result<Vec<(String, String)>, LineTooLong> {
        let mut found = Vec::new();
        let mut stream = EventStream::new(longest);
        let mut take = |frame: Frame<'_>| -> Result<(), LineTooLong> {
            found.push((frame.name.to_owned(), frame.data.to_owned()));
            Ok(())
        };
        for piece in pieces {
            stream.feed(piece, &mut take)?;
        }
        stream.finish(&mut take)?;
        Ok(found)
    }

    #[test]
    fn events_as_servers_write_them() {
        let cases: [(&str, &[(&str, &str)]); 9] = [
            ("data: a\n\n", &[("", "a")]),
            ("event: x\r\ndata:a\r\n\r\ndata: b\r\n\r\n", &[("x", "a"), ("", "b")]),
            ("data: a\rdata:  b\r\r", &[("", "a\n b")]),
            (": OPENROUTER PROCESSING\n\n:\n\ndata: a\n\n", &[("", "a")]),
            ("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]),
            ("event: ping\n\ndata: a\n\n", &[("", "a")]),
            ("data\n\n", &[("", "")]),
            ("id: 1\nretry: 5\nother\ndata: a\n\n\n\n", &[("", "a")]),
            ("data: a\n\nevent: last\ndata: no end", &[("", "a"), ("last", "no end")]),
        ];
        for (text, wanted) in cases {
            let found = frames(&[text.as_bytes()], 100).unwrap();
            let wanted: Vec<_> =
                wanted.iter().map(|(n, d)| ((*n).to_owned(), (*d).to_owned())).collect();
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    #[test]
    fn a_line_has_a_longest_length_and_so_has_what_many_lines_add_up_to() {
        assert!(frames(&[b"data: 1234\n\n"], 10).is_ok());
        assert_eq!(frames(&[b"data: 12345\n\n"], 10), Err(LineTooLong));
        assert_eq!(frames(&[b"data: 12345", b"6"], 11), Err(LineTooLong));
        assert_eq!(frames(&[b"data: 1234\ndata: 1234\ndata: 1234\n\n"], 10), Err(LineTooLong));
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_changes_nothing(
            text in "(data: ?|event: ?|:|[a-zé]{0,4}|\r|\n|\r\n|\n\n){0,40}",
            cuts in proptest::collection::vec(0_usize..200, 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(frames(&pieces, 1000), frames(&[bytes], 1000));
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            drop(frames(&[&bytes], 50));
        }
    }
}
