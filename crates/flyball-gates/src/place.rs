//! Finds `path:line:column` in a line.

use crate::text;

/// A place at the start of a line, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The path, as written.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The text after the place and its colon.
    pub rest: &'a str,
}

impl Place<'_> {
    /// Whether the path ends in one of these.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        has_extension(self.file, extensions)
    }
}

/// Whether a path ends in one of these.
pub(crate) fn has_extension(file: &str, extensions: &[&str]) -> bool {
    file.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
}

/// The place a line begins with: `path:3:7: text`, `path:3: text`, `path(3,7): text`.
pub(crate) fn prefix(line: &str) -> Option<Place<'_>> {
    let bytes = line.as_bytes();
    // Most lines have a blank near their beginning; JSON begins with what no path has.
    let near = bytes.iter().take(10).find(|byte| matches!(byte, b' ' | b':' | b'(' | b'{'));
    if matches!(near, Some(b' ')) || bytes.first() == Some(&b'{') {
        return None;
    }
    let mut from = 0;
    // A path without blanks; `C:\` is the only colon that may come before the line number.
    for _ in 0..3 {
        let at = from + memchr::memchr3(b':', b'(', b' ', bytes.get(from..)?)?;
        let mark = bytes.get(at)?;
        if *mark == b' ' || at == 0 {
            return None;
        }
        if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            let file = line.get(..at).filter(|file| plausible(file))?;
            let after = line.get(at + 1..)?;
            return if *mark == b':' { colon_place(file, after) } else { paren_place(file, after) };
        }
        from = at + 1;
    }
    None
}

fn colon_place<'a>(file: &'a str, after: &'a str) -> Option<Place<'a>> {
    let (line, mut rest) = text::small(after)?;
    let mut column = None;
    // Some tools print the end of the span as well: `3:7:3:12:`.
    for turn in 0..3 {
        let Some((value, more)) = rest.strip_prefix(':').and_then(text::small) else { break };
        if turn == 0 {
            column = Some(value);
        }
        rest = more;
    }
    // Or where the span ends in the same line: `3:7-12:`.
    let end = rest.strip_prefix('-').filter(|_| column.is_some()).and_then(text::small);
    let rest = end.map_or(rest, |(_, more)| more);
    let rest = match rest.strip_prefix(':') {
        Some(rest) => rest,
        None if rest.is_empty() || rest.starts_with(' ') => rest,
        None => return None,
    };
    (line > 0).then_some(Place { file, line, column, rest: rest.trim_start() })
}

fn paren_place<'a>(file: &'a str, after: &'a str) -> Option<Place<'a>> {
    let (line, rest) = text::small(after)?;
    let (column, rest) = match rest.strip_prefix(',') {
        Some(more) => {
            let (column, rest) = text::small(more)?;
            (Some(column), rest)
        }
        None => (None, rest),
    };
    let rest = rest.strip_prefix("):")?;
    (line > 0).then_some(Place { file, line, column, rest: rest.trim_start() })
}

/// Whether this looks like a file and not like a URL, a clock time or a Rust path.
fn plausible(file: &str) -> bool {
    if file.len() > 400 || file.ends_with(':') {
        return false;
    }
    let mut seen = 0;
    for byte in file.bytes() {
        seen |= CLASSES.get(usize::from(byte)).copied().unwrap_or(0);
    }
    seen & (LETTER | MARK | NEVER) == LETTER | MARK
        && (seen & COLON == 0 || !text::has(file, "://"))
}

const LETTER: u8 = 1;
/// A dot or a slash.
const MARK: u8 = 2;
/// What no path has.
const NEVER: u8 = 4;
const COLON: u8 = 8;

/// What each byte is in a path: looked up, because very many lines are asked.
#[expect(clippy::indexing_slicing, reason = "bytes within the table")]
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let kinds: [(&[u8], u8); 4] = [
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", LETTER),
        (b"./\\", MARK),
        (b":", COLON),
        (b"\"'`=,;{}|*?", NEVER),
    ];
    let mut kind = 0;
    while kind < kinds.len() {
        let (bytes, class) = kinds[kind];
        let mut at = 0;
        while at < bytes.len() {
            classes[bytes[at] as usize] = class;
            at += 1;
        }
        kind += 1;
    }
    classes
};

/// The first mention of a place anywhere in the line, for output nobody understands: only paths
/// whose name has an extension, never URLs or clock times.
pub(crate) fn mention(line: &str) -> Option<Place<'_>> {
    let marks = ['(', '[', '"', '\'', '`', '<', ','];
    line.split([' ', '\t', '(', ')', '[', ']', '"', '\'', '`', '<', '>', ',']).find_map(|word| {
        let word = word.trim_start_matches(marks).trim_end_matches(['.', ';']);
        let word = word.strip_prefix("file://").unwrap_or(word);
        let place = prefix(word)?;
        let name = place.file.rsplit(['/', '\\']).next()?;
        let (stem, extension) = name.rsplit_once('.')?;
        let known = !stem.is_empty()
            && (1..=10).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric());
        let is_host = place.column.is_none()
            && !place.file.contains('/')
            && matches!(extension, "com" | "org" | "net" | "io" | "dev" | "local" | "internal");
        (known && !is_host).then_some(place)
    })
}

/// The place in `check.sh: line 3: NOPE: unbound variable`, `awk: sum.awk: line 2: syntax error`.
pub(crate) fn of_shell(message: &str) -> Option<(&str, u32)> {
    let (file, rest) = message.lines().next()?.split_once(": line ")?;
    let file = file.rsplit(": ").next()?.trim_start();
    let (line, rest) = text::small(rest)?;
    // A shell itself has no lines.
    let is_file = file.contains(['.', '/']) && !file.starts_with("/bin/");
    (is_file && !file.contains(' ') && rest.starts_with(": ")).then_some((file, line))
}

