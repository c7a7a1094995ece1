//! GitHub Copilot CLI (`copilot`).

mod hook;
mod launch;
mod stream;
mod transcript;
mod usage;

use super::hook::Dialect;
use super::hook_home::HookHome;
use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "copilot";

/// GitHub Copilot CLI.
pub(crate) struct Copilot;

impl Adapter for Copilot {
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
