//! "Did you mean": the nearest of the words that would have been right.

/// The candidate nearest to `word`, when one is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word.to_lowercase(), candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (i, a) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let at = |cells: &[usize], column: usize| cells.get(column).copied().unwrap_or(i + j);
            let mut cell =
                (at(&row, j) + usize::from(a != *b)).min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = j > 0 && last == Some(*b) && to.get(j - 1) == Some(&a);
            if swapped {
                cell = cell.min(at(&before, j - 1) + 1);
            }
            next.push(cell);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(a);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_slips() {
        let cases = [
            ("stuck", "stuck", 0),
            ("stuk", "stuck", 1),
            ("stukc", "stuck", 1),
            ("stcuk", "stuck", 1),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
        ];
        for (from, to, expected) in cases {
            assert_eq!(distance(from, to), expected, "{from} → {to}");
        }
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        let words = ["stuck", "runtime", "tokens"];
        assert_eq!(nearest("stukc", words), Some("stuck"));
        assert_eq!(nearest("Runtme", words), Some("runtime"));
        assert_eq!(nearest("parallel", words), None);
    }
}
