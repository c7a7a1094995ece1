//! `flyball answer`: puts a human's answer below the question in `decide.txt`. Editing the file by
//! hand does the same.

use std::io::{IsTerminal, Read, stdin};
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;
use serde_json::json;

use super::place::Place;
use super::{Globals, fault, words};
use crate::desk::{self, Meant};
use crate::error::CliError;
use crate::loopdir::LoopDir;
use crate::terminal;

/// The longest answer that is taken from standard input.
const ANSWER_MAX: u64 = 1 << 20;

/// Answer the question a run is waiting for
///
/// Without TEXT the answer is read from standard input; at a terminal, decide.txt is opened in
/// $VISUAL or $EDITOR.
#[derive(Clone, Debug, Default, Args)]
pub struct AnswerArgs {
    /// The answer; without it, it is read from standard input or written in your editor
    pub text: Option<String>,
    /// The run that asked; without it, the one here
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// Writes the answer and says what to type next.
pub fn run(args: &AnswerArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let place = Place::of_run(globals, args.run.as_deref())?;
    let path = place.human_files.file("decide.txt");
    let seen = place.human_files.human_files().map_err(fault::file(&path, "read"))?;
    let Some(question) = seen.question else {
        return Err(CliError::no_input(format!(
            "nothing is asked: there is no `{}`",
            path.display()
        ))
        .hint("`flyball status` says how runs stand"));
    };
    let editor = editor().filter(|_| args.text.is_none() && stdin().is_terminal());
    let answer = match (&args.text, editor) {
        (Some(text), _) => text.clone(),
        (None, Some(editor)) => edit(&editor, &place.human_files, &path)?,
        (None, None) => read(&question)?,
    };
    let answered = desk::answer(&place.human_files, &answer, Meant::Present);
    let answered = place.recorded("answer", &json!({ "text": answer }), answered)?;
    if answered.about_tamper {
        terminal::write_err(
            "This tells the agent; it does not accept what was weakened: flyball accept tamper does, \
             and flyball restore tamper puts it back.\n",
        );
    }
    // What was written in the editor stands there by now; whether one stood there before counts.
    let again = if seen.answer.is_some() { " anew" } else { "" };
    terminal::write_out(&format!(
        "Answered{again}: {}\nNext: {}\n",
        words::line(&question, 200),
        place.next()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The editor the user has chosen.
pub(super) fn editor() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Has the file edited, and takes the answer that stands in it then.
fn edit(editor: &str, human_files: &LoopDir, path: &Path) -> Result<String, CliError> {
    let line = format!("{editor} \"$1\"");
    let ended = Command::new("sh").args(["-c", &line, "sh"]).arg(path).status();
    let ended = ended.map_err(|error| {
        CliError::io(format!("the editor `{editor}` could not be started")).cause(error)
    })?;
    if !ended.success() {
        return Err(CliError::io(format!("the editor `{editor}` failed ({ended})")));
    }
    let seen = human_files.human_files().map_err(fault::file(path, "read"))?;
    Ok(seen.answer.unwrap_or_default())
}

fn read(question: &str) -> Result<String, CliError> {
    if stdin().is_terminal() {
        let question = words::lines(question);
        terminal::write_err(&format!("{question}\n\nYour answer, then Ctrl-D:\n"));
    }
    let mut text = String::new();
    stdin()
        .take(ANSWER_MAX)
        .read_to_string(&mut text)
        .map_err(|error| CliError::io("standard input could not be read").cause(error))?;
    Ok(text)
}
