//! `cargo xtask dist`: the program as it is shipped, laid out by what it does most.
//!
//! The kernel maps a program in pieces of 64 kB around each page that is touched: where the functions of
//! a server are spread over 15 MB of code, two thirds of those are resident. So the program is
//! linked twice. `valgrind` writes down which functions a hook and a server call in the first; in the
//! second those stand side by side. Nothing but their order differs.
//!
//! Needs Debian's `valgrind`; the linker is the one that comes with the compiler.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::say;
use crate::scene::{Scene, Served, fill, pages};

/// What a client asks most: about a call, and about what came of it.
const HOOKS: [(&str, &str); 3] = [
    (
        "PreToolUse",
        r#"{"session_id":"s","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"ls"}}"#,
    ),
    (
        "PostToolUse",
        r#"{"session_id":"s","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"}}"#,
    ),
    ("UserPromptSubmit", r#"{"session_id":"s","prompt":"go on"}"#),
];
/// Runs in the journal that is served, and events of the latest. A function that is called for one run of
/// a thousand costs as much memory as any other.
const RUNS: &str = "1000";
const EVENTS: &str = "3000";
/// What else is asked of a server.
const OTHERS: [&str; 8] = [
    "/metrics",
    "/page.css",
    "/page.js",
    "/favicon.ico",
    "/healthz",
    "/api/asks",
    "/api/stats",
    "/nowhere",
];
/// How often something changes while the stream of what is new is heard.
const LOOKS: usize = 3;
/// Fewer functions than that are no server.
const FUNCTIONS_MIN: usize = 1000;
/// Only a hang reaches it: a program under `valgrind` takes fifty times as long.
const LONG: Duration = Duration::from_mins(20);

/// Builds it, and says where it is and how large.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let target = match words {
        [] => None,
        [flag, target] if flag == "--target" => Some(target.as_str()),
        _ => bail!("usage: cargo xtask dist [--target TARGET]"),
    };
    let program = build(target)?;
    let size = fs::metadata(&program)?.len();
    say(&format!("{} has {size} bytes", program.display()));
    Ok(())
}

/// Builds the program as it is shipped.
pub(crate) fn build(target: Option<&str>) -> Result<PathBuf> {
    let first = link(target, &[])?;
    let functions = touched(&first)?;
    say(&format!("{} functions stand side by side", functions.len()));
    let order = functions.join("\n");
    // Named by what is in it: cargo links again when the name is another.
    let folder = first.parent().context("a program is in a folder")?;
    let file = folder.join(format!("order-{:016x}.txt", xxh3_64(order.as_bytes())));
    fs::write(&file, order)?;
    let mut ordering = OsString::from("link-arg=-Wl,--symbol-ordering-file=");
    ordering.push(&file);
    let mut linkers = OsString::from("link-arg=-B");
    linkers.push(own_linkers()?);
    let plain =
        ["link-arg=-fuse-ld=lld", "link-arg=-Wl,--no-warn-symbol-ordering", "strip=symbols"];
    let mut codegen = vec![ordering, linkers];
    codegen.extend(plain.map(OsString::from));
    link(target, &codegen)
}

/// Links the program with these settings of the compiler's. Names of functions are left in it unless they
/// say otherwise, so that both times everything but the last step is the same.
fn link(target: Option<&str>, codegen: &[OsString]) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--locked", "--profile", "dist", "-p", "flyball", "--bin", "flyball"]);
    cargo.env("CARGO_PROFILE_DIST_STRIP", "none");
    // What cargo told this chore about itself would have some crates built anew.
    for (name, _) in env::vars_os() {
        let told = |start: &str| name.to_str().is_some_and(|name| name.starts_with(start));
        if told("CARGO_PKG_") || told("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    let mut program =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    if let Some(target) = target {
        cargo.args(["--target", target]);
        program.push(target);
    }
    cargo.arg("--");
    for setting in codegen {
        cargo.arg("-C").arg(setting);
    }
    ensure!(cargo.status()?.success(), "flyball could not be built");
    Ok(fs::canonicalize(program.join("dist/flyball"))?)
}

/// Where the linker is that comes with the compiler, under the name a C compiler looks for.
fn own_linkers() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = |words: &[&str]| -> Result<String> {
        let said = Command::new(&rustc).args(words).output()?;
        ensure!(said.status.success(), "rustc does not answer {words:?}");
        Ok(String::from_utf8(said.stdout)?)
    };
    let version = said(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("no host")?;
    let sysroot = said(&["--print", "sysroot"])?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin/gcc-ld"))
}

