//! The config's own program, with the prompt on its standard input.

use crate::client::{Launch, LaunchRequest, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argv.extend(request.program.map(str::to_owned));
    launch.extra(request);
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
