//! `flyball tasks add|edit|drop`: stories by hand.

use crate::scenario::{Ran, Scenario, TWO_STORIES};

fn tasks(scenario: &Scenario, arguments: &[&str]) -> Ran {
    scenario.flyball(&[&["tasks"], arguments].concat())
}

#[test]
fn a_story_is_added_with_criteria_order_and_what_comes_before() {
    let scenario = Scenario::bare().committed();
    let first = tasks(&scenario, &["add", "Add a cart", "--criterion", "`make` is green"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("Added US-001: Add a cart"), "{}", first.stdout);
    let more = [
        "add",
        "Show it",
        "--after",
        "US-001",
        "--priority",
        "7",
        "--criterion",
        "a",
        "--criterion",
        "b",
        "--json",
    ];
    let second: serde_json::Value = serde_json::from_str(&tasks(&scenario, &more).stdout).unwrap();
    assert_eq!(second["added"]["id"], "US-002");
    let stories = scenario.stories();
    assert_eq!(stories[1]["dependsOn"][0], "US-001");
    assert_eq!(
        (&stories[1]["priority"], &stories[1]["acceptanceCriteria"][1]),
        (&7.into(), &"b".into())
    );
    assert!(tasks(&scenario, &["add", "x", "--after", "US-01"]).refused(66).contains("`US-001`"));
    assert!(tasks(&scenario, &["add", " "]).refused(64).contains("title"));
    let status = scenario.git(&["status", "--porcelain", "-uall"]);
    assert!(
        status.contains(".flyball/tasks.json") && status.contains(".flyball/.gitignore"),
        "{status}"
    );
    assert!(
        tasks(&scenario, &["add", "no criterion"]).stdout.contains("no criterion: nothing says")
    );
}

#[test]
fn the_example_of_init_makes_room_for_the_first_story() {
    let scenario = Scenario::bare().file("Makefile", "test:\n\ttest -f Makefile\n").committed();
    assert_eq!(scenario.flyball(&["init", "--agent", "claude"]).code, 0);
    tasks(&scenario, &["add", "Mine"]);
    let titles: Vec<_> = scenario.stories().iter().map(|one| one["title"].clone()).collect();
    assert_eq!(titles, ["Mine"]);
}

#[test]
fn a_story_is_edited_and_what_does_not_fit_is_refused_and_not_lost() {
    let scenario = Scenario::new().committed();
    let edit = |editor: &str| {
        let scenario = Scenario::new().committed().env("EDITOR", editor);
        let ran = tasks(&scenario, &["edit", "a"]);
        (scenario, ran)
    };
    let (changed, ran) = edit("sed -i s/do.a/mend.a/");
    assert!(ran.stdout.starts_with("Changed a.\n"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(changed.stories()[0]["title"], "mend.a");
    assert_eq!(changed.stories()[1]["title"], "do b");
    let (same, ran) = edit("true");
    assert_eq!(
        (ran.stdout.as_str(), same.read(".flyball/tasks.json").as_str()),
        ("a is as it was.\n", TWO_STORIES)
    );
    let (kept, ran) = edit("sed -i 's/\"a\"/\"b\"/'");
    let error = ran.refused(65);
    assert!(
        error.contains("two stories have the id") && error.contains("what you wrote is in "),
        "{error}"
    );
    assert_eq!(kept.read(".flyball/tasks.json"), TWO_STORIES);
    let (_, ran) = edit("false");
    assert!(ran.refused(74).contains("EDITOR"));
    assert!(tasks(&scenario, &["edit", "z"]).refused(66).contains("flyball tasks"));
}

#[test]
fn a_story_others_wait_for_is_dropped_only_with_force() {
    let scenario = Scenario::new().committed();
    tasks(&scenario, &["add", "third", "--after", "a"]);
    let error = tasks(&scenario, &["drop", "a"]).refused(64);
    assert!(error.contains("waited for by") && error.contains("--force"), "{error}");
    assert!(tasks(&scenario, &["drop", "b"]).stdout.contains("Dropped b."));
    assert!(tasks(&scenario, &["drop", "a", "--force"]).stdout.contains("Dropped a."));
    assert_eq!(scenario.stories().len(), 1);
    assert_eq!(scenario.stories()[0]["dependsOn"].as_array().unwrap().len(), 0);
}

#[test]
fn a_run_at_work_takes_new_stories_and_nothing_else() {
    let scenario = Scenario::new().committed().agent(
        "touch $OUT/up; while [ ! -e $OUT/go ]; do sleep 0.05; done; pass a; pass b
         sed -i 's/\"passes\": false/\"passes\": true/; s/\"notes\": \"\"/\"notes\": \"x\"/' .flyball/tasks.json; commit more",
    );
    let running = scenario.spawn();
    let limit = flyball::clock::Deadline::after(crate::scenario::LONG);
    while !scenario.outside("up").exists() && !limit.passed() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for arguments in [&["edit", "a"][..], &["drop", "b"]] {
        let ran = tasks(&scenario, arguments);
        assert_eq!(ran.code, 75, "{arguments:?}: {}", ran.stderr);
    }
    assert!(tasks(&scenario, &["add", "c", "--criterion", "x"]).stdout.contains("is at work"));
    std::fs::write(scenario.outside("go"), "").unwrap();
    let ran = running.wait();
    assert!(ran.stderr.contains("/3"), "{}", ran.stderr);
    assert_eq!(scenario.stories().len(), 3);
}
