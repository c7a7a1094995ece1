//! Programs put where a gate finds them before the real ones, and runners that are kept in the
//! repository itself.

use flyball_core::gate::Restore;

use super::{Context, Suspicion};

/// Folders in which others' code is kept.
const KEPT: [&str; 6] = ["vendor", "_vendor", "vendored", "third_party", "third-party", "external"];
/// Names of runners and of what tests check with.
const RUNNERS: [&str; 22] = [
    "pytest",
    "_pytest",
    "unittest",
    "unittest2",
    "nose",
    "nose2",
    "pluggy",
    "jest",
    "mocha",
    "vitest",
    "chai",
    "jasmine",
    "testify",
    "gomega",
    "ginkgo",
    "minitest",
    "rspec-core",
    "rspec-expectations",
    "phpunit",
    "googletest",
    "catch2",
    "bats-core",
];
/// Programs checks are made of, whatever their scripts say.
const PROGRAMS: [&str; 14] = [
    "grep", "diff", "cmp", "test", "sh", "bash", "python", "python3", "node", "make", "cargo",
    "go", "pytest", "npm",
];

/// Everything of that sort that is new.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    if of.first.is_empty() {
        return found;
    }
    for path in of.added {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let last = dir.rsplit('/').next().unwrap_or(dir);
        // A folder of the repository's that the gate's own text puts on the path.
        let on_path = of.reach.text.lines().any(|line| {
            line.split_once("PATH=").is_some_and(|(_, value)| {
                let parts = value.split([':', ' ', ';', '"', '\'']);
                parts
                    .into_iter()
                    .any(|part| part.rsplit('/').next() == Some(last) && !last.is_empty())
            })
        });
        let is_run = PROGRAMS.contains(&name) || of.reach.mentions(&[name]);
        if on_path && is_run && !name.contains('.') {
            let message = format!("`{path}` was put in the place of a program that gates run");
            found.push(planted(path, message));
        }
    }
    for edit in of.edited.iter().filter(|edit| edit.before.is_some()) {
        let mut parts = edit.path.split('/').skip_while(|part| !KEPT.contains(part)).skip(1);
        if parts.any(|part| RUNNERS.contains(&part)) {
            let path = &edit.path;
            let message = format!("`{path}` is part of a runner kept here and was changed");
            found.push(Suspicion::of_file(path, path, message).whole(edit));
        }
    }
    found
}

fn planted(path: &str, message: String) -> Suspicion {
    let mut one = Suspicion::of_file(path, path, message);
    one.found.restore = vec![Restore::Remove { path: path.to_owned() }];
    one
}

#[cfg(test)]
mod tests {
    use super::super::Edited;
    use super::super::tests::of_plans;
    use crate::config::CommandLine;
    use crate::gate::plan::{Gate, GatePlan};

    #[test]
    fn programs_put_before_the_real_ones_and_runners_kept_here() {
        let command = CommandLine::Shell("sh check.sh".to_owned());
        let gate = Gate::new("tests", command, flyball_core::Millis::from_secs(60));
        let plan = GatePlan::of(vec![gate]).unwrap();
        let said = |path: &str, before: Option<&str>| {
            let check = "PATH=$PWD/tools:$PATH\ngrep -q good work.txt\n".to_owned();
            let script = Edited {
                path: "check.sh".to_owned(),
                before: Some(check.clone()),
                after: Some(check),
            };
            let (before, after) = (before.map(str::to_owned), Some("exit 0\n".to_owned()));
            let new = Edited { path: path.to_owned(), before, after };
            of_plans(&[script, new], &plan, &plan).len()
        };
        assert_eq!(said("tools/grep", None), 1);
        assert_eq!(said("tools/helper.py", None), 0);
        assert_eq!(said("docs/grep", None), 0);
        assert_eq!(said("vendor/pytest/__init__.py", Some("def main(): run()\n")), 1);
        assert_eq!(said("vendor/left_pad/__init__.py", Some("def main(): run()\n")), 0);
    }
}
