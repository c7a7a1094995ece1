//! Tools that watch or mend as they are called, and how they are called to check once.

use super::line::Word;
use super::rules::RULES;
use super::{Fault, Purpose};

use self::Edit::{
    AfterSubcommand, AfterTool, Append, ChecksTypes, Drop, PrintsNothing, Subcommand, Swap, Tool,
    Whole,
};
use self::When::{Always, Has, HasNoArguments, Lacks};

/// What one tool does with some arguments, and what makes a check of it.
pub(super) struct Rule {
    /// Names of programs; none for every program.
    pub(super) tools: &'static [&'static str],
    /// Its first argument that is no option; none for whatever there is.
    pub(super) subcommands: &'static [&'static str],
    pub(super) when: When,
    pub(super) fault: Fault,
    /// How it is called instead; nothing where no such way is known.
    pub(super) edits: &'static [Edit],
}

/// The arguments a rule is about.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    Has(&'static [&'static str]),
    Lacks(&'static [&'static str]),
    HasNoArguments,
}

/// A change of a command.
#[derive(Clone, Copy)]
pub(super) enum Edit {
    /// Without these.
    Drop(&'static [&'static str]),
    /// This at its end.
    Append(&'static str),
    /// This right behind the program.
    AfterTool(&'static str),
    /// This right behind the subcommand.
    AfterSubcommand(&'static str),
    /// Another subcommand; none when it is empty.
    Subcommand(&'static str),
    /// Another program.
    Tool(&'static str),
    /// Another word in the place of this one.
    Swap(&'static str, &'static str),
    /// Something else altogether.
    Whole(&'static str),
    /// `--noEmit`, unless the compiler is called to write something.
    ChecksTypes,
    /// What it prints must be empty.
    PrintsNothing,
}

/// Programs that only say something: what they are given are words.
const SPEAKERS: [&str; 6] = ["echo", "printf", "grep", "git", "test", "["];

/// The most rules that are applied to one command.
const APPLIED_MAX: usize = 8;

/// The name a program goes by: without its folder, and without the version of an interpreter.
pub(super) fn name_of(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    match name.strip_prefix("python") {
        Some(rest) if is_version(rest) => "python",
        _ => name,
    }
}

/// The fault of a command, and how it checks once. Nothing: it is fine as it is.
pub(super) fn checking(command: &[Word], purpose: Purpose) -> Option<(Fault, Option<String>)> {
    let mut words = command.to_vec();
    let mut fault = None;
    for _ in 0..APPLIED_MAX {
        let Some(rule) = RULES.iter().find(|rule| rule.fits(&words)) else { break };
        let found = *fault.get_or_insert(rule.fault);
        if rule.edits.is_empty() {
            return Some((found, None));
        }
        rule.edits.iter().for_each(|edit| edit.apply(&mut words, purpose));
    }
    // What was there to separate arguments that are gone.
    words.pop_if(|word| word.value == "--");
    fault.map(|fault| (fault, Some(written(&words))))
}

/// Words as they are written in a line.
pub(super) fn written(words: &[Word]) -> String {
    words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ")
}

/// Where the first argument is that is no option.
fn subcommand(words: &[Word]) -> Option<usize> {
    words
        .iter()
        .skip(1)
        .position(|word| !word.value.starts_with(['-', '+']))
        .map(|at| at.saturating_add(1))
}

impl Rule {
    fn fits(&self, words: &[Word]) -> bool {
        let Some(name) = words.first().map(|word| name_of(&word.value)) else { return false };
        let is_tool = if self.tools.is_empty() {
            !SPEAKERS.contains(&name)
        } else {
            self.tools.contains(&name)
        };
        let has = |flags: &[&str]| {
            words.iter().skip(1).any(|word| flags.iter().any(|flag| is_flag(&word.value, flag)))
        };
        let is_asked = || {
            let asked = subcommand(words).and_then(|at| words.get(at));
            asked.is_some_and(|word| self.subcommands.contains(&word.value.as_str()))
        };
        is_tool
            && (self.subcommands.is_empty() || is_asked())
            && match self.when {
                Always => true,
                Has(flags) => has(flags),
                Lacks(flags) => !has(flags),
                HasNoArguments => words.len() == 1,
            }
    }
}

/// Whether a word switches this on; a flag that ends with `=` takes a value.
fn is_flag(word: &str, flag: &str) -> bool {
    match flag.strip_suffix('=') {
        Some(name) => word == name || word.starts_with(flag),
        None => {
            word == flag || (flag.starts_with("--") && word.strip_prefix(flag) == Some("=true"))
        }
    }
}

impl Edit {
    fn apply(self, words: &mut Vec<Word>, purpose: Purpose) {
        let at = subcommand(words);
        match self {
            Drop(flags) => {
                let is_value = |before: &Word| {
                    flags.iter().any(|flag| flag.strip_suffix('=') == Some(&*before.value))
                };
                let mut before: Option<Word> = None;
                words.retain(|word| {
                    let goes = flags.iter().any(|flag| is_flag(&word.value, flag))
                        || before.as_ref().is_some_and(is_value);
                    before = Some(word.clone());
                    !goes
                });
            }
            Append(text) => {
                let end = words.iter().position(|word| word.value == ">").unwrap_or(words.len());
                words.insert(end, Word::plain(text));
            }
            AfterTool(text) => words.insert(1.min(words.len()), Word::plain(text)),
            AfterSubcommand(text) => {
                let at = at.map_or(words.len(), |at| at.saturating_add(1));
                words.insert(at, Word::plain(text));
            }
            Subcommand("") => drop(at.map(|at| words.remove(at))),
            Subcommand(text) => put(at.and_then(|at| words.get_mut(at)), text),
            Tool(text) => {
                let program = words.first_mut();
                let path = program.as_ref().map_or("", |word| &word.raw);
                let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
                put(program, &format!("{}{text}", folder.unwrap_or_default()));
            }
            Swap(old, new) => put(words.iter_mut().find(|word| word.value == old), new),
            ChecksTypes => {
                let writes = ["--noEmit", "-b", "--build", "--emitDeclarationOnly"];
                let is_asked = words.iter().any(|word| writes.contains(&word.value.as_str()));
                if purpose == Purpose::Check && !is_asked {
                    words.push(Word::plain("--noEmit"));
                }
            }
            Whole(text) => *words = vec![Word::plain(text)],
            PrintsNothing => {
                *words = vec![Word::plain(&format!("test -z \"$({})\"", written(words)))];
            }
        }
    }
}

fn put(word: Option<&mut Word>, text: &str) {
    if let Some(word) = word {
        *word = Word::plain(text);
    }
}
