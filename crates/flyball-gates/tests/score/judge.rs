//! Which findings say which facts, and what is missing or invented.

use flyball_gates::{Finding, FindingKind};

use super::{Capture, Fact, FactKind, Told, Verdict};

/// How well one capture was read, in counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    /// Facts in all.
    pub(crate) facts: usize,
    /// Facts that were found.
    pub(crate) hit: usize,
    /// Tests among those found, and those found by their name.
    pub(crate) tests: usize,
    /// See `tests`.
    pub(crate) named: usize,
    /// Facts whose place stands in the output, and those at the right place.
    pub(crate) placeable: usize,
    /// See `placeable`.
    pub(crate) placed: usize,
    /// Facts whose message stands in the output, and those with it.
    pub(crate) tellable: usize,
    /// See `tellable`.
    pub(crate) told: usize,
    /// Findings in all.
    pub(crate) found: usize,
    /// Findings that are not true.
    pub(crate) invented: usize,
    /// Whether green, red and "could not run" are told apart.
    pub(crate) verdict: bool,
    /// What was wrong, in words.
    pub(crate) remarks: Vec<String>,
}

impl Score {
    /// Nothing missed, nothing invented, places and verdict right.
    pub(crate) const fn is_clean(&self) -> bool {
        self.hit == self.facts
            && self.invented == 0
            && self.verdict
            && self.placed == self.placeable
    }
}

/// Compares what was said of a capture with its truth.
pub(crate) fn judge(capture: &Capture, told: &Told) -> Score {
    let raw = plain(&String::from_utf8_lossy(&capture.output));
    let record = &capture.record;
    // A finding named like the gate is flyball's own about the check as a whole.
    let is_own = |finding: &&Finding| {
        finding.name.as_deref() == Some("g")
            && matches!(finding.kind, FindingKind::Crash | FindingKind::Timeout)
    };
    let findings: Vec<&Finding> = told.findings.iter().filter(|f| !is_own(f)).collect();
    let pairs = matched(&record.truth, &findings);
    let mut score = Score { facts: record.truth.len(), found: findings.len(), ..Score::default() };
    for (at, fact) in record.truth.iter().enumerate() {
        match pairs.iter().find(|pair| pair.0 == at).and_then(|pair| findings.get(pair.1)) {
            Some(finding) => found(&mut score, fact, finding, &raw),
            None => score.remarks.push(format!("MISS  {}", shown(fact))),
        }
    }
    for (at, finding) in findings.iter().enumerate() {
        let is_used = pairs.iter().any(|pair| pair.1 == at);
        let is_collected = finding.kind == FindingKind::Compile
            && record.truth.iter().any(|fact| fact.kind == FactKind::Collect);
        let is_allowed = record.also.iter().any(|fact| similarity(fact, finding) >= 4);
        if !is_used && record.verdict != Verdict::Broken && !is_collected && !is_allowed {
            score.invented += 1;
            score.remarks.push(format!("EXTRA {}", said(finding)));
        }
    }
    score.verdict = verdict(capture, told, &score);
    if !score.verdict {
        let kinds: Vec<FindingKind> = told.findings.iter().map(|finding| finding.kind).collect();
        score.remarks.push(format!("VERDICT wanted {:?}, kinds {kinds:?}", record.verdict));
    }
    score
}

fn found(score: &mut Score, fact: &Fact, finding: &Finding, raw: &str) {
    score.hit += 1;
    if fact.kind == FactKind::Test {
        score.tests += 1;
        if finding.name.is_some() && is_named(fact, finding) {
            score.named += 1;
        } else {
            score.remarks.push(format!("NAME  {} | {}", shown(fact), said(finding)));
        }
    }
    let is_diag = fact.kind == FactKind::Diag;
    let has_place = is_diag || fact.places.iter().any(|(file, line)| mentions(raw, file, *line));
    let has_message = is_diag || says(fact, raw);
    if (!fact.places.is_empty() && has_place) || (is_diag && !fact.file.is_empty()) {
        score.placeable += 1;
        if is_at(fact, finding) {
            score.placed += 1;
        } else {
            score.remarks.push(format!("PLACE {} | {}", shown(fact), said(finding)));
        }
    }
    if has_message {
        score.tellable += 1;
        if says(fact, &finding.message) {
            score.told += 1;
        } else {
            score.remarks.push(format!("MSG   {} | {}", shown(fact), said(finding)));
        }
    }
}

fn verdict(capture: &Capture, told: &Told, score: &Score) -> bool {
    const CANNOT: &[FindingKind] =
        &[FindingKind::Crash, FindingKind::Compile, FindingKind::Timeout, FindingKind::CouldNotRun];
    let crashes = told.findings.iter().all(|finding| finding.kind == FindingKind::Crash);
    match capture.record.verdict {
        Verdict::Green => told.is_green,
        Verdict::Broken => {
            !told.is_green && told.findings.iter().any(|finding| CANNOT.contains(&finding.kind))
        }
        Verdict::Red => {
            let only_crashed = !told.findings.is_empty() && crashes && score.facts > 0;
            let is_blind = only_crashed && score.hit == 0;
            // What was checked and found wanting did run; a build file may be where it is wanting.
            let is_excuse = |finding: &Finding| {
                finding.kind == FindingKind::CouldNotRun && finding.line.is_none()
            };
            let only_excuses = !told.findings.is_empty() && told.findings.iter().all(is_excuse);
            !told.is_green && !is_blind && !only_excuses
        }
    }
}

