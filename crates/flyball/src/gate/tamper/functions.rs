//! The functions of a source file, as far as they can be told apart without a compiler: name,
//! parameters and body.

use super::source::{Language, Source, words};

/// How many functions of one file are looked at.
const FUNCTIONS_MAX: usize = 2_000;
/// How much of one is looked at.
const BODY_MAX: usize = 16 * 1024;
/// Words before a bracket that are no names.
const KEYWORDS: [&str; 29] = [
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "match",
    "return",
    "function",
    "async",
    "await",
    "new",
    "typeof",
    "else",
    "do",
    "try",
    "with",
    "func",
    "fn",
    "synchronized",
    "elif",
    "unless",
    "until",
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "override",
];

/// A function as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    /// Without comments and without what is in strings.
    pub(super) body: String,
    /// Where its name stands, from 1.
    pub(super) line: u32,
}

/// All functions of a file, in order.
pub(super) fn functions(language: Language, text: &str) -> Vec<Function> {
    let source = Source::new(language, text);
    match language {
        Language::Python | Language::Ruby => by_indent(language, &source),
        Language::Rust | Language::JavaScript | Language::Go | Language::Jvm => {
            by_brackets(language, &source)
        }
    }
}

fn part(view: &str, from: usize, to: usize) -> &str {
    let most = view.floor_char_boundary(to.min(from.saturating_add(BODY_MAX)));
    view.get(from..most).unwrap_or("")
}

fn by_indent(language: Language, source: &Source) -> Vec<Function> {
    let indent = |line: &str| line.len().saturating_sub(line.trim_start().len());
    let lines: Vec<&str> = source.bare.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        let bare = bare.strip_prefix("async ").unwrap_or(bare);
        let Some(rest) = bare.strip_prefix("def ").filter(|_| found.len() < FUNCTIONS_MAX) else {
            continue;
        };
        let rest = rest.strip_prefix("self.").unwrap_or(rest);
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let depth = indent(line);
        let end = |(_, other): &(usize, &&str)| !other.trim().is_empty() && indent(other) <= depth;
        let last = lines.iter().enumerate().skip(index.saturating_add(1)).find(end);
        let last = last.map_or(lines.len(), |(last, _)| last);
        let whole = lines.get(index..last).unwrap_or_default().join("\n");
        let (parameters, body) = signature(language, &whole, name.len());
        let line = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        found.push(Function { name, parameters, body, line });
    }
    found
}

/// Parameters and body of a function that begins with `def`.
fn signature(language: Language, whole: &str, name: usize) -> (Vec<String>, String) {
    let after = whole.find("def ").map_or(0, |at| at.saturating_add(4)).saturating_add(name);
    let rest = whole.get(after..).unwrap_or("");
    let source = Source::new(language, rest);
    let Some(open) = rest.find('(').filter(|at| rest.get(..*at).is_some_and(|b| !b.contains('\n')))
    else {
        return (Vec::new(), part(rest, 0, rest.len()).to_owned());
    };
    let close = source.close(open);
    let inside = part(rest, open.saturating_add(1), close.saturating_sub(1));
    let mut body = part(rest, close, rest.len());
    if language == Language::Python {
        // What is returned, up to the colon, is no part of the body.
        body = body.split_once(':').map_or("", |(_, body)| body);
    }
    (names(language, inside), body.to_owned())
}

fn by_brackets(language: Language, source: &Source) -> Vec<Function> {
    let bare = source.bare.as_str();
    let mut found = Vec::new();
    for (at, word) in words(bare) {
        if KEYWORDS.contains(&word) || found.len() >= FUNCTIONS_MAX {
            continue;
        }
        let end = at.saturating_add(word.len());
        let plain = declared(language, source, (at, end));
        let arrow = || (language == Language::JavaScript).then(|| assigned(source, end)).flatten();
        let rules = || (language == Language::Rust).then(|| rules(source, (at, end))).flatten();
        if let Some((parameters, body)) = plain.or_else(arrow).or_else(rules) {
            let parameters = names(language, parameters);
            let (name, body, line) = (word.to_owned(), body.to_owned(), source.line(at));
            found.push(Function { name, parameters, body, line });
        }
    }
    found
}

