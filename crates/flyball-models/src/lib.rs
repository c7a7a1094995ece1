//! Asks a language model directly: Anthropic Messages, `OpenAI` Responses, chat completions of `OpenAI`
//! and everyone compatible with it, Gemini.
//!
//! Blocking, streaming, bounded. [`Model::ask`] returns when the answer is whole or has failed, and
//! tells what comes while it comes; a [`Cancel`] ends it from any thread, at once. A conversation is
//! plain data ([`Message`]) that can be kept and gone on with. What goes wrong is told apart
//! ([`FailureKind`]), with the time the service itself names.
//!
//! ```no_run
//! use flyball_models::{Cancel, Event, Key, Message, Model, Request, Settings, service};
//!
//! let service = service("anthropic").ok_or("no such service")?;
//! let key = Key::from_environment(service.key_variables)?;
//! let model = Model::new(Settings::of(service, "claude-sonnet-5", key))?;
//! let conversation = [Message::user("What is a governor?")];
//! let mut on_event = |event: Event<'_>| {
//!     if let Event::Text(words) = event {
//!         print!("{words}");
//!     }
//! };
//! let reply = model.ask(&Request::new(&conversation), &Cancel::new(), &mut on_event)?;
//! println!("\n{:?}, {} tokens", reply.stop, reply.usage.output);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod anthropic;
mod assembly;
mod cancel;
mod chat;
mod conversation;
mod decoder;
mod dialect;
mod exchange;
mod failure;
mod families;
mod gemini;
mod key;
mod message;
mod model;
mod reply;
mod request;
mod responses;
mod retries;
mod retry_time;
mod settings;
mod stream;
mod trouble;
mod usage;
mod wire;
mod words;

pub use self::cancel::Cancel;
pub use self::failure::{Failure, FailureKind, Partial, RetryTime};
pub use self::families::context_window;
pub use self::key::{Key, KeyError};
pub use self::message::{Arguments, Block, Call, CallResult, Message, Origin, Role, Text, Thought};
pub use self::model::{Model, Patience};
pub use self::reply::{Event, Reply, Stop};
pub use self::request::{Cache, Calls, Effort, Request, Tool};
pub use self::retries::Retries;
pub use self::settings::{Limits, Settings};
pub use self::usage::Usage;
pub use self::wire::{Service, Wire, service, services};
