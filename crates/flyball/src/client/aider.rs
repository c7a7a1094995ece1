//! aider: plain text, no tools, no hooks, and exit code 0 whatever happens.

mod launch;
mod stream;

use super::{Adapter, Launch, LaunchRequest, Output};

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
}
