//! A settings file as text: JSON with whatever comments, trailing commas and layout its owner likes.
//!
//! Changes are made in the text, at the places they concern. All other bytes stay as they are.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// A settings file that was understood.
pub(super) struct Jsonc<'a> {
    text: &'a str,
    root: Node,
    value: Value,
    unit: String,
}

/// A value and where it stands.
struct Node {
    at: Range<usize>,
    items: Vec<Item>,
}

/// A member of an object or an element of a list.
struct Item {
    /// Its name in an object; empty in a list.
    name: String,
    at: Range<usize>,
    value: Node,
    /// Just behind the comma that follows it.
    comma: Option<usize>,
}

/// A piece of the text and what stands there instead.
type Edit = (Range<usize>, String);

impl<'a> Jsonc<'a> {
    /// Reads a text; an empty one has no settings.
    pub(super) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        let bare = without_comments(text);
        let value = serde_json::from_str(&without_last_commas(&bare))?;
        let root = Reader { text: &bare, at: 0 }.value();
        Ok(Self { text, root, value, unit: unit_of(text) })
    }

    /// Its content.
    pub(super) const fn value(&self) -> &Value {
        &self.value
    }

    /// The text with these members put behind those of the object that `path` leads to.
    pub(super) fn with_members(&self, path: &[&str], members: &[(&str, Value)]) -> Option<String> {
        let items = members.iter().map(|(name, value)| (Some(*name), value));
        self.with(path, &items.collect::<Vec<_>>())
    }

    /// The text with these elements put behind those of the list that `path` leads to.
    pub(super) fn with_elements(&self, path: &[&str], elements: &[Value]) -> Option<String> {
        self.with(path, &elements.iter().map(|value| (None, value)).collect::<Vec<_>>())
    }

    fn with(&self, path: &[&str], new: &[(Option<&str>, &Value)]) -> Option<String> {
        let mut node = &self.root;
        for name in path {
            node = &node.items.iter().rev().find(|item| item.name == **name)?.value;
        }
        let indent = self.indent_in(node, path.len().saturating_add(1));
        let outer = self.unit.repeat(path.len());
        let close = node.at.end.checked_sub(1)?;
        let last = node.items.last();
        let begin = last.map_or(node.at.start.saturating_add(1), |item| item.at.end);
        let kept = self.text.get(begin..close)?.trim_end().len();
        let place = begin.saturating_add(kept);
        let mut edits = Vec::new();
        if last.is_some_and(|item| item.comma.is_none()) {
            edits.push((begin..begin, ",".to_owned()));
        }
        let mut written: Vec<String> = Vec::new();
        for (name, value) in new {
            let name = name.map(|name| format!("{}: ", Value::from(name))).unwrap_or_default();
            written.push(format!("\n{indent}{name}{}", self.layout(value, &indent)?));
        }
        let mut written = written.join(",");
        if last.is_some_and(|item| item.comma.is_some()) {
            written.push(',');
        }
        if self.text.get(place..close)?.contains('\n') {
            edits.push((place..place, self.breaks(&written)));
        } else {
            written.push('\n');
            written.push_str(&outer);
            edits.push((place..close, self.breaks(&written)));
        }
        apply(self.text, edits)
    }

    /// The text without the hooks that `is_ours` picks from the table of this name, and without what is
    /// empty for it. None when nothing but that was in it.
    pub(super) fn without(&self, name: &str, is_ours: &dyn Fn(&Value) -> bool) -> Option<String> {
        let mut edits = Vec::new();
        let all = self.root.items.iter().map(|member| {
            member.name == name && self.all_ours(&member.value, 0, (name, is_ours), &mut edits)
        });
        let all: Vec<bool> = all.collect();
        if !all.is_empty() && all.iter().all(|gone| *gone) && self.is_bare() {
            return None;
        }
        take(&self.root, &all, &mut edits);
        apply(self.text, edits)
    }

    /// Whether nothing is left of a value: table of events (0), entries (1), one of them (2), its
    /// hooks (3), one of these (4).
    fn all_ours(
        &self,
        node: &Node,
        level: u8,
        picked: (&str, &dyn Fn(&Value) -> bool),
        edits: &mut Vec<Edit>,
    ) -> bool {
        let (name, is_ours) = picked;
        if level == 4 {
            return self.value_at(node).is_some_and(|value| is_ours(&value));
        }
        if level == 2 {
            let inner = node.items.iter().find(|item| item.name == name);
            return inner.is_some_and(|item| self.all_ours(&item.value, 3, picked, edits));
        }
        let next = level.saturating_add(1);
        let mut inner = Vec::new();
        let gone: Vec<bool> = node
            .items
            .iter()
            .map(|item| self.all_ours(&item.value, next, picked, &mut inner))
            .collect();
        if !gone.is_empty() && gone.iter().all(|one| *one) {
            return true;
        }
        take(node, &gone, &mut inner);
        edits.append(&mut inner);
        false
    }

    fn value_at(&self, node: &Node) -> Option<Value> {
        let bare = without_comments(self.text.get(node.at.clone())?);
        serde_json::from_str(&without_last_commas(&bare)).ok()
    }

    /// Whether the file holds no comments.
    fn is_bare(&self) -> bool {
        without_comments(self.text) == self.text
    }

    /// What lines of a container begin with.
    fn indent_in(&self, node: &Node, depth: usize) -> String {
        let usual = self.unit.repeat(depth);
        let Some(last) = node.items.last() else { return usual };
        let before = self.text.get(..last.at.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.len() < before.len() && line.trim().is_empty() { line.to_owned() } else { usual }
    }

    /// A value as the file would have it.
    fn layout(&self, value: &Value, indent: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let format = PrettyFormatter::with_indent(self.unit.as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut bytes, format)).ok()?;
        Some(String::from_utf8(bytes).ok()?.replace('\n', &format!("\n{indent}")))
    }

    fn breaks(&self, text: &str) -> String {
        if self.text.contains("\r\n") { text.replace('\n', "\r\n") } else { text.to_owned() }
    }
}

