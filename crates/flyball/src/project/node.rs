//! Node: the scripts of `package.json`, run by the package manager whose lock file is there.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{AsGate, Hindrance, Look, Place, Proposal, Purpose, as_gate, programs};
use crate::config::quoted;

const FILE: &str = "package.json";

/// Lock files and the program that wrote them; npm when there is none.
const LOCK_FILES: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// What a script is for, and the names it goes by, best first.
const SCRIPTS: [(&str, &[&str]); 6] = [
    ("tests", &["test", "test:unit", "test:ci"]),
    ("lint", &["lint", "lint:check"]),
    ("build", &["build"]),
    ("typecheck", &["typecheck", "type-check", "check-types", "types", "tsc"]),
    (
        "format",
        &[
            "format:check",
            "check:format",
            "format-check",
            "fmt:check",
            "prettier:check",
            "format",
            "prettier",
        ],
    ),
    ("check", &["check", "ci", "verify", "validate"]),
];

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let package = match Package::read(look)? {
        Ok(package) => package,
        Err(error) => {
            let unread = Hindrance::Unreadable(FILE, error.to_string());
            let tests = Proposal::new("tests", "npm run test", FILE);
            return Some(vec![Proposal { unfit: Some(unread), ..tests }]);
        }
    };
    let mut taken: Vec<&str> = Vec::new();
    let mut proposals = Vec::new();
    for (role, names) in SCRIPTS {
        let judged = |name: &&'static str| {
            let text = package.script(name)?;
            let found = package.as_gate(name, &look.dir, Purpose::of_gate(role));
            let is_fit = match *name {
                "types" => checks_types(text),
                // A script that formats is a check only where its form that checks is known.
                _ if role == "format" => {
                    name.contains("check") || text.contains("check") || found != AsGate::Fits
                }
                _ if role == "check" => !package.repeats(name, &taken),
                _ => true,
            };
            is_fit.then_some((*name, found))
        };
        let candidates: Vec<(&str, AsGate)> = names.iter().filter_map(judged).collect();
        let usable = |(_, found): &&(&str, AsGate)| !matches!(found, AsGate::Never(_));
        let best = candidates.iter().find(usable).or(candidates.first());
        let Some((name, found)) = best else { continue };
        let command = format!("{} run {name}", package.manager);
        let why = format!("{FILE}, script `{name}`");
        proposals.push(Proposal::of_script(role, &command, found.clone(), why, look));
        taken.push(name);
    }
    Some(proposals)
}

/// A package's scripts and who runs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    manager: &'static str,
    scripts: BTreeMap<String, String>,
    /// `pretest` and `posttest` are run around `test`.
    runs_around: bool,
}

impl Package {
    /// The package of a folder; nothing when there is none, or none that can be read.
    pub(super) fn of(dir: &Path) -> Option<Self> {
        Look::at(dir, Self::read)?.ok()
    }

    fn read(look: &Look<'_>) -> Option<Result<Self, serde_json::Error>> {
        let text = look.read(FILE)?;
        let package = match serde_json::from_str::<Value>(&text) {
            Ok(package) => package,
            Err(error) => return Some(Err(error)),
        };
        let manager = manager(look, &package);
        let scripts = package.get("scripts").and_then(Value::as_object).into_iter().flatten();
        let scripts = scripts
            .filter_map(|(name, text)| Some((name.clone(), text.as_str()?.trim().to_owned())));
        let scripts = scripts.filter(|(_, text)| !text.is_empty()).collect();
        let runs_around = !(manager == "yarn" && look.has(".yarnrc.yml"));
        Some(Ok(Self { manager, scripts, runs_around }))
    }

    /// A script's text; none for what `npm init` writes in the place of one.
    fn script(&self, name: &str) -> Option<&str> {
        let text = self.scripts.get(name)?;
        (!text.contains("no test specified")).then_some(text)
    }

