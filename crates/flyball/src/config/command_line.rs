//! A program to start, as it was written: a line for the shell or a list of arguments.

use std::fmt;

use serde_json::json;

/// A command from the configuration or the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// Given to `sh -c`.
    Shell(String),
    /// Program and arguments, started as they are.
    Argv(Vec<String>),
}

impl CommandLine {
    /// Whether there is nothing to start.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Shell(line) => line.trim().is_empty(),
            Self::Argv(words) => words.first().is_none_or(|program| program.trim().is_empty()),
        }
    }

    /// Program and arguments to start.
    pub fn argv(&self) -> Vec<String> {
        match self {
            Self::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
            Self::Argv(words) => words.clone(),
        }
    }

    /// The name of the program that does the work, without its folder.
    pub fn program(&self) -> &str {
        let first = match self {
            Self::Shell(line) => line.split_whitespace().next(),
            Self::Argv(words) => words.first().map(String::as_str),
        };
        first.unwrap_or("").rsplit('/').next().unwrap_or("")
    }

    /// As JSON: a string or an array, like in the file.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Shell(line) => json!(line),
            Self::Argv(words) => json!(words),
        }
    }
}

/// For people: the line, or the words with quotes where a shell would need them.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Argv(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                f.write_str(&words.join(" "))
            }
        }
    }
}

/// A word as a POSIX shell would need it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_goes_through_the_shell_and_an_array_does_not() {
        let shell = CommandLine::Shell("cargo test | tail".to_owned());
        assert_eq!(shell.argv(), ["sh", "-c", "cargo test | tail"]);
        assert_eq!(shell.program(), "cargo");
        let argv = CommandLine::Argv(vec!["/usr/bin/bash".to_owned(), "it's.sh".to_owned()]);
        assert_eq!(argv.argv(), ["/usr/bin/bash", "it's.sh"]);
        assert_eq!(argv.program(), "bash");
        assert_eq!(argv.to_string(), r"/usr/bin/bash 'it'\''s.sh'");
    }

    #[test]
    fn a_command_without_a_program_is_empty() {
        assert!(CommandLine::Argv(Vec::new()).is_empty());
        assert!(CommandLine::Argv(vec![String::new(), "x".to_owned()]).is_empty());
        assert!(CommandLine::Shell("  ".to_owned()).is_empty());
        assert!(!CommandLine::Shell("true".to_owned()).is_empty());
    }
}
