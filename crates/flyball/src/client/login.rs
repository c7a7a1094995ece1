//! Whether a client is logged in, as far as that can be known without paying: by the variables and
//! files it reads its key from, and by its own word where it has a command for that.

use super::needs;

/// What is known of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Login {
    /// There is a sign of one.
    Seen,
    /// There is none: the client would refuse at once.
    Missing,
    /// Nothing speaks for one, and nothing says that there is none.
    Unknown,
}

/// What is looked at on the machine.
pub(crate) trait Surroundings {
    /// Whether a variable is set.
    fn has_variable(&self, name: &str) -> bool;
    /// Whether one with such an end is.
    fn has_variable_ending(&self, end: &str) -> bool;
    /// Whether a place such as `~/.codex/auth.json` is there.
    fn has_file(&self, place: &str) -> bool;
    /// Whether a file holds a word.
    fn mentions(&self, place: &str, word: &str) -> bool;
    /// Whether an argument holds a word.
    fn has_argument(&self, word: &str) -> bool;
    /// Whether the program is the client, and no wrapper of somebody's.
    fn is_client_itself(&self) -> bool;
    /// What the client answers to these arguments; none when it does not answer.
    fn ask(&self, arguments: &[&str]) -> Option<String>;
}

/// Whether the client of this name is logged in.
pub(crate) fn login(client: &str, around: &dyn Surroundings) -> Login {
    let needs = needs::of(client);
    let is_set = |name: &&str| around.has_variable(name);
    let is_there = |place: &&str| around.has_file(place);
    let has_key = needs.variables.iter().any(is_set) || needs.credentials.iter().any(is_there);
    // A key alone does not tell goose whom to ask, and pi makes its file without one.
    let is_enough = !matches!(client, "goose" | "pi");
    if (has_key && is_enough) || elsewhere(client, around) {
        return Login::Seen;
    }
    if !around.is_client_itself() {
        return Login::Unknown;
    }
    let (question, no) = match client {
        "claude" => (&["auth", "status"], "\"loggedIn\": false"),
        "codex" => (&["login", "status"], "Not logged in"),
        // They have no command to ask, and refuse by themselves with none of what was looked for.
        "gemini" | "goose" | "qwen" | "copilot" | "pi" => return Login::Missing,
        // opencode has models for everybody; of the others it shows only when they ask their model.
        _ => return Login::Unknown,
    };
    match around.ask(question) {
        Some(answer) if answer.contains(no) => Login::Missing,
        Some(_) => Login::Seen,
        None => Login::Unknown,
    }
}

/// Whether a login of this client can be known without asking its model.
pub(crate) fn can_be_known(client: &str) -> bool {
    matches!(client, "claude" | "codex" | "gemini" | "goose" | "qwen" | "copilot" | "pi")
}

