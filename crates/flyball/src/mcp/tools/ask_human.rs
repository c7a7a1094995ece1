//! `ask_human`: a question for a human, and its answer once there is one.

use flyball_core::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call};
use crate::mcp::tool::{Tool, ToolEffect};

const QUESTION_MAX: usize = 8_000;

pub(super) struct AskHuman;

/// The question.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// What a human must decide: one question, with what they need to know to answer it.
    question: String,
}

/// Where the question stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The question that stands.
    question: String,
    /// Whether it is answered.
    answered: bool,
    /// The answer, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The file it stands in.
    path: String,
    /// How it is answered.
    how_to_answer: String,
}

impl Tool for AskHuman {
    const NAME: &'static str = "ask_human";
    const DESCRIPTION: &'static str = "Put a question to a human when only they can decide. It is \
        written to decide.txt; they answer there or with `flyball answer`. Ask the same question \
        again to see whether it is answered. Do not guess meanwhile: do other work, or stop.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let question = input.question.trim();
        if question.is_empty() {
            return Err(Refused::arguments("`question` is empty; say what must be decided"));
        }
        if question.chars().count() > QUESTION_MAX {
            return Err(Refused::arguments(format!(
                "`question` is longer than {QUESTION_MAX} characters; ask for one decision"
            )));
        }
        let dir = &call.site.loop_dir;
        let io = |error: std::io::Error| Refused::io("use decide.txt", &error);
        let human_files = dir.human_files().map_err(io)?;
        match (&human_files.question, &human_files.answer) {
            (None, _) => {
                let enclosing = call.site.enclosing_run(&call.site.journal()?)?;
                let iteration = enclosing.map(|enclosing| enclosing.iteration).unwrap_or_default();
                dir.write_decide(iteration, site::now(), question).map_err(io)?;
            }
            (Some(standing), _) if standing.trim() == question => {}
            (Some(standing), None) => {
                return Err(Refused::new(format!(
                    "another question waits for its answer, and yours was not written: \"{}\"; \
                     answer it with `flyball answer TEXT`, or ask that one again to look",
                    text::head(standing, 300)
                )));
            }
            (Some(standing), Some(answer)) => {
                return Err(Refused::new(format!(
                    "the question before was answered and still stands: \"{}\" was answered \
                     \"{}\"; it goes when `flyball run` has handed it on, or when decide.txt is \
                     removed",
                    text::head(standing, 300),
                    text::head(answer, 300)
                )));
            }
        }
        let path = dir.file("decide.txt").display().to_string();
        Ok(Output {
            question: question.to_owned(),
            answered: human_files.answer.is_some(),
            answer: human_files.answer,
            how_to_answer: format!(
                "a human runs `flyball answer TEXT`, or writes below `## Answer` in {path}"
            ),
            path,
        })
    }
}
