//! `flyball demo`: plays the demo in a temporary folder and takes it away again.

use std::fs;
use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::error::CliError;
use crate::{clock, demo, terminal};

/// Show flyball at work in a temporary repository
///
/// A scripted agent, real git, real gates, no network and no key: a nudge, a refused "done", a fix
/// and a verified completion.
#[derive(Clone, Debug, Default, Args)]
pub struct DemoArgs {
    /// Keep the temporary repository and say where it is
    #[arg(long)]
    pub keep: bool,
}

const STORY: &str = "A greeter is wanted: one story, one gate (`sh check.sh`), one scripted agent.
Watch it look at the same file again and again, claim to be done when it is not, be told exactly
what is wrong, mend it, and be believed only then.

";

/// Plays the demo; its exit code is that of the run.
pub fn run(args: &DemoArgs, _globals: &Globals) -> Result<ExitCode, CliError> {
    let name = format!("flyball-demo-{}-{}", std::process::id(), clock::unique_nanos());
    let folder = std::env::temp_dir().join(name);
    let (root, state) = (folder.join("greeter"), folder.join("state"));
    terminal::write_err(STORY);
    let played = demo::lay_out(&root).and_then(|()| demo::play(&root, &state));
    let status = match played {
        Ok(status) if args.keep => {
            let shown = root.display();
            let journal = state.display();
            terminal::write_err(&format!(
                "\nKept: {shown}\n      cd {shown} && git log && FLYBALL_STATE={journal} flyball log\n"
            ));
            status
        }
        other => {
            fs::remove_dir_all(&folder).ok();
            let status = other?;
            terminal::write_err(
                "\nNow in your own repository: flyball run \"Fix the failing tests\"\n",
            );
            status
        }
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(70)))
}
