//! The `flyball` program: hands its arguments to the library and exits with what it answers.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Internal entry points chosen by argv (never shown in help) are dispatched here, before clap
    // reads anything.
    flyball::cli::main(std::env::args_os())
}
