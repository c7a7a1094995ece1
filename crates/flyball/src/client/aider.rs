//! aider: plain text, no tools, no hooks, and exit code 0 whatever happens.

mod launch;
mod stream;
mod transcript;

use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "aider";

/// aider.
pub(crate) struct Aider;

impl Adapter for Aider {
    fn name(&self) -> &'static str {
        NAME
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        launch::launch(request)
    }

    fn output(&self) -> &'static dyn Output {
        &Self
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&Self)
    }
}
