//! `cline --json`.

use super::NAME;
use crate::client::{Launch, LaunchRequest};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::of(request, NAME, &["--json"]);
    launch.option("-m", request.model);
    launch.extra(request);
    launch.arg(request.prompt);
    launch
}
