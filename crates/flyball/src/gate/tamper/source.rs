//! Source text with its comments, and its strings, blanked out: what is left can be searched
//! without mistaking prose for code. Every view has the same length as the text.

/// A language whose tests are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Rust,
    Python,
    JavaScript,
    Go,
    Jvm,
    Ruby,
}

impl Language {
    /// By the file's name; none when no test of such a file is known.
    pub(super) fn of(path: &str) -> Option<Self> {
        Some(match path.rsplit('.').next()? {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => Self::JavaScript,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "groovy" => Self::Jvm,
            "rb" => Self::Ruby,
            _ => return None,
        })
    }

    const fn hash_comments(self) -> bool {
        matches!(self, Self::Python | Self::Ruby)
    }
}

/// A text in two views.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// Without comments.
    pub(super) code: String,
    /// Without comments and without what is in strings.
    pub(super) bare: String,
    closed_at: Vec<usize>,
    line_ends: Vec<usize>,
}

impl Source {
    pub(super) fn new(language: Language, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut views =
            Views { language, bytes, code: bytes.to_vec(), bare: bytes.to_vec(), at: 0 };
        views.blank();
        let string = |bytes| String::from_utf8(bytes).unwrap_or_default();
        let bare = string(views.bare);
        Self {
            code: string(views.code),
            closed_at: closing_places(&bare),
            line_ends: memchr::memchr_iter(b'\n', bare.as_bytes()).collect(),
            bare,
        }
    }

    /// The line a place is on, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let lines = self.line_ends.partition_point(|end| *end < at);
        u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The place after the bracket that closes the one at `open`; the end when none does.
    pub(super) fn close(&self, open: usize) -> usize {
        self.closed_at.get(open).copied().unwrap_or(self.bare.len())
    }
}

/// For each place the one after the bracket that closes what opens there, in one pass.
fn closing_places(bare: &str) -> Vec<usize> {
    let mut places: Vec<usize> = (1..=bare.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (at, byte) in bare.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push(at),
            b')' | b']' | b'}' => {
                if let Some(place) = open.pop().and_then(|begin| places.get_mut(begin)) {
                    *place = at.saturating_add(1);
                }
            }
            _ => {}
        }
    }
    for begin in open {
        if let Some(place) = places.get_mut(begin) {
            *place = bare.len();
        }
    }
    places
}

struct Views<'a> {
    language: Language,
    bytes: &'a [u8],
    code: Vec<u8>,
    bare: Vec<u8>,
    at: usize,
}

