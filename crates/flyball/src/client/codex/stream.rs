//! Codex (`codex exec --json`): hooks by `-c` flags.
//!
//! Malformed calls, refused calls and refused stops are absent from its stream; the first two show
//! on standard error when `RUST_LOG=error` is set. Its hook is the better sensor.

use std::borrow::Cow;

use flyball_core::call::{ToolOutcome, ValidationKind};
use flyball_core::{Millis, Moment};
use memchr::memmem;

use super::Codex;
use crate::client::lenient::{Num, Raw, Text, content_text, object, read};
use crate::client::meter::Usage;
use crate::client::reading::LocalTime;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::{Trouble, says_unreachable, status_after};
use crate::client::{Output, ReadRequest, Reader, SessionPlace, ToolKind, Tools, UsageFile};

impl Output for Codex {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let mut session = StreamSession::new(request, self);
        if let Some(model) = &request.model {
            session.model(model);
        }
        Box::new(StreamReader::new(CodexStream, session))
    }

    fn tools(&self) -> Tools {
        // As its hooks call them, and as its stream does.
        &[("apply_patch", ToolKind::Edits), ("Bash", ToolKind::Runs("command"))]
    }

    fn usage_file(&self, at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
        super::usage::usage_file(at)
    }
}

struct CodexStream;

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "thread_id" => thread_id: Text<'a>,
        "item" => item: Option<Item<'a>>,
        "usage" => usage: Option<Counts>,
        "message" => message: Text<'a>,
        "error" => error: Option<Raw<'a>>,
    }
}

object! {
    struct Item<'a> {
        "id" => id: Text<'a>,
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "command" => command: Text<'a>,
        "aggregated_output" => aggregated_output: Text<'a>,
        "exit_code" => exit_code: Num,
        "status" => status: Text<'a>,
        "changes" => changes: Option<Raw<'a>>,
        "server" => server: Text<'a>,
        "tool" => tool: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
        "result" => result: Option<Raw<'a>>,
        "error" => error: Option<Raw<'a>>,
        "query" => query: Text<'a>,
    }
}

object! {
    struct Counts {
        "input_tokens" => input: Num,
        "cached_input_tokens" => cached: Num,
        "output_tokens" => output: Num,
    }
}

object! {
    struct Content<'a> {
        "content" => content: Option<Raw<'a>>,
        "message" => message: Text<'a>,
    }
}

impl StreamFormat for CodexStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "thread.started" => to.id(&event.thread_id),
            "item.started" => started(event.item.as_ref(), to),
            "item.completed" => completed(event.item.as_ref(), to),
            "turn.completed" => {
                to.spoke();
                to.concluded();
                if let Some(tokens) = event.usage {
                    to.settled_cumulative(&Usage::with_cached(
                        tokens.input.count(),
                        tokens.cached.count(),
                        tokens.output.count(),
                    ));
                }
            }
            "turn.failed" => {
                let error: Content<'_> = read(event.error);
                match classify(&error.message, to.now()) {
                    Some(trouble) => to.trouble(trouble),
                    None => to.failed(&error.message),
                }
            }
            // Not the end by itself: `turn.failed` is.
            "error" => to.retrying(classify(&event.message, to.now()), &event.message),
            "turn.started" | "item.updated" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }

    fn error_line(&mut self, line: &str, to: &mut StreamSession) {
        let Some((_, error)) = line.split_once("ERROR codex_core::tools::router: error=") else {
            return;
        };
        if let Some((kind, detail)) = argument_error(error) {
            to.nonsense(kind, detail, error);
        }
    }
}

/// The kind of a call that never became one, with what is wrong with it.
pub(super) fn argument_error(error: &str) -> Option<(ValidationKind, &str)> {
    if let Some(tool) = error.strip_prefix("unsupported call: ") {
        return Some((ValidationKind::UnknownTool, tool));
    }
    let detail = error.strip_prefix("failed to parse function arguments: ")?;
    let kind = if detail.starts_with("missing field") {
        ValidationKind::MissingField
    } else if detail.starts_with("invalid type") || detail.starts_with("unknown") {
        ValidationKind::WrongType
    } else {
        ValidationKind::UnparseableJson
    };
    Some((kind, detail))
}

