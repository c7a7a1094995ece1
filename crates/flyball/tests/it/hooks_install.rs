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
    let commented =
        SETTINGS.replace("\"theme\"", "// mine\n\"theme\"").replace("1.50, ", "1.50,\n");
    for before in [SETTINGS, &commented] {
        let world = World::repository().file(file, before);
        world.run(&["hooks", "install", "claude"]).ok();
        let changed = world.read(file).replace("\"dark\"", "\"light\"");
        fs::write(world.root().join(file), changed).unwrap();
        world.run(&["hooks", "remove", "claude"]).ok();
        let left = world.read(file);
        assert!(!left.contains("flyball"), "{left}");
        // An empty list of that event is all the same to the client.
        let expected = before.replace("\"dark\"", "\"light\"");
        let expected = expected.replace(" , \"Stop\":[]", "").replace(" ,\"Stop\":[]", "");
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(squeezed(&left), squeezed(&expected));
    }
}

#[test]
fn comments_layout_rights_and_links_survive() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let text = "{\r\n\t// theme\r\n\t\"theme\": \"dark\", /* why */\r\n\t\"list\": [1,],\r\n}";
    for (agent, file) in [AGENTS[0], AGENTS[2], AGENTS[3]] {
        let world = World::repository().file("elsewhere/settings", text);
        let (link, real) = (world.root().join(file), world.root().join("elsewhere/settings"));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&real, &link).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        let before = all(&world.root());
        world.run(&["hooks", "install", agent]).ok();
        let installed = world.read(file);
        let lines = ["\t// theme\r\n\t\"theme\": \"dark\", /* why */\r\n", "\t\"list\": [1,],\r\n"];
        assert!(lines.iter().all(|line| installed.contains(line)), "{installed}");
        assert!(installed.contains(&format!("hook {agent} ")), "{installed}");
        assert!(!installed.replace("\r\n", "").contains('\n'), "{installed}");
        let mode = fs::metadata(&real).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode, link.is_symlink()), (0o600, true));
        // Also when what was there before is not known any more.
        let state = world.root().parent().unwrap().join("home/.local/state/flyball/hooks");
        for entry in fs::read_dir(&state).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
        }
        fs::remove_dir_all(state).unwrap();
        world.run(&["hooks", "remove", agent]).ok();
        assert_eq!(all(&world.root()), before, "{agent}");
        assert!(link.is_symlink());
    }
    // A link that leads nowhere yet.
    let world = World::repository();
    fs::create_dir_all(world.root().join(".claude")).unwrap();
    let link = world.root().join(".claude/settings.local.json");
    symlink("../kept.json", &link).unwrap();
    world.run(&["hooks", "install", "claude"]).ok();
    assert!(world.read("kept.json").contains("hook claude Stop"));
    world.run(&["hooks", "remove", "claude"]).ok();
    assert!(link.is_symlink() && !world.root().join("kept.json").exists());
}

#[test]
fn hooks_follow_flyball_to_another_place() {
    for (agent, file) in AGENTS.iter().filter(|(_, file)| !file.is_empty()) {
        let world = World::repository();
        let before = all(&world.root());
        world.run(&["hooks", "install", agent]).ok();
        let old = world.read(file);
        // As if flyball had been there then.
        let program = env!("CARGO_BIN_EXE_flyball");
        let moved = old.replace(program, "/old place/flyball");
        assert_ne!(moved, old, "{agent}");
        fs::write(world.root().join(file), moved).unwrap();
        let state = world.root().parent().unwrap().join("home/.local/state/flyball/hooks");
        for entry in fs::read_dir(&state).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace(program, "/old place/flyball")).unwrap();
        }
        let told = world.run(&["hooks", "install", agent]).ok();
        assert!(told.contains("Installed"), "{told}");
        assert_eq!(world.read(file), old, "{agent}");
        world.run(&["hooks", "remove", agent]).ok();
        assert_eq!(all(&world.root()), before, "{agent}");
    }
}

#[test]
fn what_cannot_be_changed_safely_is_not_touched() {
    use std::os::unix::fs::PermissionsExt;
    let broken = "{ \"a\": }";
    let world = World::repository()
        .file(".gemini/settings.json", broken)
        .file(".qwen/settings.json", "{\"hooks\": []}")
        .file(".claude/settings.local.json", "{}")
        .file(".github/hooks/flyball.json", "{\"mine\": \"flyball\"}");
    let locked = world.root().join(".claude/settings.local.json");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    let before = all(&world.root());
    for (agent, code, why, next) in [
        ("gemini", 65, "is no JSON, and nothing was changed", "put "),
        ("qwen", 65, "has something else where hooks belong", "make `hooks`"),
        ("claude", 74, "is read-only", "chmod u+w "),
        ("copilot", 64, "exists and is not flyball's", "mv "),
    ] {
        let error = world.run(&["hooks", "install", agent]).failed(code);
        assert!(error.contains(why) && error.contains(next), "{error}");
        // There is nothing of flyball's to remove, so nothing is wrong.
        let told = world.run(&["hooks", "remove", agent]).ok();
        assert_eq!(told, "No hooks of flyball's were found\n");
    }
    assert_eq!(all(&world.root()), before);
    let error = world.run(&["hooks", "install", "aider"]).failed(64);
    assert!(error.contains("no hooks of an agent `aider`"), "{error}");
}

#[test]
fn what_someone_added_to_a_file_of_flyballs_is_not_lost() {
    for (agent, file) in [AGENTS[4], AGENTS[5], AGENTS[6], AGENTS[7]] {
        let world = World::repository();
        world.run(&["hooks", "install", agent]).ok();
        let changed = world.read(file) + "\n";
        fs::write(world.root().join(file), &changed).unwrap();
        for action in ["install", "remove"] {
            let said = world.run(&["hooks", action, agent]);
            assert_eq!(said.code, 64, "{said:?}");
            assert!(said.stderr.contains("was changed since flyball wrote it"), "{said:?}");
            assert_eq!(world.read(file), changed, "{agent}");
        }
    }
}

#[test]
fn one_file_in_the_way_does_not_keep_the_others() {
    let world = World::repository();
    for agent in ["claude", "gemini", "pi"] {
        world.run(&["hooks", "install", agent]).ok();
    }
    let broken = format!("{{ \"x\": {}", world.read(".gemini/settings.json"));
    fs::write(world.root().join(".gemini/settings.json"), &broken).unwrap();
    let said = world.run(&["hooks", "remove", "--json"]);
    assert_eq!(said.code, 65, "{said:?}");
    let done: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let agents: Vec<_> = done.as_array().unwrap().iter().map(|one| &one["agent"]).collect();
    assert_eq!(agents, ["claude", "pi"]);
    assert!(said.stderr.contains(".gemini/settings.json"), "{said:?}");
    assert_eq!(world.read(".gemini/settings.json"), broken);
}

#[test]
fn copilot_is_not_brought_to_a_halt_where_there_is_no_flyball() {
    let world = World::repository();
    world.run(&["hooks", "install", "copilot"]).ok();
    let table: serde_json::Value =
        serde_json::from_str(&world.read(".github/hooks/flyball.json")).unwrap();
    let hooks = table["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), 6, "{hooks:?}");
    for entries in hooks.values() {
        let command = entries[0]["bash"].as_str().unwrap();
        let missing = command.replace(env!("CARGO_BIN_EXE_flyball"), "/no/such/flyball");
        let done = std::process::Command::new("bash").args(["-c", &missing]).output().unwrap();
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0), "{command}");
    }
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