/// The functions that hooks and a server call, in the order in which they are first met.
fn touched(program: &Path) -> Result<Vec<String>> {
    let scene = Scene::new(program)?;
    fill(&scene, RUNS, EVENTS)?;
    let notes = tempfile::tempdir()?;
    for (event, input) in HOOKS {
        let mut hook = watched(&scene, notes.path(), program, "0-hook")
            .args(["hook", "claude", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("valgrind is needed: apt-get install valgrind")?;
        hook.stdin.take().context("no input")?.write_all(input.as_bytes())?;
        ensure!(hook.wait()?.success(), "the hook {event} failed");
    }
    let mut serve = watched(&scene, notes.path(), program, "1-serve");
    serve.args(["serve", "--port", "0"]);
    let served = Served::start(serve)?;
    visit(&scene, &served)?;
    served.stop();
    let mut files: Vec<PathBuf> =
        fs::read_dir(notes.path())?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut functions: Vec<String> = Vec::new();
    let mut met = std::collections::HashSet::new();
    for file in files {
        let noted = fs::read_to_string(file)?;
        let new = noted.lines().filter_map(function).filter(|name| met.insert((*name).to_owned()));
        functions.extend(new.map(str::to_owned));
    }
    ensure!(functions.len() > FUNCTIONS_MIN, "only {} functions were met", functions.len());
    Ok(functions)
}

/// The program, with every function it calls written down.
fn watched(scene: &Scene, notes: &Path, program: &Path, name: &str) -> Command {
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(notes.join(format!("{name}-%p")));
    let mut command = scene.command("valgrind");
    command.args(["-q", "--tool=callgrind", "--demangle=no"]).arg(file).arg(program);
    // It tells of calls of the kernel it does not know; flyball gets along without them.
    command.stderr(Stdio::null());
    command
}

/// The function a line of callgrind's notes names, where it is the first to do so.
fn function(line: &str) -> Option<&str> {
    let named = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn="))?;
    let (_, name) = named.split_once(") ")?;
    // A function that is called by itself is told apart: `name'2`.
    Some(name.split('\'').next().unwrap_or(name))
}

/// Looks at every page of a window, as a browser and as a script would, and at what is new for a while.
fn visit(scene: &Scene, served: &Served) -> Result<()> {
    let link = served.link.strip_prefix(&served.origin).context("no link")?;
    let opened = get(served, link, "")?;
    let cookie = opened
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .and_then(|cookie| cookie.split(';').next())
        .context("the link gave no cookie")?
        .to_owned();
    let runs = get(served, "/api/runs?limit=1", &cookie)?;
    let (_, runs) = runs.split_once("\r\n\r\n").context("no runs")?;
    let runs: Value = serde_json::from_str(runs)?;
    let run = runs.pointer("/runs/0/run").and_then(Value::as_str).context("no run")?;
    let mut all = pages(run).to_vec();
    all.extend(["report", "tamper"].map(|part| format!("/runs/{run}/{part}")));
    let parts = ["iterations", "matrix", "story", "events", "acts"];
    all.extend(parts.map(|part| format!("/api/runs/{run}/{part}")));
    all.extend(OTHERS.map(str::to_owned));
    for page in &all {
        let answer = get(served, page, &cookie)?;
        ensure!(!answer.starts_with("HTTP/1.1 5"), "{page}: {answer:.200}");
    }
    let mut live = ask(served, "/api/live", &cookie)?;
    for _ in 0..LOOKS {
        scene.touch_journal()?;
        live.read_exact(&mut [0])?;
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

/// What the server answers, head and all.
fn get(served: &Served, page: &str, cookie: &str) -> Result<String> {
    let mut answer = String::new();
    ask(served, page, cookie)?.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Asks the server for a page.
fn ask(served: &Served, page: &str, cookie: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, served.port()?))?;
    stream.set_read_timeout(Some(LONG))?;
    let host = served.origin.trim_start_matches("http://");
    write!(
        stream,
        "GET {page} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
    )?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_where_they_are_named() {
        let notes = "version: 1\nfl=(1) a.rs\nfn=(1) _ZN4core3fmt5writeE\n3 4\ncfn=(2) malloc\n\
                     calls=1 2\nfn=(2)\ncfn=(3) _ZN4sort4deepE'2\n";
        let functions: Vec<&str> = notes.lines().filter_map(function).collect();
        assert_eq!(functions, ["_ZN4core3fmt5writeE", "malloc", "_ZN4sort4deepE"]);
    }
}
