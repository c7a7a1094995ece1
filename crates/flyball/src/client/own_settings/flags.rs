//! Settings on a client's command line: of several flags of one name it would heed the last.

use toml::{Table, Value};

use super::both;
use crate::client::Launch;

/// The flag of Claude Code for a file of settings, or their text.
const SETTINGS: &str = "--settings";
/// The flag of Codex for one setting, short and long.
const OVERRIDES: [&str; 2] = ["-c", "--config"];
/// What its hooks are set by.
const HOOKS: &str = "hooks.";
/// What flyball's own say.
const OUR_HOOK: &str = " hook codex ";

impl Launch {
    /// Takes what the user gives with `--settings` into flyball's own file of them.
    pub(super) fn join_settings_flag(&mut self, file: impl Fn(&str) -> Option<String>) {
        let Self { argv, files, .. } = self;
        let given = pairs(argv, &[SETTINGS]);
        let paths: Vec<String> =
            files.iter().map(|one| one.path.to_string_lossy().into_owned()).collect();
        let own = |value: &str| paths.iter().position(|path| path == value);
        let Some(at) = given.iter().find_map(|pair| own(&pair.value)) else { return };
        let mut taken = Vec::new();
        for pair in given.iter().filter(|pair| own(&pair.value).is_none()) {
            let is_text = pair.value.trim_start().starts_with('{');
            let theirs = if is_text { Some(pair.value.clone()) } else { file(&pair.value) };
            let joined = theirs.and_then(|theirs| both(&theirs, &files.get(at)?.text));
            // What cannot be read is left there: the client itself says so best.
            if let (Some(text), Some(own)) = (joined, files.get_mut(at)) {
                own.text = text;
                taken.push((pair.from, pair.to));
            }
        }
        for (from, to) in taken.into_iter().rev() {
            argv.drain(from..to);
        }
    }

    /// Puts the hooks of the user's Codex, from its settings and from its flags, beside flyball's.
    pub(super) fn join_codex_hooks(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Option<String>,
    ) {
        let given = pairs(&self.argv, &OVERRIDES);
        let mut hooks: Vec<(Pair, String, Vec<Value>)> = Vec::new();
        for pair in given.into_iter().filter(|pair| pair.value.starts_with(HOOKS)) {
            if let Some((event, list)) = hook_list(&pair.value) {
                hooks.push((pair, event, list));
            }
        }
        // A command line of the user's own is theirs alone.
        let ours = |list: &[Value]| Value::Array(list.to_vec()).to_string().contains(OUR_HOOK);
        if !hooks.iter().any(|(_, _, list)| ours(list)) {
            return;
        }
        let home = variable("CODEX_HOME").or_else(|| Some(format!("{}/.codex", variable("HOME")?)));
        let config = home.and_then(|home| file(&format!("{home}/config.toml")));
        let config = config.and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
        let of_config = |event: &str| {
            let list = config.get("hooks").and_then(|hooks| hooks.get(event));
            list.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        // Each event is said once, where it stood last: theirs first, as they are asked first.
        for (number, (pair, event, _)) in hooks.iter().enumerate().rev() {
            let of_event = |one: &&(Pair, String, Vec<Value>)| one.1 == *event;
            if hooks.iter().skip(number + 1).any(|one| of_event(&one)) {
                self.argv.drain(pair.from..pair.to);
                continue;
            }
            let mut list = of_config(event);
            for (_, _, more) in hooks.iter().rev().filter(of_event) {
                list.extend(more.iter().cloned());
            }
            if let Some(word) = self.argv.get_mut(pair.to - 1) {
                let said = format!("{HOOKS}{event}={}", Value::Array(list));
                *word =
                    if pair.to - pair.from == 1 { format!("{}{said}", pair.flag) } else { said };
            }
        }
    }
}

/// A flag with its value, and the words it takes.
struct Pair {
    from: usize,
    to: usize,
    /// What stands before the value in a word that holds both.
    flag: String,
    value: String,
}

/// All flags of these names: `--flag value` and `--flag=value`.
fn pairs(argv: &[String], names: &[&str]) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = argv.get(at) {
        let joined = names.iter().find_map(|name| {
            let value = word.strip_prefix(name)?.strip_prefix('=')?;
            Some((format!("{name}="), value.to_owned()))
        });
        match (joined, argv.get(at + 1)) {
            (Some((flag, value)), _) => found.push(Pair { from: at, to: at + 1, flag, value }),
            (None, Some(value)) if names.contains(&word.as_str()) => {
                let (flag, value) = (String::new(), value.clone());
                found.push(Pair { from: at, to: at + 2, flag, value });
                at += 1;
            }
            (None, _) => {}
        }
        at += 1;
    }
    found
}

