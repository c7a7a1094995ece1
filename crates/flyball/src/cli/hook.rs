//! `flyball hook`: called by an agent's hooks; nothing but the verdict is printed.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::client::HooksFor;
use crate::config::suggest;
use crate::error::CliError;
use crate::{hook, terminal};

/// Answer one event of an agent's hooks
///
/// Reads one JSON object from standard input and prints the verdict in the agent's own dialect.
/// Called by the hooks that `flyball run` and `flyball hooks install` set up, and by home-made
/// agents as `flyball hook flyball PreToolUse`.
#[derive(Clone, Debug, Default, Args)]
pub struct HookArgs {
    /// Whose hook it is, such as claude or goose; `flyball` for home-made agents
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// The event, by the agent's own name for it, such as `PreToolUse`
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// The hook was put into a session by `flyball run`; one installed for good says nothing there
    #[arg(long)]
    pub run: bool,
}

impl HookArgs {
    /// The arguments of a whole command line that is `flyball hook AGENT EVENT` and nothing else.
    pub(super) fn plain(arguments: &[OsString]) -> Option<Self> {
        let (arguments, run) = match arguments {
            [rest @ .., last] if last == "--run" => (rest, true),
            all => (all, false),
        };
        let [_, command, agent, event] = arguments else { return None };
        let word = |argument: &OsString| {
            argument
                .to_str()
                .filter(|word| !word.is_empty() && !word.starts_with('-'))
                .map(String::from)
        };
        (command == "hook").then_some(())?;
        Some(Self { agent: word(agent)?, event: word(event)?, run })
    }
}

/// Answers the event.
pub fn run(args: &HookArgs, _globals: &Globals) -> Result<ExitCode, CliError> {
    let dialect = hook::dialect(&args.agent).ok_or_else(|| unknown(&args.agent))?;
    let stay = if args.run { HooksFor::Run } else { HooksFor::Permanent };
    let answer = hook::answer(dialect, &args.event, stay);
    if let Some(trouble) = answer.trouble {
        // For people who look: clients take no notice of it.
        terminal::write_err(&format!("flyball: {trouble}\n"));
    }
    if !answer.text.is_empty() {
        terminal::write_out(&format!("{}\n", answer.text))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// There is no such agent, or it has no hooks.
pub(super) fn unknown(agent: &str) -> CliError {
    let error = CliError::usage(format!("flyball knows no hooks of an agent `{agent}`"));
    let known: Vec<&str> = hook::dialects().map(hook::Dialect::name).collect();
    if let Some(meant) = suggest::nearest(agent, known.iter().copied()) {
        return error.hint(format!("did you mean `{meant}`?"));
    }
    error.hint(format!("known: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn plain(line: &str) -> Option<HookArgs> {
        HookArgs::plain(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_plain_command_line_reads_as_clap_would_read_it() {
        for line in
            ["flyball hook claude Stop", "flyball hook nobody x", "flyball hook claude Stop --run"]
        {
            let own = plain(line).unwrap();
            let Command::Hook(claps) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
                unreachable!("another command")
            };
            assert_eq!((own.agent, own.event, own.run), (claps.agent, claps.event, claps.run));
        }
    }

    #[test]
    fn everything_else_is_left_to_clap() {
        for line in [
            "flyball hook claude",
            "flyball hook claude Stop more",
            "flyball hook claude --help",
            "flyball hook -C dir",
            "flyball hook -- claude",
            "flyball hooks claude Stop",
        ] {
            assert!(plain(line).is_none(), "{line}");
        }
    }
}
