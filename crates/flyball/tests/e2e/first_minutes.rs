//! The first five minutes with a real client: somebody's project with a red test, cloned, and one
//! command; and a user who has settings of their own for the client.

use std::path::Path;

use flyball_testkit::clients::Client;
use flyball_testkit::model::Step;
use serde_json::{Value, json};

use crate::Trial;
use crate::scene::Scene;
use crate::situations::{COMPLETE, MEND, shell};

/// Everything in here.
pub(crate) const TRIALS: [Trial; 3] = [
    Trial::new("k: a clone with a red test of Rust, mended by one command", mends_rust)
        .but_for(&OTHERS),
    Trial::new("k: a clone with a red test of Node, mended by one command", mends_node)
        .but_for(&OTHERS),
    Trial::new("l: the user's own settings hold beside flyball's", keeps_own_settings)
        .but_for(&["goose", "copilot", "pi", "session"]),
];

/// Those that need arguments to find the scripted model: for them it is not one command.
const OTHERS: [&str; 6] = ["goose", "gemini", "qwen", "copilot", "pi", "session"];

/// Somebody's project: its files, and what mends it.
struct Project {
    files: &'static [(&'static str, &'static str)],
    mend: &'static str,
}

const RUST: Project = Project {
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"cart\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        ),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"cart\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        ("src/lib.rs", "pub fn total(prices: &[u32]) -> u32 {\n    prices.len() as u32\n}\n"),
        (
            "tests/cart.rs",
            "#[test]\nfn adds_up() {\n    assert_eq!(cart::total(&[2, 3]), 5);\n}\n\n\
             #[test]\nfn nothing_costs_nothing() {\n    assert_eq!(cart::total(&[]), 0);\n}\n",
        ),
    ],
    mend: "sed -i 's/prices.len() as u32/prices.iter().sum()/' src/lib.rs && git commit -qam mend",
};

const NODE: Project = Project {
    files: &[
        (
            "package.json",
            "{\"name\":\"cart\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node --test\"}}\n",
        ),
        ("cart.js", "exports.total = prices => prices.length\n"),
        (
            "test/cart.test.js",
            "const test = require('node:test')\nconst assert = require('node:assert')\n\
             const { total } = require('../cart')\n\
             test('adds up', () => assert.strictEqual(total([2, 3]), 5))\n\
             test('nothing costs nothing', () => assert.strictEqual(total([]), 0))\n",
        ),
    ],
    mend: "sed -i 's/prices.length/prices.reduce((a, b) => a + b, 0)/' cart.js && git commit -qam mend",
};

fn mends_rust(client: &Client, program: &Path) {
    mends(client, program, &RUST);
}

fn mends_node(client: &Client, program: &Path) {
    mends(client, program, &NODE);
}

/// No settings, no init: the agent, the gates and the task are found.
fn mends(client: &Client, program: &Path, project: &Project) {
    let script = vec![shell(client, project.mend), Step::text(COMPLETE)];
    let scene = Scene::cloned(client, program, script, project.files);
    let ended = scene.start_as(&["run", "Fix the failing tests"]).ended();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    for words in ["complete (code 0)", "Iterations:  1 / 15", "GATE  #1   tests passed"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert_eq!(scene.git(&["log", "--format=%s", "-1"]).trim(), "mend");
    // Nothing of flyball's is left to be committed.
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

/// The user's hook is asked, the user's variable is set, and flyball's own hooks still refuse a stop
/// with a red gate.
fn keeps_own_settings(client: &Client, program: &Path) {
    let look = format!("echo user=$USERS_OWN; {MEND}");
    let script = vec![Step::text(COMPLETE), shell(client, &look), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n");
    let asked = scene.beside("asked").to_string_lossy().into_owned();
    let scene = with_own_settings(scene, client, &asked);
    let ended = scene.run();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert_eq!(ended.out.matches("\"verdict\":\"refuse\"").count(), 1, "{}", ended.out);
    assert!(scene.beside("asked").exists(), "the user's own hook was not asked: {}", ended.out);
    // The only one of them that sets variables by its settings.
    if client.name == "claude" {
        let told = scene.told();
        assert!(told.iter().any(|text| text.contains("user=kept")), "{told:?}");
    }
}

/// Settings as a user has them: a hook that leaves a sign, in the place where flyball has its own.
fn with_own_settings(scene: Scene, client: &Client, sign: &str) -> Scene {
    let touch = format!("touch {sign}");
    let hook = |event: &str| json!({ event: [{ "matcher": ".*", "hooks": [{ "type": "command", "command": &touch }] }] });
    let file = |scene: &Scene, name: &str, value: &Value| {
        std::fs::write(scene.beside(name), value.to_string()).expect("a file");
        scene.beside(name).to_string_lossy().into_owned()
    };
    match client.name {
        // A path as people write it: from where the client runs.
        "claude" => {
            file(
                &scene,
                "mine.json",
                &json!({
                    "hooks": hook("PreToolUse"), "env": { "USERS_OWN": "kept" },
                }),
            );
            scene.with_first_arguments(&["--settings", "../mine.json"])
        }
        "codex" => {
            let hooks = format!(
                "[[hooks.PreToolUse]]\nmatcher = \".*\"\n[[hooks.PreToolUse.hooks]]\n\
                 type = \"command\"\ncommand = {}\n",
                Value::from(touch.as_str())
            );
            std::fs::write(scene.beside("home/.codex/config.toml"), hooks).expect("a file");
            scene
        }
        "opencode" => {
            let plugin = format!(
                "import fs from \"node:fs\"\nexport const Mine = async () => ({{\n  \
                 \"tool.execute.before\": async () => fs.writeFileSync({}, \"\"),\n}})\n",
                Value::from(sign)
            );
            let path = scene.beside("mine.js");
            std::fs::write(&path, plugin).expect("a file");
            let settings = json!({ "plugin": [format!("file://{}", path.display())] });
            scene.with("OPENCODE_CONFIG_CONTENT", &settings.to_string(), "")
        }
        name => {
            let (event, variable) = if name == "gemini" {
                ("BeforeTool", "GEMINI_CLI_SYSTEM_SETTINGS_PATH")
            } else {
                ("PreToolUse", "QWEN_CODE_SYSTEM_SETTINGS_PATH")
            };
            let path = file(&scene, "mine.json", &json!({ "hooks": hook(event) }));
            scene.with(variable, &path, "")
        }
    }
}
