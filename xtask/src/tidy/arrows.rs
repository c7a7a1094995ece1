//! The arrows between the modules of a crate: nobody may be reached from what it uses itself.

use std::collections::{BTreeMap, BTreeSet};

/// Which module of a crate uses which, with one file that shows it.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    crates: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
}

impl Arrows {
    /// Takes in a source file of a crate; tests may use everything.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        let Some((crate_name, inside)) = name.split_once("/src/") else { return };
        let is_test = inside.contains("/tests/") || inside.ends_with("tests.rs");
        let module = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
        if is_test || matches!(module, "lib" | "main") {
            return;
        }
        let production = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
        let arrows = self.crates.entry(crate_name.to_owned()).or_default();
        let from = arrows.entry(module.to_owned()).or_default();
        for line in production.lines() {
            let code = line.split("//").next().unwrap_or(line);
            for target in targets(code) {
                if target != module {
                    from.entry(target).or_insert_with(|| name.to_owned());
                }
            }
        }
    }

    /// Every arrow that leads back to where it came from.
    pub(super) fn cycles(&self, complaints: &mut Vec<String>) {
        for arrows in self.crates.values() {
            for (from, targets) in arrows {
                for (to, name) in targets {
                    if reaches(arrows, to, from) {
                        complaints.push(format!(
                            "{name}: `{from}` uses `{to}`, which uses `{from}` in turn"
                        ));
                    }
                }
            }
        }
    }
}

/// The modules a line of code names as `crate::module`, in braces too.
fn targets(code: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    };
    code.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split(',').map(|one| name(one.trim())).collect(),
            None => vec![name(rest)],
        })
        .filter(|target| target.chars().next().is_some_and(char::is_lowercase))
        .collect()
}

fn reaches(arrows: &BTreeMap<String, BTreeMap<String, String>>, from: &str, goal: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if module == goal {
            return true;
        }
        if seen.insert(module) {
            open.extend(
                arrows.get(module).into_iter().flat_map(BTreeMap::keys).map(String::as_str),
            );
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_used_by_what_it_uses_is_named() {
        let mut arrows = Arrows::default();
        arrows.add("crates/a/src/x.rs", "use crate::y::Y;\n");
        arrows.add("crates/a/src/y/deep.rs", "// crate::x in words\nuse crate::{z, z::Z};\n");
        arrows.add("crates/b/src/z.rs", "use crate::x::X;\n");
        let mut complaints = Vec::new();
        arrows.cycles(&mut complaints);
        assert!(complaints.is_empty(), "{complaints:?}");
        arrows.add("crates/a/src/z.rs", "fn f() { crate::x::g() }\n#[cfg(test)]\nmod tests {}\n");
        arrows.cycles(&mut complaints);
        assert_eq!(complaints.len(), 3);
        assert!(
            complaints
                .contains(&"crates/a/src/z.rs: `z` uses `x`, which uses `z` in turn".to_owned())
        );
    }
}
