//! What each client needs of the machine, for those that are held in a sandbox: the folders it
//! writes, the hosts it asks, the variables it reads its key from, and where its credentials lie,
//! which are nobody else's business.

use super::registry;

/// What one client needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// Folders it writes to.
    pub(crate) folders: &'static [&'static str],
    /// Hosts of its models.
    pub(crate) hosts: &'static [&'static str],
    /// Variables that hold its key.
    pub(crate) variables: &'static [&'static str],
    /// Files and folders with its credentials.
    pub(crate) credentials: &'static [&'static str],
}

/// What the client of this name needs; a program nobody knows needs nothing special.
#[expect(clippy::too_many_lines, reason = "a table: one arm per case")]
pub(crate) fn of(client: &str) -> Needs {
    match client {
        "claude" => Needs {
            folders: &["~/.claude"],
            hosts: &["api.anthropic.com", "*.anthropic.com", "claude.ai", "*.claude.ai"],
            variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            credentials: &["~/.claude/.credentials.json"],
        },
        "codex" => Needs {
            folders: &["~/.codex"],
            hosts: &["api.openai.com", "auth.openai.com", "chatgpt.com", "*.chatgpt.com"],
            variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
            credentials: &["~/.codex/auth.json"],
        },
        "gemini" => Needs {
            folders: &["~/.gemini"],
            hosts: &["*.googleapis.com", "accounts.google.com"],
            variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            credentials: &["~/.gemini/oauth_creds.json"],
        },
        "qwen" => Needs {
            folders: &["~/.qwen"],
            hosts: &["chat.qwen.ai", "portal.qwen.ai", "*.aliyuncs.com"],
            variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
            credentials: &["~/.qwen/oauth_creds.json"],
        },
        "opencode" => Needs {
            folders: &[
                "~/.local/share/opencode",
                "~/.config/opencode",
                "~/.local/state/opencode",
                "~/.cache/opencode",
            ],
            hosts: &[
                "opencode.ai",
                "*.opencode.ai",
                "models.dev",
                "api.anthropic.com",
                "api.openai.com",
            ],
            variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            credentials: &["~/.local/share/opencode/auth.json"],
        },
        "goose" => Needs {
            folders: &["~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"],
            hosts: &["api.anthropic.com", "api.openai.com", "openrouter.ai"],
            variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            credentials: &["~/.config/goose/secrets.yaml"],
        },
        "copilot" => Needs {
            // It unpacks itself into the second one.
            folders: &["~/.copilot", "~/.cache/copilot"],
            hosts: &["api.github.com", "*.githubcopilot.com", "github.com"],
            variables: &["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN"],
            credentials: &["~/.copilot/config.json"],
        },
        "pi" => Needs {
            folders: &["~/.pi"],
            hosts: &["api.anthropic.com", "api.openai.com", "openrouter.ai"],
            variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            credentials: &["~/.pi/agent/auth.json"],
        },
        "cline" => Needs {
            folders: &["~/.cline"],
            hosts: &["api.cline.bot", "api.anthropic.com", "api.openai.com", "openrouter.ai"],
            variables: &[
                "CLINE_API_KEY",
                "ANTHROPIC_API_KEY",
                "OPENAI_API_KEY",
                "OPENROUTER_API_KEY",
            ],
            credentials: &["~/.cline/data/secrets.json"],
        },
        "aider" => Needs {
            folders: &["~/.aider"],
            hosts: &["api.anthropic.com", "api.openai.com", "openrouter.ai"],
            variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            credentials: &["~/.aider/oauth-keys.env"],
        },
        // It keeps nothing of its own anywhere.
        "session" => Needs {
            folders: &[],
            hosts: &[
                "api.anthropic.com",
                "api.openai.com",
                "generativelanguage.googleapis.com",
                "openrouter.ai",
            ],
            variables: &[
                "ANTHROPIC_API_KEY",
                "OPENAI_API_KEY",
                "GEMINI_API_KEY",
                "GOOGLE_API_KEY",
                "OPENROUTER_API_KEY",
            ],
            credentials: &[],
        },
        _ => Needs::default(),
    }
}

/// All known clients with what they need.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Needs)> {
    registry::NAMES.iter().map(|name| (*name, of(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_names_its_folders_hosts_and_key() {
        for (name, needs) in all().filter(|(name, _)| *name != "session") {
            assert!(!needs.folders.is_empty(), "{name}");
            assert!(!needs.hosts.is_empty() && !needs.variables.is_empty(), "{name}");
            assert!(!needs.credentials.is_empty(), "{name}");
        }
        assert!(of("my-own").folders.is_empty());
    }
}
