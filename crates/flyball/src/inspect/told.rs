//! What terminal and page have in common: amounts in words, the curve, and what the words mean.

use flyball_core::hindsight::Cost;

use crate::view::words;

/// What the words mean, below every report.
pub const FOOTER: [&str; 5] = [
    "A loop begins with a guard's first word to an agent (or one of its sub-agents) and ends with a \
     message of a human, or as soon as nothing speaks for it any more. Waste is what was spent in it \
     after that word on steps that repeated something: a call with an answer that had come before, a \
     further failure, the same words. What was new is no waste, and no step counts twice.",
    "It is a range: at least what came after the point where the session would have been ended, at most \
     what came after the first nudge, had it been heeded at once. Nobody knows what an agent would have \
     done had it been told; the recording goes on as it went.",
    "Harm: files were changed in a new way after that point and before the next message of a human; a \
     session ended there would have lost that.",
    "Dead tail: the longest end of a session, at least 6 steps, of which at least 80 % are calls with \
     answers that had come before. A step is a call, or a turn of words without one.",
    "Money is the client's own figure, else tokens by list prices; where neither is known, it is not \
     counted. Nothing left this machine.",
];

/// The marks of a curve, from nothing to the most.
const MARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The most evidence there can be.
const MOST: usize = 40;

/// Money; a sign that some of it is not known, and `-` where nothing is.
pub fn money(cost: &Cost) -> String {
    match (cost.known_micro_usd(), cost.unpriced_tokens) {
        (None, _) => "-".to_owned(),
        (Some(micro), 0) => words::dollars(micro),
        (Some(micro), _) => format!("≥ {}", words::dollars(micro)),
    }
}

/// Tokens in few characters.
pub fn tokens(cost: &Cost) -> String {
    words::count(cost.tokens())
}

/// `12–40 calls, 1.2M–3.4M tokens, $0.40–$2.10`: what is known of it.
pub fn range(least: &Cost, most: &Cost) -> String {
    let between = |least: String, most: String| {
        if least == most { most } else { format!("{least}–{most}") }
    };
    let mut parts = Vec::new();
    let calls = between(least.calls.to_string(), most.calls.to_string());
    parts.push(format!("{calls} {}", if calls == "1" { "call" } else { "calls" }));
    if most.tokens() > 0 {
        let number = |cost: &Cost| match cost.tokens() {
            0 => "0".to_owned(),
            some => words::count(some),
        };
        parts.push(format!("{} tokens", between(number(least), number(most))));
    }
    if most.known_micro_usd().is_some() {
        let dollars = |cost: &Cost| match cost.micro_usd {
            0 => "$0".to_owned(),
            some => words::dollars(some),
        };
        let more = if most.unpriced_tokens > 0 { " and more" } else { "" };
        parts.push(format!("{}{more}", between(dollars(least), dollars(most))));
    }
    parts.join(", ")
}

/// The evidence over a session in this many cells: the most of each stretch.
pub fn curve(evidence: &[u8], cells: usize) -> String {
    let cells = cells.clamp(1, evidence.len().max(1));
    let at = |cell: usize| cell * evidence.len() / cells;
    let highest = |cell: usize| {
        let stretch = evidence.get(at(cell)..at(cell + 1)).unwrap_or(&[]);
        usize::from(stretch.iter().copied().max().unwrap_or(0))
    };
    let mark = |value: usize| MARKS.get((value * (MARKS.len() - 1)).div_ceil(MOST)).copied();
    (0..cells).filter_map(|cell| mark(highest(cell).min(MOST))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(calls: u64, tokens: u64, micro_usd: u64, unpriced_tokens: u64) -> Cost {
        Cost { calls, input_tokens: tokens, output_tokens: 0, micro_usd, unpriced_tokens }
    }

    #[test]
    fn what_is_not_known_is_never_nothing() {
        assert_eq!(money(&cost(1, 100, 0, 100)), "-");
        assert_eq!(money(&cost(1, 0, 0, 0)), "-");
        assert_eq!(money(&cost(1, 100, 2_000_000, 0)), "$2.00");
        assert_eq!(money(&cost(1, 100, 2_000_000, 50)), "≥ $2.00");
        assert_eq!(range(&cost(0, 0, 0, 0), &cost(3, 0, 0, 0)), "0–3 calls");
        assert_eq!(range(&cost(0, 0, 0, 0), &cost(3, 900, 0, 900)), "0–3 calls, 0–900 tokens");
        let (least, most) = (cost(1, 1_000, 10_000, 0), cost(4, 9_000, 90_000, 0));
        assert_eq!(range(&least, &most), "1–4 calls, 1.0k–9.0k tokens, $0.01–$0.09");
        assert_eq!(range(&most, &most), "4 calls, 9.0k tokens, $0.09");
        let part = cost(4, 9_000, 90_000, 100);
        assert_eq!(range(&least, &part), "1–4 calls, 1.0k–9.0k tokens, $0.01–$0.09 and more");
    }

    #[test]
    fn a_curve_shows_the_most_of_each_stretch() {
        assert_eq!(curve(&[0, 0, 10, 40], 4), "▁▁▃█");
        assert_eq!(curve(&[0, 0, 10, 40], 2), "▁█");
        assert_eq!(curve(&[20], 10), "▅");
        assert_eq!(curve(&[], 10), "▁");
    }
}