/// `name(…) … { … }`.
fn declared(
    language: Language,
    source: &Source,
    (at, end): (usize, usize),
) -> Option<(&str, &str)> {
    let bare = source.bare.as_str();
    let before = bare.get(..at)?.trim_end();
    let said = before.ends_with("fn") || before.ends_with("func") || before.ends_with("function");
    let receiver = language == Language::Go && ends_with_receiver(before);
    if matches!(language, Language::Rust | Language::Go) && !said && !receiver {
        return None;
    }
    let mut open = end.saturating_add(blanks(bare.get(end..)?));
    open = open.saturating_add(generics(bare.get(open..)?));
    if !bare.get(open..)?.starts_with('(') {
        return None;
    }
    let close = source.close(open);
    let rest = bare.get(close..)?;
    let brace = rest.find('{')?;
    let between = rest.get(..brace)?;
    let quiet = if said || receiver {
        !between.contains([';', '}'])
    } else {
        // A call with a block behind it is no declaration.
        !before.ends_with(['.', '=', '(', ',', '&', '|', '!', '?', '+'])
            && !between.contains([';', '}', ',', '=', '(', ')', '.'])
            && !between.trim_start().starts_with("=>")
    };
    let body = close.saturating_add(brace);
    quiet.then(|| {
        (part(bare, open + 1, close.saturating_sub(1)), part(bare, body, source.close(body)))
    })
}

/// How much of a text its generic parameters take, with what is blank behind them.
fn generics(text: &str) -> usize {
    let (opens, closes) = match text.bytes().next() {
        Some(b'<') => (b'<', b'>'),
        Some(b'[') => (b'[', b']'),
        _ => return 0,
    };
    let mut depth = 0_usize;
    let mut last = 0_u8;
    for (at, byte) in text.bytes().enumerate() {
        if byte == opens {
            depth = depth.saturating_add(1);
        } else if byte == closes && !(byte == b'>' && matches!(last, b'-' | b'=')) {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            let end = at.saturating_add(1);
            return end.saturating_add(blanks(text.get(end..).unwrap_or("")));
        }
        last = byte;
    }
    0
}

/// `func (s *S)`: what stands before the name of a method. A bracket alone may be the end of any call.
fn ends_with_receiver(before: &str) -> bool {
    let Some(inside) = before.strip_suffix(')') else { return false };
    let said = inside.rsplit_once('(').map(|(said, _)| said.trim_end());
    said.is_some_and(|said| {
        said.strip_suffix("func").is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
    })
}

/// `name = (…) => …`, `name: function (…) { … }`.
fn assigned(source: &Source, end: usize) -> Option<(&str, &str)> {
    let bare = source.bare.as_str();
    let rest = bare.get(end..)?.trim_start();
    let rest = rest.strip_prefix(['=', ':']).filter(|rest| !rest.starts_with(['=', '>']))?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("async").map_or(rest, str::trim_start);
    let is_function = rest.starts_with("function");
    let rest = if is_function { rest.get(rest.find('(')?..)? } else { rest };
    let open = bare.len().saturating_sub(rest.len());
    let (parameters, after) = if rest.starts_with('(') {
        let close = source.close(open);
        (part(bare, open + 1, close.saturating_sub(1)), close)
    } else {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')?;
        (part(bare, open, open + length), open + length)
    };
    let rest = bare.get(after..)?;
    let body = if is_function {
        after.saturating_add(rest.find('{')?)
    } else {
        let arrow = rest.find("=>").filter(|at| !rest.get(..*at).unwrap_or("").contains(';'))?;
        if rest.get(..arrow)?.contains('\n') {
            return None;
        }
        let place = after.saturating_add(arrow).saturating_add(2);
        place.saturating_add(blanks(bare.get(place..)?))
    };
    let to = match bare.get(body..)?.chars().next()? {
        '{' | '(' => source.close(body),
        _ => body.saturating_add(bare.get(body..)?.find(['\n', ';']).unwrap_or(bare.len())),
    };
    Some((parameters, part(bare, body, to)))
}