/// The best pairs of fact and finding, each used once.
fn matched(facts: &[Fact], findings: &[&Finding]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (fact_at, fact) in facts.iter().enumerate() {
        for (finding_at, finding) in findings.iter().enumerate() {
            let similarity = similarity(fact, finding);
            if similarity > 0 {
                all.push((similarity, fact_at, finding_at));
            }
        }
    }
    all.sort_by(|one, other| {
        other.0.cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
    });
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, fact, finding) in all {
        if !pairs.iter().any(|pair| pair.0 == fact || pair.1 == finding) {
            pairs.push((fact, finding));
        }
    }
    pairs
}

/// How well a finding says a fact; 0 when it does not.
fn similarity(fact: &Fact, finding: &Finding) -> u32 {
    let name = finding.name.as_deref().unwrap_or("");
    let has_message = says(fact, &finding.message);
    let at = is_at(fact, finding);
    let in_file = same_file(finding.file.as_deref(), &fact.file);
    if fact.kind == FactKind::Diag {
        let at = at && !fact.places.is_empty();
        let want = words(&fact.name);
        let is_named = !want.is_empty()
            && (words(name).contains(&want) || words(&finding.message).contains(&want));
        let has_message = has_message && !words(&fact.message).is_empty();
        return match (at, has_message, is_named, in_file) {
            (true, true, _, _) | (true, _, true, _) => 9,
            (true, false, false, _) => 6,
            (_, true, _, true) => 5,
            (_, true, true, _) => 4,
            (_, _, _, true) if fact.places.is_empty() => 4,
            // Nothing else is known of what an own script says.
            (_, true, _, _) if want.is_empty() && fact.file.is_empty() => 4,
            _ => 0,
        };
    }
    if !is_named(fact, finding) {
        if fact.kind == FactKind::Collect && in_file {
            return 3;
        }
        // A finding without a name at the very place still says which failure it is.
        let is_there = name.is_empty() && !fact.places.is_empty() && finding.line.is_some() && at;
        return if is_there { 2 + u32::from(has_message) } else { 0 };
    }
    let got = words(name);
    let exact = words(&fact.name) == got || (!fact.full.is_empty() && words(&fact.full) == got);
    let in_file = !fact.file.is_empty() && (in_file || got.contains(&fact.file));
    4 + 2 * u32::from(exact) + 2 * u32::from(in_file) + 2 * u32::from(at) + u32::from(has_message)
}

fn is_named(fact: &Fact, finding: &Finding) -> bool {
    let (want, got) = (words(&fact.name), words(finding.name.as_deref().unwrap_or("")));
    if want.is_empty() {
        return false;
    }
    let is_collected = fact.kind == FactKind::Collect
        && (same_file(finding.file.as_deref(), &fact.file)
            || words(&finding.message).contains(&want));
    got.contains(&want) || (!fact.full.is_empty() && words(&fact.full) == got) || is_collected
}

fn is_at(fact: &Fact, finding: &Finding) -> bool {
    let file = finding.file.as_deref();
    match finding.line {
        None => fact.places.is_empty() && (fact.file.is_empty() || same_file(file, &fact.file)),
        Some(_) if fact.places.is_empty() => fact.file.is_empty() || same_file(file, &fact.file),
        Some(line) => fact.places.iter().any(|place| place.1 == line && same_file(file, &place.0)),
    }
}

fn same_file(one: Option<&str>, other: &str) -> bool {
    let Some(one) = one.filter(|one| !one.is_empty() && !other.is_empty()) else { return false };
    let tidy = |path: &str| path.replace('\\', "/").trim_start_matches(['.', '/']).to_owned();
    let (one, other) = (tidy(one), tidy(other));
    one == other || one.ends_with(&format!("/{other}")) || other.ends_with(&format!("/{one}"))
}

/// Whether a text holds one of the fact's messages, blanks aside.
fn says(fact: &Fact, text: &str) -> bool {
    let wants: Vec<String> = fact
        .messages
        .iter()
        .chain([&fact.message])
        .map(|message| solid(message.strip_prefix("Error: ").unwrap_or(message)))
        .filter(|message| !message.is_empty())
        .collect();
    let have = solid(text);
    wants.is_empty()
        || wants.iter().any(|want| {
            let start: String = want.chars().take(50).collect();
            have.contains(start.trim_end_matches('.'))
        })
}

/// Whether the output holds file and line near each other: nobody can find what was not printed.
fn mentions(raw: &str, file: &str, line: u32) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    raw.match_indices(name).any(|(at, _)| {
        let after: String = raw.get(at + name.len()..).unwrap_or("").chars().take(24).collect();
        let gap = after.chars().take_while(|c| !c.is_ascii_digit()).count();
        let digits: String = after.chars().skip(gap).take_while(char::is_ascii_digit).collect();
        (1..=12).contains(&gap) && digits.parse() == Ok(line)
    })
}

/// The text without colours.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('[') => {
                let _ = letters.by_ref().find(char::is_ascii_alphabetic);
            }
            Some(']') => {
                let mut before = ' ';
                let _ = letters.by_ref().find(|c| {
                    let ends = *c == '\u{7}' || (before == '\u{1b}' && *c == '\\');
                    before = *c;
                    ends
                });
            }
            _ => {}
        }
    }
    out
}

fn words(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn solid(text: &str) -> String {
    plain(text).split_whitespace().collect()
}

fn shown(fact: &Fact) -> String {
    format!("{:?} {:?} {:?} {:?}", fact.kind, fact.name, fact.places, clip(&fact.message))
}

fn said(finding: &Finding) -> String {
    let place = finding.place().unwrap_or_default();
    let name = finding.name.as_deref().unwrap_or("");
    format!("{:?} {name:?} {place} {:?}", finding.kind, clip(&finding.message))
}

fn clip(text: &str) -> String {
    text.chars().take(160).collect()
}
