//! Python without its type annotations: one that says only a name changes nothing that is run.

use crate::gate::tamper::strength::closed;

/// Marks of an annotation that does something by itself when its function is read.
const DOES: [&str; 3] = ["(", ":=", "lambda"];

/// A statement whose functions have no annotations but those that do something.
pub(super) fn untyped(unit: &str) -> String {
    let mut made = String::with_capacity(unit.len());
    let mut rest = unit;
    while let Some(at) = rest.find("def ") {
        let (before, from) = rest.split_at(at);
        made.push_str(before);
        let Some((head, inside, after)) = signature(from) else {
            let (word, later) = from.split_at("def ".len());
            made.push_str(word);
            rest = later;
            continue;
        };
        made.push_str(head);
        made.push_str(&parameters(inside));
        made.push(')');
        rest = after;
        if let Some(returned) = after.trim_start().strip_prefix("->")
            && let Some((kind, body)) = up_to_colon(returned)
            && is_plain(kind)
        {
            rest = body;
        }
    }
    made.push_str(rest);
    made
}

/// `def name(`, what is between the brackets, and what comes after them.
fn signature(from: &str) -> Option<(&str, &str, &str)> {
    let open = from.find('(')?;
    let (head, inside) = from.split_at(open.saturating_add(1));
    if head.contains(['\n', ':']) {
        return None;
    }
    let (inside, after) = closed(inside)?;
    Some((head, inside, after))
}

/// What is returned, and the rest from its colon on.
fn up_to_colon(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => depth = depth.saturating_add(1),
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return text.split_at_checked(at),
            _ => {}
        }
    }
    None
}

fn parameters(inside: &str) -> String {
    let mut depth = 0_usize;
    let pieces = inside.split(|c: char| {
        match c {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let pieces = pieces.map(parameter).filter(|piece| !piece.is_empty());
    pieces.collect::<Vec<_>>().join(", ")
}

fn parameter(piece: &str) -> String {
    let piece = piece.trim();
    let name_end = piece.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    let (name, rest) = piece.split_at(name_end.unwrap_or(piece.len()));
    let Some(kind) = rest.trim_start().strip_prefix(':') else {
        return piece.split_whitespace().collect::<String>();
    };
    let (kind, default) = kind
        .split_once('=')
        .map_or((kind, String::new()), |(kind, default)| (kind, format!("={}", default.trim())));
    if is_plain(kind) { format!("{name}{default}") } else { piece.to_owned() }
}

fn is_plain(kind: &str) -> bool {
    !DOES.iter().any(|mark| kind.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::untyped;

    #[test]
    fn annotations_that_only_say_a_name_are_left_out() {
        let same = [
            ("def a(b, c=1):\n    d", "def a(b: int, c: t.Dict[str, int] = 1) -> X[a]:\n    d"),
            ("async def a(\n    b,\n):\n    d", "async def a(b: \"_B\") -> None:\n    d"),
            (
                "class A:\n    def b(self):\n        c",
                "class A:\n    def b(self) -> int:\n        c",
            ),
            ("def a(*b, **c):\n    d", "def a(*b: int, **c: int):\n    d"),
        ];
        let bare = |text: &str| untyped(text).split_whitespace().collect::<String>();
        for (plain, typed) in same {
            assert_eq!(bare(plain), bare(typed));
        }
        for (plain, other) in [
            ("def a(b):\n    d", "def a(b: run()):\n    d"),
            ("def a(b):\n    d", "def a(b) -> run():\n    d"),
            ("def a(b):\n    d", "def a(b=1):\n    d"),
            ("def a(b=1):\n    d", "def a(b: int = 2):\n    d"),
            ("def a(b):\n    d", "def a(b):\n    e"),
            ("def a(b):\n    d", "def a(b, c):\n    d"),
        ] {
            assert_ne!(bare(plain), bare(other));
        }
    }

    #[test]
    fn any_text_is_survived() {
        for text in ["", "def ", "def é(", "def a(:", "def a(b: [", "def a() ->", "def a() -> é"]
        {
            untyped(text);
        }
    }
}
