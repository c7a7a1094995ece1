//! codex: `sessions/YEAR/MONTH/DAY/rollout-…-ID.jsonl` in its home. Totals, not calls.

use crate::client::lenient::{Num, Raw, Text, from_str, object, read};
use crate::client::meter::Usage;
use crate::client::usage_file::{
    Growing, SessionPlace, UsageEntry, UsageFile, is_named, is_plain, latest,
};

/// The usage file of this session, once it is there.
pub(super) fn usage_file(at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
    if !is_plain(at.session) {
        return None;
    }
    let sessions = at.folder("CODEX_HOME", ".codex")?.join("sessions");
    let end = format!("-{}.jsonl", at.session);
    // A session that began just before midnight is in yesterday's folder.
    let two = |folder: &std::path::PathBuf| latest(folder).into_iter().take(2).collect::<Vec<_>>();
    let days = two(&sessions).iter().flat_map(two).collect::<Vec<_>>();
    let mut files = days.iter().flat_map(two).flat_map(|day| latest(&day));
    let path = files.find(|path| is_named(path, &end))?;
    Some(Box::new(Rollout { file: Growing::new(path), told: Counts::default() }))
}

struct Rollout {
    file: Growing,
    /// The total that was told.
    told: Counts,
}

object! {
    struct Line<'a> {
        "type" => kind: Text<'a>,
        "payload" => payload: Option<Raw<'a>>,
    }
}

object! {
    struct Payload<'a> {
        "type" => kind: Text<'a>,
        "model" => model: Text<'a>,
        "info" => info: Option<Raw<'a>>,
        "usage" => usage: Option<Counts>,
        "thread_token_usage" => thread_token_usage: Option<Counts>,
    }
}

object! {
    pub(super) struct Info {
        "total_token_usage" => pub(super) total_token_usage: Option<Counts>,
        "last_token_usage" => pub(super) last_token_usage: Option<Counts>,
        "model_context_window" => pub(super) model_context_window: Num,
    }
}

object! {
    #[derive(Clone, Copy)]
    pub(super) struct Counts {
        "input_tokens" => input: Num,
        "cached_input_tokens" => cached: Num,
        "output_tokens" => output: Num,
    }
}

impl Counts {
    pub(super) fn usage(self) -> Usage {
        Usage::with_cached(self.input.count(), self.cached.count(), self.output.count())
    }

    /// Tokens in the context window after the call.
    pub(super) fn context(self) -> u64 {
        self.input.count().saturating_add(self.output.count())
    }
}

impl UsageFile for Rollout {
    fn news(&mut self) -> Vec<UsageEntry> {
        let Self { file, told } = self;
        let mut entries = Vec::new();
        file.each(|line| {
            // Most lines are messages, and long.
            if line.contains("token_usage") || line.contains("\"turn_context\"") {
                entries.extend(entry(line, told));
            }
        });
        entries
    }
}

fn entry(line: &str, told: &mut Counts) -> Option<UsageEntry> {
    let line: Line<'_> = from_str(line).ok()?;
    let payload: Payload<'_> = read(line.payload);
    match &*line.kind {
        "turn_context" => {
            let model = Some(payload.model.to_string()).filter(|model| !model.is_empty());
            Some(UsageEntry { model, ..UsageEntry::default() })
        }
        "token_usage_record" => {
            let last = payload.usage.unwrap_or_default();
            Some(since(told, payload.thread_token_usage?, last))
        }
        "event_msg" if &*payload.kind == "token_count" => {
            let info: Info = read(payload.info);
            let last = info.last_token_usage.unwrap_or_default();
            let entry = since(told, info.total_token_usage?, last);
            Some(UsageEntry { window: Some(info.model_context_window.count()), ..entry })
        }
        _ => None,
    }
}

/// What a total says beyond what was told.
fn since(told: &mut Counts, total: Counts, last: Counts) -> UsageEntry {
    let more = |total: Num, told: Num| total.count().saturating_sub(told.count());
    let usage = Usage::with_cached(
        more(total.input, told.input),
        more(total.cached, told.cached),
        more(total.output, told.output),
    );
    *told = total;
    UsageEntry { usage, context: Some(last.context()), ..UsageEntry::default() }
}
