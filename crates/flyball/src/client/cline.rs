//! Cline: no hooks that were seen to work, so it is watched and not steered.

mod launch;
mod stream;
mod transcript;

use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "cline";

/// Cline.
pub(crate) struct Cline;

impl Adapter for Cline {
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
