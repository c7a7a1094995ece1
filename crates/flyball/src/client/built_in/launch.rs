//! flyball itself, started anew, with the prompt on its standard input.

use crate::client::{Launch, LaunchRequest, Permissions, Stdin};

pub(super) fn launch(request: &LaunchRequest<'_>) -> Launch {
    let own = std::env::current_exe().map(|path| path.to_string_lossy().into_owned());
    let own = own.unwrap_or_else(|_| "flyball".to_owned());
    let mut launch = Launch::of(request, &own, &["session", "--format", "json"]);
    launch.option("--model", request.model);
    // Nobody is there to be asked: what would be asked about is denied.
    let permission = match request.permissions {
        Permissions::Bypass => "skip",
        Permissions::Own => "ask",
    };
    launch.arg(&format!("--permission={permission}"));
    launch.extra(request);
    launch.arg("-");
    launch.stdin = Stdin::Text(request.prompt.to_owned());
    launch
}