/// The place in a frame of Python in the project's own code: `  File "/p/check.py", line 3, in <module>`.
pub(crate) fn of_python(line: &str) -> Option<(String, u32)> {
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let is_own = !is_foreign(file) && !file.starts_with('<');
    is_own.then_some((file.to_owned(), text::small(rest)?.0))
}

/// The place in a file that says how to check, which may have a bare name: `Makefile:2: *** missing
/// separator.`, `──▶ justfile:4:10`, `╭─[turbo.json:3:15]`.
pub(crate) fn in_equipment(line: &str) -> Option<Place<'_>> {
    line.split([' ', '[', ']', '(', ')']).find_map(|word| {
        let (file, after) = word.split_once(':').filter(|(file, _)| is_equipment(file))?;
        colon_place(file, after)
    })
}

/// Whether a file says how something is built or checked, and is not what is.
pub(crate) fn is_equipment(file: &str) -> bool {
    const NAMES: &[&str] = &[
        "makefile",
        "gnumakefile",
        "makefile.am",
        "makefile.pl",
        "justfile",
        "taskfile.yml",
        "cmakelists.txt",
        "meson.build",
        "sconstruct",
        "configure.ac",
        "build.xml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "build.sbt",
        "cargo.toml",
        "go.mod",
        "go.work",
        "package.json",
        "turbo.json",
        "nx.json",
        "lerna.json",
        "composer.json",
        "gemfile",
        "rakefile",
        "procfile",
        "dockerfile",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "noxfile.py",
        "tasks.py",
        "dodo.py",
        "duties.py",
        "jakefile.js",
        "gulpfile.js",
        "gruntfile.js",
        "phpunit.xml",
        "phpunit.xml.dist",
        "mix.exs",
        "package.swift",
    ];
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_ascii_lowercase();
    let is_config = name.contains(".config.")
        || (name.starts_with("requirements") && has_extension(&name, &["txt"]))
        || name.contains(".conf.")
        || name.starts_with("tsconfig")
        || (name.starts_with('.') && name.contains("rc"))
        || has_extension(&name, &["ini", "cfg", "conf", "mk", "cmake", "gemspec"]);
    is_config || NAMES.contains(&&*name)
}

/// Whether a path is that of a program or library which was installed.
pub(crate) fn is_installed(file: &str) -> bool {
    is_foreign(file)
        || ["/usr/", "/opt/", "/bin/"].iter().any(|folder| file.starts_with(folder))
        || ["venv/", "/.tox/", "/.nox/", "/.local/bin/", "/.pyenv/"]
            .iter()
            .any(|folder| file.contains(folder))
}

/// Whether a line mentions a place outside the project: a library, a runtime, a tool.
pub(crate) fn is_foreign(line: &str) -> bool {
    const FOREIGN: &[&str] = &[
        "node_modules/",
        "site-packages/",
        "dist-packages/",
        "/lib/python",
        "/usr/lib/",
        "/usr/share/",
        "/usr/local/go/",
        "/pkg/mod/",
        "/.cargo/",
        "/rustc/",
        "/gems/",
        "node:internal",
        "<frozen ",
    ];
    FOREIGN.iter().any(|place| text::has(line, place))
}

/// The path without `./` and `file://`.
pub(crate) fn tidy(file: &str) -> &str {
    let file = file.strip_prefix("file://").unwrap_or(file);
    file.strip_prefix("./").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::{mention, prefix};

    #[test]
    fn a_place_at_the_start_is_read_in_every_notation() {
        let table: &[(&str, &str, u32, Option<u32>, &str)] = &[
            ("a.c:9:12: error: no", "a.c", 9, Some(12), "error: no"),
            ("src/x.py:3: error: no", "src/x.py", 3, None, "error: no"),
            ("x.py:1:2:1:9: error: no", "x.py", 1, Some(2), "error: no"),
            ("src/b.ts(2,7): error TS1: no", "src/b.ts", 2, Some(7), "error TS1: no"),
            ("src/b.ts:2:7 - error TS1: no", "src/b.ts", 2, Some(7), "- error TS1: no"),
            ("C:\\x\\a.c:9:12: error", "C:\\x\\a.c", 9, Some(12), "error"),
            ("./a.sh:4", "./a.sh", 4, None, ""),
        ];
        for (line, file, number, column, rest) in table {
            let place = prefix(line).unwrap_or_else(|| panic!("nothing in {line}"));
            assert_eq!(
                (place.file, place.line, place.column, place.rest),
                (*file, *number, *column, *rest),
                "{line}"
            );
        }
    }

    #[test]
    fn urls_clock_times_and_prose_are_no_places() {
        for line in [
            "http://localhost:8080/x: refused",
            "12:34:56 started",
            "10:15:00: tick",
            "error: a.c:1:2 is bad",
            "std::vec:3",
            "a.c:0: nothing",
            "",
            ":3: x",
        ] {
            assert_eq!(prefix(line), None, "{line}");
        }
        for line in ["see http://example.com:80/x", "at 10:15:00 sharp", "host example.com:443 up"]
        {
            assert_eq!(mention(line), None, "{line}");
        }
    }

    #[test]
    fn a_mention_is_found_inside_a_sentence() {
        let place = mention("boom in (lib/x.rb:3:in `call')").expect("a place");
        assert_eq!((place.file, place.line), ("lib/x.rb", 3));
        let place = mention("  at foo (/repo/a.js:3:9)").expect("a place");
        assert_eq!((place.file, place.line, place.column), ("/repo/a.js", 3, Some(9)));
    }
}
