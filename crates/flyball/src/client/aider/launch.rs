//! `aider --yes-always`, with its prompt in a file.

use super::NAME;
use crate::client::{Launch, LaunchRequest};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let args = [
        "--yes-always",
        "--no-pretty",
        "--no-fancy-input",
        "--no-check-update",
        "--analytics-disable",
    ];
    let mut launch = Launch::of(request, NAME, &args);
    launch.option("--model", request.model);
    launch.extra(request);
    let prompt = request.prompt.to_owned();
    let path = launch.private(request.private_dir, "prompt.md", prompt);
    launch.args(&["--message-file", &path]);
    launch
}