fn started(item: Option<&Item<'_>>, to: &mut StreamSession) {
    let Some(item) = item else { return };
    let (tool, args): (Cow<'_, str>, Cow<'_, str>) = match &*item.kind {
        // As its hooks call it, so that both tell the same call.
        "command_execution" => {
            ("Bash".into(), field("command", &own_command(&item.command)).into())
        }
        "file_change" => {
            let changes = item.changes.map_or("[]", Raw::get);
            ("apply_patch".into(), format!("{{\"changes\":{changes}}}").into())
        }
        "mcp_tool_call" => {
            let args = item.arguments.map_or("{}", Raw::get);
            (format!("mcp__{}__{}", &*item.server, &*item.tool).into(), args.into())
        }
        "web_search" => ("web_search".into(), field("query", &item.query).into()),
        _ => return,
    };
    to.called(&Call { id: &item.id, tool: &tool, args: &args, ..Call::default() });
}

fn completed(item: Option<&Item<'_>>, to: &mut StreamSession) {
    let Some(item) = item else { return };
    let failed = &*item.status == "failed";
    let answer = |outcome, text: &str, to: &mut StreamSession| {
        to.returned(&Answer { id: &item.id, agent: "", outcome, text });
        to.context_by_size();
    };
    match &*item.kind {
        "agent_message" => {
            to.said(Some(&item.id), &item.text);
            to.context_by_size();
        }
        "command_execution" => {
            let outcome = match item.exit_code.0 {
                Some(0.0) => ToolOutcome::Ok,
                Some(_) => ToolOutcome::Exit,
                None if failed => ToolOutcome::Tool,
                None => ToolOutcome::Ok,
            };
            answer(outcome, &item.aggregated_output, to);
        }
        "mcp_tool_call" => {
            let result: Content<'_> = read(item.result);
            let error: Content<'_> = read(item.error);
            let text = content_text(result.content);
            let text = if text.is_empty() { &*error.message } else { &*text };
            answer(if failed { ToolOutcome::Tool } else { ToolOutcome::Ok }, text, to);
        }
        "file_change" | "web_search" => {
            let outcome = if failed { ToolOutcome::Tool } else { ToolOutcome::Ok };
            answer(outcome, &item.status, to);
        }
        _ => {}
    }
}

/// How a login shell is given a command.
const LOGIN: &[u8] = b" -lc ";

/// The command inside `/bin/bash -lc 'command'`.
fn own_command(command: &str) -> Cow<'_, str> {
    let Some(at) = memmem::find(command.as_bytes(), LOGIN) else { return command.into() };
    let (shell, quoted) = command.split_at(at);
    let quoted = quoted.get(LOGIN.len()..).unwrap_or("");
    let known = ["bash", "sh", "zsh"].contains(&shell.rsplit('/').next().unwrap_or(shell));
    if !known {
        return command.into();
    }
    let single = quoted.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
    match single.filter(|inner| !inner.contains('\'')) {
        Some(own) => own.into(),
        None => unquoted(quoted).map_or(Cow::Borrowed(command), Cow::Owned),
    }
}

/// One word of a POSIX shell without its quotes; nothing when it is not exactly one word.
fn unquoted(word: &str) -> Option<String> {
    let (mut own, mut quote) = (String::with_capacity(word.len()), None);
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), close) if open == close => quote = None,
            (None, '\\') => own.push(chars.next()?),
            (Some('"'), '\\') => match chars.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => own.push(escaped),
                other => own.extend(['\\', other]),
            },
            (None, c) if c.is_whitespace() => return None,
            (_, c) => own.push(c),
        }
    }
    quote.is_none().then_some(own)
}

/// The arguments of a call that has one.
pub(super) fn field(name: &str, value: &str) -> String {
    let value = serde_json::to_string(value).unwrap_or_default();
    ["{\"", name, "\":", &value, "}"].concat()
}

