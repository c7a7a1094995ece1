//! flyball's own agent, `flyball session`: it speaks flyball's own protocol and asks the run at its door
//! before it acts.

mod launch;
mod stream;
mod transcript;

use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "session";

/// The built-in agent.
pub(crate) struct BuiltIn;

impl Adapter for BuiltIn {
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

    fn is_built_in(&self) -> bool {
        true
    }
}
