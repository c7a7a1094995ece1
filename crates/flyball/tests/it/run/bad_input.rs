//! What flyball refuses to begin with: told as an error, never as an outcome.

use crate::scenario::Scenario;

#[test]
fn neither_tasks_nor_gates_is_refused_with_what_to_add() {
    let scenario = Scenario::bare().committed().agent("touch $OUT/started");
    let error = scenario.run().refused(78);
    for word in ["tasks.json", "[[gates.check]]", "--trust-claims", "flyball init"] {
        assert!(error.contains(word), "{word}: {error}");
    }
    assert!(!scenario.outside("started").exists());
}

#[test]
fn wrong_usage_exits_with_64() {
    let scenario = Scenario::new().committed();
    for flags in [
        &["--no-such"][..],
        &["--max-iterations", "many"],
        &["--max-runtime", "soon"],
        &["--max-cost", "-1"],
        &["--once", "--max-iterations", "2"],
        &["--format", "yaml"],
    ] {
        let ran = scenario.flyball(&[&["run"][..], flags].concat());
        assert_eq!(ran.code, 64, "{flags:?}: {}", ran.stderr);
    }
}

#[test]
fn a_wrong_key_is_refused_with_a_suggestion_and_its_place() {
    let scenario = Scenario::new().config("[limits]\nstcuk = 3\n").committed();
    let error = scenario.run().refused(78);
    assert!(error.contains("stcuk") && error.contains("stuck"), "{error}");
    assert!(error.contains("flyball.toml:2"), "{error}");
}

#[test]
fn wrong_values_are_refused() {
    for toml in [
        "[limits]\nruntime = \"soon\"\n",
        "[iterations]\ncircuit_breaker = 0\n",
        "[gates]\nbaseline = \"maybe\"\n",
        "[agent\n",
    ] {
        let scenario = Scenario::new().config(toml).committed();
        let error = scenario.run().refused(78);
        assert!(error.contains("flyball.toml"), "{toml}: {error}");
    }
}

#[test]
fn an_unknown_agent_and_an_unknown_profile_are_refused() {
    let scenario = Scenario::new().committed().command(&[]);
    let error = scenario.run_with(&["--agent", "clod"]).refused(78);
    assert!(error.contains("clod"), "{error}");
    let error = scenario.run_with(&["--profile", "overnigth"]).refused(78);
    assert!(error.contains("overnigth"), "{error}");
}

#[test]
fn a_broken_task_list_is_left_as_it_is() {
    let cases = [
        "{\"userStories\": [",
        "[]",
        r#"{"userStories":[{"id":"a","title":"x"},{"id":"a","title":"y"}]}"#,
        r#"{"userStories":[{"id":"a","title":"x","dependsOn":["ghost"]}]}"#,
        r#"{"userStories":[{"id":"a","title":"x","dependsOn":["b"]},{"id":"b","title":"y","dependsOn":["a"]}]}"#,
        r#"{"userStories":[{"id":"a","title":"x","passes":"yes"}]}"#,
        "\u{feff} not json at all \u{0}",
    ];
    for tasks in cases {
        let scenario = Scenario::new().tasks(tasks).committed().agent("touch $OUT/started");
        let error = scenario.run().refused(65);
        assert!(error.contains(".flyball/tasks.json"), "{error}");
        assert_eq!(scenario.read(".flyball/tasks.json"), tasks, "byte for byte");
        assert!(!scenario.outside("started").exists());
    }
}

#[test]
fn a_task_list_that_is_no_text_is_left_as_it_is() {
    let scenario = Scenario::new().committed();
    let path = scenario.root().join(".flyball/tasks.json");
    std::fs::write(&path, b"{\"userStories\":[\xff\xfe]}").unwrap();
    scenario.run().refused(65);
    assert_eq!(std::fs::read(&path).unwrap(), b"{\"userStories\":[\xff\xfe]}");
}

#[test]
fn no_repository_is_a_clear_error() {
    let error = Scenario::no_repository().run().refused(66);
    assert!(error.contains("git"), "{error}");
    assert!(error.contains("git init"), "{error}");
}

#[test]
fn a_repository_without_a_commit_can_be_worked_in() {
    let scenario = Scenario::new().agent("pass a; pass b");
    scenario.run().ended(0);
}

#[test]
fn nothing_to_resume_is_said() {
    let scenario = Scenario::new().committed().agent("pass a; pass b");
    let error = scenario.resume(&[]).refused(66);
    assert!(error.contains("no run"), "{error}");
    scenario.run().ended(0);
    let error = scenario.resume(&[]).refused(64);
    assert!(error.contains("complete"), "{error}");
    let error = scenario.flyball(&["run", "--resume", "19990101"]).refused(66);
    assert!(error.contains("19990101"), "{error}");
}

#[test]
fn a_cost_limit_that_could_never_fire_is_refused() {
    let scenario = Scenario::new().committed().agent("true").flags(&["--max-cost", "1"]);
    let error = scenario.run().refused(78);
    assert!(error.contains("cost") && error.contains("--max-tokens"), "{error}");
}