impl Views<'_> {
    fn blank(&mut self) {
        while self.at < self.bytes.len() {
            let end = self.comment_end();
            if let Some(end) = end {
                self.wipe(self.at, end, Wipe::Comment);
                self.at = end;
            } else if let Some((inner, inner_end, end)) = self.string() {
                self.wipe(inner, inner_end, Wipe::Text);
                self.at = end;
            } else {
                self.at = self.at.saturating_add(1);
            }
        }
    }

    fn wipe(&mut self, from: usize, to: usize, what: Wipe) {
        let views: &mut [&mut Vec<u8>] = match what {
            Wipe::Comment => &mut [&mut self.code, &mut self.bare],
            Wipe::Text => &mut [&mut self.bare],
        };
        for view in views {
            for byte in view.get_mut(from..to).unwrap_or_default() {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn find(&self, needle: &[u8], from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        memchr::memmem::find(rest, needle).map_or(self.bytes.len(), |at| from.saturating_add(at))
    }

    fn line_start(&self) -> bool {
        self.at == 0 || self.bytes.get(self.at.wrapping_sub(1)) == Some(&b'\n')
    }

    /// Where the comment that begins here ends.
    fn comment_end(&self) -> Option<usize> {
        let rest = self.rest();
        if self.language.hash_comments() {
            if self.language == Language::Ruby && self.line_start() && rest.starts_with(b"=begin") {
                return Some(self.find(b"\n=end", self.at).saturating_add(5).min(self.bytes.len()));
            }
            return rest.starts_with(b"#").then(|| self.find(b"\n", self.at));
        }
        if rest.starts_with(b"//") {
            return Some(self.find(b"\n", self.at));
        }
        if !rest.starts_with(b"/*") {
            return None;
        }
        let mut end = self.find(b"*/", self.at.saturating_add(2));
        if self.language == Language::Rust {
            let mut from = self.at.saturating_add(2);
            // Each comment inside moves the end on by one.
            while let inner = self.find(b"/*", from)
                && inner < end
            {
                from = inner.saturating_add(2);
                end = self.find(b"*/", end.saturating_add(2));
            }
        }
        Some(end.saturating_add(2).min(self.bytes.len()))
    }

    /// The string that begins here: where its inside begins and ends, and where it ends.
    fn string(&self) -> Option<(usize, usize, usize)> {
        let rest = self.rest();
        let first = *rest.first()?;
        let at = self.at;
        if self.language == Language::Rust
            && matches!(first, b'r' | b'b')
            && !self.in_word()
            && let Some(found) = self.raw_string()
        {
            return Some(found);
        }
        match first {
            b'"' | b'\'' if self.triples() && rest.starts_with(&[first; 3]) => {
                let inner = at.saturating_add(3);
                let end = self.find(&[first; 3], inner);
                Some((inner, end, end.saturating_add(3).min(self.bytes.len())))
            }
            b'\'' if self.language == Language::Rust => self.char_literal(),
            b'"' if self.language == Language::Rust => Some(self.quoted(b'"', Lines::Many)),
            b'"' | b'\'' => Some(self.quoted(first, Lines::One)),
            b'`' if self.language == Language::JavaScript => Some(self.quoted(b'`', Lines::Many)),
            b'`' if self.language == Language::Go => {
                let inner = at.saturating_add(1);
                let end = self.find(b"`", inner);
                Some((inner, end, end.saturating_add(1).min(self.bytes.len())))
            }
            b'/' if matches!(self.language, Language::JavaScript | Language::Ruby) => self.regex(),
            _ => None,
        }
    }

    fn triples(&self) -> bool {
        matches!(self.language, Language::Python | Language::Jvm)
    }

    fn in_word(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    }

    /// A string that ends with the same quote, on one line with its end at the latest.
    fn quoted(&self, quote: u8, lines: Lines) -> (usize, usize, usize) {
        let inner = self.at.saturating_add(1);
        let mut at = inner;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at = at.saturating_add(1),
                b'\n' if lines == Lines::One => return (inner, at, at),
                byte if *byte == quote => return (inner, at, at.saturating_add(1)),
                _ => {}
            }
            at = at.saturating_add(1);
        }
        let end = self.bytes.len();
        (inner.min(end), end, end)
    }

    fn raw_string(&self) -> Option<(usize, usize, usize)> {
        let rest = self.rest();
        let after = rest.strip_prefix(b"b").unwrap_or(rest).strip_prefix(b"r")?;
        let hashes = after.iter().take_while(|byte| **byte == b'#').count();
        if after.get(hashes) != Some(&b'"') {
            return None;
        }
        let skipped = rest.len().saturating_sub(after.len());
        let inner = self.at.saturating_add(skipped).saturating_add(hashes).saturating_add(1);
        let mut closing = vec![b'"'];
        closing.resize(hashes.saturating_add(1), b'#');
        let end = self.find(&closing, inner);
        Some((inner, end, end.saturating_add(closing.len()).min(self.bytes.len())))
    }

    /// A character, not a lifetime.
    fn char_literal(&self) -> Option<(usize, usize, usize)> {
        let text = std::str::from_utf8(self.rest().get(1..)?).ok();
        let first = match text {
            Some(text) => text.chars().next()?,
            None => char::from(*self.rest().get(1)?),
        };
        let closing = self.at.saturating_add(1).saturating_add(first.len_utf8());
        if first == '\\' || self.bytes.get(closing) == Some(&b'\'') {
            return Some(self.quoted(b'\'', Lines::One));
        }
        None
    }

    /// A regular expression, by what stands before it.
    fn regex(&self) -> Option<(usize, usize, usize)> {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        let before = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        let may_begin = before.is_none_or(|byte| b"(,=:[!&|?{};\n".contains(byte));
        let next = self.bytes.get(self.at.saturating_add(1));
        if !may_begin || matches!(next, None | Some(b' ' | b'\n')) {
            return None;
        }
        let (inner, end, after) = self.quoted(b'/', Lines::One);
        (after > end).then_some((inner, end, after))
    }
}

