//! One answer of the scripted model.

use std::time::Duration;

use serde_json::Value;

/// One answer of the scripted model.
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) error: Option<(u16, Option<Value>)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) hang: Duration,
    pub(crate) lasting: Duration,
    pub(crate) cut: bool,
    pub(crate) usage: Usage,
    pub(crate) thought: Option<Thought>,
    pub(crate) pause: Duration,
    pub(crate) stream_error: Option<Value>,
    pub(crate) stop: Option<String>,
}

/// What the model thinks before it speaks, and what it wants back with that.
#[derive(Clone, Debug)]
pub(crate) struct Thought {
    pub(crate) text: String,
    pub(crate) signature: String,
}

/// A call the model makes.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments as text, so that they can be malformed.
    pub args: String,
}

/// What the model says it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Tokens read, cached ones included.
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

impl Step {
    /// The model says something and ends its turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            calls: Vec::new(),
            error: None,
            headers: Vec::new(),
            hang: Duration::ZERO,
            lasting: Duration::ZERO,
            cut: false,
            usage: Usage { input: 100, cached: 0, output: 20 },
            thought: None,
            pause: Duration::ZERO,
            stream_error: None,
            stop: None,
        }
    }

    /// The model calls a tool.
    pub fn call(tool: impl Into<String>, args: &Value) -> Self {
        Self::malformed(tool, args.to_string())
    }

    /// The model calls a tool with arguments that need not be JSON.
    pub fn malformed(tool: impl Into<String>, args: impl Into<String>) -> Self {
        Self::text("").and_malformed(tool, args)
    }

    /// The model's service answers with this HTTP status.
    pub fn error(status: u16) -> Self {
        Self { error: Some((status, None)), ..Self::text("scripted error") }
    }

    /// One more call in the same answer.
    #[must_use]
    pub fn and_call(self, tool: impl Into<String>, args: &Value) -> Self {
        self.and_malformed(tool, args.to_string())
    }

    /// One more call in the same answer, with arguments that need not be JSON.
    #[must_use]
    pub fn and_malformed(mut self, tool: impl Into<String>, args: impl Into<String>) -> Self {
        self.calls.push(Call { tool: tool.into(), args: args.into() });
        self
    }

    /// Words: in front of the calls, or of the error.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// The error's body, when the format's usual one is not wanted.
    #[must_use]
    pub fn body(mut self, body: Value) -> Self {
        self.error = self.error.map(|(status, _)| (status, Some(body)));
        self
    }

    /// A header of the answer.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Waits before the first byte, at most as long as the server lives.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.hang = wait;
        self
    }

    /// Answers every request for so long, from the first it answers on.
    #[must_use]
    pub fn lasting(mut self, time: Duration) -> Self {
        self.lasting = time;
        self
    }

    /// Ends the connection in the middle of the answer.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Tokens read (`cached` of them from a cache) and written.
    #[must_use]
    pub fn using(mut self, input: u64, cached: u64, output: u64) -> Self {
        self.usage = Usage { input, cached, output };
        self
    }

    /// A thought before the words, with what the service wants back with it.
    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        self.thought = Some(Thought { text: text.into(), signature: signature.into() });
        self
    }

    /// Silence in the middle of a stream, at most as long as the server lives.
    #[must_use]
    pub fn pausing(mut self, time: Duration) -> Self {
        self.pause = time;
        self
    }

    /// Half of the stream, and then this error in it.
    #[must_use]
    pub fn breaking(mut self, error: Value) -> Self {
        self.stream_error = Some(error);
        self
    }

    /// Why the answer ends, in the format's own word.
    #[must_use]
    pub fn stopping(mut self, reason: impl Into<String>) -> Self {
        self.stop = Some(reason.into());
        self
    }
}
