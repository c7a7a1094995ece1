//! `pi --mode json`; hooks by an extension file.

use super::NAME;
use super::hook::extension;
use crate::client::{Launch, LaunchRequest};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["--mode", "json", "-p"]);
    launch.option("--model", request.model);
    if let Some(hooks) = request.hooks {
        let path = launch.private(request.private_dir, "flyball-pi.ts", extension(hooks));
        launch.args(&["-e", &path]);
    }
    launch.extra(request);
    launch.arg(request.prompt);
    launch.env("PI_SKIP_VERSION_CHECK", "1");
    launch
}
