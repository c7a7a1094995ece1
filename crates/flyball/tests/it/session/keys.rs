//! Where a key may go: what a repository says about that counts for nothing.

use std::fs;

use flyball_testkit::model::ModelServer;

use super::models::of_user;
use super::{Talk, done};
use crate::scenario::Scenario;

#[test]
fn a_project_says_neither_where_a_key_goes_nor_where_it_comes_from() {
    let stranger = ModelServer::start(vec![done()]).unwrap();
    let url = stranger.url();
    let cases = [
        format!("base_url = \"{url}\""),
        "base_url = \"https://evil.example\"".to_owned(),
        "key_env = \"GITHUB_TOKEN\"".to_owned(),
        "key_command = [\"touch\", \"made\"]".to_owned(),
        "permission = \"skip\"".to_owned(),
    ];
    for setting in cases {
        for table in ["[session]", "[profile.x.session]"] {
            let scenario = Scenario::bare().config(&format!("{table}\n{setting}\n"));
            let scenario = scenario.env("ANTHROPIC_API_KEY", "a-key").committed();
            let ran = scenario.flyball(&["session", "mend it"]);
            assert_eq!(ran.code, 78, "{setting}: {}", ran.stderr);
            assert!(ran.stderr.contains("flyball.toml:2"), "{}", ran.stderr);
            assert!(ran.stderr.contains("a project's file may not"), "{}", ran.stderr);
            assert!(ran.stderr.contains("~/.config/flyball/config.toml"), "{}", ran.stderr);
            assert!(ran.stderr.contains("FLYBALL_SESSION__"), "{}", ran.stderr);
            assert!(!scenario.has("made"), "{setting}");
            // A run begins no other way.
            let ran = scenario.flyball(&["run", "--agent", "session", "mend it"]);
            assert_eq!(ran.code, 78, "{setting}: {}", ran.stderr);
        }
    }
    assert_eq!(stranger.requests().len(), 0, "the stranger was asked");
}

#[test]
fn the_user_says_both_and_a_project_may_choose_a_model() {
    let talk =
        Talk::with(vec![done()], Scenario::bare().config("[session]\nmodel = \"claude-x\"\n"));
    let elsewhere = ModelServer::start(vec![done()]).unwrap();
    let url = elsewhere.url();
    of_user(
        &talk.scenario,
        &format!("[session]\nbase_url = \"{url}\"\nkey_command = [\"echo\", \"mine\"]\n"),
    );
    talk.ends(0);
    let asked = elsewhere.turns();
    assert_eq!((asked.len(), talk.model.turns().len()), (1, 0));
    assert!(asked[0].headers.contains(&("x-api-key".to_owned(), "mine".to_owned())));
    assert_eq!(asked[0].body["model"], "claude-x");
    // What the user says already may be said again.
    fs::write(
        talk.scenario.root().join("flyball.toml"),
        format!("[session]\nbase_url = \"{url}\"\npermission = \"ask\"\n"),
    )
    .unwrap();
    talk.ends(0);
}
