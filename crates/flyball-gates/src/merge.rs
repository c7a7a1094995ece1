//! Makes one result of what several recognisers have understood, in all streams of an output.

mod plain;
mod repeats;
mod said;

use std::sync::Arc;

use self::repeats::{died, gave_up, within, without_repeats};
use crate::kept::Kept;
use crate::report::{Findings, MENTIONS, Report, TICKS};
use crate::stream::Said;
use crate::tail::Tail;
use crate::{Counts, Executed, Exit, Finding, FindingKind, Parsed, place, reason};

/// One result of everything that was said.
pub(crate) fn merge(said: Vec<Said>, tail: Tail, exit: Exit, command: &str) -> Parsed {
    let (parsed, findings) = merged(said, tail, exit, command);
    Parsed { findings: findings.into_iter().map(Arc::unwrap_or_clone).collect(), ..parsed }
}

/// The same with its findings apart, which others may have as well.
pub(crate) fn merged(
    said: Vec<Said>,
    tail: Tail,
    exit: Exit,
    command: &str,
) -> (Parsed, Vec<Arc<Finding>>) {
    let mut parts = Parts::default();
    for one in said {
        parts.add(one);
    }
    let kept = std::mem::take(&mut parts.kept);
    let findings =
        if exit.is_success() { Findings::default() } else { parts.choose(exit, command, &kept) };
    let (chosen, left_out) = findings.take();
    let findings: Vec<Arc<Finding>> = chosen.into_iter().map(|(_, finding)| finding).collect();
    let is_sure = findings.iter().any(|finding| finding.kind != FindingKind::Other);
    let errors = if exit.is_success() || is_sure { Vec::new() } else { errors(&kept) };
    let parsed = Parsed {
        counts: parts.counts,
        findings: Vec::new(),
        findings_left_out: left_out,
        tail: tail.finish(exit, &errors),
        executed: parts.executed,
        tools: parts.tools,
    };
    (parsed, findings)
}

/// What all streams said, sorted.
#[derive(Default)]
struct Parts {
    /// Whether some tool said more than that it was there.
    is_told: bool,
    tools: Vec<&'static str>,
    counts: Option<Counts>,
    executed: Vec<Executed>,
    found: Findings,
    warnings: Findings,
    mentions: Findings,
    /// Places of what only warns.
    remarks: Findings,
    /// Lines that may say why, by stream.
    kept: Vec<Kept>,
}

impl Parts {
    fn add(&mut self, said: Said) {
        let Said { folder, reports, kept } = said;
        let mut found = Vec::new();
        let mut warnings = Vec::new();
        for mut report in without_repeats(with_ticks(reports)) {
            match report.tool {
                "prove" => died(&mut report.findings, &kept.all()),
                "go-test" => gave_up(&mut report.findings, &kept.all()),
                "node" => within(&mut report.findings, &kept.all()),
                _ => {}
            }
            if let Some(folder) = &folder {
                for list in [&mut report.findings, &mut report.warnings] {
                    list.those(|finding| is_inside(finding, folder))
                        .for_each(|finding| settle(finding, folder));
                }
            }
            if report.tool == MENTIONS {
                self.mentions.append(report.findings);
                self.remarks.append(report.warnings);
                continue;
            }
            if !self.tools.contains(&report.tool) {
                self.tools.push(report.tool);
            }
            if let Some(counts) = report.counts {
                self.counts = Some(self.counts.unwrap_or_default().and(counts));
            }
            self.executed.extend(report.executed());
            self.is_told |= !report.findings.is_empty()
                || !report.warnings.is_empty()
                || report.counts.is_some_and(|counts| counts.total() > 0);
            found.push(report.findings);
            warnings.push(report.warnings);
        }
        self.found.append(together(found));
        self.warnings.append(together(warnings));
        self.kept.push(kept);
    }

    /// How it ended, then the findings of the tools; failing these their warnings; failing these
    /// why it could not run; failing that what stands there.
    fn choose(&mut self, exit: Exit, command: &str, kept: &[Kept]) -> Findings {
        let lines = of_all(kept, Kept::lines);
        let lines = if kept.len() > 1 { lines } else { reason::bare(&lines) };
        let ended = reason::of_exit(exit, command, &lines);
        let mut found = std::mem::take(&mut self.found);
        if found.is_empty() {
            found = std::mem::take(&mut self.warnings);
        }
        if found.is_empty() {
            let words =
                reason::in_words(&lines).filter(|(_, found)| !is_said(ended.as_ref(), found));
            match words {
                Some((number, finding)) => found.push(number, finding),
                None if ended.is_none() => {
                    let (all, errors) = (of_all(kept, Kept::all), errors(kept));
                    let mentions = std::mem::take(&mut self.mentions);
                    found = as_a_person(&all, mentions, &errors);
                    if found.is_empty() {
                        found = said::findings(&errors, &lines);
                    }
                    if found.is_empty() {
                        found = std::mem::take(&mut self.remarks);
                    }
                }
                None => {}
            }
        } else if ended.is_none()
            && let Some((number, finding)) = reason::is_certain(&lines)
        {
            found.push(number, finding);
        }
        let is_counted = self.counts.is_some_and(|counts| counts.total() > 0);
        if ended.is_none() && !is_counted {
            let heard = reason::Heard { command, has_tool: self.is_told };
            reason::settle(&mut found, heard, &lines);
        }
        found.sort();
        if let Some(ended) = ended {
            found.lead(ended);
        }
        found
    }
}

