//! How fast gate output is read, next to `grep -c FAILED` on the same file, and in how much memory.
//!
//! `cargo run --profile dist -p flyball-gates --example throughput [MEGABYTES] [NAME…]`, or
//! `cargo xtask gates --speed` with the same words: as the program is shipped.
//!
//! A name is one of the made outputs (`cargo`, `gcc`, `noise` and others), which are nearly all of
//! tests that pass and of complaints of one line or, those with `-red`, of failures no two of which are
//! alike; or a tool of `tests/captures`, whose recorded outputs
//! are then repeated up to the size: as they are (`jest`), and with all places changed each time
//! (`jest~`), so that failures come one after the other and none is like another. None means all of
//! them. Each is read by a process of its own, so that the memory is that of one reading.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flyball_gates::Parser;

/// The outputs made here.
const MADE: &[&str] = &[
    "cargo",
    "pytest",
    "jest",
    "plain",
    "noise",
    "json",
    "go",
    "vitest",
    "tap",
    "mocha",
    "unittest",
    "nextest",
    "maven",
    "gtest",
    "dotnet",
    "flake8",
    "gcc",
    "tsc",
    "eslint",
    "mypy",
    "rustc",
    "junit",
    "pytest-red",
    "jest-red",
    "eslint-red",
];

/// How often each is measured; the medians are told.
const ROUNDS: usize = 5;

/// How much of a tool's recorded outputs is repeated: more is no round any more, but read in full each time.
const ONCE: usize = 300_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, path] = words.as_slice()
        && mode == "--read"
    {
        return Ok(read(Path::new(path))?);
    }
    let megabytes = match words.first().map(|word| word.parse::<usize>()) {
        Some(Ok(megabytes)) => {
            words.remove(0);
            megabytes
        }
        _ => 300,
    };
    if words.is_empty() {
        words.extend(MADE.iter().map(|name| (*name).to_owned()));
        words.extend(recorded()?.into_iter().flat_map(|tool| [format!("{tool}~"), tool]));
    }
    let mut out = io::stdout();
    writeln!(
        out,
        "{:<16}{:>10}{:>10}{:>8}{:>10}",
        "output", "grep MB/s", "MB/s", "ratio", "resident"
    )?;
    for name in words {
        writeln!(out, "{}", measured(&name, megabytes * 1_000_000)?)?;
    }
    Ok(())
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// The tools with recorded outputs.
fn recorded() -> io::Result<Vec<String>> {
    let mut tools = Vec::new();
    for tool in fs::read_dir(captures())? {
        tools.push(tool?.file_name().to_string_lossy().into_owned());
    }
    tools.sort_unstable();
    Ok(tools)
}

/// One row of the table: medians of some rounds.
fn measured(name: &str, size: usize) -> io::Result<String> {
    let path = std::env::temp_dir().join(format!("flyball-throughput-{name}.log"));
    if MADE.contains(&name) {
        made(&path, size, name)?;
    } else {
        repeated(&path, size, name)?;
    }
    let bytes = fs::metadata(&path)?.len();
    let grep = || Command::new("grep").args(["-c", "FAILED"]).arg(&path).output();
    // Once to have the file in the cache; then one beside the other, so that both have the same
    // machine, whatever else it does.
    grep()?;
    let (mut of_grep, mut of_reading, mut resident) = (Vec::new(), Vec::new(), 0.0_f64);
    for _ in 0..ROUNDS {
        of_grep.push(timed(grep)?.0.as_secs_f64());
        let told = Command::new(std::env::current_exe()?).arg("--read").arg(&path).output()?;
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let figure = |at: usize| told.split_whitespace().nth(at)?.parse::<f64>().ok();
        let (seconds, megabytes) =
            figure(0).zip(figure(1)).ok_or_else(|| io::Error::other(told.clone()))?;
        of_reading.push(seconds);
        resident = resident.max(megabytes);
    }
    fs::remove_file(&path)?;
    let (grep, seconds) = (median(of_grep), median(of_reading));
    Ok(format!(
        "{name:<16}{:>10.0}{:>10.0}{:>8.2}{resident:>7.1} MB",
        mb(bytes) / grep,
        mb(bytes) / seconds,
        grep / seconds
    ))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_unstable_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Reads a file and says how many seconds it took and how many megabytes are resident after it.
fn read(path: &Path) -> io::Result<()> {
    let (took, _) = timed(|| {
        let mut file = File::open(path)?;
        let mut parser = Parser::new("./ci.sh");
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break Ok(parser.finish(Some(101)));
            }
            parser.feed(buffer.get(..read).unwrap_or_default());
        }
    })?;
    writeln!(io::stdout(), "{} {}", took.as_secs_f64(), resident()? / 1024.0)
}

