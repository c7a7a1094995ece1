//! Which gates there are: those that were written down, or else those that fit the project, and
//! the verify commands of the task list. Never starts one.

use std::path::Path;

use flyball_core::{GateName, Millis};

use crate::config::{CommandLine, Config, GateCheck, default_timeout};
use crate::error::CliError;
use crate::project::{self, Programs};

/// Who wanted a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateSource {
    /// A `[[gates.check]]`.
    Configured,
    /// The project's kind.
    Detected,
    /// `verifyCommands` of the task list.
    VerifyCommand,
}

/// One gate, ready to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its name, unique.
    pub name: GateName,
    /// What is run.
    pub command: CommandLine,
    /// The folder it runs in, inside the repository; empty for its root.
    pub cwd: String,
    /// Variables that are set for it.
    pub env: Vec<(String, String)>,
    /// The files it is about; none means all.
    pub paths: Vec<String>,
    /// How often it is tried again when it is red.
    pub retry: u32,
    /// How long it may take.
    pub timeout: Millis,
    /// Gates that must be green first.
    pub needs: Vec<GateName>,
    /// Who wanted it.
    pub source: GateSource,
}

impl Gate {
    /// A gate with nothing but what every gate has, in the root and tried once.
    pub fn new(name: impl Into<String>, command: CommandLine, timeout: Millis) -> Self {
        Self {
            name: GateName::new(name),
            command,
            cwd: String::new(),
            env: Vec::new(),
            paths: Vec::new(),
            retry: 0,
            timeout,
            needs: Vec::new(),
            source: GateSource::Configured,
        }
    }

    /// What makes two gates the same check: what is run, not what it is called.
    pub fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        self.put_command(&mut hash);
        hash.finalize().to_hex().to_string()
    }

    fn put_command(&self, hash: &mut blake3::Hasher) {
        for word in self.command.argv() {
            hash.update(word.as_bytes()).update(&[0]);
        }
        hash.update(&[1]);
        if !self.cwd.is_empty() {
            hash.update(self.cwd.as_bytes()).update(&[3]);
        }
        for (name, value) in &self.env {
            hash.update(name.as_bytes()).update(&[4]).update(value.as_bytes()).update(&[5]);
        }
    }
}

/// All gates of a project, in order. Every gate that is needed is there, and none waits for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatePlan {
    gates: Vec<Gate>,
}

impl GatePlan {
    /// The gates of the project at `root`: configured ones replace detected ones, and the task
    /// list's commands come last.
    pub fn resolve(
        config: &Config,
        root: &Path,
        verify_commands: &[String],
    ) -> Result<Self, CliError> {
        Self::resolve_with(config, root, verify_commands, &Programs::on_path())
    }

    /// The same with these programs instead of those on PATH.
    pub fn resolve_with(
        config: &Config,
        root: &Path,
        verify_commands: &[String],
        programs: &Programs,
    ) -> Result<Self, CliError> {
        let mut gates: Vec<Gate> = if config.gates.checks.is_empty() {
            let detected = project::detect_with(root, programs).gates;
            detected.into_iter().map(detected_gate).collect()
        } else {
            config.gates.checks.iter().filter(|check| check.enabled).map(configured_gate).collect()
        };
        for (index, line) in verify_commands.iter().enumerate() {
            let command = CommandLine::Shell(line.trim().to_owned());
            let known = gates.iter().any(|gate| gate.command.to_string() == line.trim());
            if known || command.is_empty() {
                continue;
            }
            let name = format!("verify-{}", index.saturating_add(1));
            let timeout = default_timeout(&name);
            let source = GateSource::VerifyCommand;
            gates.push(Gate { source, ..Gate::new(name, command, timeout) });
        }
        Self::of(gates)
    }

    /// A plan of these gates, checked.
    pub fn of(gates: Vec<Gate>) -> Result<Self, CliError> {
        for (index, gate) in gates.iter().enumerate() {
            if gates.iter().take(index).any(|other| other.name == gate.name) {
                let message = format!("two gates are called `{}`", gate.name);
                return Err(CliError::config(message).hint("give one of them another name"));
            }
            let known = |need: &&GateName| gates.iter().any(|other| other.name == **need);
            if let Some(need) = gate.needs.iter().find(|need| !known(need)) {
                return Err(unknown_need(gate, need));
            }
        }
        no_cycle(&gates)?;
        Ok(Self { gates })
    }

