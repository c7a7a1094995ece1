//! A human's answer to what a run asked.

use std::path::Path;

use super::asks::about;
use crate::error::CliError;
use crate::loopdir::LoopDir;

/// A question that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What was asked.
    pub question: String,
    /// Whether it had been answered before.
    pub again: bool,
    /// Whether it is flyball's own question about weakened checks: an answer does not accept them.
    pub about_tamper: bool,
}

/// Which question is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant<'a> {
    /// The one that stands there, answered or not.
    Present,
    /// The one with this mark, and only while nobody has answered it.
    Marked(&'a str),
}

/// Why nothing is asked.
fn nothing(path: &Path) -> CliError {
    CliError::no_input(format!("nothing is asked: there is no `{}`", path.display()))
        .hint("`flyball status` says how runs stand")
}

/// Puts an answer below the question.
pub fn answer(human_files: &LoopDir, text: &str, meant: Meant<'_>) -> Result<Answered, CliError> {
    let path = human_files.file("decide.txt");
    let failed = |verb: &str| format!("`{}` could not be {verb}", path.display());
    let seen =
        human_files.human_files().map_err(|error| CliError::io(failed("read")).cause(error))?;
    let Some(question) = seen.question else { return Err(nothing(&path)) };
    if let Meant::Marked(mark) = meant {
        if seen.answer.is_some() {
            return Err(CliError::already_running("somebody has answered this already"));
        }
        if about(&question) != mark {
            return Err(CliError::already_running("another question stands there by now")
                .hint("look at it again"));
        }
    }
    if text.trim().is_empty() {
        return Err(CliError::usage("the answer is empty, and nothing was written")
            .hint("`flyball answer 'what shall be done'`"));
    }
    human_files.write_answer(text).map_err(|error| CliError::io(failed("written")).cause(error))?;
    let about_tamper = flyball_core::gate::tamper::is_question(&question);
    Ok(Answered { question, again: seen.answer.is_some(), about_tamper })
}
