//! Qwen Code (`qwen`).

mod hook;
mod launch;
mod stream;
mod transcript;

use super::hook::Dialect;
use super::hook_home::HookHome;
use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "qwen";

/// Qwen Code.
pub(crate) struct Qwen;

impl Adapter for Qwen {
    fn name(&self) -> &'static str {
        NAME
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        launch::launch(request)
    }

    fn output(&self) -> &'static dyn Output {
        &Self
    }

    fn dialect(&self) -> Option<&'static dyn Dialect> {
        Some(&Self)
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&Self)
    }

    fn hook_home(&self) -> Option<&'static dyn HookHome> {
        Some(&Self)
    }
}
