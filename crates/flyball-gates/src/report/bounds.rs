//! Findings within limits, and what makes two of them the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::{Finding, place, text};

const MESSAGE_CHARS_MAX: usize = 2_000;
const EXCERPT_CHARS_MAX: usize = 2_000;
const EXCERPT_LINES_MAX: usize = 20;
/// The same for one of many.
const SHORT_LINES: usize = 6;
const SHORT_CHARS: usize = 500;

/// What makes two findings the same one.
pub(super) fn key(finding: &Finding) -> u64 {
    let mut hasher = DefaultHasher::new();
    finding.kind.hash(&mut hasher);
    finding.name.as_deref().map(name_of).hash(&mut hasher);
    finding.file.as_deref().map(file_of).hash(&mut hasher);
    finding.line.filter(|line| *line > 0).hash(&mut hasher);
    finding.column.filter(|column| *column > 0).hash(&mut hasher);
    finding.package.hash(&mut hasher);
    message_of(&finding.message).hash(&mut hasher);
    hasher.finish()
}

/// Whether nothing would change if the texts were brought within limits.
pub(super) fn is_bounded(finding: &Finding) -> bool {
    let is_whole = |text: &str, kept: fn(&str) -> &str| kept(text).len() == text.len();
    let is_tidy = |excerpt: &str| {
        let mut lines = excerpt.lines();
        lines.clone().count() <= EXCERPT_LINES_MAX
            && excerpt.len() <= EXCERPT_CHARS_MAX
            && lines.next().is_some_and(|first| !first.trim().is_empty())
            && excerpt.lines().all(|line| line.trim_end().len() == line.len())
            && excerpt.trim_end().len() == excerpt.len()
    };
    is_whole(&finding.message, message_of)
        && finding.name.as_deref().is_none_or(|name| is_whole(name, name_of))
        && finding.file.as_deref().is_none_or(|file| is_whole(file, file_of))
        && finding.line != Some(0)
        && finding.column != Some(0)
        && finding.excerpt.as_deref().is_none_or(is_tidy)
}

/// The finding with all its texts within limits.
pub(super) fn bounded(mut finding: Finding) -> Finding {
    shorten(&mut finding.message, message_of);
    if let Some(name) = &mut finding.name {
        shorten(name, name_of);
    }
    if let Some(file) = &mut finding.file {
        shorten(file, file_of);
    }
    finding.line = finding.line.filter(|line| *line > 0);
    finding.column = finding.column.filter(|column| *column > 0);
    finding.excerpt = finding.excerpt.and_then(|excerpt| {
        let mut lines = excerpt.lines().skip_while(|line| line.trim().is_empty());
        let kept: Vec<&str> = lines.by_ref().take(EXCERPT_LINES_MAX).map(str::trim_end).collect();
        let kept = kept.join("\n");
        let kept = text::clip(kept.trim_end(), EXCERPT_CHARS_MAX).trim_end();
        (!kept.is_empty()).then(|| kept.to_owned())
    });
    finding
}

/// The finding with the first lines of its excerpt alone.
pub(super) fn shortened(mut finding: Finding) -> Finding {
    finding.excerpt = finding.excerpt.map(|excerpt| {
        let lines: Vec<&str> = excerpt.lines().take(SHORT_LINES).collect();
        text::clip(&lines.join("\n"), SHORT_CHARS).trim_end().to_owned()
    });
    finding
}

fn message_of(message: &str) -> &str {
    text::clip(text::trim_lines(message), MESSAGE_CHARS_MAX).trim_end()
}

pub(super) fn name_of(name: &str) -> &str {
    text::clip(name.trim(), 500)
}

pub(super) fn file_of(file: &str) -> &str {
    text::clip(place::tidy(file), 1_000)
}

fn shorten(text: &mut String, kept: fn(&str) -> &str) {
    let short = kept(text);
    if short.len() < text.len() {
        *text = short.to_owned();
    }
}