/// The event and the hooks of `hooks.EVENT=[…]`.
fn hook_list(said: &str) -> Option<(String, Vec<Value>)> {
    let (event, list) = said.strip_prefix(HOOKS)?.split_once('=')?;
    let table = format!("list={list}").parse::<Table>().ok()?;
    let list = table.get("list")?.as_array()?.clone();
    Some((event.trim().to_owned(), list))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn settings_a_user_gives_stand_in_one_file_with_flyball_s() {
        let mut launch = Launch::default();
        launch.args(&["claude", "-p"]);
        let ours = launch.private(Path::new("/p"), "s.json", r#"{"hooks":{"Stop":[1]}}"#.into());
        launch.args(&[SETTINGS, &ours, SETTINGS, "/mine.json", "-v"]);
        launch.args(&[r#"--settings={"hooks":{"Stop":[2]}}"#, "--settings=/gone.json"]);
        let file = |path: &str| {
            (path == "/mine.json").then(|| r#"{"model":"m","hooks":{"Stop":[0]}}"#.to_owned())
        };
        launch.join_own_settings(|_| None, file);
        let left = ["claude", "-p", SETTINGS, &ours, "-v", "--settings=/gone.json"];
        assert_eq!(launch.argv, left, "what cannot be read stays");
        let text: serde_json::Value = serde_json::from_str(&launch.files[0].text).unwrap();
        assert_eq!(text, serde_json::json!({ "model": "m", "hooks": { "Stop": [2, 0, 1] } }));
        // Without hooks of flyball's own theirs are nobody else's affair.
        let mut launch = Launch::default();
        launch.args(&["claude", SETTINGS, "/mine.json"]);
        launch.join_own_settings(|_| None, file);
        assert_eq!(launch.argv, ["claude", SETTINGS, "/mine.json"]);
    }

    #[test]
    fn hooks_of_a_users_codex_are_asked_beside_flyball_s() {
        let mut launch = Launch::default();
        launch.args(&[
            "codex",
            "-c",
            "x=1",
            "-c",
            r#"hooks.Stop=[{run="flyball hook codex Stop"}]"#,
        ]);
        launch.args(&["-c", r#"hooks.PreToolUse=[{matcher="f"}]"#, "-m", "m"]);
        launch.args(&[r#"--config=hooks.Stop=[{matcher="u"}]"#, "-"]);
        let config = "model = \"m\"\n[[hooks.Stop]]\nmatcher = \"c\"\n[[hooks.SessionEnd]]\nmatcher = \"s\"\n";
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".to_owned());
        let file = |path: &str| (path == "/home/u/.codex/config.toml").then(|| config.to_owned());
        launch.join_own_settings(variable, file);
        assert_eq!(
            launch.argv,
            [
                "codex",
                "-c",
                "x=1",
                "-c",
                r#"hooks.PreToolUse=[{ matcher = "f" }]"#,
                "-m",
                "m",
                r#"--config=hooks.Stop=[{ matcher = "c" }, { matcher = "u" }, { run = "flyball hook codex Stop" }]"#,
                "-"
            ]
        );
        let alone = |argv: &[&str]| {
            let mut launch = Launch::default();
            launch.args(argv);
            launch.join_own_settings(variable, file);
            launch.argv
        };
        assert_eq!(alone(&["codex", "-c", "x=1"]), ["codex", "-c", "x=1"]);
        let own = ["codex", "-c", "hooks.Stop=[]"];
        assert_eq!(alone(&own), own, "a command of the user's own");
    }
}
