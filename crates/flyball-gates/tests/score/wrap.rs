//! Whatever a runner of several programs puts before each line, the findings must be the same: every
//! capture is put behind every prefix, and interleaved with another one.

use std::collections::BTreeMap;
use std::fmt;

use flyball_gates::{Exit, FindingKind, Parser};

use super::Capture;

/// What the line is put behind, by its number.
type Prefix = fn(usize) -> String;

/// The prefixes of many runners, and of those who keep their logs.
pub(crate) const PREFIXES: &[(&str, Prefix)] = &[
    ("docker compose", |_| "web-1  | ".to_owned()),
    ("docker compose, old", |_| "web_1      | ".to_owned()),
    ("compose with times", |at| format!("web-1  | 2026-11-15T16:30:{:02}.1Z ", at % 60)),
    ("docker build", |at| format!("#12 {at}.123 ")),
    ("act", |_| "[CI/test]   | ".to_owned()),
    ("bar", |_| "| ".to_owned()),
    ("box", |_| "\u{2502} ".to_owned()),
    ("concurrently", |_| "[0] ".to_owned()),
    ("concurrently, named", |_| "[api] ".to_owned()),
    ("npm-run-all", |_| "[test:unit] ".to_owned()),
    ("yarn", |_| "[@shop/api]: ".to_owned()),
    ("turbo", |_| "@shop/api:test: ".to_owned()),
    ("lerna", |_| "shop-api: ".to_owned()),
    ("lerna, scoped", |_| "@shop/api: ".to_owned()),
    ("moon", |_| "api:test | ".to_owned()),
    ("wsrun", |_| "@shop/api | ".to_owned()),
    ("earthly", |_| "+test | ".to_owned()),
    ("honcho", |at| format!("16:44:{:02} test.1 | ", at % 60)),
    ("foreman", |at| format!("16:44:{:02} web.1     | ", at % 60)),
    ("overmind", |_| "web   | ".to_owned()),
    ("pm2", |_| "0|web  | ".to_owned()),
    ("kubectl", |_| "[pod/web-7d9c/app] ".to_owned()),
    ("parallel --tag", |_| "api\t".to_owned()),
    ("GitHub", |at| format!("2026-11-15T16:30:{:02}.1234567Z ", at % 60)),
    ("GitHub, gh", |at| format!("test\tRun tests\t2026-11-15T16:30:{:02}.1234567Z ", at % 60)),
    ("GitLab", |at| format!("2026-11-15T16:30:{:02}.123456Z 01O ", at % 60)),
    ("Buildkite", |at| format!("\u{1b}_bk;t=17000000{at:05}\u{7}")),
    ("Jenkins", |at| format!("[2026-11-15T16:30:{:02}.123Z] ", at % 60)),
    ("Jenkins, short", |at| format!("16:30:{:02}  ", at % 60)),
    ("TeamCity", |at| format!("[16:30:{:02}] : ", at % 60)),
    ("TeamCity, steps", |at| format!("[16:30:{:02}] : [Step 1/2] ", at % 60)),
    ("brackets", |at| format!("[2026-11-15 16:30:{:02}] ", at % 60)),
    ("ts", |at| format!("Nov 15 16:30:{:02} ", at % 60)),
    ("syslog", |at| format!("Nov 15 16:30:{:02} build-7 runner[412]: ", at % 60)),
    ("systemd", |at| format!("2026-11-15T16:30:{:02}+00:00 build-7 runner[412]: ", at % 60)),
    ("logger", |at| format!("2026-11-15 16:30:{:02},123 INFO ", at % 60)),
    ("cargo-make", |_| "[cargo-make] INFO - ".to_owned()),
];

/// What is compared: not the excerpt, which holds lines as they came.
type Told = (FindingKind, Option<String>, Option<String>, Option<u32>, String);

/// Fewer lines than these may be anything.
const LINES_MIN: usize = 8;

/// How often a wrapped output said the same as the plain one.
#[derive(Default)]
pub(crate) struct Sameness {
    rows: BTreeMap<&'static str, (usize, usize)>,
    /// What was different.
    pub(crate) remarks: Vec<String>,
}

impl Sameness {
    /// One more comparison, with what was different in it.
    fn add(&mut self, row: &'static str, remark: Option<String>) {
        let (same, all) = self.rows.entry(row).or_default();
        *all += 1;
        *same += usize::from(remark.is_none());
        self.remarks.extend(remark);
    }