/// `macro_rules! name { … }`: what it is given has no names of its own.
fn rules(source: &Source, (at, end): (usize, usize)) -> Option<(&str, &str)> {
    let bare = source.bare.as_str();
    bare.get(..at)?.trim_end().strip_suffix("macro_rules!")?;
    let open = end.saturating_add(blanks(bare.get(end..)?));
    Some(("", part(bare, open, source.close(open))))
}

fn blanks(text: &str) -> usize {
    text.len().saturating_sub(text.trim_start().len())
}

/// The names of parameters.
fn names(language: Language, inside: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let pieces = inside.split(|c: char| {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let name = |piece: &str| {
        let head = piece.split(['=', ':']).next().unwrap_or("");
        let mut all = words(head).map(|(_, word)| word).filter(|word| *word != "mut");
        let word = if language == Language::Jvm { all.last() } else { all.next() };
        word.filter(|word| !["self", "this", "cls"].contains(word)).map(str::to_owned)
    };
    pieces.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_every_language() {
        use Language::{Go, JavaScript, Jvm, Python, Ruby, Rust};
        let cases: [(Language, &str, &[&str]); 15] = [
            (
                Python,
                "def same(a, b=1):\n    if a != b:\n        raise X\n\nx = 1\n",
                &["same(a b)"],
            ),
            (Python, "class A:\n    async def m(self, x: int) -> None:\n        pass\n", &["m(x)"]),
            (Ruby, "def eq(a, b)\n  raise if a != b\nend\n", &["eq(a b)"]),
            (JavaScript, "function eq(a, b) { if (a) { throw b } }", &["eq(a b)"]),
            (JavaScript, "exports.eq = (a, b) => {\n  x()\n}\n", &["eq(a b)"]),
            (
                JavaScript,
                "const one = x => y(x)\nconst two = async function (a) { }",
                &["one(x)", "two(a)"],
            ),
            (JavaScript, "class A { m(a) { f(a) } }\nif (x) { g(y) }\n", &["m(a)"]),
            (JavaScript, "const n = 3\nconst o = { a: 1 }\nf(x)\n", &[]),
            (Rust, "pub fn same<T: Eq>(a: T, mut b: T) -> bool { a == b }", &["same(a b)"]),
            (Rust, "fn by<F: Fn(u8) -> u8>(f: F) { f(1); }", &["by(f)"]),
            (Rust, "macro_rules! same { ($a:expr) => { assert!($a) } }", &["same()"]),
            (
                Go,
                "func (s *S) Same(t *testing.T, a, b int) bool { return a == b }",
                &["Same(t a b)"],
            ),
            (Go, "func a(t T) {\n\tb(t)\n\tcheck(t, c(1))\n\tif d {\n\t}\n}", &["a(t)"]),
            (
                Jvm,
                "class A { @Override public <T> B<T> make(C c, D<T> d) { f(); } }",
                &["make(c d)"],
            ),
            (Jvm, "class A { static void same(int a, int b) throws X { f(a); } }", &["same(a b)"]),
        ];
        for (language, text, expected) in cases {
            let found: Vec<String> = functions(language, text)
                .into_iter()
                .map(|one| format!("{}({})", one.name, one.parameters.join(" ")))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn bodies_are_what_is_done() {
        let of = |language, text| functions(language, text).remove(0).body;
        assert!(of(Language::Python, "def a(x):\n    f(x)\ny = 1\n").contains("f(x)"));
        assert!(!of(Language::Python, "def a(x):\n    f(x)\ny = 1\n").contains('y'));
        assert_eq!(of(Language::JavaScript, "exports.a = () => {}\n").trim(), "{}");
        assert_eq!(of(Language::JavaScript, "const a = () => 1; b(2)\n").trim(), "1");
        assert_eq!(of(Language::Rust, "fn a() { b(); }\nfn c() {}").trim(), "{ b(); }");
    }

    #[test]
    fn any_text_is_survived() {
        use Language::{Go, JavaScript, Jvm, Python, Ruby, Rust};
        for language in [Rust, Python, JavaScript, Go, Jvm, Ruby] {
            for text in ["", "def ", "def é(", "fn é(", "a = (", "a = é =>", "f(){", "def a(:\n"]
            {
                functions(language, text);
            }
        }
    }
}
