//! Where flyball keeps its state: outside of any worktree, where no agent works.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::JournalError;

/// Behind the walls of a run that run's; else `FLYBALL_STATE`, else `$XDG_STATE_HOME/flyball`, else `~/.local/state/flyball`.
pub fn state_dir() -> Result<PathBuf, JournalError> {
    if let Some(place) = crate::process::enclosing_state() {
        return Ok(place);
    }
    choose(|name| env::var_os(name))
}

fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, JournalError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(place) = set("FLYBALL_STATE") {
        return std::path::absolute(&place).map_err(|source| {
            JournalError::io(format!("use the folder `{}`", place.display()), source)
        });
    }
    // A relative one is to be taken as if it were not set.
    if let Some(place) = set("XDG_STATE_HOME").filter(|place| place.is_absolute()) {
        return Ok(place.join("flyball"));
    }
    let home = set("HOME").filter(|home| home.is_absolute()).ok_or(JournalError::NoPlace)?;
    Ok(home.join(".local/state/flyball"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_nearest_setting_wins_and_wrong_ones_are_passed_over() {
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let cases: [Case<'_>; 6] = [
            (&[("FLYBALL_STATE", "/f"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")], Some("/f")),
            (&[("FLYBALL_STATE", ""), ("XDG_STATE_HOME", "/x")], Some("/x/flyball")),
            (&[("XDG_STATE_HOME", "x"), ("HOME", "/h")], Some("/h/.local/state/flyball")),
            (&[("HOME", "/h")], Some("/h/.local/state/flyball")),
            (&[("HOME", "")], None),
            (&[], None),
        ];
        for (set, expected) in cases {
            let variable =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(*v));
            assert_eq!(choose(variable).ok().as_deref(), expected.map(Path::new), "{set:?}");
        }
    }
}
