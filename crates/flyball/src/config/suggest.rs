//! "Did you mean": the nearest of the words that would have been right.

use strsim::osa_distance;

/// The candidate nearest to `word`, when one is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_suggested() {
        let words = ["stuck", "runtime", "tokens"];
        for slip in ["stukc", "stuk", "stcuk", "Stuck", "sstuck"] {
            assert_eq!(nearest(slip, words), Some("stuck"), "{slip}");
        }
        assert_eq!(nearest("Runtme", words), Some("runtime"));
        assert_eq!(nearest("us-01", ["US-001"]), Some("US-001"));
        for other in ["parallel", "", "x"] {
            assert_eq!(nearest(other, words), None, "{other}");
        }
    }
}
