//! What `flyball mcp-guard` costs: the time it adds to a call, and its memory over many calls.
//!
//! `cargo run --release -p flyball --example mcp_guard_latency -- [CALLS]`, with the `flyball`
//! program built beside it. The server is this very program, answering every call at once.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("server") {
        return serve();
    }
    let calls: usize = argument.map_or(Ok(100_000), |text| text.parse())?;
    let own = std::env::current_exe()?;
    let flyball = own
        .parent()
        .and_then(Path::parent)
        .map(|folder| folder.join("flyball"))
        .filter(|program| program.exists())
        .context("build the `flyball` program first, in the same profile")?;
    let own = own.to_string_lossy().into_owned();
    let direct = measure(Command::new(&own).arg("server"), calls)?;
    let guarded = measure(Command::new(&flyball).args(["mcp-guard", "--", &own, "server"]), calls)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{calls} calls           p50        p99        resident at 10 % and at the end")?;
    for (name, figures) in [("direct ", &direct), ("guarded", &guarded)] {
        let Figures { p50, p99, early_kb, late_kb } = figures;
        writeln!(out, "{name}          {p50:>9.2?}  {p99:>9.2?}   {early_kb} kB  {late_kb} kB")?;
    }
    let added = guarded.p50.saturating_sub(direct.p50);
    writeln!(out, "added per call   {added:.2?} (p50)")?;
    Ok(())
}

struct Figures {
    p50: Duration,
    p99: Duration,
    early_kb: u64,
    late_kb: u64,
}

fn measure(command: &mut Command, calls: usize) -> Result<Figures> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let mut output = BufReader::new(child.stdout.take().context("no output")?);
    let mut times = Vec::with_capacity(calls);
    let mut early_kb = 0;
    for number in 0..calls {
        times.push(one(&mut input, &mut output, number)?);
        if number == calls / 10 {
            early_kb = resident_kb(&child)?;
        }
    }
    let late_kb = resident_kb(&child)?;
    drop(input);
    child.wait()?;
    times.sort();
    let at = |share: usize| times.get(calls * share / 100).copied().unwrap_or_default();
    Ok(Figures { p50: at(50), p99: at(99), early_kb, late_kb })
}

#[expect(clippy::disallowed_methods, reason = "an example that measures time")]
fn one(
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    number: usize,
) -> Result<Duration> {
    let call = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\
         \"arguments\":{{\"path\":\"src/file-{number}.rs\",\"limit\":200}}}}}}\n"
    );
    let begun = Instant::now();
    input.write_all(call.as_bytes())?;
    let mut answer = String::new();
    if output.read_line(&mut answer)? == 0 {
        bail!("the server is gone after {number} calls");
    }
    let took = begun.elapsed();
    if answer.contains("isError") {
        bail!("call {number} was refused: {answer}");
    }
    Ok(took)
}

fn resident_kb(child: &Child) -> Result<u64> {
    flyball_testkit::memory::resident_kib(child.id()).context("it is gone")
}

/// Answers every call at once, with about 2 kB of text that differs.
fn serve() -> Result<()> {
    let mut out = io::stdout().lock();
    let text = "fn main() { let answer = 42; }\\n".repeat(64);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let id = line
            .split_once("\"id\":")
            .and_then(|(_, rest)| rest.split_once(','))
            .map_or("null", |(id, _)| id);
        writeln!(
            out,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\
             \"text\":\"{id} {text}\"}}]}}}}"
        )?;
        out.flush()?;
    }
    Ok(())
}
