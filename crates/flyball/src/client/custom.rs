//! Any program at all: a command of the config or after `--`, with the prompt by standard input,
//! argument or file. What it prints is read as plain text, or as a known client's output.

mod launch;

use super::hook::Dialect;
use super::plain::PlainText;
use super::{Adapter, Launch, LaunchRequest, Output, PromptBy, registry};

/// A program named by the config or given after `--`.
#[derive(Clone, Debug)]
pub struct Custom {
    /// Program and arguments.
    pub command: Vec<String>,
    /// How it takes its prompt.
    pub prompt: PromptBy,
    /// The client it speaks like, `flyball` among them; none for plain text.
    pub speaks_like: Option<&'static str>,
}

impl Adapter for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        launch::launch(self, request)
    }

    fn output(&self) -> &'static dyn Output {
        self.speaks_like.and_then(registry::output).unwrap_or(&PlainText)
    }

    /// Only flyball's own: how a known client's hooks get into a session is known for that client
    /// as flyball starts it.
    fn dialect(&self) -> Option<&'static dyn Dialect> {
        self.speaks_like.filter(|name| *name == super::flyball::NAME).and_then(registry::dialect)
    }

    fn takes_hooks(&self) -> bool {
        false
    }
}