/// Other ways into an account or to a model.
fn elsewhere(client: &str, around: &dyn Surroundings) -> bool {
    match client {
        "claude" => {
            let variables = [
                "ANTHROPIC_BASE_URL",
                "CLAUDE_CODE_USE_BEDROCK",
                "CLAUDE_CODE_USE_VERTEX",
                "CLAUDE_CODE_USE_FOUNDRY",
                "CLAUDE_CONFIG_DIR",
            ];
            variables.iter().any(|name| around.has_variable(name))
                || around.mentions("~/.claude/settings.json", "apiKeyHelper")
                // Where the credentials themselves are in the system's keychain.
                || around.mentions("~/.claude.json", "oauthAccount")
        }
        "codex" => {
            around.has_variable("CODEX_HOME")
                || around.has_argument("model_provider")
                || around.mentions("~/.codex/config.toml", "model_provider")
        }
        "gemini" => {
            let variables = [
                "GOOGLE_GENAI_USE_VERTEXAI",
                "GOOGLE_GENAI_USE_GCA",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GEMINI_CLI_HOME",
            ];
            let files =
                ["~/.gemini/settings.json", "~/.gemini/.env", "~/.env", ".gemini/.env", ".env"];
            variables.iter().any(|name| around.has_variable(name))
                || files.iter().any(|place| around.has_file(place))
        }
        "goose" => {
            let variables = ["GOOSE_PROVIDER", "GOOSE_PATH_ROOT", "XDG_CONFIG_HOME"];
            variables.iter().any(|name| around.has_variable(name))
                || around.has_file("~/.config/goose/config.yaml")
                || around.has_argument("--provider")
        }
        "qwen" => {
            let files = [
                "~/.qwen/settings.json",
                ".qwen/settings.json",
                "~/.qwen/.env",
                ".qwen/.env",
                "~/.env",
                ".env",
            ];
            files.iter().any(|place| around.has_file(place)) || around.has_argument("--auth-type")
        }
        "copilot" => {
            let variables =
                ["COPILOT_PROVIDER_BASE_URL", "COPILOT_HOME", "GH_CONFIG_DIR", "XDG_CONFIG_HOME"];
            variables.iter().any(|name| around.has_variable(name))
                || around.has_file("~/.config/gh/hosts.yml")
        }
        "pi" => {
            let variables = ["PI_CODING_AGENT_DIR", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"];
            variables.iter().any(|name| around.has_variable(name))
                || ["_API_KEY", "_TOKEN"].iter().any(|end| around.has_variable_ending(end))
                || around.has_file("~/.pi/agent/models.json")
                || around.mentions("~/.pi/agent/auth.json", ":")
                || around.has_argument("--api-key")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Default)]
    struct Machine<'a> {
        variables: &'a [&'a str],
        files: &'a [&'a str],
        words: &'a [(&'a str, &'a str)],
        arguments: &'a [&'a str],
        answer: Option<&'a str>,
        wrapper: bool,
    }

    impl Surroundings for Machine<'_> {
        fn has_variable(&self, name: &str) -> bool {
            self.variables.contains(&name)
        }
        fn has_variable_ending(&self, end: &str) -> bool {
            self.variables.iter().any(|name| name.ends_with(end))
        }
        fn has_file(&self, place: &str) -> bool {
            self.files.contains(&place)
        }
        fn mentions(&self, place: &str, word: &str) -> bool {
            self.words.contains(&(place, word))
        }
        fn has_argument(&self, word: &str) -> bool {
            self.arguments.contains(&word)
        }
        fn is_client_itself(&self) -> bool {
            !self.wrapper
        }
        fn ask(&self, _arguments: &[&str]) -> Option<String> {
            self.answer.map(str::to_owned)
        }
    }

    #[test]
    fn only_a_client_that_says_so_itself_is_not_logged_in() {
        let none = Machine::default;
        let no = Machine { answer: Some("{\n  \"loggedIn\": false,"), ..none() };
        let yes = Machine { answer: Some("{ \"loggedIn\": true }"), ..none() };
        let table = [
            ("claude", none(), Login::Unknown),
            ("claude", no, Login::Missing),
            ("claude", Machine { wrapper: true, answer: no.answer, ..none() }, Login::Unknown),
            ("claude", yes, Login::Seen),
            ("claude", Machine { variables: &["ANTHROPIC_API_KEY"], ..none() }, Login::Seen),
            ("claude", Machine { variables: &["CLAUDE_CODE_USE_BEDROCK"], ..none() }, Login::Seen),
            ("claude", Machine { files: &["~/.claude/.credentials.json"], ..none() }, Login::Seen),
            (
                "claude",
                Machine { words: &[("~/.claude/settings.json", "apiKeyHelper")], ..none() },
                Login::Seen,
            ),
            (
                "claude",
                Machine {
                    words: &[("~/.claude.json", "oauthAccount")],
                    answer: no.answer,
                    ..none()
                },
                Login::Seen,
            ),
            ("codex", Machine { answer: Some("Not logged in\n"), ..none() }, Login::Missing),
            ("codex", Machine { answer: Some("Logged in using ChatGPT"), ..none() }, Login::Seen),
            ("codex", Machine { arguments: &["model_provider"], ..none() }, Login::Seen),
            ("gemini", none(), Login::Missing),
            ("gemini", Machine { wrapper: true, ..none() }, Login::Unknown),
            ("gemini", Machine { files: &["~/.gemini/settings.json"], ..none() }, Login::Seen),
            ("opencode", Machine { answer: Some("0 credentials"), ..none() }, Login::Unknown),
            ("goose", none(), Login::Missing),
            ("goose", Machine { variables: &["OPENAI_API_KEY"], ..none() }, Login::Missing),
            ("goose", Machine { variables: &["GOOSE_PROVIDER"], ..none() }, Login::Seen),
            ("goose", Machine { files: &["~/.config/goose/config.yaml"], ..none() }, Login::Seen),
            ("goose", Machine { wrapper: true, ..none() }, Login::Unknown),
            ("qwen", none(), Login::Missing),
            ("qwen", Machine { arguments: &["--auth-type"], ..none() }, Login::Seen),
            ("qwen", Machine { files: &[".qwen/settings.json"], ..none() }, Login::Seen),
            ("copilot", none(), Login::Missing),
            ("copilot", Machine { files: &["~/.config/gh/hosts.yml"], ..none() }, Login::Seen),
            ("copilot", Machine { variables: &["GITHUB_TOKEN"], ..none() }, Login::Seen),
            ("pi", none(), Login::Missing),
            ("pi", Machine { files: &["~/.pi/agent/auth.json"], ..none() }, Login::Missing),
            ("pi", Machine { words: &[("~/.pi/agent/auth.json", ":")], ..none() }, Login::Seen),
            ("pi", Machine { variables: &["GROQ_API_KEY"], ..none() }, Login::Seen),
            ("aider", none(), Login::Unknown),
            ("my-own", none(), Login::Unknown),
        ];
        for (number, (client, machine, expected)) in table.iter().enumerate() {
            assert_eq!(login(client, machine), *expected, "{number}: {client}");
        }
    }
}
