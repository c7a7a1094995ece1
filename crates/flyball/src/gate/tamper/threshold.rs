//! Thresholds: what coverage must reach and how many warnings may be.

use super::Edited;

/// Names of files that hold thresholds, or the beginnings of such names.
const FILES: [&str; 24] = [
    "package.json",
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    "vite.config.",
    ".nycrc",
    "nyc.config.",
    ".c8rc",
    "karma.conf.",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    ".coveragerc",
    "pytest.ini",
    "codecov.y",
    ".codecov.y",
    "Makefile",
    "justfile",
    ".simplecov",
    "build.gradle",
    "pom.xml",
    "tarpaulin.toml",
    ".tarpaulin.toml",
    "noxfile.py",
];

/// A key that a number follows, in which files it counts, and which way is weaker.
struct Rule {
    key: &'static str,
    when: fn(&Edited, &str) -> bool,
    weaker: Weaker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weaker {
    Lower,
    Higher,
}

const RULES: [Rule; 14] = [
    Rule { key: "fail_under", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "fail-under", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "cov-fail-under", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "fail-under-lines", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "fail-under-functions", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "lines", when: covers, weaker: Weaker::Lower },
    Rule { key: "branches", when: covers, weaker: Weaker::Lower },
    Rule { key: "functions", when: covers, weaker: Weaker::Lower },
    Rule { key: "statements", when: covers, weaker: Weaker::Lower },
    Rule { key: "max-warnings", when: |_, _| true, weaker: Weaker::Higher },
    Rule { key: "minimum_coverage", when: |_, _| true, weaker: Weaker::Lower },
    Rule { key: "minimum", when: jacoco, weaker: Weaker::Lower },
    Rule { key: "target", when: codecov, weaker: Weaker::Lower },
    Rule { key: "threshold", when: codecov, weaker: Weaker::Higher },
];

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn covers(file: &Edited, text: &str) -> bool {
    let rc = [".nycrc", ".c8rc", "nyc.config."].iter().any(|rc| name(&file.path).starts_with(rc));
    rc || text.contains("hreshold") || text.contains("check-coverage") || text.contains("c8 ")
}

fn jacoco(file: &Edited, _: &str) -> bool {
    matches!(name(&file.path), "pom.xml" | "build.gradle" | "build.gradle.kts")
}

fn codecov(file: &Edited, _: &str) -> bool {
    name(&file.path).contains("codecov")
}

/// Whether a file may hold thresholds.
pub(super) fn may_hold(path: &str) -> bool {
    FILES.iter().any(|file| name(path).starts_with(file))
}

/// A threshold as it is written.
#[derive(Clone, Debug, PartialEq)]
struct Threshold {
    file: String,
    line: u32,
    key: &'static str,
    value: f64,
    shown: String,
    weaker: Weaker,
}

/// A threshold that became weaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lowered {
    pub(super) key: &'static str,
    pub(super) file: String,
    /// The line it is on now, or was on when it is gone.
    pub(super) line: u32,
    pub(super) removed: bool,
    pub(super) message: String,
}

/// What became weaker. A threshold that moved to another file is compared there.
pub(super) fn lowered(edited: &[Edited]) -> Vec<Lowered> {
    let files = || edited.iter().filter(|file| may_hold(&file.path));
    let all = |side: fn(&Edited) -> Option<&str>| -> Vec<Threshold> {
        files()
            .flat_map(|file| side(file).map(|text| thresholds(file, text)).unwrap_or_default())
            .collect()
    };
    let before = all(|file| file.before.as_deref());
    let mut after = all(|file| file.after.as_deref());
    let mut found = Vec::new();
    let mut open = Vec::new();
    for old in before {
        let same = |new: &Threshold| new.key == old.key && new.file == old.file;
        match after.iter().position(same) {
            Some(at) => found.extend(compare(&old, &after.remove(at))),
            None => open.push(old),
        }
    }
    for old in open {
        match after.iter().position(|new| new.key == old.key) {
            Some(at) => found.extend(compare(&old, &after.remove(at))),
            None if old.weaker == Weaker::Lower && old.value <= 0.0 => {}
            None => found.push(Lowered {
                key: old.key,
                message: format!("the threshold `{}` ({}) was removed", old.key, old.shown),
                file: old.file,
                line: old.line,
                removed: true,
            }),
        }
    }
    found
}

fn compare(old: &Threshold, new: &Threshold) -> Option<Lowered> {
    let (weaker, word) = match old.weaker {
        Weaker::Lower => (new.value < old.value, "lowered"),
        // Fewer than none stands for any number.
        Weaker::Higher => {
            (old.value >= 0.0 && (new.value > old.value || new.value < 0.0), "raised")
        }
    };
    weaker.then(|| Lowered {
        key: old.key,
        file: new.file.clone(),
        line: new.line,
        removed: false,
        message: format!(
            "the threshold `{}` was {word} from {} to {}",
            old.key, old.shown, new.shown
        ),
    })
}

fn thresholds(file: &Edited, text: &str) -> Vec<Threshold> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(&file.path, line);
        for rule in RULES.iter().filter(|rule| (rule.when)(file, text)) {
            for (value, shown) in values(line, rule.key) {
                found.push(Threshold {
                    file: file.path.clone(),
                    line: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
                    key: rule.key,
                    value,
                    shown,
                    weaker: rule.weaker,
                });
            }
        }
    }
    found
}

