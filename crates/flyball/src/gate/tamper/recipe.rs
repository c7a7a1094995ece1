//! Scripts of `package.json`, and recipes of makefiles and justfiles, by name.

use std::collections::BTreeMap;

use serde_json::Value;

/// How many names are followed from one.
const REACHED_MAX: usize = 50;

/// Named commands that may call each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipes(BTreeMap<String, Recipe>);

/// One named command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    /// Where it is, from 1.
    pub(super) line: u32,
    /// Its lines, with single blanks.
    pub(super) body: Vec<String>,
    /// The names it calls.
    pub(super) calls: Vec<String>,
}

impl Recipes {
    pub(super) fn get(&self, name: &str) -> Option<&Recipe> {
        self.0.get(name)
    }

    /// Whether a recipe is what a name stands for: itself, or what it only collects.
    pub(super) fn is_check(&self, name: &str, reached: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            if name == reached {
                return true;
            }
            if let Some(recipe) = self.get(name).filter(|recipe| recipe.body.is_empty())
                && !seen.contains(&name)
            {
                seen.push(name);
                open.extend(recipe.calls.iter().map(String::as_str));
            }
        }
        false
    }

    /// The name, and all it leads to; nothing when there is no such name.
    pub(super) fn reachable(&self, name: &str) -> Vec<String> {
        let mut reached: Vec<String> = Vec::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let Some(recipe) = self.0.get(&name) else { continue };
            if !reached.contains(&name) && reached.len() < REACHED_MAX {
                open.extend(recipe.calls.iter().cloned());
                reached.push(name);
            }
        }
        reached
    }
}

/// The scripts of a `package.json`.
pub(super) fn of_package(text: &str) -> Recipes {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Value::as_object);
    let names: Vec<&String> = scripts.into_iter().flat_map(|scripts| scripts.keys()).collect();
    let recipe = |(name, body): (&String, &Value)| {
        let body = body.as_str()?;
        let words: Vec<&str> = body.split(|c: char| c.is_whitespace() || c == ';').collect();
        let called = words.iter().filter(|word| names.iter().any(|name| name == *word));
        let mut calls: Vec<String> = called.map(|word| (*word).to_owned()).collect();
        let around = [format!("pre{name}"), format!("post{name}")];
        calls.extend(around.into_iter().filter(|other| names.contains(&other)));
        let quoted = format!("\"{name}\"");
        let line = text.lines().position(|line| line.contains(&quoted)).unwrap_or(0);
        Some((name.clone(), Recipe { line: number(line), body: vec![single(body)], calls }))
    };
    Recipes(scripts.into_iter().flatten().filter_map(recipe).collect())
}

/// The recipes of a makefile or justfile.
pub(super) fn of_makefile(text: &str) -> Recipes {
    let mut recipes: BTreeMap<String, Recipe> = BTreeMap::new();
    let mut current: Vec<String> = Vec::new();
    // A second recipe for a target stands in place of the first.
    let mut is_anew = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with([' ', '\t']) {
            let step = line.trim().trim_start_matches('@').trim_start();
            let called = step.strip_prefix("$(MAKE) ").or_else(|| step.strip_prefix("make "));
            let is_step = !step.is_empty() && !step.starts_with('#');
            for name in current.iter().filter(|_| is_step) {
                let recipe = recipes.entry(name.clone()).or_default();
                if is_anew {
                    recipe.body.clear();
                }
                recipe.body.push(single(step));
                recipe
                    .calls
                    .extend(called.into_iter().flat_map(str::split_whitespace).map(str::to_owned));
            }
            is_anew &= !is_step;
            continue;
        }
        let line = line.split('#').next().unwrap_or("");
        match line.split_once(':') {
            Some((names, needs)) if !needs.starts_with('=') && !names.contains('=') => {
                let names = names.split_whitespace().filter(|name| !name.starts_with('.'));
                current = names.map(|name| name.trim_start_matches('@').to_owned()).collect();
                is_anew = !needs.starts_with(':');
                let needs = needs.trim_start_matches(':').split_whitespace().map(str::to_owned);
                let needs: Vec<String> = needs.collect();
                for name in &current {
                    let recipe = recipes.entry(name.clone()).or_default();
                    recipe.line = number(index);
                    recipe.calls.extend(needs.iter().cloned());
                }
            }
            Some(_) | None if line.trim().is_empty() => {}
            Some(_) | None => current.clear(),
        }
    }
    Recipes(recipes)
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

fn single(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read_with_their_calls() {
        let make = "X := 1\n.PHONY: test\ntest unit: build # all\n\t@pytest  -q\n\n\t$(MAKE) lint\n\
                    build:\n\tcc a.c\nlint:\n\truff\n";
        let recipes = of_makefile(make);
        assert_eq!(recipes.get("unit").unwrap().body, ["pytest -q", "$(MAKE) lint"]);
        let mut reached = recipes.reachable("test");
        reached.sort();
        assert_eq!(reached, ["build", "lint", "test"]);
        assert_eq!(recipes.get("build").unwrap().line, 7);
        let circle = of_makefile("a: b\nb: a\n");
        assert!(circle.is_check("a", "b") && !circle.is_check("a", "c"));
        assert_eq!(circle.reachable("a").len(), 2);
        assert!(recipes.get("X").is_none() && recipes.reachable("none").is_empty());
    }

    #[test]
    fn scripts_are_read_with_what_runs_around_them() {
        let package = r#"{"scripts": {
            "pretest": "npm run build",
            "test": "a  b && npm run unit; c",
            "build": "tsc", "unit": "jest", "posttest": 3, "dev": "vite"}}"#;
        let recipes = of_package(package);
        let mut reached = recipes.reachable("test");
        reached.sort();
        assert_eq!(reached, ["build", "pretest", "test", "unit"]);
        assert_eq!(recipes.get("test").unwrap().line, 3);
        assert!(of_package("no json").reachable("test").is_empty());
    }
}