    /// How many of a hundred were the same.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(crate) fn percent(&self) -> f64 {
        let sum = |pick: fn(&(usize, usize)) -> usize| self.rows.values().map(pick).sum::<usize>();
        100.0 * sum(|row| row.0) as f64 / sum(|row| row.1).max(1) as f64
    }
}

impl fmt::Display for Sameness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, (same, all)) in &self.rows {
            writeln!(f, "{name:<24}{same:>6} of {all}")?;
        }
        writeln!(f, "{:<24}{:>6.1} %", "the same", self.percent())
    }
}

/// Puts every `step`th capture behind every prefix, and interleaves it with the next one.
pub(crate) fn wrapped(captures: &[Capture], step: usize) -> Sameness {
    let usable = |capture: &&Capture| {
        let text = String::from_utf8_lossy(&capture.output);
        capture.record.wrapper.is_empty()
            && text.lines().count() >= LINES_MIN
            && !text.contains('\r')
            && !text.contains("\u{1b}[1G")
            && !text.trim_start().starts_with(['{', '[', '<'])
    };
    let usable: Vec<&Capture> = captures.iter().filter(usable).collect();
    let mut sameness = Sameness::default();
    for (at, capture) in usable.iter().enumerate().step_by(step) {
        let plain = told(&capture.output, capture.exit());
        for (name, prefix) in PREFIXES {
            let text = behind(*prefix, &capture.output);
            let got = told(text.as_bytes(), capture.exit());
            let remark = (got != plain).then(|| {
                format!("{} behind {name}:\n  plain   {plain:?}\n  wrapped {got:?}", capture.label)
            });
            sameness.add(name, remark);
        }
        let other = usable.get((at + 37) % usable.len()).unwrap_or(capture);
        mixed(&mut sameness, capture, other);
    }
    sameness
}

/// Two captures side by side: what both of them say, and nothing else.
fn mixed(sameness: &mut Sameness, one: &Capture, other: &Capture) {
    let is_plain = |capture: &Capture| matches!(capture.record.exit, 1 | 2 | 101);
    if !is_plain(one) || !is_plain(other) {
        return;
    }
    let exit = one.exit();
    let (first, second) = (told(&one.output, exit), told(&other.output, exit));
    // Where nobody found anything, the reason is looked for in all there is.
    let is_sure = |told: &[Told]| {
        !told.is_empty()
            && told.iter().all(|f| {
                !matches!(f.0, FindingKind::Other | FindingKind::CouldNotRun | FindingKind::Crash)
            })
    };
    if !is_sure(&first) || !is_sure(&second) {
        return;
    }
    let text = |capture: &Capture| String::from_utf8_lossy(&capture.output).into_owned();
    let (left, right) = (text(one), text(other));
    let (mut left, mut right) = (left.lines(), right.lines());
    let mut together = String::new();
    loop {
        let lines = [("web", left.next()), ("api", right.next())];
        if lines.iter().all(|(_, line)| line.is_none()) {
            break;
        }
        for (name, line) in lines {
            if let Some(line) = line {
                together.extend([name, "-1  | ", line, "\n"]);
            }
        }
    }
    let mut want: Vec<Told> = first.into_iter().chain(second).collect();
    let mut got = told(together.as_bytes(), exit);
    want.sort();
    got.sort();
    let remark = (want != got).then(|| {
        let missing: Vec<&Told> = want.iter().filter(|one| !got.contains(one)).collect();
        let further: Vec<&Told> = got.iter().filter(|one| !want.contains(one)).collect();
        let (one, other) = (&one.label, &other.label);
        format!("{one} beside {other}:\n  missing {missing:?}\n  further {further:?}")
    });
    sameness.add("two side by side", remark);
}

fn behind(prefix: Prefix, output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut wrapped = String::new();
    for (at, line) in text.lines().enumerate() {
        wrapped.push_str(&prefix(at));
        wrapped.push_str(line);
        wrapped.push('\n');
    }
    wrapped
}

fn told(output: &[u8], exit: Exit) -> Vec<Told> {
    // Who puts something before lines is named in the command, and not the tool.
    let mut parser = Parser::new("./ci.sh");
    parser.feed(output);
    let findings = parser.finish(exit).findings;
    findings.into_iter().map(|f| (f.kind, f.name, f.file, f.line, f.message)).collect()
}
