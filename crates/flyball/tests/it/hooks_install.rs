//! `flyball hooks install` and `remove`: nothing of the user's is lost, and nothing of flyball's stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

/// Every file below a folder with its bytes; folders end with a slash.
fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.join(""), Vec::new());
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

const AGENTS: [(&str, &str); 8] = [
    ("claude", ".claude/settings.local.json"),
    ("codex", ""),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("goose", ".agents/plugins/flyball/hooks/hooks.json"),
    ("copilot", ".github/hooks/flyball.json"),
    ("opencode", ".opencode/plugins/flyball.js"),
    ("pi", ".pi/extensions/flyball.ts"),
];

#[test]
fn what_was_not_there_is_gone_again() {
    for (agent, file) in AGENTS {
        let world = World::repository();
        let above = world.root().parent().unwrap().to_path_buf();
        fs::create_dir_all(above.join("home/.local/state/flyball")).unwrap();
        let before = all(&above);
        for scope in ["--project", "--user"] {
            if (agent, scope) == ("codex", "--project") {
                let error = world.run(&["hooks", "install", agent, scope]).failed(64);
                assert!(error.contains("--user"), "{error}");
                continue;
            }
            let told = world.run(&["hooks", "install", agent, scope]).ok();
            assert!(told.contains("Installed"), "{told}");
            if !file.is_empty() && scope == "--project" {
                let text = world.read(file);
                assert!(text.contains(&format!("hook {agent} ")) || text.contains("flyball"));
            }
            let after = all(&above);
            let again = world.run(&["hooks", "install", agent, scope]).ok();
            assert!(again.contains("Kept") && !again.contains("Installed"), "{again}");
            assert_eq!(all(&above), after, "{agent} {scope}");
        }
        let told = world.run(&["hooks", "remove", agent]).ok();
        assert!(told.contains("Removed"), "{told}");
        assert_eq!(all(&above), before, "{agent}");
        let told = world.run(&["hooks", "remove"]).ok();
        assert_eq!(told, "No hooks of flyball's were found\n");
    }
}

/// Written as no program would write it.
const SETTINGS: &str = "{ \"theme\":\"dark\",\n\t\"hooks\": {\"PreToolUse\": [ {\"matcher\":\"X\",\
    \"hooks\":[{\"type\":\"command\",\"command\":\"mine hook\"}]}], \"BeforeTool\": [] , \
    \"Stop\":[]},\n\"n\": 1.50, \"unicode\": \"\\u00e4\" }";

#[test]
fn settings_of_others_survive_byte_for_byte() {
    for (agent, file) in [AGENTS[0], AGENTS[2], AGENTS[3]] {
        let world = World::repository().file(file, SETTINGS);
        world.run(&["hooks", "install", agent]).ok();
        let installed = world.read(file);
        assert!(installed.contains("mine hook") && installed.contains("\"theme\""), "{installed}");
        assert!(installed.contains(&format!("hook {agent} ")), "{installed}");
        world.run(&["hooks", "install", agent]).ok();
        assert_eq!(world.read(file), installed, "{agent}");
        world.run(&["hooks", "remove", agent]).ok();
        assert_eq!(world.read(file), SETTINGS, "{agent}");
    }
}

#[test]
fn what_others_changed_in_between_stays() {
    let file = ".claude/settings.local.json";
    let world = World::repository().file(file, SETTINGS);
    world.run(&["hooks", "install", "claude"]).ok();
    let changed = world.read(file).replace("\"dark\"", "\"light\"");
    fs::write(world.root().join(file), changed).unwrap();
    world.run(&["hooks", "remove", "claude"]).ok();
    let left: serde_json::Value = serde_json::from_str(&world.read(file)).unwrap();
    let mut expected: serde_json::Value = serde_json::from_str(SETTINGS).unwrap();
    expected["theme"] = "light".into();
    // An empty list of that event is all the same to the client.
    expected["hooks"].as_object_mut().unwrap().remove("Stop");
    assert_eq!(left, expected);
}

#[test]
fn settings_that_cannot_be_read_and_files_of_others_are_not_touched() {
    let world = World::repository()
        .file(".gemini/settings.json", "{ // mine\n}")
        .file(".github/hooks/flyball.json", "{}");
    let error = world.run(&["hooks", "install", "gemini"]).failed(65);
    assert!(error.contains("no plain JSON"), "{error}");
    let error = world.run(&["hooks", "install", "copilot"]).failed(64);
    assert!(error.contains("is not flyball's"), "{error}");
    assert_eq!(world.read(".github/hooks/flyball.json"), "{}");
    let error = world.run(&["hooks", "install", "aider"]).failed(64);
    assert!(error.contains("no hooks of an agent `aider`"), "{error}");
}

#[test]
fn init_installs_hooks_when_asked() {
    let world = World::repository();
    let told = world.run(&["init", "--agent", "claude", "--hooks"]).ok();
    assert!(told.contains("Hooks    "), "{told}");
    assert!(world.read(".claude/settings.local.json").contains("hook claude Stop"));
    let world = World::repository();
    let error = world.run(&["init", "--agent", "aider", "--hooks"]).failed(64);
    assert!(error.contains("has no hooks"), "{error}");
    assert!(!world.root().join("flyball.toml").exists());
    let json = World::repository().run(&["hooks", "install", "goose", "--json"]).ok();
    let done: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(done[0]["change"], "installed");
}
