//! The `flyball` program: hands its arguments to the library and exits with what it answers.

use std::process::ExitCode;

fn main() -> ExitCode {
    // flyball itself is the keeper of supervised programs and the demo's agent: neither is a
    // command for people, so they are told apart before clap reads anything.
    if let Some(code) = flyball::process::serve_keeper_if_asked() {
        return code;
    }
    let first = std::env::args_os().nth(1);
    if first.as_deref().is_some_and(|first| first == flyball::demo::AGENT_ARGUMENT) {
        return flyball::demo::agent_main();
    }
    flyball::cli::main(std::env::args_os())
}
