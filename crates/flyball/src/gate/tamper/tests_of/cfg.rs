//! Rust's conditions: whether code that has one is ever built here.

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It holds wherever tests run like here.
    Holds,
    /// It never does.
    Never,
    /// That depends.
    Unknown,
}

impl Truth {
    const fn not(self) -> Self {
        match self {
            Self::Holds => Self::Never,
            Self::Never => Self::Holds,
            Self::Unknown => Self::Unknown,
        }
    }
}

/// Whether a condition, without blanks, holds in tests.
pub(super) fn truth(condition: &str) -> Truth {
    let inner =
        |name: &str| condition.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(parts);
    if let Some(parts) = inner("any") {
        let truths: Vec<Truth> = parts.iter().map(|part| truth(part)).collect();
        return if truths.contains(&Truth::Holds) {
            Truth::Holds
        } else if truths.iter().all(|one| *one == Truth::Never) {
            Truth::Never
        } else {
            Truth::Unknown
        };
    }
    if let Some(parts) = inner("all") {
        let truths: Vec<Truth> = parts.iter().map(|part| truth(part)).collect();
        return if truths.contains(&Truth::Never) {
            Truth::Never
        } else if truths.iter().all(|one| *one == Truth::Holds) {
            Truth::Holds
        } else {
            Truth::Unknown
        };
    }
    if let Some(parts) = inner("not") {
        return parts.first().map_or(Truth::Unknown, |part| truth(part).not());
    }
    match condition {
        "test" | "true" | "debug_assertions" => Truth::Holds,
        "false" | "FALSE" => Truth::Never,
        "unix" if cfg!(unix) => Truth::Holds,
        "windows" if cfg!(unix) => Truth::Never,
        _ => match condition.split_once('=') {
            Some((key, value))
                if key.strip_prefix("target_") == Some("os")
                    && value.trim_matches('"') == std::env::consts::OS =>
            {
                Truth::Holds
            }
            Some(("target_family", "\"unix\"")) if cfg!(unix) => Truth::Holds,
            _ => Truth::Unknown,
        },
    }
}

/// What stands between commas, not counting those in brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut begin = 0_usize;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(begin..at));
                begin = at.saturating_add(1);
            }
            _ => {}
        }
    }
    parts.extend(text.get(begin..).filter(|rest| !rest.is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_weighed() {
        let cases = [
            ("test", Truth::Holds),
            ("any()", Truth::Never),
            ("all()", Truth::Holds),
            ("not(test)", Truth::Never),
            ("all(test,not(test))", Truth::Never),
            ("any(windows,unix)", Truth::Holds),
            ("feature=\"x\"", Truth::Unknown),
            ("all(test,feature=\"x\")", Truth::Unknown),
            ("not(any(test))", Truth::Never),
            ("target_vendor=\"none\"", Truth::Unknown),
            ("not(", Truth::Unknown),
        ];
        for (condition, expected) in cases {
            assert_eq!(truth(condition), expected, "{condition}");
        }
    }
}
