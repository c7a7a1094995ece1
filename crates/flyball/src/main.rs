//! The `flyball` program: hands its arguments to the library and exits with what it answers.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The keeper of a supervised program is flyball itself, before clap reads anything.
    if std::env::args_os().nth(1).is_some_and(|first| first == flyball::process::KEEPER_ARGUMENT) {
        return flyball::process::keeper_main();
    }
    flyball::cli::main(std::env::args_os())
}
