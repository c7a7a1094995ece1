//! What changed in a file, for people: the lines that differ, with a little around them.

/// Lines shown of what stays.
const AROUND: usize = 2;
/// Lines shown of one change.
const SHOWN_MAX: usize = 40;

/// A line of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// So many more are not shown.
    More(usize),
}

/// The lines of a change: everything between what is the same before it and after it.
pub(super) fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(first..).unwrap_or(&[]), new.get(first..).unwrap_or(&[]));
    let last = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let removed = old_rest.get(..old_rest.len().saturating_sub(last)).unwrap_or(&[]);
    let added = new_rest.get(..new_rest.len().saturating_sub(last)).unwrap_or(&[]);
    let above = old.get(first.saturating_sub(AROUND)..first).unwrap_or(&[]);
    let below = old.get(old.len().saturating_sub(last)..).unwrap_or(&[]);
    let mut lines: Vec<Line<'a>> = above.iter().map(|line| Line::Same(line)).collect();
    lines.extend(removed.iter().map(|line| Line::Removed(line)));
    lines.extend(added.iter().map(|line| Line::Added(line)));
    lines.extend(below.iter().take(AROUND).map(|line| Line::Same(line)));
    let more = lines.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        lines.truncate(SHOWN_MAX);
        lines.push(Line::More(more));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_a_little_around_it() {
        let before = "a\nb\nc\nd\ne\nf\n";
        let after = "a\nb\nc\nX\nY\ne\nf\n";
        assert_eq!(
            lines(before, after),
            [
                Line::Same("b"),
                Line::Same("c"),
                Line::Removed("d"),
                Line::Added("X"),
                Line::Added("Y"),
                Line::Same("e"),
                Line::Same("f"),
            ]
        );
        assert_eq!(lines("", "a\n"), [Line::Added("a")]);
        assert_eq!(lines("a\n", ""), [Line::Removed("a")]);
        assert_eq!(lines("a\na\n", "a\n"), [Line::Same("a"), Line::Removed("a")]);
        let long: String = "line\n".repeat(90);
        assert_eq!(lines("", &long).last(), Some(&Line::More(50)));
    }
}
