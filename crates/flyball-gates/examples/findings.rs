//! Says what is wrong in the output of a command.
//!
//! `cargo test 2>&1 | cargo run -p flyball-gates --example findings -- "cargo test" 101 [--json]`

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let code: i32 = arguments.next().map_or(Ok(1), |code| code.parse())?;

    let parsed = flyball_gates::read(&command, code, std::io::stdin().lock())?;

    let mut out = std::io::stdout().lock();
    if arguments.next().as_deref() == Some("--json") {
        writeln!(out, "{}", serde_json::to_string_pretty(&parsed.findings)?)?;
        return Ok(());
    }
    for finding in &parsed.findings {
        let place = finding.place().unwrap_or_default();
        let name = finding.name.as_deref().unwrap_or_default();
        writeln!(out, "{:?} {name} {place}\n    {}", finding.kind, finding.message)?;
    }
    for executed in &parsed.executed {
        writeln!(out, "{}: {} ran, {} skipped", executed.runner, executed.ran, executed.skipped)?;
    }
    if parsed.findings.is_empty() && code != 0 {
        writeln!(out, "exit code {code}, and this is how it ended:\n{}", parsed.tail)?;
    }
    Ok(())
}