    /// The gates, in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The gate of this name.
    pub fn gate(&self, name: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.name.as_str() == name)
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<GateName> {
        self.gates.iter().map(|gate| gate.name.clone()).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// A digest of names, commands, time limits and needs: equal for equal plans, on any machine.
    pub fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        for gate in &self.gates {
            hash.update(gate.name.as_str().as_bytes()).update(&[0]);
            gate.put_command(&mut hash);
            hash.update(&gate.timeout.get().to_le_bytes());
            for need in &gate.needs {
                hash.update(need.as_str().as_bytes()).update(&[0]);
            }
            for path in &gate.paths {
                hash.update(path.as_bytes()).update(&[6]);
            }
            if gate.retry > 0 {
                hash.update(&gate.retry.to_le_bytes()).update(&[7]);
            }
            hash.update(&[2]);
        }
        hash.finalize().to_hex().to_string()
    }

    /// These gates and all they need, for running only a part of the plan.
    pub(super) fn with_needs(&self, names: &[GateName]) -> Vec<GateName> {
        let mut wanted: Vec<GateName> = Vec::new();
        let mut open: Vec<GateName> = names.to_vec();
        while let Some(name) = open.pop() {
            let Some(gate) = self.gate(name.as_str()) else { continue };
            if !wanted.contains(&name) {
                open.extend(gate.needs.iter().cloned());
                wanted.push(name);
            }
        }
        wanted
    }
}

fn configured_gate(check: &GateCheck) -> Gate {
    Gate {
        cwd: check.cwd.clone(),
        env: check.env.clone(),
        paths: check.paths.clone(),
        retry: check.retry,
        needs: check.needs.iter().map(GateName::new).collect(),
        ..Gate::new(&*check.name, check.command.clone(), check.timeout)
    }
}

fn detected_gate(gate: project::DetectedGate) -> Gate {
    let command = CommandLine::Shell(gate.command);
    Gate { source: GateSource::Detected, ..Gate::new(gate.name, command, gate.timeout) }
}

fn unknown_need(gate: &Gate, need: &GateName) -> CliError {
    CliError::config(format!("gate `{}` needs `{need}`, and there is no such gate", gate.name))
        .hint(format!("enable or add `{need}`, or take it out of `needs` of `{}`", gate.name))
}

