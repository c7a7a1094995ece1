//! Every setting there is: its name, what may stand there, and who reads it. Holds no defaults:
//! those are in `default.toml`.

use super::sandbox;
use crate::client::registry;

/// What may stand for a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number that fits 32 bits.
    Count,
    /// A whole number.
    Size,
    /// A number of bytes, or a size such as `50MB`.
    Bytes,
    /// A span of time.
    Duration,
    /// US dollars.
    Money,
    /// Yes or no.
    Flag,
    /// Any string.
    Text,
    /// A string that is not empty.
    Name,
    /// A path inside the repository.
    InnerPath,
    /// An `http` or `https` address, or nothing.
    Address,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Strings.
    Words,
    /// A program with its arguments, or a line for the shell.
    Command,
    /// Numbers of ports.
    Ports,
    /// The `[[gates.check]]` tables.
    Checks,
}

/// Who reads a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The decisions: part of the core's `Rules`.
    Policy,
    /// The deeds.
    Shell,
    /// Nobody any more: it is still read, and a warning says so. It has no default.
    Nobody,
}

/// One setting. A part `*` of the key stands for any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name with dots.
    pub key: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// Who reads it.
    pub reader: Reader,
}

const PROMPT: &[&str] = &["auto", "stdin", "argument", "file"];
const HALT_OR_NEXT: &[&str] = &["halt", "next"];
const PRESETS: &[&str] = &["conservative", "recommended", "aggressive"];

const fn policy(key: &'static str, kind: Kind) -> Setting {
    Setting { key, kind, reader: Reader::Policy }
}

const fn shell(key: &'static str, kind: Kind) -> Setting {
    Setting { key, kind, reader: Reader::Shell }
}

/// All settings in the order they are shown.
pub const SETTINGS: &[Setting] = &[
    shell("agent.name", Kind::Name),
    shell("agent.command", Kind::Command),
    shell("agent.program", Kind::Text),
    shell("agent.args", Kind::Words),
    shell("agent.prompt", Kind::Choice(PROMPT)),
    shell("agent.output", Kind::Choice(registry::OUTPUTS)),
    shell("agent.steer", Kind::Flag),
    shell("agent.wrapper", Kind::Words),
    shell("agent.stop_command", Kind::Command),
    shell("agent.model", Kind::Text),
    shell("agent.permission", Kind::Choice(&["skip", "ask"])),
    shell("agent.fallback", Kind::Words),
    shell("agent.env.*", Kind::Text),
    shell("agents.*.command", Kind::Command),
    shell("agents.*.program", Kind::Text),
    shell("agents.*.args", Kind::Words),
    shell("agents.*.prompt", Kind::Choice(PROMPT)),
    shell("agents.*.output", Kind::Choice(registry::OUTPUTS)),
    shell("agents.*.model", Kind::Text),
    shell("agents.*.permission", Kind::Choice(&["skip", "ask"])),
    shell("agents.*.env.*", Kind::Text),
    shell("roles.review", Kind::Text),
    shell("roles.plan", Kind::Text),
    shell("roles.rescue", Kind::Text),
    shell("roles.fallback", Kind::Words),
    policy("limits.iterations", Kind::Count),
    policy("limits.stuck", Kind::Count),
    policy("limits.runtime", Kind::Duration),
    policy("limits.tokens", Kind::Size),
    policy("limits.cost_usd", Kind::Money),
    policy("limits.iteration_timeout", Kind::Duration),
    policy("limits.stall_after", Kind::Duration),
    policy("limits.wait", Kind::Duration),
    policy("limits.stop_grace", Kind::Duration),
    policy("calls.nudge_after", Kind::Count),
    policy("calls.nudge_after_success", Kind::Count),
    policy("calls.refuse_after", Kind::Count),
    policy("calls.refuse_after_changing", Kind::Count),
    policy("calls.account", Kind::Flag),
    policy("calls.max_refusals", Kind::Count),
    policy("calls.max_validation_failures", Kind::Count),
    policy("calls.max_consecutive_failures", Kind::Count),
    policy("calls.large_response", Kind::Size),
    policy("calls.preview", Kind::Size),
    Setting { key: "calls.polling", kind: Kind::Words, reader: Reader::Nobody },
    policy("calls.free_text", Kind::Words),
    policy("iterations.circuit_breaker", Kind::Count),
    policy("iterations.regression_window", Kind::Count),
    policy("iterations.thrashing", Kind::Count),
    policy("iterations.gate_refusals", Kind::Count),
    policy("iterations.on_session_halt", Kind::Choice(&["restart", "stop"])),
    policy("iterations.progress", Kind::Choice(&["commit", "tree"])),
    policy("iterations.on_stuck", Kind::Choice(HALT_OR_NEXT)),
    policy("iterations.on_blocked", Kind::Choice(HALT_OR_NEXT)),
    policy("iterations.trust_claims", Kind::Flag),
    shell("tasks.file", Kind::InnerPath),
    shell("tasks.preset", Kind::Choice(PRESETS)),
    policy("tasks.max_attempts", Kind::Count),
    policy("tasks.attempt_window", Kind::Duration),
    policy("tasks.auto_unblock", Kind::Flag),
    policy("tasks.max_attempts_before_force_next", Kind::Count),
    policy("tasks.force_next_marks", Kind::Choice(&["set_aside", "done"])),
    policy("review.enabled", Kind::Flag),
    policy("review.cap", Kind::Count),
    policy("gates.backpressure", Kind::Flag),
    policy("gates.baseline", Kind::Choice(&["block", "ignore"])),
    policy("gates.on_tamper", Kind::Choice(&["ask", "refuse", "report"])),
    policy("gates.may_change", Kind::Words),
    policy("gates.stop_refusals", Kind::Count),
    shell("gates.parallel", Kind::Flag),
    shell("gates.check", Kind::Checks),
    shell("notify.to", Kind::Words),
    shell("notify.command", Kind::Command),
    shell("notify.webhook", Kind::Address),
    shell("notify.timeout", Kind::Duration),
    shell("notify.quiet_on_success", Kind::Flag),
    shell("finish.command", Kind::Command),
    shell("finish.timeout", Kind::Duration),
    shell("worktree.setup", Kind::Words),
    shell("worktree.timeout", Kind::Duration),
    shell("hooks.on_error", Kind::Choice(&["open", "closed"])),
    shell("hooks.timeout", Kind::Duration),
    shell("checkpoints.vault", Kind::Flag),
    shell("checkpoints.max_file", Kind::Bytes),
    shell("sandbox.shield", Kind::Choice(sandbox::SHIELDS)),
    shell("sandbox.profile", Kind::Choice(sandbox::PROFILES)),
    shell("sandbox.write", Kind::Words),
    shell("sandbox.hide", Kind::Words),
    shell("sandbox.show", Kind::Words),
    shell("sandbox.allow_hosts", Kind::Words),
    shell("sandbox.loopback", Kind::Ports),
    shell("sandbox.keep_env", Kind::Words),
    shell("sandbox.nested", Kind::Flag),
    shell("session.provider", Kind::Text),
    shell("session.model", Kind::Text),
    shell("session.base_url", Kind::Address),
    shell("session.key_env", Kind::Text),
    shell("session.key_command", Kind::Command),
    shell("session.max_tokens", Kind::Count),
    shell("session.window", Kind::Size),
    shell("session.compact_at", Kind::Count),
    shell("session.permission", Kind::Choice(&["ask", "skip"])),
    shell("session.command_timeout", Kind::Duration),
    shell("session.stall_after", Kind::Duration),
    shell("session.first_byte", Kind::Duration),
    shell("session.mcp.*", Kind::Command),
    shell("log.max_bytes", Kind::Size),
    shell("report.file", Kind::Text),
    shell("otel.content", Kind::Flag),
    shell("loop.dir", Kind::InnerPath),
    shell("prices.*.input_usd_per_mtok", Kind::Money),
    shell("prices.*.output_usd_per_mtok", Kind::Money),
];

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A setting.
    Setting(&'static Setting),
    /// A table that holds settings.
    Section,
    /// Nothing.
    Unknown,
}