/// What a failure means, by texts of a known shape.
fn classify(message: &str, now: Option<LocalTime>) -> Option<Trouble> {
    // `Reconnecting... 2/5 (why)` wraps the reason while it retries.
    let message = match message.strip_prefix("Reconnecting... ") {
        Some(wrapped) => wrapped.split_once('(').map_or(wrapped, |(_, why)| why),
        None => message,
    };
    let own = || message.to_owned();
    if message.starts_with("You’ve hit your usage limit")
        || message.starts_with("You've hit your usage limit")
    {
        return Some(Trouble::Limit(now.and_then(|now| try_again_at(message, now)), own()));
    }
    if message.starts_with("Quota exceeded.")
        || message.starts_with("Missing environment variable:")
    {
        return Some(Trouble::Credentials(own()));
    }
    if message.starts_with("Rate limit reached") || message.starts_with("rate limit exceeded: ") {
        return Some(Trouble::Limit(None, own()));
    }
    let anchors = ["exceeded retry limit, last status: ", "unexpected status "];
    let status = anchors.iter().find_map(|anchor| {
        message.starts_with(anchor).then(|| status_after(message, anchor)).flatten()
    });
    match status {
        Some(status) => Trouble::by_status(status, message),
        None => says_unreachable(message).then(|| Trouble::Lost(own())),
    }
}

/// `… try again at 8:20 AM.`, the next such time on the local clock; on another day it says
/// `… try again at Nov 20th, 2026 8:20 AM.` Seconds are cut off, so the minute must be over.
fn try_again_at(message: &str, now: LocalTime) -> Option<Moment> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, at) = message.rsplit_once("try again at ")?;
    let words: Vec<&str> = at.trim_end_matches('.').split_whitespace().collect();
    let at = match words.as_slice() {
        [time, half] => {
            let (hour, minute) = time_of_day(time, half)?;
            now.next(u64::try_from(hour).ok()?, u64::try_from(minute).ok()?)
        }
        [month, day, year, time, half] => {
            let month = MONTHS.iter().position(|name| name == month)?;
            let day = day.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            let date = (year.parse().ok()?, i8::try_from(month + 1).ok()?, day);
            now.on(date, time_of_day(time, half)?)?
        }
        _ => return None,
    };
    Some(at.plus(Millis::from_secs(60)))
}

/// `8:20` `PM`
fn time_of_day(time: &str, half: &str) -> Option<(i8, i8)> {
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        "AM" if hour == 12 => 0,
        "PM" if hour < 12 => hour + 12,
        "AM" | "PM" => hour,
        _ => return None,
    };
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some((hour, minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_limit_is_today_or_on_the_day_it_names() {
        // 2026-11-15T07:22:00Z
        let now = LocalTime { now: Moment::from_millis(1_794_727_320_000), ahead_of_utc_secs: 0 };
        let minutes_until = |message: &str| {
            let at = try_again_at(message, now)?;
            Some((at.as_millis() - now.now.as_millis()) / 60_000)
        };
        let cases = [
            ("or try again at 8:20 AM.", Some(59)),
            ("or try again at 7:22 AM.", Some(1)),
            ("or try again at 12:05 AM.", Some(16 * 60 + 44)),
            ("or try again at Nov 16th, 2026 7:22 AM.", Some(24 * 60 + 1)),
            ("or try again at Dec 1st, 2026 12:00 PM.", Some(16 * 24 * 60 + 4 * 60 + 39)),
            ("or try again at Smarch 1st, 2026 12:00 PM.", None),
            ("or try again at Feb 31st, 2027 12:00 PM.", None),
            ("or try again at 27:00 AM.", None),
            ("or try again at noon.", None),
            ("or try again later.", None),
        ];
        for (message, minutes) in cases {
            assert_eq!(minutes_until(message), minutes, "{message}");
        }
    }

    #[test]
    fn a_command_is_taken_out_of_its_shell() {
        let cases = [
            ("/bin/bash -lc 'cat README.md'", "cat README.md"),
            ("/bin/bash -lc ls", "ls"),
            (r#"bash -lc "it's \"x\" \n""#, r#"it's "x" \n"#),
            (r"/bin/sh -lc 'a'\''b'", "a'b"),
            ("/bin/bash -lc 'one' two", "/bin/bash -lc 'one' two"),
            ("/bin/bash -lc 'open", "/bin/bash -lc 'open"),
            ("grep -lc 'x' f", "grep -lc 'x' f"),
        ];
        for (command, own) in cases {
            assert_eq!(own_command(command), own);
        }
    }
}
