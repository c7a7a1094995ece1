//! The part of a patch that shows one place, bounded.

/// How many lines before the place and after it are shown.
const BEFORE: usize = 4;
const AFTER: usize = 20;
/// The longest excerpt, in characters.
const LENGTH_MAX: usize = 2_000;

/// Which side of a patch a line number belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Now,
}

/// The lines of the patch of one file around a line; its beginning without one.
pub(super) fn around(patch: &str, line: Option<u32>, side: Side) -> Option<String> {
    let body: Vec<&str> = patch.lines().skip_while(|line| !line.starts_with("@@")).collect();
    let place = line.map_or(0, |line| nearest(&body, line, side));
    let shown: Vec<&str> = body
        .into_iter()
        .skip(place.saturating_sub(BEFORE))
        .take(BEFORE.saturating_add(AFTER))
        .collect();
    let text = flyball_core::text::head(&shown.join("\n"), LENGTH_MAX);
    (!text.is_empty()).then_some(text)
}

/// The index of the patch line nearest to a line of the file.
fn nearest(body: &[&str], wanted: u32, side: Side) -> usize {
    let (mut at, mut best) = (0_u32, (u32::MAX, 0_usize));
    for (index, line) in body.iter().enumerate() {
        if line.starts_with("@@") {
            at = hunk_start(line, side).unwrap_or(at);
            continue;
        }
        let counts = match side {
            Side::Before => !line.starts_with('+'),
            Side::Now => !line.starts_with('-'),
        };
        if counts {
            best = best.min((at.abs_diff(wanted), index));
            at = at.saturating_add(1);
        }
    }
    best.1
}

/// `@@ -a,b +c,d @@`: a or c.
fn hunk_start(line: &str, side: Side) -> Option<u32> {
    let mark = match side {
        Side::Before => '-',
        Side::Now => '+',
    };
    let range = line.split(' ').find_map(|word| word.strip_prefix(mark))?;
    range.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_shown_and_not_the_rest() {
        let gone: Vec<String> = (101..160).map(|number| format!("-line {number}\n")).collect();
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n\
                     @@ -100,60 +100,1 @@\n kept\n"
            .to_owned()
            + &gone.concat();
        let shown = around(&patch, Some(130), Side::Before).unwrap();
        assert!(shown.contains("-line 130\n") && !shown.contains("-line 120"), "{shown}");
        assert!(shown.lines().count() <= BEFORE + AFTER);
        let shown = around(&patch, Some(1), Side::Now).unwrap();
        assert!(shown.starts_with("@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -100"), "{shown}");
        assert_eq!(around("", Some(1), Side::Now), None);
        assert_eq!(around("Binary files differ", None, Side::Now), None);
    }
}
