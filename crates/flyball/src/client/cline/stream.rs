//! Cline (`cline --json`): no hooks that were seen to work, so it is watched and not steered.

use flyball_core::AgentFact;
use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Cline;
use crate::client::lenient::{List, Num, Raw, Text, content_text, object, read};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::{Trouble, says_unreachable};
use crate::client::{AgentNote, Output, ReadRequest, Reader, ToolKind, Tools};

impl Output for Cline {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(ClineStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("editor", ToolKind::Edits),
            ("apply_patch", ToolKind::Edits),
            ("replace_in_file", ToolKind::Edits),
            ("write_to_file", ToolKind::Edits),
            ("run_commands", ToolKind::Runs("commands")),
            ("execute_command", ToolKind::Runs("command")),
        ]
    }

    fn refuse_after_at_most(&self) -> Option<u32> {
        Some(3)
    }
}

#[derive(Debug, Default)]
struct ClineStream {
    iteration: u64,
}

object! {
    struct Record<'a> {
        "type" => kind: Text<'a>,
        "event" => event: Option<Inner<'a>>,
        "finishReason" => finish_reason: Text<'a>,
        "usage" => usage: Option<Totals>,
        "text" => text: Text<'a>,
        "reason" => reason: Text<'a>,
        "message" => message: Text<'a>,
        "taskId" => task_id: Text<'a>,
        "model" => model: Option<Model<'a>>,
    }
}

object! {
    struct Model<'a> {
        "id" => id: Text<'a>,
    }
}

object! {
    struct Inner<'a> {
        "type" => kind: Text<'a>,
        "contentType" => content_type: Text<'a>,
        "text" => text: Text<'a>,
        "toolName" => tool_name: Text<'a>,
        "toolCallId" => tool_call_id: Text<'a>,
        "input" => input: Option<Raw<'a>>,
        "output" => output: Option<Raw<'a>>,
        "error" => error: Option<Raw<'a>>,
        "errorClass" => error_class: Text<'a>,
        "inputTokens" => input_tokens: Num,
        "outputTokens" => output_tokens: Num,
        "iteration" => iteration: Num,
    }
}

object! {
    struct Totals {
        "inputTokens" => input_tokens: Num,
        "outputTokens" => output_tokens: Num,
        "cacheReadTokens" => cache_read_tokens: Num,
        "totalCost" => total_cost: Num,
    }
}

object! {
    struct Failure<'a> {
        "message" => message: Text<'a>,
        "error" => error: Text<'a>,
    }
}

object! {
    struct CommandOutput<'a> {
        "result" => result: Text<'a>,
        "error" => error: Text<'a>,
        "success" => success: Option<bool>,
    }
}

impl StreamFormat for ClineStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let mut event: Record<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "agent_event" => return self.inner(event.event.get_or_insert_default(), to),
            "run_result" => result(&event, to),
            "run_aborted" if &*event.reason != "external_abort" => to.failed(&event.message),
            "hook_event" => to.id(&event.task_id),
            "run_aborted" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

impl ClineStream {
    fn inner(&mut self, event: &Inner<'_>, to: &mut StreamSession) -> Understood {
        match (&*event.kind, &*event.content_type) {
            ("iteration_start", _) => self.iteration = event.iteration.count(),
            ("content_start", "text") => {
                to.said(Some(&self.iteration.to_string()), &event.text);
            }
            ("content_start", "tool") => to.called(&Call {
                id: &event.tool_call_id,
                tool: &event.tool_name,
                args: event.input.map_or("{}", Raw::get),
                round: &self.iteration.to_string(),
                ..Call::default()
            }),
            ("content_end", "tool") => answered(&event.tool_call_id, event.output, to),
            ("usage", _) => {
                let (input, output) = (event.input_tokens.count(), event.output_tokens.count());
                let usage = Usage::with_cached(input, 0, output);
                to.used(&usage);
                to.context(usage.context());
            }
            ("error", _) => {
                let error: Failure<'_> = read(event.error);
                if error.message.starts_with("Detected ")
                    && error.message.contains(" consecutive identical calls to ")
                {
                    let message = error.message.to_string();
                    to.fact(AgentFact::StoppedItself { message });
                } else if !error.message.contains("tool call(s) failed") {
                    // A failed call was already told; only what ends the run is left.
                    let trouble = classify(&event.error_class, &error.message);
                    to.retrying(trouble, &error.message);
                }
            }
            ("content_start" | "content_update" | "content_end" | "iteration_end" | "done", _) => {}
            (other, _) => return unknown(other, to),
        }
        Understood::Event
    }
}

/// A tool answered, with a text, an error or what each of its commands gave.
pub(super) fn answered(id: &str, output: Option<Raw<'_>>, to: &mut StreamSession) {
    let answer = |outcome, text: &str, to: &mut StreamSession| {
        to.returned(&Answer { id, agent: "", outcome, text });
    };
    let failure: Failure<'_> = read(output);
    if !failure.error.is_empty() {
        let error = &*failure.error;
        let kind = if error.contains("AI_NoSuchToolError") {
            ValidationKind::UnknownTool
        } else if error.contains("AI_InvalidToolInputError") && error.contains("JSON") {
            ValidationKind::UnparseableJson
        } else if error.contains("AI_InvalidToolInputError") {
            ValidationKind::WrongType
        } else {
            return answer(ToolOutcome::Tool, error, to);
        };
        return to.bad_answer(id, kind, error);
    }
    let commands: List<CommandOutput<'_>> = read(output);
    if commands.0.is_empty() {
        return answer(ToolOutcome::Ok, &content_text(output), to);
    }
    let failed = commands.0.iter().any(|command| command.success == Some(false));
    let texts = commands
        .0
        .iter()
        .map(|command| if command.result.is_empty() { &*command.error } else { &*command.result });
    let text = texts.collect::<Vec<_>>().join("\n");
    answer(if failed { ToolOutcome::Exit } else { ToolOutcome::Ok }, &text, to);
}

fn result(event: &Record<'_>, to: &mut StreamSession) {
    to.spoke();
    if let Some(model) = &event.model {
        to.model(&model.id);
    }
    if let Some(usage) = &event.usage {
        let tokens = Usage::with_cached(
            usage.input_tokens.count(),
            usage.cache_read_tokens.count(),
            usage.output_tokens.count(),
        );
        // It says 0 for every model it has no price for.
        let cost_usd = usage.total_cost.0.filter(|&cost| cost > 0.0);
        to.settled(&Usage { cost_usd, ..tokens });
    }
    match &*event.finish_reason {
        "aborted" => to.failed("cline aborted the run"),
        "error" => match classify("", &event.text) {
            Some(trouble) => to.trouble(trouble),
            None => to.failed(&event.text),
        },
        "max_iterations" => to.note(AgentNote::OwnLimit(event.text.to_string())),
        _ => {}
    }
}

fn classify(class: &str, message: &str) -> Option<Trouble> {
    let own = || message.to_owned();
    if class == "auth" || message.starts_with("Incorrect API key") {
        Some(Trouble::Credentials(own()))
    } else if class == "rate_limit" || message.starts_with("Rate limit") {
        Some(Trouble::Limit(None, own()))
    } else if class == "network" || says_unreachable(message) {
        Some(Trouble::Lost(own()))
    } else {
        Trouble::by_leading_status(message)
    }
}
