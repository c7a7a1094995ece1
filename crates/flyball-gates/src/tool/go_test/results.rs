//! Whose result it is, and what it adds to those of others.

use super::output;
use crate::report::Findings;
use crate::{Finding, FindingKind, bytes};

/// The test that began what panicked beside it: `created by example.com/bank.TestLater`.
pub(super) fn starter(block: &str) -> Option<&str> {
    let mut lines = block.lines().filter_map(|line| line.strip_prefix("created by "));
    lines.find_map(|by| {
        let by = by.split(" in goroutine ").next().unwrap_or(by);
        let name = by.rsplit('/').next()?.split_once('.')?.1;
        let name = name.split(".func").next().unwrap_or(name);
        let is_test =
            ["Test", "Fuzz", "Benchmark", "Example"].iter().any(|start| name.starts_with(start));
        (is_test && !name.contains('.')).then_some(name)
    })
}

/// A failed subtest fails its parents too: they are only kept when they say something themselves.
pub(super) fn drop_parents(findings: &mut Findings) {
    let names: Vec<(String, Option<String>)> = findings
        .kept()
        .filter_map(|finding| Some((finding.name.clone()?, finding.package.clone())))
        .collect();
    let is_parent = |finding: &Finding| {
        finding.kind == FindingKind::Test
            && finding.message == output::SILENT
            && finding.name.as_deref().is_some_and(|name| {
                let is_below = |other: &str| {
                    other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
                };
                names.iter().any(|(other, package)| *package == finding.package && is_below(other))
            })
    };
    findings.retain(|finding| !is_parent(finding));
}

/// Word and name of `FAIL: TestX (0.00s)`; a benchmark has no time.
pub(super) fn result(result: &str) -> Option<(&str, &str)> {
    let (word, rest) = result.split_once(": ")?;
    let name = rest.split(" (").next().unwrap_or(rest);
    let is_benchmark = || rest.starts_with("Benchmark") && !rest.contains(' ');
    let is_result = rest.ends_with("s)") || is_benchmark();
    (is_result && matches!(word, "FAIL" | "PASS" | "SKIP")).then_some((word, name))
}

/// Whether a name is that of a test, as nearly all are.
pub(super) fn is_plain(name: &str) -> bool {
    name.len() < 300 && !name.is_empty() && name.trim().len() == name.len()
}

/// `0.00s)`.
pub(super) fn is_time(time: &[u8]) -> bool {
    let fraction = bytes::after_digits(time).and_then(|rest| rest.strip_prefix(b"."));
    fraction.and_then(bytes::after_digits) == Some(b"s)")
}