/// How many lines a string may be on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    One,
    Many,
}

#[derive(Clone, Copy)]
enum Wipe {
    Comment,
    Text,
}

/// The words of a text with the places they begin at.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let begin = rest.find(is_word)?;
        let word = rest.get(begin..)?;
        let length = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let place = at.saturating_add(begin);
        at = place.saturating_add(length);
        Some((place, word.get(..length)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blanked_and_nothing_else() {
        use Language::{Go, JavaScript, Jvm, Python, Ruby, Rust};
        let cases = [
            (Rust, "a // b\nc", "a     \nc"),
            (Rust, "a /* x /* y */ z */ b", "a                   b"),
            (Rust, r##"f(r#"a"b"#, 'x', '\'', &'a str)"##, r##"f(r#"   "#, ' ', '  ', &'a str)"##),
            (Rust, "\"a\nb\\\"c\" d", "\" \n    \" d"),
            (Python, "x = '''a\nb''' # c\ny", "x = ''' \n '''    \ny"),
            (Python, "a = 'it\\'s' + \"#\"", "a = '     ' + \" \""),
            (JavaScript, "a = /['\"]/g; b / c", "a = /    /g; b / c"),
            (JavaScript, "`a\n${b}` + c // d", "` \n    ` + c     "),
            (Go, "`a\"` + \"b\" // c", "`  ` + \" \"     "),
            (Jvm, "\"\"\"a\nb\"\"\" c", "\"\"\" \n \"\"\" c"),
            (Ruby, "a # b\n=begin\nx\n=end\nc", "a    \n      \n \n    \nc"),
            (Python, "a = 'open\nb", "a = '    \nb"),
            (Rust, "é /* é */ é", "é          é"),
        ];
        for (language, text, bare) in cases {
            let source = Source::new(language, text);
            assert_eq!(source.bare, bare, "{text}");
            assert_eq!(source.code.len(), text.len());
        }
    }

    #[test]
    fn any_bytes_are_survived() {
        for language in [
            Language::Rust,
            Language::Python,
            Language::JavaScript,
            Language::Go,
            Language::Jvm,
            Language::Ruby,
        ] {
            for text in [
                "", "'", "\"", "`", "/", "/*", "r#\"", "b", "'\\", "=begin", "\"\"\"", "'é",
                "/* /*",
            ] {
                let source = Source::new(language, text);
                assert_eq!(source.bare.len(), text.len(), "{language:?} {text}");
            }
        }
    }

    #[test]
    fn brackets_are_closed_by_their_own_kind_of_depth() {
        let source = Source::new(Language::Rust, "a(b[c]{d})e(f\ng");
        let closed: Vec<usize> = [1, 3, 6, 0, 11, 99].map(|at| source.close(at)).to_vec();
        assert_eq!(closed, [10, 6, 9, 1, 15, 15]);
        assert_eq!([0, 13, 14].map(|at| source.line(at)), [1, 1, 2]);
    }

    #[test]
    fn words_have_their_places() {
        let found: Vec<_> = words("a_1 + bé(2)").collect();
        assert_eq!(found, [(0, "a_1"), (6, "bé"), (10, "2")]);
    }
}