/// Some of the lines that were kept, of all streams, in the order of the output.
fn of_all(kept: &[Kept], some: fn(&Kept) -> Vec<(u64, &str)>) -> Vec<(u64, &str)> {
    let mut lines: Vec<(u64, &str)> = kept.iter().flat_map(some).collect();
    lines.sort_unstable();
    lines
}

/// The first lines that speak of an error.
fn errors(kept: &[Kept]) -> Vec<(u64, &str)> {
    of_all(kept, |kept| kept.errors().collect())
}

/// What a person would see in an output nobody understands: errors with their places, things marked
/// as failed, and further places that are mentioned.
fn as_a_person(lines: &[(u64, &str)], mut mentions: Findings, errors: &[(u64, &str)]) -> Findings {
    let plain::Plain { mut findings, taken } = plain::read(lines);
    mentions.retain_lines(|number| !taken.contains(&number));
    findings.append(unread(mentions, errors));
    findings
}

/// The places that output nobody understands mentions. A bare place says nothing when an error
/// stands elsewhere; the error itself is in the tail.
fn unread(mut mentions: Findings, errors: &[(u64, &str)]) -> Findings {
    let is_error = |message: &str| errors.iter().any(|(_, line)| line.contains(message));
    let listed = |mention: &Finding| level(mention);
    if mentions.kept().any(|mention| is_error(&mention.message)) {
        // A list of problems is told whole, whichever of them use the word, but for what only warns
        // beside what does not.
        let has_list = mentions.kept().any(|m| listed(m).is_some() && is_error(&m.message));
        let has_errors = mentions.kept().any(|m| listed(m) == Some(Level::Error));
        mentions.retain(|mention| match listed(mention) {
            Some(Level::Warning) if has_list => !has_errors,
            Some(_) if has_list => true,
            _ => is_error(&mention.message),
        });
    } else if errors.iter().any(|(_, line)| !place::is_foreign(line)) {
        mentions.retain(|mention| mention.message.split_whitespace().count() > 2);
    }
    mentions
}

/// How grave a problem is that is told in one line behind its place; nothing for other mentions.
fn level(mention: &Finding) -> Option<Level> {
    let place = place::prefix(&mention.message)?;
    let word = place.rest.trim_start_matches(['-', '(', '[', ' ']);
    let word = word.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|own| word.eq_ignore_ascii_case(own));
    (place.rest.contains(' ')).then(|| {
        if is(&["error", "err", "fatal"]) {
            Level::Error
        } else if is(&["warning", "warn", "note", "info", "hint"]) {
            Level::Warning
        } else {
            Level::None
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    None,
}

/// Whether the words only say what the exit said already.
fn is_said(ended: Option<&Finding>, words: &Finding) -> bool {
    ended.is_some_and(|ended| {
        ended.kind == words.kind && (ended.message.contains(&words.message) || words.name.is_none())
    })
}

/// Whether the path of a finding is relative to a package's folder.
fn is_inside(finding: &Finding, folder: &str) -> bool {
    finding.file.as_deref().is_some_and(|file| {
        let is_elsewhere = file.starts_with('/') || file.contains(":\\") || file.starts_with("..");
        !is_elsewhere && !file.starts_with(folder)
    })
}

/// Makes such a path relative to the root.
fn settle(finding: &mut Finding, folder: &str) {
    if let Some(file) = &mut finding.file {
        *file = format!("{}/{file}", folder.trim_end_matches('/'));
    }
}

/// The first findings of all lists, by where they were seen.
fn together(lists: Vec<Findings>) -> Findings {
    let mut found = Findings::default();
    let mut all = Vec::new();
    for list in lists {
        let (kept, left_out) = list.take_marked();
        all.extend(kept);
        found.leave_out(left_out);
    }
    all.sort_by_key(|(number, ..)| *number);
    for (number, mark, finding) in all {
        found.push_shared(mark, number, finding);
    }
    found
}

/// Gives the tests that were ticked off to the one runner here that ticks tests off.
fn with_ticks(mut reports: Vec<Report>) -> Vec<Report> {
    let at = reports.iter().position(|report| report.tool == TICKS);
    let Some(ticks) = at.map(|at| reports.remove(at)) else { return reports };
    let is_one = |report: &&mut Report| {
        matches!(report.tool, "jest" | "vitest" | "mocha") && report.counts.is_some()
    };
    let mut runners = reports.iter_mut().filter(is_one);
    if let (Some(runner), None) = (runners.next(), runners.next()) {
        if runner.names.is_empty() {
            runner.names = ticks.names;
        }
        // What it said of its failures itself may have gone elsewhere.
        let has_failed = runner.counts.is_some_and(|counts| counts.failed > 0);
        if has_failed && runner.findings.is_empty() {
            runner.findings = ticks.findings;
        }
    }
    reports
}