/// Takes items out of a container, with the commas that are too many then.
fn take(node: &Node, gone: &[bool], edits: &mut Vec<Edit>) {
    let mut end_of_kept: Option<&Item> = None;
    let mut begin = node.at.start.saturating_add(1);
    for (item, is_gone) in node.items.iter().zip(gone) {
        let end = item.comma.unwrap_or(item.at.end);
        if *is_gone {
            edits.push((begin..end, String::new()));
            if let (None, Some(comma)) = (item.comma, end_of_kept.and_then(|kept| kept.comma)) {
                edits.push((comma.saturating_sub(1)..comma, String::new()));
            }
        } else {
            end_of_kept = Some(item);
        }
        begin = end;
    }
}

/// Applies edits. One that takes out text leaves the comments in it where they are.
fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|(place, _)| (place.start, place.end));
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for (place, new) in edits {
        changed.push_str(text.get(at..place.start)?);
        if new.is_empty() {
            changed.push_str(&comments_before_item(text.get(place.clone())?));
        }
        changed.push_str(&new);
        at = place.end;
    }
    changed.push_str(text.get(at..)?);
    Some(changed)
}

/// What stands before the item in a piece that is taken out, up to its last comment.
fn comments_before_item(piece: &str) -> String {
    let bare = without_comments(piece);
    let lead = bare.len().saturating_sub(bare.trim_start().len());
    piece.get(..lead).unwrap_or_default().trim_end().to_owned()
}

/// How far lines are set in, by the first line that is.
fn unit_of(text: &str) -> String {
    let first = text.lines().skip(1).find(|line| line.starts_with([' ', '\t']));
    let first = first.unwrap_or("  ");
    let trimmed = first.trim_start_matches([' ', '\t']);
    let unit = first.get(..first.len().saturating_sub(trimmed.len())).unwrap_or("  ");
    if unit.len() > 8 { "  ".to_owned() } else { unit.to_owned() }
}

/// The same text with blanks for comments and for a byte order mark.
fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('\u{feff}') {
        bare.push_str("   ");
        rest = after;
    }
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = match rest.as_bytes() {
            [b'"', ..] => (string_end(rest), false),
            [b'/', b'/', ..] => (rest.find('\n').unwrap_or(rest.len()), true),
            [b'/', b'*', ..] => (rest.find("*/").map_or(rest.len(), |end| end + 2), true),
            _ => (first.len_utf8(), false),
        };
        let (piece, after) = rest.split_at(length);
        if is_comment {
            bare.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            bare.push_str(piece);
        }
        rest = after;
    }
    bare
}

/// The same text with blanks for commas that nothing follows.
fn without_last_commas(bare: &str) -> String {
    let mut plain = String::with_capacity(bare.len());
    let mut rest = bare;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' { string_end(rest) } else { first.len_utf8() };
        let (piece, after) = rest.split_at(length);
        let is_last = first == ',' && after.trim_start().starts_with(['}', ']']);
        plain.push_str(if is_last { " " } else { piece });
        rest = after;
    }
    plain
}

/// Where the string ends that a text begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Finds the places of values in a text that is known to be JSON but for commas at ends.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Node {
        self.blanks();
        let start = self.at;
        let items = match self.peek() {
            Some(b'{') => self.items(b'}'),
            Some(b'[') => self.items(b']'),
            Some(b'"') => {
                self.string();
                Vec::new()
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",]} \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
                Vec::new()
            }
        };
        Node { at: start..self.at, items }
    }

    fn items(&mut self, close: u8) -> Vec<Item> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                None => return items,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return items;
                }
                Some(_) => {}
            }
            let mut name = String::new();
            if close == b'}' {
                name = self.string();
                self.blanks();
                self.at += 1;
            }
            let value = self.value();
            let end = self.at;
            self.blanks();
            let comma = (self.peek() == Some(b',')).then(|| {
                self.at += 1;
                self.at
            });
            items.push(Item { name, at: start..end, value, comma });
        }
    }

    fn string(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (string, _) = rest.split_at(string_end(rest));
        self.at += string.len();
        serde_json::from_str(string).unwrap_or_default()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
