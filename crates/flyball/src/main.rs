//! The `flyball` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|first| first == flyball::process::KEEPER_ARGUMENT) {
        return flyball::process::keeper_main();
    }
    ExitCode::SUCCESS
}
