//! Times, numbers and standings in a person's words; text of others made safe for a terminal.

use flyball_core::task::{Pattern, Remedy, Standing};
use flyball_core::text;
use flyball_core::{Millis, Moment};

use super::secrets;
use crate::{clock, terminal};

/// A moment in the reader's zone: `2026-11-15 10:00:00`.
pub(crate) fn time(at: Moment) -> String {
    clock::told(at)
}

/// A moment in UTC, for what is handed on: `2026-11-15 10:00:00`.
pub(crate) fn utc_time(at: Moment) -> String {
    clock::rfc3339(at).replace('T', " ").trim_end_matches('Z').to_owned()
}

/// A count in few characters: `950`, `12.3k`, `4.0M`; `-` for none.
pub(crate) fn count(number: u64) -> String {
    let scaled =
        |unit: u64, sign: &str| format!("{}.{}{sign}", number / unit, number % unit / (unit / 10));
    match number {
        0 => "-".to_owned(),
        1..1_000 => number.to_string(),
        1_000..100_000 => scaled(1_000, "k"),
        100_000..1_000_000 => format!("{}k", number / 1_000),
        _ => scaled(1_000_000, "M"),
    }
}

/// Money in dollars and cents, the same everywhere: what is below a cent is called that.
pub(crate) fn dollars(micro_usd: u64) -> String {
    if (1..10_000).contains(&micro_usd) {
        return "<$0.01".to_owned();
    }
    let cents = micro_usd.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// What so many tokens cost; where they have no price that is said, for they were not free.
pub(crate) fn cost_of(tokens: u64, micro_usd: u64) -> String {
    if micro_usd == 0 && tokens > 0 { "cost unknown".to_owned() } else { dollars(micro_usd) }
}

/// The same in a table, `-` for none.
pub(crate) fn money(micro_usd: u64) -> String {
    if micro_usd == 0 { "-".to_owned() } else { dollars(micro_usd) }
}

/// A span in whole seconds above a second: nobody plans by milliseconds.
pub(crate) fn span(span: Millis) -> Millis {
    let ms = span.get();
    Millis::new(if ms >= 1000 { ms.saturating_add(500) / 1000 * 1000 } else { ms })
}

/// A span in as few characters as tell it: `3h12m`, `4m05s`, `48s`.
pub(crate) fn short_span(span: Millis) -> String {
    let secs = span.get() / 1000;
    match (secs / 3600, secs / 60 % 60, secs % 60) {
        (0, 0, secs) => format!("{secs}s"),
        (0, mins, secs) => format!("{mins}m{secs:02}s"),
        (hours, mins, _) => format!("{hours}h{mins:02}m"),
    }
}

/// `3/8`, `-` when there are none.
pub(crate) fn share(part: u32, whole: u32) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{part}/{whole}") }
}

/// `1 commit`, `2 commits`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{end}")
}

/// So many stories.
pub(crate) fn stories(number: usize) -> String {
    if number == 1 { "1 story".to_owned() } else { format!("{number} stories") }
}

/// What a task was, in "which was …".
pub(crate) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Blocked => "blocked",
        Standing::Asked => "asked",
        Standing::SetAside => "set aside",
        Standing::Escalated => "escalated",
        Standing::Tripped => "tripped",
        Standing::ForcedDone => "left as done",
    }
}

/// What the attempts at a task look like.
pub(crate) const fn pattern(pattern: Pattern) -> &'static str {
    pattern.guard().as_str()
}

/// What is done about it.
pub(crate) const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Advise => "advise",
        Remedy::ForceNext => "force_next",
        Remedy::UnblockAuthority => "unblock_authority",
        Remedy::Escalate => "escalate",
    }
}

/// Text of an agent or a tool on one line: nothing that could drive a terminal, white space single,
/// cut with a note.
pub(crate) fn line(text: &str, max: usize) -> String {
    let safe = lines(text);
    let words: Vec<&str> = safe.split_whitespace().collect();
    text::head(&words.join(" "), max)
}

/// The beginning of a hash, enough to find it by.
pub(crate) fn short(hash: &str) -> &str {
    text::prefix(hash, 9)
}

/// Text of an agent or a tool with its lines kept: as a terminal may be given it, without colours.
pub(crate) fn lines(text: &str) -> String {
    let mut rest = secrets::masked(&terminal::plain(text));
    while let Some(start) = rest.find('\u{1b}') {
        let length = rest.get(start..).and_then(|colour| colour.find('m')).unwrap_or(0);
        rest.replace_range(start..=start + length, "");
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let counts = [
            (0, "-"),
            (999, "999"),
            (1_000, "1.0k"),
            (12_345, "12.3k"),
            (108_400, "108k"),
            (4 << 20, "4.1M"),
        ];
        for (number, text) in counts {
            assert_eq!(count(number), text);
        }
        let sums = [
            (1, "<$0.01"),
            (9_999, "<$0.01"),
            (10_000, "$0.01"),
            (1_234_567, "$1.23"),
            (9_995_000, "$10.00"),
        ];
        for (micro, text) in sums {
            assert_eq!((money(micro), dollars(micro)), (text.into(), text.into()));
        }
        assert_eq!((money(0), dollars(0)), ("-".into(), "$0.00".into()));
        assert_eq!((cost_of(0, 0), cost_of(9, 0)), ("$0.00".into(), "cost unknown".into()));
        assert_eq!(cost_of(9, 20_000), "$0.02");
        let spans = [(900, "0s"), (48_000, "48s"), (245_000, "4m05s"), (11_520_000, "3h12m")];
        for (millis, text) in spans {
            assert_eq!(short_span(Millis::new(millis)), text);
        }
        assert_eq!((counted(1, "task"), counted(2, "task")), ("1 task".into(), "2 tasks".into()));
    }

    #[test]
    fn what_others_wrote_cannot_drive_the_terminal() {
        assert_eq!(line("a\u{1b}[2J\n\tb  c", 80), "a b c");
        assert_eq!(lines("a\u{1b}]0;x\u{7}\n\tb\r\n"), "a\n\tb\n");
        assert_eq!(lines("\u{1b}[31mred\u{1b}[0m \u{202e}x\u{1b}"), "red \\u202ex");
    }

    #[test]
    fn what_is_handed_on_is_told_in_utc() {
        let at = Moment::from_millis(1_794_736_800_000);
        assert_eq!(utc_time(at), "2026-11-15 10:00:00");
    }
}
