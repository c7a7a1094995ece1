//! A build tool of one's own that runs its checks as flyball runs gates: each with a time limit,
//! nothing left running behind it, and its output understood.
//!
//! `cargo run -p flyball --example gates_in_a_build_tool [-- NAME=COMMAND…]`
//!
//! Without arguments it shows two checks: a test run in which one test fails, and one that needs it.
#![expect(clippy::print_stdout, reason = "a build tool talks to its terminal")]

use std::error::Error;
use std::process::ExitCode;

use flyball::config::CommandLine;
use flyball::gate::{Cancel, Gate, GatePlan, GateProgress, GateRunner};
use flyball::process::serve_keeper_if_asked;
use flyball_core::gate::{Check, CheckStatus};
use flyball_core::{GateName, Millis};

/// What the test run of the example prints: one of two tests fails.
const TESTS: &str = "cat <<'END'
running 2 tests
test sums_are_right ... ok
test names_are_kept ... FAILED

failures:

---- names_are_kept stdout ----

thread 'names_are_kept' (7) panicked at src/names.rs:12:9:
the name was lost

failures:
    names_are_kept

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
END
exit 101";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // Before anything else: keepers are started from this very program.
    if let Some(code) = serve_keeper_if_asked() {
        return Ok(code);
    }
    let given: Vec<String> = std::env::args().skip(1).collect();
    let gates = if given.is_empty() {
        vec![gate("tests", TESTS, &[]), gate("package", "echo packed", &["tests"])]
    } else {
        let split = |text: &String| text.split_once('=').map(|(n, c)| gate(n, c, &[]));
        given.iter().map(split).collect::<Option<_>>().ok_or("a check is given as NAME=COMMAND")?
    };
    let runner = GateRunner::new(GatePlan::of(gates)?, std::env::current_dir()?);
    // The tree names what is checked, for those who keep results; nothing is kept here. A tool that
    // hears Ctrl-C calls `cancel` on a clone, and every check ends with all it has started.
    let result = runner.run("unnamed", &Cancel::new(), &|progress| {
        if let GateProgress::Started { name, index, of } = progress {
            println!("{index}/{of} {name} …");
        }
    })?;
    result.checks.iter().for_each(tell);
    let green = result.checks.iter().all(|check| check.status == CheckStatus::Passed);
    // Without arguments the example itself is right when the check was red, as it should be.
    Ok(if green == given.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn gate(name: &str, command: &str, needs: &[&str]) -> Gate {
    let command = CommandLine::Shell(command.to_owned());
    let needs = needs.iter().map(|need| GateName::new(*need)).collect();
    Gate { needs, ..Gate::new(name, command, Millis::from_secs(300)) }
}

fn tell(check: &Check) {
    println!("{}: {}", check.gate, check.status.as_str());
    for finding in &check.findings {
        let file = finding.file.as_deref().unwrap_or("?");
        let name = finding.name.as_deref().unwrap_or("?");
        println!("  {file}:{} {name}: {}", finding.line.unwrap_or(0), finding.message);
    }
}
