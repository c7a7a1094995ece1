//! Which model: as the settings say, else by what the environment has a key for; in either case it is
//! said out loud.

use std::time::Duration;

use flyball_models::{Key, Service, Settings, Usage, service, services};

use crate::client::prices::Price;
use crate::config::SessionSettings;
use crate::error::CliError;
use crate::process;

/// Services that are looked for, in this order, and the model each is asked for.
const LOOKED_FOR: [(&str, &str); 4] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("openai", "gpt-5"),
    ("gemini", "gemini-2.5-pro"),
    ("ollama", ""),
];

/// How long a command that prints a key may take.
const KEY_TIME_MAX: Duration = Duration::from_secs(30);

/// A model that was chosen.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) settings: Settings,
    /// Whose it is, and where it was found, in words.
    pub(crate) words: String,
    /// Variables that hold keys.
    pub(crate) secrets: Vec<String>,
}

/// What is looked up.
type Variable<'v> = &'v dyn Fn(&str) -> Option<String>;

/// The service the environment has a key for, and the variable that says so.
pub(crate) fn found(variable: Variable<'_>) -> Option<(&'static Service, String)> {
    LOOKED_FOR.iter().find_map(|(name, _)| {
        let known = service(name)?;
        let place = url_variable(name).filter(|_| known.key_variables.is_empty());
        let mut names = known.key_variables.iter().copied().chain(place);
        let set = names.find(|name| variable(name).is_some())?;
        Some((known, set.to_owned()))
    })
}

/// Chooses a model.
pub(crate) fn choose(wanted: &SessionSettings, variable: Variable<'_>) -> Result<Choice, CliError> {
    let (service, found_by) = match &wanted.provider {
        Some(name) => (named(name)?, "session.provider".to_owned()),
        None => found(variable).ok_or_else(no_key)?,
    };
    let default = LOOKED_FOR.iter().find(|(name, _)| *name == service.name);
    let default = default.map(|(_, model)| *model).filter(|model| !model.is_empty());
    let model = wanted.model.as_deref().or(default).ok_or_else(|| {
        CliError::config(format!("no model is named for `{}`", service.name))
            .hint("flyball session --model NAME, or set `session.model`")
    })?;
    let (key, mut secrets) = key(wanted, service, variable)?;
    secrets.extend(service.key_variables.iter().map(|name| (*name).to_owned()));
    let mut settings = Settings::of(service, model, key);
    if let Some(url) = url(wanted, service, variable) {
        settings.url = url;
    }
    let millis = |span: flyball_core::Millis| Duration::from_millis(span.get());
    settings.limits.first_byte = millis(wanted.first_byte);
    settings.limits.between_bytes = millis(wanted.stall_after);
    let words = format!("{model} of {} (by {found_by})", service.name);
    Ok(Choice { settings, words, secrets })
}

/// What an answer cost by a price; nothing where none is known.
pub(crate) fn cost(price: Option<Price>, usage: &Usage) -> f64 {
    let Some(price) = price else { return 0.0 };
    let cached = price.cache_read.unwrap_or(price.input);
    let written = price.cache_write.unwrap_or(price.input);
    let parts = [
        (usage.input, price.input),
        (usage.cache_read, cached),
        (usage.cache_write, written),
        (usage.output, price.output),
    ];
    #[expect(clippy::cast_precision_loss, reason = "tokens of one answer")]
    let part = |(tokens, usd): (u64, f64)| tokens as f64 * usd / 1e6;
    parts.into_iter().map(part).sum()
}

fn named(name: &str) -> Result<&'static Service, CliError> {
    service(name).ok_or_else(|| {
        let known: Vec<&str> = services().iter().map(|service| service.name).collect();
        CliError::config(format!("there is no provider `{name}`"))
            .hint(format!("known: {}", known.join(", ")))
    })
}

/// The key, and the variables it may be in.
fn key(
    wanted: &SessionSettings,
    service: &Service,
    variable: Variable<'_>,
) -> Result<(Key, Vec<String>), CliError> {
    let refused = |error: &dyn std::fmt::Display| {
        CliError::agent(format!("there is no key for `{}`: {error}", service.name))
    };
    if let Some(command) = &wanted.key_command {
        let argv = command.argv();
        let (program, args) = argv.split_first().map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
        let shown = command.to_string();
        let output = process::ask_briefly(program, args, &[], KEY_TIME_MAX)
            .ok_or_else(|| refused(&format!("`{shown}` (session.key_command) printed none")))?;
        let key = Key::from_output(&shown, output.as_bytes()).map_err(|error| refused(&error))?;
        return Ok((key, Vec::new()));
    }
    if let Some(name) = &wanted.key_env {
        let text = variable(name)
            .ok_or_else(|| refused(&format!("`{name}` (session.key_env) is not set")))?;
        let key = Key::new(&text, &format!("`{name}`")).map_err(|error| refused(&error))?;
        return Ok((key, vec![name.clone()]));
    }
    let is_local = service.key_variables.is_empty() || wanted.base_url.is_some();
    let set = service.key_variables.iter().find_map(|name| Some((name, variable(name)?)));
    match set {
        Some((name, text)) => {
            let key = Key::new(&text, &format!("`{name}`")).map_err(|error| refused(&error))?;
            Ok((key, Vec::new()))
        }
        None if is_local => Ok((Key::none(), Vec::new())),
        None => {
            let names = service.key_variables.join(" or ");
            Err(refused(&format!("{names} is not set"))
                .hint(format!("export {}=…", service.key_variables.first().unwrap_or(&"")))
                .hint("or set `session.key_command` in ~/.config/flyball/config.toml to a program that prints it"))
        }
    }
}

