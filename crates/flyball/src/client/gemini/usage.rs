//! gemini: `tmp/PROJECT/chats/session-…-ID.jsonl` in its home. A message with calls is written
//! twice, before and after them.

use std::collections::VecDeque;

use crate::client::lenient::{Num, Text, from_str, object};
use crate::client::meter::Usage;
use crate::client::usage_file::{
    Growing, SessionPlace, UsageEntry, UsageFile, is_named, is_plain, latest,
};

/// Messages remembered.
const SEEN_MAX: usize = 32;

/// The usage file of this session, once it is there.
pub(super) fn usage_file(at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
    let short = at.session.get(..8).filter(|short| is_plain(short))?;
    let projects = std::path::PathBuf::from((at.env)("HOME")?).join(".gemini/tmp");
    let end = format!("-{short}.jsonl");
    let mut files =
        latest(&projects).into_iter().flat_map(|project| latest(&project.join("chats")));
    let path = files.find(|path| is_named(path, &end))?;
    Some(Box::new(Chat { file: Growing::new(path), seen: VecDeque::new() }))
}

struct Chat {
    file: Growing,
    seen: VecDeque<String>,
}

object! {
    struct Message<'a> {
        "id" => id: Text<'a>,
        "model" => model: Text<'a>,
        "tokens" => tokens: Option<Counts>,
    }
}

object! {
    struct Counts {
        "input" => input: Num,
        "cached" => cached: Num,
        "total" => total: Num,
    }
}

impl UsageFile for Chat {
    fn news(&mut self) -> Vec<UsageEntry> {
        let Self { file, seen } = self;
        let mut entries = Vec::new();
        file.each(|line| {
            if line.contains("\"tokens\":") {
                entries.extend(entry(line, seen));
            }
        });
        entries
    }
}

fn entry(line: &str, seen: &mut VecDeque<String>) -> Option<UsageEntry> {
    let message: Message<'_> = from_str(line).ok()?;
    let tokens = message.tokens?;
    if message.id.is_empty() || seen.iter().any(|id| **id == *message.id) {
        return None;
    }
    if seen.len() == SEEN_MAX {
        seen.pop_front();
    }
    seen.push_back(message.id.to_string());
    // Thinking is only in the total.
    let output = tokens.total.count().saturating_sub(tokens.input.count());
    let usage = Usage::with_cached(tokens.input.count(), tokens.cached.count(), output);
    let model = Some(message.model.to_string()).filter(|model| !model.is_empty());
    Some(UsageEntry { usage, context: Some(usage.context()), window: None, model })
}