/// No gate waits for itself, directly or around corners.
fn no_cycle(gates: &[Gate]) -> Result<(), CliError> {
    let mut settled: Vec<&GateName> = Vec::new();
    loop {
        let waiting: Vec<&Gate> = gates.iter().filter(|g| !settled.contains(&&g.name)).collect();
        let ready = |gate: &&&Gate| gate.needs.iter().all(|need| settled.contains(&need));
        match waiting.iter().find(ready) {
            Some(gate) => settled.push(&gate.name),
            None if waiting.is_empty() => return Ok(()),
            None => {
                let names: Vec<String> = waiting.iter().map(|g| format!("`{}`", g.name)).collect();
                let message = format!("gates wait for each other: {}", names.join(", "));
                return Err(CliError::config(message).hint("take one of their `needs` away"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Sources;
    use crate::error::ErrorKind;

    fn project(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    fn resolve(dir: &TempDir, verify: &[&str]) -> Result<GatePlan, CliError> {
        let sources = Sources { root: dir.path().to_path_buf(), ..Sources::default() };
        let verify: Vec<String> = verify.iter().map(|line| (*line).to_owned()).collect();
        let programs = Programs::in_folders(["/bin".into(), "/usr/bin".into()]);
        GatePlan::resolve_with(&sources.load().unwrap(), dir.path(), &verify, &programs)
    }

    fn shown(plan: &GatePlan) -> Vec<String> {
        let gates = plan.gates().iter();
        gates.map(|gate| format!("{} = {}", gate.name, gate.command)).collect()
    }

    const MAKEFILE: (&str, &str) = ("Makefile", "test:\n\t./t\nlint:\n\t./l\n");

    #[test]
    fn configured_gates_replace_detected_ones() {
        let detected = resolve(&project(&[MAKEFILE]), &[]).unwrap();
        assert_eq!(shown(&detected), ["tests = make test", "lint = make lint"]);
        assert!(detected.gates().iter().all(|gate| gate.source == GateSource::Detected));
        let toml = "[[gates.check]]\nname = \"unit\"\ncommand = [\"sh\", \"a b\"]\n\
                    [[gates.check]]\nname = \"off\"\ncommand = \"false\"\nenabled = false\n";
        let dir = project(&[MAKEFILE, ("flyball.toml", toml)]);
        let configured = resolve(&dir, &[]).unwrap();
        assert_eq!(shown(&configured), ["unit = sh 'a b'"]);
        assert_ne!(configured.digest(), detected.digest());
        assert_eq!(configured.digest(), resolve(&dir, &[]).unwrap().digest());
    }

    #[test]
    fn all_gates_disabled_is_a_plan_without_gates() {
        let toml = "[[gates.check]]\nname = \"off\"\ncommand = \"false\"\nenabled = false\n";
        let plan = resolve(&project(&[MAKEFILE, ("flyball.toml", toml)]), &[]).unwrap();
        assert!(plan.is_empty());
    }

    #[test]
    fn verify_commands_are_further_gates_unless_they_are_there_already() {
        let dir = project(&[MAKEFILE]);
        let plan = resolve(&dir, &["make test", "  ", "./check.sh", "./more.sh"]).unwrap();
        let names: Vec<String> = plan.names().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["tests", "lint", "verify-3", "verify-4"]);
        assert_eq!(plan.gate("verify-3").unwrap().source, GateSource::VerifyCommand);
    }

    #[test]
    fn a_need_for_a_disabled_gate_is_a_wrong_setting() {
        let toml = "[[gates.check]]\nname = \"a\"\ncommand = \"true\"\nneeds = [\"b\"]\n\
                    [[gates.check]]\nname = \"b\"\ncommand = \"true\"\nenabled = false\n";
        let error = resolve(&project(&[("flyball.toml", toml)]), &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        assert_eq!(error.message, "gate `a` needs `b`, and there is no such gate");
    }

    fn gate(name: &str, needs: &[&str]) -> Gate {
        let command = CommandLine::Shell("true".to_owned());
        Gate {
            needs: needs.iter().map(|need| GateName::new(*need)).collect(),
            ..Gate::new(name, command, Millis::from_secs(1))
        }
    }

    #[test]
    fn gates_must_not_wait_for_each_other_or_share_a_name() {
        let cycle = vec![gate("a", &["b"]), gate("b", &["c"]), gate("c", &["b"]), gate("d", &[])];
        let error = GatePlan::of(cycle).unwrap_err();
        assert_eq!(error.message, "gates wait for each other: `a`, `b`, `c`");
        assert_eq!(GatePlan::of(vec![gate("a", &["a"])]).unwrap_err().kind, ErrorKind::Config);
        let twice = GatePlan::of(vec![gate("a", &[]), gate("a", &[])]).unwrap_err();
        assert_eq!(twice.message, "two gates are called `a`");
    }

    #[test]
    fn a_part_of_the_plan_brings_what_it_needs() {
        let plan =
            GatePlan::of(vec![gate("a", &[]), gate("b", &["a"]), gate("c", &["b"])]).unwrap();
        let mut part = plan.with_needs(&[GateName::new("b"), GateName::new("nobody")]);
        part.sort();
        assert_eq!(part, [GateName::new("a"), GateName::new("b")]);
    }

    #[test]
    fn the_digest_tells_all_plans_apart_that_differ() {
        let base = gate("a", &[]);
        let of = |gate: Gate| GatePlan::of(vec![gate]).unwrap().digest();
        let argv = CommandLine::Argv(vec!["true".to_owned()]);
        let others = [
            Gate { name: GateName::new("b"), ..base.clone() },
            Gate { command: argv, ..base.clone() },
            Gate { timeout: Millis::from_secs(2), ..base.clone() },
            Gate { cwd: "web".to_owned(), ..base.clone() },
            Gate { env: vec![("A".to_owned(), "1".to_owned())], ..base.clone() },
            Gate { paths: vec!["web".to_owned()], ..base.clone() },
            Gate { retry: 1, ..base.clone() },
        ];
        for other in others {
            assert_ne!(of(base.clone()), of(other.clone()), "{other:?}");
        }
        assert_eq!(base.digest(), Gate { name: GateName::new("b"), ..base.clone() }.digest());
    }
}
