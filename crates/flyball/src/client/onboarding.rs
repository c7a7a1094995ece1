//! How each client comes onto a machine and into an account, for people who have neither.

/// How one client is installed and logged in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onboarding {
    /// What to type to have it.
    pub(crate) install: &'static str,
    /// What to do to be logged in.
    pub(crate) login: &'static str,
}

/// How the client of this name is installed and logged in.
pub(crate) fn of(client: &str) -> Option<Onboarding> {
    let (install, login) = match client {
        "claude" => (
            "npm install -g @anthropic-ai/claude-code",
            "start `claude` and type /login, or set ANTHROPIC_API_KEY",
        ),
        "codex" => ("npm install -g @openai/codex", "codex login, or set CODEX_API_KEY"),
        "gemini" => (
            "npm install -g @google/gemini-cli",
            "start `gemini` and choose how to log in, or set GEMINI_API_KEY and choose it there",
        ),
        "opencode" => ("npm install -g opencode-ai", "opencode auth login"),
        "qwen" => (
            "npm install -g @qwen-code/qwen-code",
            "start `qwen` and log in, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
        ),
        "goose" => ("npm install -g @aaif/goose-acp", "goose configure"),
        "copilot" => {
            ("npm install -g @github/copilot", "start `copilot` and type /login, or set GH_TOKEN")
        }
        "pi" => (
            "npm install -g @mariozechner/pi-coding-agent",
            "start `pi` and type /login, or set ANTHROPIC_API_KEY",
        ),
        "cline" => ("npm install -g cline", "cline auth"),
        "session" => (
            "nothing to install: it is part of flyball",
            "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or [session] in flyball.toml",
        ),
        "aider" => ("pip install aider-chat", "set the key of your model, such as OPENAI_API_KEY"),
        _ => return None,
    };
    Some(Onboarding { install, login })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_says_how_it_is_installed_and_logged_in() {
        for name in crate::client::registry::NAMES {
            let known = of(name).unwrap();
            assert!(!known.install.is_empty() && !known.login.is_empty(), "{name}");
        }
        assert!(of("my-own").is_none());
    }
}
