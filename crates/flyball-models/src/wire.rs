//! The formats models are spoken to in, and the services that are known.

use serde::{Deserialize, Serialize};

/// The format a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` chat completions, and everyone who is compatible with them.
    Chat,
    /// Gemini's `streamGenerateContent`.
    Gemini,
}

/// A service that is known by name: where it is, what it speaks, what holds its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: &'static str,
    /// What it speaks.
    pub wire: Wire,
    /// Where it is, without the path of a request.
    pub url: &'static str,
    /// Environment variables that hold its key, the first that is set counts; none for a server on
    /// one's own machine that asks for no key.
    pub key_variables: &'static [&'static str],
}

const SERVICES: [Service; 8] = [
    Service {
        name: "anthropic",
        wire: Wire::Anthropic,
        url: "https://api.anthropic.com",
        key_variables: &["ANTHROPIC_API_KEY"],
    },
    Service {
        name: "openai",
        wire: Wire::Responses,
        url: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
    },
    Service {
        name: "openai-chat",
        wire: Wire::Chat,
        url: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
    },
    Service {
        name: "gemini",
        wire: Wire::Gemini,
        url: "https://generativelanguage.googleapis.com",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    Service {
        name: "openrouter",
        wire: Wire::Chat,
        url: "https://openrouter.ai/api/v1",
        key_variables: &["OPENROUTER_API_KEY"],
    },
    Service {
        name: "ollama",
        wire: Wire::Chat,
        url: "http://127.0.0.1:11434/v1",
        key_variables: &[],
    },
    Service {
        name: "llama.cpp",
        wire: Wire::Chat,
        url: "http://127.0.0.1:8080/v1",
        key_variables: &[],
    },
    Service { name: "vllm", wire: Wire::Chat, url: "http://127.0.0.1:8000/v1", key_variables: &[] },
];

/// All services that are known by name.
pub fn services() -> &'static [Service] {
    const { &SERVICES }
}

/// The service of that name.
pub fn service(name: &str) -> Option<&'static Service> {
    services().iter().find(|service| service.name == name)
}