/// What stands at this path.
pub fn place(path: &[&str]) -> Place {
    let mut place = Place::Unknown;
    for setting in SETTINGS {
        let below = path.iter().try_fold(setting.key, |rest, name| without_part(rest, name));
        match below {
            Some("") => return Place::Setting(setting),
            Some(_) => place = Place::Section,
            None => {}
        }
    }
    place
}

/// A setting's name without its first part, when that is this one. Every reading of the config asks
/// this some thousand times.
fn without_part<'a>(key: &'a str, name: &str) -> Option<&'a str> {
    let rest = match key.strip_prefix('*') {
        Some(rest) => rest,
        None => key.strip_prefix(name).filter(|_| !name.contains('.'))?,
    };
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// The names that may stand right below this path, each once.
pub fn names_below(path: &[&str]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for setting in SETTINGS {
        let mut parts = setting.key.split('.');
        let under = path.iter().all(|name| parts.next().is_some_and(|p| p == "*" || p == *name));
        if let Some(next) = parts.next().filter(|next| under && *next != "*")
            && !names.contains(&next)
        {
            names.push(next);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_setting_a_section_or_nothing() {
        assert!(matches!(place(&["limits", "stuck"]), Place::Setting(s) if s.kind == Kind::Count));
        assert!(matches!(place(&["agent", "env", "ANY"]), Place::Setting(_)));
        assert_eq!(place(&["prices", "any-1.0"]), Place::Section);
        assert_eq!(place(&["limits", "stuk"]), Place::Unknown);
        assert_eq!(place(&["limits", "stuck", "more"]), Place::Unknown);
        assert_eq!(place(&["limits.stuck"]), Place::Unknown);
        assert_eq!(place(&["limit"]), Place::Unknown);
        assert_eq!(place(&[""]), Place::Unknown);
    }

    #[test]
    fn names_below_a_path_are_listed_once() {
        assert!(names_below(&[]).contains(&"limits"));
        assert_eq!(names_below(&["review"]), ["enabled", "cap"]);
        assert_eq!(names_below(&["prices", "m"]), ["input_usd_per_mtok", "output_usd_per_mtok"]);
    }
}
