//! Settings of the user's own that a client finds in the same place as flyball's: the two are put
//! together, and neither takes the other's place.

mod flags;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value};

use super::Launch;

/// Variables that hold settings as JSON.
const CONTENT: [&str; 1] = ["OPENCODE_CONFIG_CONTENT"];
/// Variables that name a file of settings as JSON.
const FILE: [&str; 2] = ["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH"];
/// Variables in which the user's word stands alone.
const THEIRS: [&str; 2] = ["RUST_LOG", "NO_COLOR"];

impl Launch {
    /// Takes in what the user has set: by name of a variable, and by path of a file. Returns the
    /// variables in which both stand now.
    pub(crate) fn join_own_settings(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        self.join_settings_flag(&file);
        self.join_codex_hooks(&variable, &file);
        let mut joined = Vec::new();
        let Self { env, files, .. } = self;
        for (name, ours) in env {
            let Some(theirs) = variable(name).filter(|theirs| !theirs.is_empty()) else { continue };
            if THEIRS.contains(&name.as_str()) {
                *ours = theirs;
            } else if CONTENT.contains(&name.as_str()) {
                *ours = both(&theirs, ours).unwrap_or(theirs);
            } else if FILE.contains(&name.as_str()) {
                let at = files.iter_mut().find(|file| file.path.to_string_lossy() == *ours);
                if let (Some(at), Some(theirs)) = (at, file(&theirs))
                    && let Some(text) = both(&theirs, &at.text)
                {
                    at.text = text;
                }
            } else {
                continue;
            }
            joined.push(name.clone());
        }
        joined
    }
}

/// Both texts as one object; none when the user's is no object: the client itself says so best.
fn both(theirs: &str, ours: &str) -> Option<String> {
    let theirs = CstRootNode::parse(theirs, &ParseOptions::default()).ok()?.to_serde_value()?;
    if !theirs.is_object() {
        return None;
    }
    let ours: Value = serde_json::from_str(ours).ok()?;
    Some(joined(theirs, ours).to_string())
}

/// What stands in both: tables by their keys, ours first, for the last rule that fits wins in some
/// of them; lists one after the other; else ours.
fn joined(theirs: Value, ours: Value) -> Value {
    match (theirs, ours) {
        (Value::Object(mut theirs), Value::Object(ours)) => {
            let mut both = Map::new();
            for (key, value) in ours {
                let value = match theirs.remove(&key) {
                    Some(own) => joined(own, value),
                    None => value,
                };
                both.insert(key, value);
            }
            both.extend(theirs);
            Value::Object(both)
        }
        (Value::Array(mut theirs), Value::Array(ours)) => {
            theirs.extend(ours);
            Value::Array(theirs)
        }
        (_, ours) => ours,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_the_user_and_of_flyball_stand_beside_each_other() {
        let mut launch = Launch::default();
        launch.env(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"autoupdate":false,"plugin":["file:///f.js"],"permission":{"*":"allow"}}"#,
        );
        let path =
            launch.private(std::path::Path::new("/p"), "s.json", r#"{"hooks":{"A":[1]}}"#.into());
        launch.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", path);
        launch.env("RUST_LOG", "error");
        launch.env("DISABLE_AUTOUPDATER", "1");
        let variable = |name: &str| {
            let text = match name {
                "OPENCODE_CONFIG_CONTENT" => {
                    "{\n // mine\n \"model\":\"m/x\",\"plugin\":[\"mine\"],\"autoupdate\":true,\"permission\":{\"bash\":\"deny\"},}"
                }
                "GEMINI_CLI_SYSTEM_SETTINGS_PATH" => "/etc/mine.json",
                "RUST_LOG" => "debug",
                "DISABLE_AUTOUPDATER" => "0",
                _ => return None,
            };
            Some(text.to_owned())
        };
        let joined = launch.join_own_settings(variable, |path| {
            (path == "/etc/mine.json").then(|| r#"{"hooks":{"A":[0],"B":[2]},"x":1}"#.to_owned())
        });
        assert_eq!(
            joined,
            ["OPENCODE_CONFIG_CONTENT", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "RUST_LOG"]
        );
        let content: Value = serde_json::from_str(&launch.env[0].1).unwrap();
        assert_eq!(content["model"], "m/x");
        assert_eq!(content["plugin"], json!(["mine", "file:///f.js"]));
        assert_eq!(content["permission"], json!({ "bash": "deny", "*": "allow" }));
        assert_eq!(content["autoupdate"], false);
        let file: Value = serde_json::from_str(&launch.files[0].text).unwrap();
        assert_eq!(file, json!({ "hooks": { "A": [0, 1], "B": [2] }, "x": 1 }));
        assert_eq!(launch.env[2].1, "debug");
        assert_eq!(launch.env[3].1, "1");
    }

    #[test]
    fn what_is_no_object_is_left_to_the_client() {
        assert_eq!(both("[]", "{}"), None);
        assert_eq!(both("{ broken", "{}"), None);
        assert_eq!(both("{}", "{\"a\":1}").unwrap(), "{\"a\":1}");
    }
}