/// Where the service is, when it is not where everybody's is.
fn url(wanted: &SessionSettings, service: &Service, variable: Variable<'_>) -> Option<String> {
    if wanted.base_url.is_some() {
        return wanted.base_url.clone();
    }
    let found = variable(url_variable(service.name)?)?;
    if service.name != "ollama" {
        return Some(found);
    }
    // OLLAMA_HOST is what the server listens on: a host, with or without a port.
    let found = found.trim_end_matches('/');
    let whole = if found.contains("://") { found.to_owned() } else { format!("http://{found}") };
    let has_port = whole.rsplit_once("//").is_some_and(|(_, host)| host.contains(':'));
    let whole = if has_port { whole } else { format!("{whole}:11434") };
    Some(if whole.ends_with("/v1") { whole } else { format!("{whole}/v1") })
}

fn url_variable(service: &str) -> Option<&'static str> {
    match service {
        "anthropic" => Some("ANTHROPIC_BASE_URL"),
        "openai" | "openai-chat" => Some("OPENAI_BASE_URL"),
        "gemini" => Some("GOOGLE_GEMINI_BASE_URL"),
        "ollama" => Some("OLLAMA_HOST"),
        _ => None,
    }
}

fn no_key() -> CliError {
    CliError::agent("no model can be asked: there is no key in the environment")
        .hint("export ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
        .hint("or OLLAMA_HOST with --model for a model on this machine")
        .hint("or set [session] in ~/.config/flyball/config.toml: provider, model, key_command")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;
    use crate::error::ErrorKind;

    fn settings() -> SessionSettings {
        Sources::default().load().unwrap().session
    }

    fn chosen(wanted: &SessionSettings, set: &[(&str, &str)]) -> Result<Choice, CliError> {
        choose(wanted, &|name| {
            let found = set.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn the_first_key_of_the_environment_says_which_model() {
        type Set = &'static [(&'static str, &'static str)];
        let cases: [(Set, &str, &str); 4] = [
            (
                &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")],
                "claude-sonnet-4-5 of anthropic (by ANTHROPIC_API_KEY)",
                "https://api.anthropic.com",
            ),
            (
                &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://here/v1")],
                "gpt-5 of openai (by OPENAI_API_KEY)",
                "http://here/v1",
            ),
            (
                &[("GOOGLE_API_KEY", "k")],
                "gemini-2.5-pro of gemini (by GOOGLE_API_KEY)",
                "https://generativelanguage.googleapis.com",
            ),
            (
                &[("OLLAMA_HOST", "box"), ("GEMINI_API_KEY", "k")],
                "gemini-2.5-pro of gemini (by GEMINI_API_KEY)",
                "https://generativelanguage.googleapis.com",
            ),
        ];
        for (set, words, url) in cases {
            let choice = chosen(&settings(), set).unwrap();
            assert_eq!((choice.words.as_str(), choice.settings.url.as_str()), (words, url));
        }
        let none = chosen(&settings(), &[]).unwrap_err();
        assert_eq!(none.kind, ErrorKind::Agent);
        let unnamed = chosen(&settings(), &[("OLLAMA_HOST", "box")]).unwrap_err();
        assert_eq!(unnamed.kind, ErrorKind::Config);
    }

    #[test]
    fn a_host_of_ollamas_is_written_in_many_ways() {
        let wanted = SessionSettings { model: Some("m".to_owned()), ..settings() };
        for (host, url) in [
            ("box", "http://box:11434/v1"),
            ("127.0.0.1:99", "http://127.0.0.1:99/v1"),
            ("https://box:99/", "https://box:99/v1"),
            ("http://box:99/v1", "http://box:99/v1"),
        ] {
            let choice = chosen(&wanted, &[("OLLAMA_HOST", host)]).unwrap();
            assert_eq!(choice.settings.url, url);
        }
    }

    #[test]
    fn what_is_set_is_obeyed_and_what_is_missing_is_named() {
        let wanted = |provider: &str| SessionSettings {
            provider: Some(provider.to_owned()),
            model: Some("m".to_owned()),
            ..settings()
        };
        let error = chosen(&wanted("nobody"), &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        let error = chosen(&wanted("openrouter"), &[]).unwrap_err();
        assert!(error.message.contains("OPENROUTER_API_KEY is not set"), "{}", error.message);
        assert!(chosen(&wanted("vllm"), &[]).is_ok(), "a server of one's own needs no key");
        let named = SessionSettings { key_env: Some("MINE".to_owned()), ..wanted("anthropic") };
        let error = chosen(&named, &[("ANTHROPIC_API_KEY", "k")]).unwrap_err();
        assert!(error.message.contains("`MINE` (session.key_env) is not set"));
        let choice = chosen(&named, &[("MINE", "k")]).unwrap();
        assert!(choice.secrets.contains(&"MINE".to_owned()));
        assert!(choice.secrets.contains(&"ANTHROPIC_API_KEY".to_owned()));
    }
}