fn without_comment<'a>(path: &str, line: &'a str) -> &'a str {
    let mark = match path.rsplit('.').next().unwrap_or("") {
        "json" | "xml" => return line,
        "js" | "ts" | "mjs" | "cjs" | "mts" | "cts" | "gradle" | "kts" => "//",
        _ => "#",
    };
    let comment = line.match_indices(mark).find(|(at, _)| {
        let before = line.get(..*at).unwrap_or("");
        before.is_empty() || before.ends_with([' ', '\t'])
    });
    comment.map_or(line, |(at, _)| line.get(..at).unwrap_or(line))
}

/// The numbers that follow a key on a line.
fn values(line: &str, key: &str) -> Vec<(f64, String)> {
    let places = line.match_indices(key);
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    places
        .filter_map(|(at, _)| {
            let before = line.get(..at)?;
            let whole =
                !before.ends_with(in_word) && (!before.ends_with('-') || before.ends_with("--"));
            let rest = line.get(at.saturating_add(key.len())..)?;
            let value = rest.trim_start_matches(['"', '\'', '=', ':', ' ', '\t', '>', ',']);
            let bare = value.len() < rest.len();
            let end = value.find(|c: char| !c.is_ascii_digit() && !".-_".contains(c));
            let number = value.get(..end.unwrap_or(value.len()))?.trim_end_matches(['.', '-']);
            let parsed = number.replace('_', "").parse().ok()?;
            (whole && bare).then(|| (parsed, number.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weaker(path: &str, before: &str, after: &str) -> Vec<String> {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let file = Edited { path: path.to_owned(), before: text(before), after: text(after) };
        lowered(&[file]).into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_lowered_or_removed_threshold_is_found_in_every_place_it_may_be() {
        let cases = [
            ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "fail_under = 50\n"),
            ("setup.cfg", "addopts = --cov-fail-under=80\n", "addopts = --cov-fail-under=8\n"),
            ("tox.ini", "commands = pytest --cov-fail-under 80\n", "commands = pytest\n"),
            (".coveragerc", "fail_under = 80\n", "# fail_under = 80\n"),
            (
                "package.json",
                r#"{"jest":{"coverageThreshold":{"global":{"lines":80}}}}"#,
                r#"{"jest":{"coverageThreshold":{"global":{"lines":10}}}}"#,
            ),
            (
                "package.json",
                r#"{"scripts":{"lint":"eslint --max-warnings 0 ."}}"#,
                r#"{"scripts":{"lint":"eslint --max-warnings 99 ."}}"#,
            ),
            (
                "package.json",
                r#"{"scripts":{"lint":"eslint --max-warnings=0 ."}}"#,
                r#"{"scripts":{"lint":"eslint ."}}"#,
            ),
            (
                "vitest.config.ts",
                "coverage: { thresholds: { branches: 75 } }",
                "coverage: { thresholds: { branches: 7.5 } }",
            ),
            (
                "web/jest.config.js",
                "coverageThreshold: { global: { statements: 80 } }",
                "// coverageThreshold: { global: { statements: 80 } }\n",
            ),
            (".nycrc.json", r#"{"lines": 90}"#, r#"{"lines": 89}"#),
            ("codecov.yml", "target: 80%\n", "target: 70%\n"),
            ("codecov.yml", "threshold: 1%\n", "threshold: 10%\n"),
            (
                "Makefile",
                "\tcargo llvm-cov --fail-under-lines 80\n",
                "\tcargo llvm-cov --fail-under-lines 8\n",
            ),
            ("pom.xml", "<minimum>0.80</minimum>", "<minimum>0.10</minimum>"),
            (".simplecov", "minimum_coverage 90\n", "minimum_coverage 80\n"),
        ];
        for (path, before, after) in cases {
            assert_eq!(weaker(path, before, after).len(), 1, "{path}: {before} → {after}");
            if !after.contains("//") && !after.contains('#') {
                let back = weaker(path, after, before);
                assert_eq!(back, Vec::<String>::new(), "{path}: {after} → {before}");
            }
        }
        let said = weaker("pyproject.toml", "fail_under = 90", "fail_under = 50");
        assert_eq!(said, ["the threshold `fail_under` was lowered from 90 to 50"]);
    }

    #[test]
    fn other_edits_of_the_same_files_are_none() {
        let cases = [
            ("pyproject.toml", "fail_under = 90\n", "version = 2\n[x]\nfail_under = 95 # 1\n"),
            ("package.json", r#"{"lines": 90}"#, r#"{"lines": 10}"#),
            ("package.json", r#"{"version": "1.0.0"}"#, r#"{"version": "0.9.0"}"#),
            (
                "jest.config.js",
                "coverageThreshold: { global: { lines: 80 } }",
                "coverageThreshold: {\n  global: {\n    lines: 80,\n    branches: 10,\n  },\n}",
            ),
            ("Makefile", "# fail-under 80\n", "all:\n"),
            ("src/config.ts", "thresholds: { lines: 80 }", "thresholds: { lines: 10 }"),
            ("Makefile", "\thead --lines 80\n", "\thead --lines 10\n"),
        ];
        for (path, before, after) in cases {
            assert_eq!(weaker(path, before, after), Vec::<String>::new(), "{path}: {after}");
        }
    }

    #[test]
    fn a_threshold_that_moved_to_another_file_is_compared_there() {
        let moved = |value: &str| {
            let file = |path: &str, before: Option<&str>, after: Option<&str>| Edited {
                path: path.to_owned(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            };
            lowered(&[
                file(".coveragerc", Some("fail_under = 80\n"), None),
                file("pyproject.toml", Some(""), Some(value)),
            ])
        };
        assert_eq!(moved("fail_under = 80\n"), []);
        assert_eq!(moved("fail_under = 8\n").len(), 1);
        assert_eq!(moved("").len(), 1);
    }
}
