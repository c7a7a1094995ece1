//! `flyball session`: one talk with the built-in agent, at a terminal, for one task, or as the agent of a
//! run.

mod talk;
mod transcript;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use flyball_core::SubAgent;
use flyball_core::compaction::Compaction;
use flyball_core::policy::Policy;
use flyball_models::{Model, Retries};
use serde_json::json;

use self::talk::Talk;
use super::{Format, Globals};
use crate::clock;
use crate::config::{CommandLine, Config, Override, Permission, Sources, Value};
use crate::door::{RunSession, session_of_environment};
use crate::driver;
use crate::error::{CliError, ErrorKind};
use crate::hook::SessionContext;
use crate::journal::{Journal, state_dir};
use crate::run_record::RunRecord;
use crate::session::choice::{self, Choice};
use crate::session::conversation::Conversation;
use crate::session::ground::Ground;
use crate::session::inbox::{Company, Inbox};
use crate::session::judge::{Alone, InRun, Judge, Kept};
use crate::session::record::Record;
use crate::session::telling::{Lines, Screen};
use crate::session::tools::{Server, Toolbox};
use crate::session::{SessionLoop, Terms, texts};
use crate::spill::Spill;
use crate::terminal;

/// What a window holds where nothing is known of a model, in tokens.
const WINDOW: u64 = 128_000;
/// The longest task that is read.
const TASK_MAX: u64 = 4 * 1024 * 1024;

/// Work with the built-in agent: a model, a few tools, flyball's guards around them
///
/// With TASK it works until that is done and the gates are green, and exits; without it you talk with it
/// here. Ctrl-C ends its turn, twice the session. Which model: `[session]` in flyball.toml, or what the
/// environment has a key for.
///
/// Exit codes: 0 done, 2 blocked, 3 a decision is needed, 5 a budget is used up, 6 a guard ended it,
/// 7 the model cannot be used, 130 interrupted.
#[derive(Clone, Debug, Default, Args)]
pub struct SessionArgs {
    /// What is to be done; `-` reads it from standard input
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// Model to ask; sets `session.model`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Whose model; sets `session.provider`
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Ask before calls that change something, or skip that; sets `session.permission`
    #[arg(long, value_name = "HOW", value_parser = ["ask", "skip"])]
    pub permission: Option<String>,
    /// Tokens it may use; sets `limits.tokens`
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// US dollars it may use; sets `limits.cost_usd`
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Go on with an earlier session: its name, or the latest one here
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Print an earlier session, and start nothing
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["task", "resume"])]
    pub show: Option<String>,
    /// Tell it as a transcript: whole lines on standard output, no colours
    #[arg(long)]
    pub plain: bool,
    /// How it is told: text, or flyball's own protocol as JSON lines on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
}

impl SessionArgs {
    fn overrides(&self) -> Vec<Override> {
        let given = [
            ("session.model", self.model.clone().map(Value::Text), "--model"),
            ("session.provider", self.provider.clone().map(Value::Text), "--provider"),
            ("session.permission", self.permission.clone().map(Value::Text), "--permission"),
            ("limits.tokens", self.max_tokens.map(Value::Number), "--max-tokens"),
            ("limits.cost_usd", self.max_cost.map(Value::Money), "--max-cost"),
        ];
        let named = |(key, value, flag)| Some(Override { key, value: value?, flag });
        given.into_iter().filter_map(named).collect()
    }

    /// The task, wherever it stands.
    fn task(&self) -> Result<Option<String>, CliError> {
        if self.task.as_deref() != Some("-") {
            return Ok(self.task.clone());
        }
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .take(TASK_MAX)
            .read_to_string(&mut text)
            .map_err(|error| CliError::io("the task cannot be read").cause(error))?;
        Ok(Some(text))
    }

    fn is_protocol(&self) -> bool {
        self.format == Format::Json
    }
}

/// Talks until it is over.
pub fn run(args: &SessionArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    if let Some(wanted) = &args.show {
        return transcript::show(wanted, &globals.start_dir()?);
    }
    let ended = begin(args, globals);
    if let (true, Err(error)) = (args.is_protocol(), &ended) {
        // The run that reads this must not take it for a crash.
        if !matches!(error.kind, ErrorKind::Agent | ErrorKind::Config) {
            return ended;
        }
        let words: Vec<&String> = std::iter::once(&error.message).chain(&error.causes).collect();
        let message = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(": ");
        let line = json!({ "type": "error", "kind": "credentials", "message": message });
        terminal::write_out(&format!("{line}\n"))?;
    }
    ended
}

/// Everything a session needs that stays as it is.
struct Prepared {
    config: Config,
    policy: Policy,
    model: Model,
    ground: Ground,
    inbox: Inbox,
    talk: Talk,
}

fn begin(args: &SessionArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let door = RunSession::of_process("session");
    let prepared = Prepared::new(args, globals, door.as_ref())?;
    let Prepared { config, policy, model, ground, inbox, talk } = &prepared;
    let terms = prepared.terms();
    let (mut record, conversation, kept) = match door {
        Some(_) => (Record::elsewhere(), Conversation::default(), None),
        None => prepared.recorded(args.resume.as_deref())?,
    };
    let mut lines = Lines { is_counted: door.is_some() };
    let mut judge: Box<dyn Judge + '_> = if let Some(door) = door {
        Box::new(InRun::at(door))
    } else {
        let rules = (policy.clone(), config.session.stall_after);
        Box::new(Alone::new(rules, (ground, inbox), kept.as_ref()))
    };
    let toolbox = prepared.toolbox()?;
    let gates: Vec<String> = ground.gates()?.names().iter().map(ToString::to_string).collect();
    let system = texts::system(&ground.root, &gates);
    let mut screen =
        if args.plain { Screen::transcript() } else { Screen::new(globals.color.for_stderr()) };
    let agent = SubAgent::default();
    let mut session = SessionLoop {
        model,
        terms: &terms,
        toolbox: &toolbox,
        judge: &mut *judge,
        record: &mut record,
        teller: if args.is_protocol() { &mut lines } else { &mut screen },
        inbox,
        conversation,
        system: &system,
        tools: toolbox.definitions(&agent),
        agent,
        announced: BTreeMap::new(),
    };
    let ended = talk.hold(&mut session);
    record.close()?;
    ended
}