/// How many kilobytes are resident now: all it ever needs is there from the first lines on.
fn resident() -> io::Result<f64> {
    let process = std::process::id().to_string();
    let told = Command::new("ps").args(["-o", "rss=", "-p", &process]).output()?;
    String::from_utf8_lossy(&told.stdout).trim().parse::<f64>().map_err(io::Error::other)
}

/// All recorded outputs of a tool, again and again; with other places each time behind a `~`.
fn repeated(path: &Path, size: usize, name: &str) -> io::Result<()> {
    let tool = name.trim_end_matches('~');
    let mut once = Vec::new();
    let mut outputs: Vec<PathBuf> = Vec::new();
    for file in fs::read_dir(captures().join(tool))? {
        outputs.push(file?.path());
    }
    outputs.sort_unstable();
    for output in outputs.iter().filter(|file| file.extension().is_some_and(|end| end == "txt")) {
        if once.len() < ONCE {
            once.extend(fs::read(output)?);
            once.push(b'\n');
        }
    }
    let mut file = io::BufWriter::new(File::create(path)?);
    for time in 0..=size / once.len() {
        if tool == name {
            file.write_all(&once)?;
        } else {
            file.write_all(&moved(&once, time))?;
        }
    }
    file.flush()
}

/// The same with another number wherever the number of a line may stand; what JSON counts is none.
fn moved(output: &[u8], by: usize) -> Vec<u8> {
    let mut moved = Vec::with_capacity(output.len() + output.len() / 4);
    let mut rest = output;
    while let Some((byte, after)) = rest.split_first() {
        moved.push(*byte);
        rest = after;
        let is_key = moved.ends_with(b"\":") && !moved.ends_with(b"ine\":");
        let is_place = matches!(byte, b':' | b'(') || moved.ends_with(b"line ");
        let is_place = is_place && !is_key;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if is_place && (1..8).contains(&digits) {
            let (number, after) = rest.split_at(digits);
            let number = number.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
            moved.extend_from_slice((number + by).to_string().as_bytes());
            rest = after;
        }
    }
    moved
}

fn timed<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<(Duration, T)> {
    #[expect(clippy::disallowed_methods, reason = "a measurement outside any run")]
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn made(path: &Path, size: usize, shape: &str) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create(path)?);
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
            _ if line_of(shape, test).is_some() => line_of(shape, test).unwrap_or_default(),
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

