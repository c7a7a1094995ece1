//! `flyball hooks`: flyball's hooks in an agent's own settings.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Globals;
use super::hook::unknown;
use crate::error::CliError;
use crate::hook::install::{self, Change, Done, Homes, Scope};
use crate::{project, terminal};

/// Put flyball's hooks into an agent's own settings, or take them out again
///
/// For sessions you start yourself; `flyball run` passes hooks for each session and changes no
/// settings.
#[derive(Clone, Debug, Args)]
pub struct HooksArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: HooksAction,
}

/// What to do with hooks.
#[derive(Clone, Debug, Subcommand)]
pub enum HooksAction {
    /// Install flyball's hooks, beside what is there
    Install(HooksTarget),
    /// Take flyball's hooks out again, without a trace
    Remove(HooksTarget),
}

/// Whose hooks, and where.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct HooksTarget {
    /// The agent; without it, the configured one to install, every one to remove
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// In the user's own settings, for every project
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// In this repository
    #[arg(long)]
    pub project: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

impl HooksTarget {
    const fn scope(&self) -> Option<Scope> {
        match (self.project, self.user) {
            (true, _) => Some(Scope::Project),
            (false, true) => Some(Scope::User),
            (false, false) => None,
        }
    }

    fn agent(&self) -> Result<Option<&'static str>, CliError> {
        let Some(name) = &self.agent else { return Ok(None) };
        install::known(name).map(Some).ok_or_else(|| unknown(name))
    }
}

/// Installs or removes, and says what was done.
pub fn run(args: &HooksArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let homes = Homes::of_process(&project::find_root(&globals.start_dir()?))?;
    let (target, done, remark) = match &args.action {
        HooksAction::Install(target) => {
            let agent = match target.agent()? {
                Some(agent) => agent,
                None => configured(globals)?,
            };
            let done = install_for(agent, target.scope(), &homes)?;
            let remark = done.first().and_then(|one| install::remark(agent, one.scope));
            (target, (done, None), remark)
        }
        HooksAction::Remove(target) => (target, removed(target, &homes)?, None),
    };
    let (done, trouble) = done;
    let text = if target.json {
        let list: Vec<_> = done.iter().map(Done::to_json).collect();
        format!("{:#}\n", serde_json::Value::from(list))
    } else {
        words(&done, remark)
    };
    if trouble.is_none() || !done.is_empty() {
        terminal::write_out(&text)?;
    }
    trouble.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Installs hooks of an agent where they are wanted, or where they usually are.
pub(super) fn install_for(
    agent: &'static str,
    scope: Option<Scope>,
    homes: &Homes,
) -> Result<Vec<Done>, CliError> {
    let scope = scope.unwrap_or_else(|| install::usual_scope(agent));
    install::install(agent, scope, homes, &install::program()?)
}

fn configured(globals: &Globals) -> Result<&'static str, CliError> {
    let name = globals.sources()?.load()?.agent.name;
    install::known(&name).ok_or_else(|| unknown(&name))
}

/// Removes what can be removed; the first file with which that failed is the error.
fn removed(target: &HooksTarget, homes: &Homes) -> Result<(Vec<Done>, Option<CliError>), CliError> {
    let agents: Vec<&'static str> = match target.agent()? {
        Some(agent) => vec![agent],
        None => install::agents().collect(),
    };
    let scopes = target.scope().map_or_else(|| vec![Scope::Project, Scope::User], |one| vec![one]);
    let (mut done, mut trouble) = (Vec::new(), None);
    for agent in agents {
        for scope in &scopes {
            match install::remove(agent, *scope, homes) {
                Ok(some) => done.extend(some),
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
    }
    done.retain(|one| one.change == Change::Removed);
    Ok((done, trouble))
}

fn words(done: &[Done], remark: Option<&str>) -> String {
    if done.is_empty() {
        return "No hooks of flyball's were found\n".to_owned();
    }
    let mut lines: Vec<String> = done
        .iter()
        .map(|one| {
            let verb = match one.change {
                Change::Installed => "Installed",
                Change::Unchanged => "Kept     ",
                Change::Removed => "Removed  ",
                Change::Absent => "Not there",
            };
            format!("{verb} {} ({}): {}", one.agent, one.scope.as_str(), one.path.display())
        })
        .collect();
    lines.extend(remark.map(|remark| format!("Next      {remark}")));
    lines.join("\n") + "\n"
}
