//! What is known of models by their names. Unknown names are no error: nothing is known of them.

/// How large a model's context window is, in tokens. None for models whose window is set by whoever
/// serves them.
pub fn context_window(model: &str) -> Option<u64> {
    let name = bare(model);
    if let Some(claude) = Claude::of(name) {
        return Some(claude.window());
    }
    if name.starts_with("gemini-") {
        return Some(1_048_576);
    }
    if let Some(version) = name.strip_prefix("gpt-") {
        let (major, minor) = version_of(version);
        return match (major, minor) {
            (Some(5), 0..=3) => Some(400_000),
            (Some(5..), _) => Some(1_050_000),
            (Some(4), 1) => Some(1_047_576),
            (Some(4), _) if version.starts_with("4o") || version.starts_with("4-turbo") => {
                Some(128_000)
            }
            _ => None,
        };
    }
    ["o1", "o3", "o4"].iter().any(|family| name.starts_with(family)).then_some(200_000)
}

/// Models of `OpenAI` that think: they take `max_completion_tokens`, and no `max_tokens`.
pub(crate) fn is_openai_reasoner(model: &str) -> bool {
    let name = bare(model);
    let newer = name.strip_prefix("gpt-").is_some_and(|v| version_of(v).0 >= Some(5));
    newer && !name.starts_with("gpt-oss") || ["o1", "o3", "o4"].iter().any(|f| name.starts_with(f))
}

/// Gemini models that name levels of thought, and want the signatures of calls back.
pub(crate) fn is_gemini_three(model: &str) -> bool {
    bare(model).strip_prefix("gemini-").is_some_and(|v| version_of(v).0 >= Some(3))
}

/// Gemini models that think.
pub(crate) fn gemini_thinks(model: &str) -> bool {
    let version = bare(model).strip_prefix("gemini-").map(version_of);
    version.is_some_and(|(major, minor)| (major, minor) >= (Some(2), 5))
}

/// How a Claude model is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaudeThinking {
    /// Not at all: it cannot.
    Never,
    /// With a number of tokens.
    Budget,
    /// As much as it likes, by an effort.
    Adaptive,
}

/// A Claude model's generation, read out of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claude {
    version: (u32, u32),
    is_haiku: bool,
}

impl Claude {
    /// The generation a name tells; none for models that are no Claude.
    pub(crate) fn of(model: &str) -> Option<Self> {
        let name = bare(model).strip_prefix("claude-")?;
        let mut numbers = name
            .split(['-', '.', '@', ':'])
            .filter_map(|word| word.parse::<u32>().ok())
            .filter(|number| *number < 100);
        // A name without a number is an alias of the newest, or a preview of what comes.
        let version = match numbers.next() {
            Some(major) => (major, numbers.next().unwrap_or(0)),
            None => (u32::MAX, 0),
        };
        Some(Self { version, is_haiku: name.contains("haiku") })
    }

    fn window(self) -> u64 {
        if self.version >= (4, 6) && !self.is_haiku { 1_000_000 } else { 200_000 }
    }

    /// The longest answer that is asked for when nothing else was said.
    pub(crate) fn longest_answer(self) -> u32 {
        match self.version {
            (0..=3, 0) => 4096,
            (0..=3, 1..=6) => 8192,
            _ => 32_000,
        }
    }

    pub(crate) fn thinking(self) -> ClaudeThinking {
        if self.version < (3, 7) {
            ClaudeThinking::Never
        } else if self.version < (4, 6) {
            ClaudeThinking::Budget
        } else {
            ClaudeThinking::Adaptive
        }
    }
}

/// A name without the words of a router or a cloud before it: `anthropic/claude-…`.
fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.split_once("anthropic.").map_or(name, |(_, name)| name)
}

/// `5.4-mini` is 5 and 4.
fn version_of(text: &str) -> (Option<u32>, u32) {
    let mut parts = text.split(['-', '_', ':']).next().unwrap_or(text).split('.');
    let number = |part: &str| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let major = parts.next().and_then(number);
    (major, parts.next().and_then(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_by_family() {
        let cases = [
            ("claude-3-5-sonnet-20241022", Some(200_000)),
            ("claude-sonnet-4-5-20250929", Some(200_000)),
            ("claude-haiku-4-5", Some(200_000)),
            ("claude-opus-4-6", Some(1_000_000)),
            ("anthropic/claude-sonnet-4.6", Some(1_000_000)),
            ("us.anthropic.claude-opus-4-7-v1:0", Some(1_000_000)),
            ("claude-opus-5-5", Some(1_000_000)),
            ("gemini-2.5-flash", Some(1_048_576)),
            ("models/gemini-3.6-flash", Some(1_048_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4.1-nano", Some(1_047_576)),
            ("gpt-5", Some(400_000)),
            ("gpt-5.3-codex", Some(400_000)),
            ("openai/gpt-5.5", Some(1_050_000)),
            ("gpt-5.5-2026-04-23", Some(1_050_000)),
            ("o4-mini", Some(200_000)),
            ("gpt-oss:20b", None),
            ("qwen3-coder:30b", None),
            ("mock-model", None),
            ("", None),
        ];
        for (model, window) in cases {
            assert_eq!(context_window(model), window, "{model}");
        }
    }

    #[test]
    fn how_a_claude_thinks_and_how_long_it_may_speak() {
        let cases = [
            ("claude-3-haiku-20240307", ClaudeThinking::Never, 4096),
            ("claude-3-5-haiku-20241022", ClaudeThinking::Never, 8192),
            ("claude-3-7-sonnet-20250219", ClaudeThinking::Budget, 32_000),
            ("claude-opus-4-20250514", ClaudeThinking::Budget, 32_000),
            ("claude-opus-4-6", ClaudeThinking::Adaptive, 32_000),
            ("claude-mythos-preview", ClaudeThinking::Adaptive, 32_000),
            ("claude-sonnet-5", ClaudeThinking::Adaptive, 32_000),
        ];
        for (model, thinking, longest) in cases {
            let claude = Claude::of(model).unwrap();
            assert_eq!(
                (claude.thinking(), claude.longest_answer()),
                (thinking, longest),
                "{model}"
            );
        }
        assert_eq!(Claude::of("gpt-5"), None);
    }

    #[test]
    fn who_wants_which_words() {
        for (model, reasons) in
            [("gpt-5", true), ("o3", true), ("gpt-4o", false), ("gpt-oss:20b", false), ("x", false)]
        {
            assert_eq!(is_openai_reasoner(model), reasons, "{model}");
        }
        assert!(is_gemini_three("gemini-3-pro-preview") && !is_gemini_three("gemini-2.5-pro"));
        assert!(gemini_thinks("gemini-2.5-pro") && !gemini_thinks("gemini-2.0-flash"));
    }
}
