//! What a session can do: few tools, each with a schema its arguments are checked against. Nothing here
//! judges; whether a call is made was decided before.

mod catalogue;
mod command;
mod done;
mod edit;
mod mcp;
mod place;
mod read;
mod search;

use std::path::PathBuf;
use std::time::Duration;

use flyball_core::SubAgent;
use flyball_core::call::{ValidationFailure, ValidationKind, check_arguments, mutates};
use flyball_core::policy::CallRules;
use flyball_models::{Arguments, Call, Tool};
use serde_json::Value;

use self::catalogue::{EDIT, LIST, READ, SEARCH, WRITE, definitions};
pub(crate) use self::catalogue::{RUN, TASK};
pub(crate) use self::command::Running;
pub(crate) use self::done::{Change, Done};
pub(crate) use self::mcp::Server;
use self::place::Places;
use super::ground::Ground;
use crate::spill::Spill;

/// What a session works with.
pub(crate) struct Toolbox<'g> {
    ground: &'g Ground,
    places: Places,
    spill: Spill,
    rules: CallRules,
    /// How long a command runs unless the model asks for another time.
    command_timeout: Duration,
    running: Running,
    /// Servers whose tools are tools of the session.
    servers: Vec<Server>,
}

impl<'g> Toolbox<'g> {
    /// The tools on this ground.
    pub(crate) fn on(
        ground: &'g Ground,
        spill: Spill,
        (rules, command_timeout): (CallRules, Duration),
        running: Running,
    ) -> Self {
        let places = Places::new(&ground.root, spill.folder());
        let servers = Vec::new();
        Self { ground, places, spill, rules, command_timeout, running, servers }
    }

    /// With the tools of these servers.
    #[must_use]
    pub(crate) fn beside(mut self, servers: Vec<Server>) -> Self {
        self.servers = servers;
        self
    }

    /// The tools a model is told of; a sub-agent cannot have sub-agents of its own.
    pub(crate) fn definitions(&self, agent: &SubAgent) -> Vec<Tool> {
        let is_main = agent.as_str().is_empty();
        let own = definitions().into_iter().filter(|tool| is_main || tool.name != TASK);
        let others = self.servers.iter().flat_map(Server::tools);
        own.chain(others.cloned()).collect()
    }

    /// The arguments of a call, if it is one of a tool there is and they fit (A4).
    pub(crate) fn arguments<'c>(
        tools: &[Tool],
        call: &'c Call,
    ) -> Result<&'c Value, ValidationFailure> {
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            let expected = format!("one of {}", names.join(", "));
            let error = format!("there is no tool `{}`", call.name);
            let kind = ValidationKind::UnknownTool;
            return Err(ValidationFailure::new(kind, expected, &call.name, error));
        };
        match &call.arguments {
            Arguments::Json(args) => check_arguments(&tool.schema, args).map(|()| args),
            Arguments::Invalid { text, error } => {
                let (kind, expected) =
                    (ValidationKind::UnparseableJson, "arguments as a JSON object");
                Err(ValidationFailure::new(kind, expected, text, error.clone()))
            }
        }
    }

    /// Whether a call changes files (A3), or may.
    pub(crate) fn changes_files(name: &str, args: &Value) -> bool {
        match name {
            EDIT | WRITE => true,
            RUN => text(args, "command").is_some_and(mutates),
            _ => false,
        }
    }

    /// Whether a human wants to be asked before it.
    pub(crate) fn needs_leave(name: &str) -> bool {
        !matches!(name, READ | LIST | SEARCH | TASK)
    }

    /// Makes a call whose arguments were checked.
    pub(crate) fn perform(&self, name: &str, args: &Value) -> Done {
        let done = match name {
            RUN => self.run(args),
            READ => read::read(&self.places, args),
            LIST => read::list(&self.places, args),
            EDIT => edit::edit(&self.places, args),
            WRITE => edit::write(&self.places, args),
            SEARCH => search::search(self.ground, &self.places, args),
            other => self.ask_server(other, args),
        };
        done.unwrap_or_else(Done::failed)
    }

    /// What the model gets for a result (A7).
    pub(crate) fn bounded(&self, done: &Done) -> String {
        if let Some(spilled) = &done.spilled {
            return spilled.clone();
        }
        let large = self.spill.large(&self.rules, &done.text);
        large.map_or_else(|| done.text.clone(), crate::spill::Spilled::into_text)
    }

    fn ask_server(&self, name: &str, args: &Value) -> Result<Done, String> {
        let own = self.servers.iter().find_map(|server| Some((server, server.own(name)?)));
        let (server, tool) = own.ok_or_else(|| format!("there is no tool `{name}`"))?;
        Ok(server.call(tool, args, self.command_timeout))
    }

    fn run(&self, args: &Value) -> Result<Done, String> {
        let asked = args.get("timeout_secs").and_then(Value::as_u64);
        let limit = asked.map_or(self.command_timeout, Duration::from_secs);
        let line = text(args, "command").unwrap_or_default();
        let order = command::Order { line, limit, ground: self.ground };
        command::run(&order, (&self.spill, &self.rules), &self.running)
    }
}

/// A text of the arguments.
pub(crate) fn text<'a>(args: &'a Value, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}

/// A path as the model gives it.
fn path(args: &Value) -> PathBuf {
    PathBuf::from(text(args, "path").unwrap_or_default())
}
