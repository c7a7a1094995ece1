//! copilot: `session-state/ID/events.jsonl` in its home. The only place where it tells tokens.

use crate::client::lenient::{Num, Raw, Text, from_str, object, read};
use crate::client::meter::Usage;
use crate::client::usage_file::{Growing, SessionPlace, UsageEntry, UsageFile, is_plain};

/// The usage file of this session, once it is there.
pub(super) fn usage_file(at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
    if !is_plain(at.session) {
        return None;
    }
    let home = at.folder("COPILOT_HOME", ".copilot")?;
    let path = home.join("session-state").join(at.session).join("events.jsonl");
    path.is_file().then(|| -> Box<dyn UsageFile> { Box::new(Events(Growing::new(path))) })
}

struct Events(Growing);

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "data" => data: Option<Raw<'a>>,
    }
}

object! {
    struct Data<'a> {
        "usage" => usage: Option<Raw<'a>>,
    }
}

object! {
    struct Counts<'a> {
        "model" => model: Text<'a>,
        "inputTokens" => input_tokens: Num,
        "outputTokens" => output_tokens: Num,
        "cacheReadTokens" => cache_read_tokens: Num,
        "maxPromptTokens" => max_prompt_tokens: Num,
    }
}

impl UsageFile for Events {
    fn news(&mut self) -> Vec<UsageEntry> {
        let mut entries = Vec::new();
        self.0.each(|line| {
            if line.contains("\"session.usage_record\"") {
                entries.extend(entry(line));
            }
        });
        entries
    }
}

fn entry(line: &str) -> Option<UsageEntry> {
    let event: Event<'_> = from_str(line).ok()?;
    if &*event.kind != "session.usage_record" {
        return None;
    }
    let data: Data<'_> = read(event.data);
    let counts: Counts<'_> = read(data.usage);
    let usage = Usage::with_cached(
        counts.input_tokens.count(),
        counts.cache_read_tokens.count(),
        counts.output_tokens.count(),
    );
    let model = Some(counts.model.to_string()).filter(|model| !model.is_empty());
    let window = Some(counts.max_prompt_tokens.count());
    Some(UsageEntry { usage, context: Some(usage.context()), window, model })
}
