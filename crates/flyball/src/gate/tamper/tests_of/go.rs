//! Go: functions of test files whose name begins with `Test`.

use super::{TESTS_MAX, Test, clipped, next_of, word_at};
use crate::gate::tamper::source::{Language, Source, words};

pub(super) fn tests(source: &Source, text: &str) -> Vec<Test> {
    let bare = source.bare.as_str();
    let left_out = text.lines().take(20).any(|line| {
        let tag = line.trim().trim_start_matches("//").trim_start();
        line.starts_with("//") && (tag == "go:build ignore" || tag == "+build ignore")
    });
    let conditions: Vec<String> = text.lines().take(20).filter_map(build_tag).collect();
    let functions = words(bare).filter(|(_, word)| *word == "func");
    let test = |(at, _): (usize, &str)| {
        let (name_at, name) = word_at(bare, at.saturating_add(4))?;
        let rest = name.strip_prefix("Test")?;
        let proper = !rest.starts_with(|c: char| c.is_lowercase()) && name != "TestMain";
        let open = next_of(bare, name_at, b"{")?;
        let end = source.close(open);
        let body = clipped(bare, open, end);
        let skips = [".Skip(", ".Skipf(", ".SkipNow("].iter().any(|call| body.contains(call));
        proper.then(|| Test {
            language: Language::Go,
            name: name.to_owned(),
            line: source.line(at),
            whole: clipped(&source.code, at, end).to_owned(),
            body: body.to_owned(),
            skipped: left_out || (skips && !body.contains("testing.Short()")),
            expects: false,
            first_line: source.line(at),
            conditions: conditions.clone(),
        })
    };
    functions.filter_map(test).take(TESTS_MAX).collect()
}

/// The condition of a file, where it has one that does not name this system.
fn build_tag(line: &str) -> Option<String> {
    let tag = line.strip_prefix("//go:build ").or_else(|| line.strip_prefix("// +build "))?;
    let here = [std::env::consts::OS, "unix", "!windows", "!js"];
    (!here.contains(&tag.trim())).then(|| tag.trim().to_owned())
}

/// `work_windows_test.go` is only built there: the condition a file has by its name, where it is not
/// that of this system.
pub(in crate::gate::tamper) fn condition_of_name(path: &str) -> Option<String> {
    const SYSTEMS: [&str; 18] = [
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "illumos",
        "ios",
        "js",
        "linux",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "wasip1",
        "windows",
        "amd64",
        "arm64",
        "wasm",
    ];
    let name = path.rsplit('/').next()?.strip_suffix("_test.go")?;
    let (_, last) = name.rsplit_once('_')?;
    let arch = if std::env::consts::ARCH == "x86_64" { "amd64" } else { "arm64" };
    let here = [std::env::consts::OS, arch];
    (SYSTEMS.contains(&last) && !here.contains(&last)).then(|| last.to_owned())
}