impl Prepared {
    fn new(
        args: &SessionArgs,
        globals: &Globals,
        door: Option<&RunSession>,
    ) -> Result<Self, CliError> {
        let config = config(args, globals, door)?;
        globals.warn(&config);
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Choice { settings, words, secrets } = choice::choose(&config.session, &variable)?;
        can_be_limited(&config, &settings.model)?;
        let model =
            Model::new(settings).map_err(|failure| CliError::config(failure.to_string()))?;
        let task = args.task()?;
        let is_terminal = std::io::stdin().is_terminal() && args.task.as_deref() != Some("-");
        let has_human = door.is_none() && !args.is_protocol() && is_terminal;
        let inbox = Inbox::open(match (has_human, &task) {
            (false, _) => Company::Nobody,
            (true, Some(_)) => Company::Watches,
            (true, None) => Company::Talks,
        })?;
        if door.is_none() {
            // The walls of what it starts stand around a folder that is there.
            Journal::open(&state_dir()?)?;
        }
        let ground = Ground::around(&globals.start_dir()?, config.clone(), &secrets)?;
        let policy = policy(&config)?;
        let talk = Talk { task, words, has_human, is_resumed: args.resume.is_some() };
        Ok(Self { config, policy, model, ground, inbox, talk })
    }

    fn terms(&self) -> Terms {
        let settings = &self.config.session;
        let prices = driver::prices(&self.config);
        let known = || prices.price(self.model.name()).and_then(|price| price.window);
        let window = settings.window.or_else(|| self.model.window()).or_else(known);
        Terms {
            window: Compaction {
                window: window.unwrap_or(WINDOW),
                at_percent: settings.compact_at,
            },
            max_tokens: settings.max_tokens,
            calls: self.policy.calls.clone(),
            // In a run its own setting was handed over as a flag.
            asks_leave: settings.permission == Permission::Ask,
            prices,
            retries: Retries::default(),
        }
    }

    /// The record of a session that begins, or of one that is taken up again.
    fn recorded(
        &self,
        resumed: Option<&str>,
    ) -> Result<(Record, Conversation, Option<Kept>), CliError> {
        let journal = Journal::open(&state_dir()?)?;
        if let Some(wanted) = resumed {
            let row = transcript::find(&journal, wanted, &self.ground.root)?;
            let (record, conversation, kept) = Record::resume(journal, &row)?;
            return Ok((record, conversation, Some(kept)));
        }
        let id = driver::new_run_id().to_string();
        let record = Record::begin(journal, &id, (&self.ground.root, self.model.name()))?;
        Ok((record, Conversation::default(), None))
    }

    fn toolbox(&self) -> Result<Toolbox<'_>, CliError> {
        let settings = &self.config.session;
        let start = |(name, command): (&String, &CommandLine)| {
            Server::start(name, &command.argv(), &self.ground)
        };
        let servers = settings.mcp.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let spill = Spill::of_process(&self.ground.loop_dir, clock::wall());
        let command_timeout = Duration::from_millis(settings.command_timeout.get());
        let limits = (self.policy.calls.clone(), command_timeout);
        let toolbox = Toolbox::on(&self.ground, spill, limits, self.inbox.running());
        Ok(toolbox.beside(servers))
    }
}

/// The settings: in a run, those it was started with, whatever its agent has written since.
fn config(
    args: &SessionArgs,
    globals: &Globals,
    door: Option<&RunSession>,
) -> Result<Config, CliError> {
    let mut sources = globals.sources()?;
    sources.overrides = args.overrides();
    let run = session_of_environment().filter(|_| door.is_some()).map(|(run, _)| run);
    let Some(run) = run else { return sources.load() };
    let gone = |error| CliError::io("the settings of this run cannot be read").cause(error);
    let record = RunRecord::load(&state_dir()?, &run).map_err(gone)?;
    let mut file = tempfile::NamedTempFile::new().map_err(gone)?;
    file.write_all(record.config.as_bytes()).map_err(gone)?;
    let project_file = Some(file.path().to_path_buf());
    Sources { project_file, user_file: None, is_record: true, ..sources }.load()
}

/// The rules: in a run, those of the run.
fn policy(config: &Config) -> Result<Policy, CliError> {
    let in_run = SessionContext::under_run()?;
    Ok(in_run.map_or_else(|| config.policy.clone(), |context| context.policy))
}

/// B4: a limit that could never fire is refused.
fn can_be_limited(config: &Config, model: &str) -> Result<(), CliError> {
    let limits = &config.policy.limits;
    let is_priced = driver::prices(config).price(model).is_some();
    if limits.cost_usd > 0.0 && !is_priced {
        let message = format!("a cost limit is set, but the price of `{model}` is unknown");
        return Err(CliError::config(message)
            .hint(format!("give [prices.\"{model}\"] in flyball.toml"))
            .hint("or limit tokens instead: --max-tokens"));
    }
    Ok(())
}