    /// The scripts of this name, which may end with `*`.
    pub(super) fn names<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        match name.split_once('*') {
            Some((begin, _)) => self
                .scripts
                .keys()
                .map(String::as_str)
                .filter(|name| name.starts_with(begin))
                .collect(),
            None => vec![name],
        }
    }

    /// What runs when a script is called.
    pub(super) fn line(&self, name: &str) -> Option<String> {
        let text = self.scripts.get(name)?;
        let around = |when: &str| {
            let name = format!("{when}{name}");
            let is_run = self.runs_around && self.scripts.contains_key(&name);
            is_run.then(|| format!("{} run {name}", self.manager))
        };
        let (before, after) = (around("pre"), around("post"));
        let is_list = [";", "\n", "||", "cd "].iter().any(|mark| text.contains(mark));
        let own = if is_list && (before.is_some() || after.is_some()) {
            format!("({text})")
        } else {
            text.clone()
        };
        Some(before.into_iter().chain([own]).chain(after).collect::<Vec<_>>().join(" && "))
    }

    /// A script as a gate, in a form that can be called from outside of the package.
    fn as_gate(&self, name: &str, dir: &Path, purpose: Purpose) -> AsGate {
        let place = Place::of(dir).with_tools().with_purpose(purpose);
        let line = self.line(name).unwrap_or_default();
        as_gate(&line, &place).called(|line| self.call(line))
    }

    /// Whether a script runs what is a gate already, by its name or by its tool.
    fn repeats(&self, name: &str, taken: &[&str]) -> bool {
        let mut words: Vec<&str> = Vec::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            let text = self.script(name).unwrap_or("");
            for word in text.split([' ', '&', ';', '|', '"', '\'']) {
                if !words.contains(&word) {
                    words.push(word);
                    open.extend(self.scripts.contains_key(word).then_some(word));
                }
            }
        }
        taken.iter().any(|name| {
            let tools = programs(self.script(name).unwrap_or(""));
            words.contains(name) || tools.iter().any(|tool| words.contains(&tool.as_str()))
        })
    }

    /// A line with the package's own tools, as its scripts would run it.
    pub(super) fn call(&self, line: &str) -> String {
        let through = match self.manager {
            "npm" => "npm exec -c",
            "pnpm" => "pnpm exec sh -c",
            "bun" => "bun run sh -c",
            _ => "yarn exec -- sh -c",
        };
        // pnpm names the folder of the tools as seen from where the line is.
        let is_lost = self.manager == "pnpm" && (line.contains("cd ") || line.contains("pushd "));
        let path = if is_lost { "PATH=\"$PWD/node_modules/.bin:$PATH\" " } else { "" };
        // npm hands its own line on to every npm inside, which would then refuse another one.
        let calls_npm =
            line.split([' ', '(', ';', '&', '|']).any(|word| ["npm", "npx"].contains(&word));
        if self.manager == "npm" && calls_npm {
            return format!("{through} {}", quoted(&format!("unset npm_config_call && {line}")));
        }
        format!("{path}{through} {}", quoted(line))
    }
}

/// Whether a script checks types: one of this name may as well write them.
fn checks_types(text: &str) -> bool {
    let words = || text.split([' ', '&', ';', '|']);
    let writes = |word: &str| {
        let word = word.to_ascii_lowercase();
        word == "-d" || word.starts_with("--declaration") || word.contains("emitdeclaration")
    };
    let checkers = ["tsc", "vue-tsc", "tsgo", "tsd", "flow", "pyright", "attw"];
    words().any(|word| checkers.contains(&word) || word.contains("check")) && !words().any(writes)
}

/// The package manager: by the lock file, else as `packageManager` says, in the nearest folder upwards
/// that has either; else npm.
pub(super) fn manager(look: &Look<'_>, package: &Value) -> &'static str {
    let found = look.upwards().enumerate().find_map(|(steps, (_, above))| {
        let read = || serde_json::from_str(&above.read("package.json")?).ok();
        let package = if steps == 0 { Some(package.clone()) } else { read() }.unwrap_or_default();
        let named = package.get("packageManager").and_then(Value::as_str).unwrap_or("");
        LOCK_FILES.iter().find(|(file, _)| above.has(file)).or_else(|| {
            LOCK_FILES.iter().find(|(_, program)| named.split('@').next() == Some(*program))
        })
    });
    found.map_or("npm", |(_, program)| program)
}
