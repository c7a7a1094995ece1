//! Home-made agents that speak flyball's own protocol (`output = "flyball"`).

mod hook;
mod launch;
mod stream;
mod transcript;

#[cfg(feature = "session")]
pub(super) use self::stream::FlyballStream;

use super::hook::Dialect;
use super::{Adapter, Launch, LaunchRequest, Output, Transcripts};

/// Its name in the config.
pub(crate) const NAME: &str = "flyball";

/// A home-made agent. Its program comes from the config.
pub(crate) struct Flyball;

impl Adapter for Flyball {
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

    /// It calls flyball itself.
    fn takes_hooks(&self) -> bool {
        false
    }

    fn transcripts(&self) -> Option<&'static dyn Transcripts> {
        Some(&Self)
    }
}
