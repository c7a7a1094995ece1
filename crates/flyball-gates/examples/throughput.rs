//! How fast gate output is read, next to `grep -c FAILED` on the same file.
//!
//! `cargo run --release -p flyball-gates --example throughput [megabytes] [cargo|pytest|jest|plain|noise|json]`

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use flyball_gates::Parser;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: usize = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let shape = arguments.next().unwrap_or_else(|| "cargo".to_owned());
    let path = std::env::temp_dir().join(format!("flyball-throughput-{shape}.log"));
    write_log(&path, megabytes * 1_000_000, &shape)?;
    let bytes = std::fs::metadata(&path)?.len();

    // Once to have the file in the cache.
    Command::new("grep").args(["-c", "FAILED"]).arg(&path).output()?;
    let (grep, count) = timed(|| {
        let found = Command::new("grep").args(["-c", "FAILED"]).arg(&path).output();
        found.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    })?;
    let (parse, parsed) = timed(|| {
        let mut file = File::open(&path)?;
        let mut parser = Parser::new("cargo test");
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break Ok(parser.finish(Some(101)));
            }
            parser.feed(buffer.get(..read).unwrap_or_default());
        }
    })?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "log          {:>8.1} MB ({shape})", mb(bytes))?;
    writeln!(out, "grep -c      {:>8.1} MB/s  {grep:?}, {count} lines", rate(bytes, grep))?;
    writeln!(out, "parser       {:>8.1} MB/s  {parse:?}", rate(bytes, parse))?;
    writeln!(out, "ratio        {:>8.2}", grep.as_secs_f64() / parse.as_secs_f64())?;
    writeln!(out, "counts       {:?}", parsed.counts)?;
    writeln!(out, "findings     {} + {}", parsed.findings.len(), parsed.findings_left_out)?;
    std::fs::remove_file(&path)?;
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<(Duration, T)> {
    #[expect(clippy::disallowed_methods, reason = "a measurement outside any run")]
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn rate(bytes: u64, took: Duration) -> f64 {
    mb(bytes) / took.as_secs_f64()
}

fn write_log(path: &std::path::Path, size: usize, shape: &str) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut test = 0_u64;
    while written < size {
        let text = match shape {
            "json" => format!(
                "{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"output\",\"Package\":\"example.com/p{}\",\
                 \"Test\":\"TestNumber{test}\",\"Output\":\"    a_test.go:{test}: checking\\n\"}}\n\
                 {{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"pass\",\"Package\":\"example.com/p{}\",\
                 \"Test\":\"TestNumber{test}\",\"Elapsed\":0.01}}\n",
                test % 50,
                test % 50
            ),
            "pytest" if test == 0 => "===== test session starts =====\n".to_owned(),
            "pytest" => format!(
                "tests/area_{}/test_items.py::TestItems::test_number_{test} PASSED [ 42%]\n",
                test % 50
            ),
            "jest" if test.is_multiple_of(10) => format!("PASS src/items/number_{test}.test.js\n"),
            "jest" => format!("    \u{2713} keeps item number {test} where it was (3 ms)\n"),
            "plain" => format!(
                "2026-01-01T00:00:00.{test:06}Z  INFO server::worker: request {test} handled in 12 ms\n\
                 \x20  Downloaded package-{test} v1.2.{test}\n\
                 GET /api/items/{test}?page=3 200 OK http://localhost:8080/x\n"
            ),
            "noise" => format!(
                "2026-01-01T00:00:00.{test:06}Z  INFO server::worker: request {test} handled in 12 ms\n\
                 \x1b[32m  Downloaded\x1b[0m package-{test} v1.2.{test}\n\
                 GET /api/items/{test}?page=3 200 OK http://localhost:8080/x\n"
            ),
            _ if test % 5_000 == 4_999 => format!("test area::number_{test} ... FAILED\n"),
            _ if test.is_multiple_of(1_000) => {
                format!("running 1000 tests\ntest area::number_{test} ... ok\n")
            }
            _ => format!("test area::of_the_program::number_{test} ... ok\n"),
        };
        file.write_all(text.as_bytes())?;
        written += text.len();
        test += 1;
    }
    writeln!(
        file,
        "\ntest result: FAILED. 9 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"
    )
}
