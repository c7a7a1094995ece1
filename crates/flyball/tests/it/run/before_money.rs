//! What is wrong with the agent is said before a gate runs and before anything is paid.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::scenario::Scenario;

/// A gate that leaves a sign when it ran.
const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"touch $OUT/gated\"\n";

/// A repository in which the program of a client is this text.
fn with_client(name: &str, text: &str) -> Scenario {
    let scenario = Scenario::bare().config(GATE).committed().command(&[]);
    let bin = scenario.outside("bin");
    fs::create_dir_all(&bin).unwrap();
    // A client comes with an interpreter of its own; here that is the shell.
    fs::copy("/bin/sh", bin.join("node")).unwrap();
    put(&bin.join(name), text);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    scenario.env("PATH", &path)
}

fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn left_nothing(scenario: &Scenario) {
    assert!(!scenario.outside("gated").exists(), "no gate ran");
    assert!(!scenario.has(".flyball") && !scenario.state().exists(), "nothing is left behind");
}

const CLAUDE: &str = "#!/usr/bin/env node\n\
    [ \"$1 $2\" = 'auth status' ] && { echo '{ \"loggedIn\": false }'; exit 1; }\n\
    touch $OUT/worked\n";

#[test]
fn a_client_that_says_it_is_not_logged_in_is_not_started() {
    for (name, text, login) in [
        ("claude", CLAUDE, "/login"),
        (
            "codex",
            "#!/usr/bin/env node\n[ \"$1 $2\" = 'login status' ] && echo 'Not logged in'; exit 1\n",
            "codex login",
        ),
        ("gemini", "#!/usr/bin/env node\ntouch $OUT/worked\n", "GEMINI_API_KEY"),
    ] {
        let scenario = with_client(name, text);
        let error = scenario.run_with(&["Fix it"]).refused(7);
        assert!(error.contains(&format!("`{name}` is not logged in")), "{error}");
        assert!(error.contains("log in: ") && error.contains(login), "{error}");
        assert!(!scenario.outside("worked").exists(), "{name} was started");
        left_nothing(&scenario);
        // The doctor finds the same.
        let doctor = scenario.flyball(&["doctor"]);
        assert_eq!(doctor.code, 78, "{}", doctor.stdout);
        assert!(doctor.stdout.contains("is not logged in") && doctor.stdout.contains(login));
    }
}

#[test]
fn a_key_or_credentials_are_enough_to_begin() {
    let scenario = with_client("claude", CLAUDE).env("ANTHROPIC_API_KEY", "k");
    scenario.run_with(&["Fix it", "--once"]).ended(1);
    assert!(scenario.outside("worked").exists());
    let scenario = with_client("claude", CLAUDE);
    let folder = scenario.outside("home/.claude");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(".credentials.json"), "{}").unwrap();
    scenario.run_with(&["Fix it", "--once"]).ended(1);
}

#[test]
fn a_wrapper_of_the_users_own_is_never_asked_anything() {
    let scenario = with_client("claude", "#!/bin/sh\necho \"$1\" >> $OUT/asked\n");
    scenario.run_with(&["Fix it", "--once"]).ended(1);
    assert_eq!(scenario.told("asked"), "-p\n", "started once, for the session");
}

#[test]
fn credentials_that_are_refused_in_a_session_say_how_to_log_in() {
    let refusal = r#"{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"Invalid API key"}]},"error":"authentication_failed"}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"result":"Invalid API key"}"#;
    let script = format!("#!/bin/sh\necho '{refusal}'\necho '{result}'\nexit 1\n");
    let scenario = with_client("claude", &script);
    let ran = scenario.run_with(&["Fix it"]).ended(7);
    ran.saying("agent_refused (code 7)").saying("log in: start `claude` and type /login");
}

#[test]
fn a_wrong_agent_name_suggests_the_right_one() {
    let scenario = with_client("claude", CLAUDE);
    let error = scenario.run_with(&["Fix it", "--agent", "cluade"]).refused(78);
    assert!(error.contains("did you mean `claude`?"), "{error}");
    left_nothing(&scenario);
}

#[test]
fn a_variable_that_names_no_setting_is_a_warning() {
    let scenario = Scenario::new().committed().agent("pass a; pass b");
    let scenario = scenario.env("FLYBALL_LIMITS__STUK", "5").env("FLYBALL_WHATEVER", "x");
    let ran = scenario.run().ended(0);
    let ran =
        ran.saying("FLYBALL_LIMITS__STUK names no setting; did you mean FLYBALL_LIMITS__STUCK?");
    ran.silent_on("WHATEVER");
    let doctor = scenario.flyball(&["doctor"]).stdout;
    assert!(doctor.contains("FLYBALL_LIMITS__STUK"), "{doctor}");
}

#[test]
fn what_the_user_tells_opencode_stays_beside_what_flyball_tells_it() {
    let script = "#!/bin/sh\nprintf '%s' \"$OPENCODE_CONFIG_CONTENT\" > $OUT/content\n";
    for place in ["environment", "settings"] {
        let scenario = with_client("opencode", script);
        let own = r#"{"model":"mine/m","plugin":["mine"],"permission":{"webfetch":"deny"}}"#;
        let scenario = if place == "environment" {
            scenario.env("OPENCODE_CONFIG_CONTENT", own)
        } else {
            scenario
                .config(&format!("{GATE}[agent.env]\nOPENCODE_CONFIG_CONTENT = '{own}'\n"))
                .committed()
        };
        scenario.run_with(&["Fix it", "--once", "--agent", "opencode"]).ended(1);
        let content: serde_json::Value = serde_json::from_str(&scenario.told("content")).unwrap();
        assert_eq!(content["model"], "mine/m", "{place}");
        let plugins = content["plugin"].as_array().unwrap();
        assert!(plugins.len() == 2 && plugins[0] == "mine", "{place}: {plugins:?}");
        assert_eq!(content["permission"]["webfetch"], "deny", "{place}");
    }
}
