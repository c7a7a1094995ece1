//! Node ids of the summary: `path::Class::test[values]`, and what stands behind them.

/// The title of the section of a node: `Class.test[x]`, with the values of a subtest behind it.
pub(super) fn title_of(word: &str, node: &str) -> String {
    let Some((_, test)) = node.split_once("::") else { return node.to_owned() };
    let at = test.find('[').unwrap_or(test.len());
    let (name, values) = test.split_at_checked(at).unwrap_or((test, ""));
    format!("{}{values}{}", name.replace("::", "."), values_of(word))
}

/// The word of a line of the summary with all that belongs to it, and the rest: the values and the
/// title of a subtest may have blanks, as in `SUBFAILED[a title] (i=0, j=1) path::test`.
pub(super) fn split_word(text: &str) -> Option<(&str, &str)> {
    if let Some((values, rest)) = text.split_once(" SUBFAIL ")
        && values.starts_with(['[', '('])
    {
        return Some((values, rest));
    }
    if !text.starts_with("SUBFAIL") {
        return text.split_once(' ');
    }
    let blanks = memchr::memchr_iter(b' ', text.as_bytes());
    let mut splits = blanks.filter_map(|at| Some((text.get(..at)?, text.get(at + 1..)?)));
    splits.find(|(word, rest)| {
        let path = rest.split("::").next().unwrap_or(rest);
        let is_path = path.contains('.') && !path.contains(['(', '[', '=', ',', '\'', '"']);
        is_path && (word.ends_with([')', ']']) || !word.contains(['(', '[']))
    })
}

/// The values of a subtest, ` (i=0)` of `SUBFAILED(i=0)`; nothing for others.
pub(super) fn values_of(word: &str) -> String {
    let values = word.find(['(', '[']).and_then(|at| word.get(at..));
    values.map_or_else(String::new, |values| format!(" {values}"))
}

/// Node and reason of `path::test[a - b] - why`, whose values may hold the mark between the two.
pub(super) fn split_node(rest: &str, known: impl Fn(&str) -> Option<usize>) -> (&str, &str) {
    let is_mark = |at: usize| rest.as_bytes().get(at.wrapping_sub(1)..at + 2) == Some(b" - ");
    let dashes = || memchr::memchr_iter(b'-', rest.as_bytes());
    let cuts = || dashes().filter(|at| is_mark(*at)).map(|at| (at - 1, at + 2));
    let split = |(end, start): (usize, usize)| Some((rest.get(..end)?, rest.get(start..)?.trim()));
    let whole = (rest.trim(), "");
    if known(whole.0).is_some() {
        return whole;
    }
    let by_section = cuts().filter_map(split).find(|(node, _)| known(node).is_some());
    let is_closed = |node: &str| !node.contains('[') || node.ends_with(']');
    by_section
        .or_else(|| cuts().filter_map(split).find(|(node, _)| is_closed(node)))
        .unwrap_or(whole)
}

/// Whether a line of the summary tells a failure.
pub(super) fn is_summary(text: &str) -> bool {
    let is_plain = text.starts_with("FAILED ") || text.starts_with("ERROR ");
    // pytest-subtests says which one first: `[a title] (i=0) SUBFAIL path::test`.
    let is_titled = text.starts_with(['[', '(']) && text.contains(" SUBFAIL ");
    is_plain || text.starts_with("SUBFAIL") || is_titled
}