/// What passing tests and complaints of other tools look like.
fn line_of(shape: &str, test: u64) -> Option<String> {
    let at = test % 5_000 + 1;
    Some(match shape {
        "pytest-red" | "jest-red" | "eslint-red" => failure(shape, test),
        "go" => format!("=== RUN   TestNumber{test}\n--- PASS: TestNumber{test} (0.00s)\n"),
        "vitest" => format!(" \u{2713} test/area_{at}.test.ts > items > keeps number {test} 3ms\n"),
        "tap" => format!("ok {test} - keeps item number {test} where it was\n"),
        "mocha" => format!("    \u{2714} keeps item number {test} where it was (42ms)\n"),
        "unittest" => {
            format!("test_number_{test} (tests.test_items.Items.test_number_{test}) ... ok\n")
        }
        "nextest" => format!("        PASS [   0.004s] (1/9) area tests::keeps_number_{test}\n"),
        "maven" => format!(
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in \
             com.example.Area{test}Test\n"
        ),
        "gtest" => {
            format!("[ RUN      ] Area.Number{test}\n[       OK ] Area.Number{test} (0 ms)\n")
        }
        "junit" if test == 0 => "<testsuites>\n<testsuite name=\"all\">\n".to_owned(),
        "junit" => format!(
            "  <testcase classname=\"tests.area_{at}\" name=\"keeps number {test}\" time=\"0.004\"/>\n"
        ),
        "dotnet" => format!("  Passed Example.AreaTests.Number{test} [3 ms]\n"),
        "flake8" => {
            format!("src/area_{at}.py:{test}:80: E501 line too long (93 > 79 characters)\n")
        }
        "gcc" => format!(
            "src/area_{at}.c:{test}:9: warning: unused variable 'value' [-Wunused-variable]\n  \
             {test} |     int value = 0;\n      |         ^~~~~\n"
        ),
        "tsc" => format!(
            "src/area_{at}.ts({test},7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
        ),
        "eslint" if test.is_multiple_of(50) => format!("\n/repo/src/area_{at}.js\n"),
        "eslint" => format!(
            "  {test}:7  error  'value' is assigned a value but never used  no-unused-vars\n"
        ),
        "mypy" => format!(
            "src/area_{at}.py:{test}: error: Incompatible types in assignment  [assignment]\n"
        ),
        "rustc" => format!(
            "warning: unused variable: `value`\n --> src/area_{at}.rs:{test}:9\n  |\n{test} |     let \
             value = 0;\n  |         ^^^^^ help: prefix it\n\n"
        ),
        _ => return None,
    })
}

/// One failure, or the complaints about one file, with words that no other has.
fn failure(shape: &str, test: u64) -> String {
    let mut seed = test.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut word = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let letter =
            |at: u32| char::from(b'a' + u8::try_from((seed >> (at * 5 + 20)) % 26).unwrap_or(0));
        (0..4 + u32::try_from(seed >> 62).unwrap_or(0)).map(letter).collect::<String>()
    };
    let (a, b, c, d) = (word(), word(), word(), word());
    let line = test % 900 + 2;
    match shape {
        "pytest-red" if test == 0 => {
            let rule = "=".repeat(28);
            format!("{rule} test session starts {rule}\n\n{rule} FAILURES {rule}\n")
        }
        "pytest-red" => format!(
            "{rule} test_{a}_{b} {rule}\n\n    def test_{a}_{b}():\n        {c} = {d}({a})\n        for \
             {b} in {c}.{d}:\n            {d}.{a}('{b}')\n>       assert {c}({d}) == '{a} {b}'\nE       \
             AssertionError: assert '{d} {c}' == '{a} {b}'\nE         \nE         - {a} {b}\nE         + \
             {d} {c}\n\ntests/test_{d}.py:{line}: AssertionError\n{dashes} Captured stdout call \
             {dashes}\n{a} {c} {d}\n",
            rule = "_".repeat(30),
            dashes = "-".repeat(29),
        ),
        "jest-red" => {
            let file = if test.is_multiple_of(5) {
                format!(
                    "FAIL src/{b}.test.js\n  {c}\n    \u{2715} {a} {b} {d} (3 ms)\n    \u{2713} {d} {c} (1 ms)\n\n"
                )
            } else {
                String::new()
            };
            format!(
                "{file}  \u{25cf} {c} \u{203a} {a} {b} {d}\n\n    expect(received).toBe(expected) // \
                 Object.is equality\n\n    Expected: \"{a}\"\n    Received: \"{d}\"\n\n      {before} | \
                 test('{a} {b} {d}', () => {{\n    > {line} |   expect({b}).toBe('{a}');\n        |        \
                            ^\n\n      at Object.toBe (src/{b}.test.js:{line}:20)\n\n",
                before = line - 1,
            )
        }
        _ => format!(
            "\n/repo/src/{a}/{b}.js\n  {line}:7  error    '{c}' is assigned a value but never {d}  \
             no-{a}-{c}\n  {line}:9  warning  Unexpected {b} of {d} in {c}  {d}/{a}\n  {line}:31  error    \
             Strings must use {d}  {c}\n"
        ),
    }
}
