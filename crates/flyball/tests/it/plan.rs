//! `flyball plan` with scripted agents: what is valid is written, what is there is kept.

use crate::scenario::{Ran, Scenario, TWO_STORIES};

const STORIES: &str = r#"{"userStories":[
{"id":"US-001","title":"Add a cart","description":"d","acceptanceCriteria":["`make cart` is green"],"passes":true,"mayChange":["tests/"]},
{"id":"US-002","title":"Show it","acceptanceCriteria":["GET /cart answers 200"],"dependsOn":["US-001"]}]}"#;

fn plan(scenario: &Scenario, flags: &[&str]) -> Ran {
    let script = scenario.outside("agent.sh").display().to_string();
    let arguments = [&["plan"], flags, &["--", "sh", &script]].concat();
    scenario.flyball(&arguments)
}

fn ids(scenario: &Scenario) -> Vec<String> {
    scenario.stories().iter().map(|story| story["id"].as_str().unwrap().to_owned()).collect()
}

fn drafting(text: &str) -> String {
    format!(
        "cat > $OUT/prompt; cat > .flyball/logs/draft/tasks.json <<'X'\n{text}\nX\necho '# Why' > .flyball/logs/draft/prd.md"
    )
}

#[test]
fn stories_are_drafted_checked_shown_and_written() {
    let scenario = Scenario::bare().committed().agent(&drafting(STORIES));
    let ran = plan(&scenario, &["A cart that {{mode}} survives"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for words in
        ["2 stories", "US-001  Add a cart", "- `make cart` is green", "after US-001", "Next"]
    {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(scenario.told("prompt").contains("A cart that {{mode}} survives"));
    assert_eq!(ids(&scenario), ["US-001", "US-002"]);
    let first = &scenario.stories()[0];
    assert_eq!(first["passes"], false, "nothing has passed that was only drafted");
    assert!(first.get("mayChange").is_none(), "{first}");
    assert_eq!(scenario.read(".flyball/prd.md"), "# Why\n");
    assert!(!scenario.has(".flyball/logs/draft"));
    // Only what people share is there to commit, and a run takes it from here.
    let status = scenario.git(&["status", "--porcelain", "-uall"]);
    assert!(status.contains(".flyball/tasks.json") && !status.contains("logs"), "{status}");
    let scenario = scenario.env("FLYBALL_REVIEW__ENABLED", "false").committed();
    let scenario = scenario.flags(&["--once"]).agent("echo $FLYBALL_TASK > $OUT/task");
    scenario.run().ended(1);
    assert_eq!(scenario.told("task"), "US-001\n");
}

#[test]
fn a_draft_may_also_be_said_or_written_where_it_belongs() {
    let said = format!(
        "echo 'Here you are:'; echo '```json'; cat <<'X'\n{STORIES}\nX\necho '```'; echo bye"
    );
    let direct = format!(
        "cat > $FLYBALL_DIR/tasks.json <<'X'\n{STORIES}\nX\necho '# Why' > $FLYBALL_DIR/prd.md"
    );
    for script in [said, direct] {
        let scenario = Scenario::bare().committed().agent(&script);
        let ran = plan(&scenario, &["A cart"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ids(&scenario), ["US-001", "US-002"]);
        assert_eq!(scenario.stories()[0]["passes"], false);
    }
}

#[test]
fn what_is_there_stays_unless_somebody_says_otherwise() {
    let scenario =
        Scenario::new().committed().agent(&format!("touch $OUT/asked; {}", drafting(STORIES)));
    let error = plan(&scenario, &["More"]).refused(64);
    assert!(error.contains("2 stories") && error.contains("--add") && error.contains("--replace"));
    assert!(!scenario.outside("asked").exists(), "nothing was paid");
    assert_eq!(scenario.read(".flyball/tasks.json"), TWO_STORIES);
    assert_eq!(plan(&scenario, &["More", "--add"]).code, 0);
    assert_eq!(ids(&scenario), ["a", "b", "US-001", "US-002"]);
    assert!(scenario.told("prompt").contains("- a: do a"), "the agent knows what is there");
    assert_eq!(plan(&scenario, &["More", "--add"]).code, 0);
    assert_eq!(ids(&scenario), ["a", "b", "US-001", "US-002", "US-005", "US-006"]);
    assert_eq!(scenario.stories()[5]["dependsOn"][0], "US-005");
    assert_eq!(plan(&scenario, &["Else", "--replace"]).code, 0);
    assert_eq!(ids(&scenario), ["US-001", "US-002"]);
}

#[test]
fn only_what_is_valid_is_written_and_the_rest_is_named() {
    let mixed = r#"[{"id":"x","title":"no criterion"},
        {"id":"y","title":"Good","acceptanceCriteria":["`true` exits with 0", "it works well"]},
        {"id":"z","title":"Waits","acceptanceCriteria":["`true` exits with 0"],"dependsOn":["x"]},
        {"id":"w","title":"Vague","acceptanceCriteria":["works well"]},
        {"id":"v","title":"Large","acceptanceCriteria":["`1`","`2`","`3`","`4`","`5`","`6`","`7`","`8`","`9`"]}]"#;
    let asked = "echo x >> $OUT/asked;";
    let scenario = Scenario::bare().committed().agent(&format!("{asked} {}", drafting(mixed)));
    let ran = plan(&scenario, &["It", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ids(&scenario), ["y"]);
    let refused = told["refused"].to_string();
    assert_eq!(told["refused"].as_array().unwrap().len(), 4, "{told}");
    assert!(refused.contains("nothing can be run to check") && refused.contains("split it"));
    assert_eq!(told["doubts"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!((&told["role"], &told["tries"]), (&"plan".into(), &3.into()));
    assert_eq!(scenario.told("asked"), "x\nx\nx\n", "asked again twice, and no more");
}

#[test]
fn a_draft_with_faults_goes_back_to_the_agent_with_what_was_wrong() {
    let wish = r#"[{"id":"y","title":"Good","acceptanceCriteria":["GET /cart answers 200"]},
        {"id":"w","title":"Vague","acceptanceCriteria":["works well"]}]"#;
    // Mended in the file that is there again, or said anew.
    let mends = "sed -i 's/works well/`make w` is green/' .flyball/logs/draft/tasks.json";
    let says = r#"echo '[{"id":"y","title":"Good","acceptanceCriteria":["`true` is 0"]},{"id":"w","title":"New","acceptanceCriteria":["`make w` is green"]}]'"#;
    for second in [mends, says] {
        let script = format!(
            "if [ -e $OUT/asked ]; then cat > $OUT/again; {second}; else touch $OUT/asked; {}\nfi",
            drafting(wish).replace("; echo '# Why'", "\necho '# Why'")
        );
        let scenario = Scenario::bare().committed().agent(&script);
        let ran = plan(&scenario, &["A cart"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let again = scenario.told("again");
        for words in ["A cart", "came back", "story `w`: nothing can be run to check"] {
            assert!(again.contains(words), "{words} in {again}");
        }
        assert!(ran.stderr.contains("The draft goes back (try 2 of 3)"), "{}", ran.stderr);
        let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("2 tries") && !told.contains("Left out"), "{told}");
        assert_eq!(ids(&scenario), ["y", "w"]);
        assert_eq!(scenario.stories()[1]["acceptanceCriteria"][0], "`make w` is green");
        assert_eq!(scenario.read(".flyball/prd.md"), "# Why\n", "of the first try");
    }
}

#[test]
fn a_draft_that_is_none_leaves_everything_as_it_was() {
    for script in [
        "true".to_owned(),
        "echo 'I cannot'; exit 3".to_owned(),
        drafting("[{\"id\":\"x\"}]"),
        "echo broken > .flyball/tasks.json".to_owned(),
    ] {
        let scenario = Scenario::bare().committed().agent(&script);
        let error = plan(&scenario, &["It"]).stderr;
        assert!(error.contains("nothing was written"), "{script}: {error}");
        let is_dead = script.ends_with("exit 3");
        assert_eq!(error.contains("after 3 tries"), !is_dead, "{script}: {error}");
        assert_eq!(plan(&scenario, &["It"]).code, 65, "{script}");
        assert!(!scenario.has(".flyball"), "{script}");
        let scenario = Scenario::new().committed().agent(&script);
        assert_eq!(plan(&scenario, &["It", "--add"]).code, 65, "{script}");
        assert_eq!(scenario.read(".flyball/tasks.json"), TWO_STORIES, "{script}");
    }
}

#[test]
fn an_agent_that_builds_instead_of_planning_is_told_on() {
    let script = format!("{}; echo x >> a.txt", drafting(STORIES));
    let scenario = Scenario::bare().committed().agent(&script);
    let ran = plan(&scenario, &["A cart"]);
    assert!(ran.stdout.contains("was to plan, and changed a.txt"), "{}", ran.stdout);
}

#[test]
fn without_a_text_the_product_description_says_what_is_wanted() {
    let scenario = Scenario::bare().committed().agent(&drafting(STORIES));
    let error = plan(&scenario, &[]).refused(64);
    assert!(error.contains("flyball plan \"") && error.contains("prd.md"), "{error}");
    let scenario = scenario.file(".flyball/prd.md", "A cart for shops\n").committed();
    assert_eq!(plan(&scenario, &[]).code, 0);
    assert!(scenario.told("prompt").contains("A cart for shops"));
    assert!(scenario.read(".flyball/prd.md").starts_with("A cart for shops\n"), "kept");
}

#[test]
fn the_role_says_who_plans_and_a_missing_agent_costs_nothing() {
    let scenario = Scenario::bare().agent(&drafting(STORIES));
    let script = scenario.outside("agent.sh").display().to_string();
    let roles = format!(
        "[roles]\nplan = \"thinker\"\n[agents.thinker]\ncommand = [\"sh\", \"{script}\"]\n"
    );
    let scenario = scenario.config(&roles).committed();
    let ran = scenario.flyball(&["plan", "A cart"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("by thinker"), "{}", ran.stdout);
    let scenario = Scenario::bare().committed();
    let error = scenario.flyball(&["plan", "x", "--", "no-such-agent"]).refused(7);
    assert!(error.contains("no-such-agent"), "{error}");
    assert!(!scenario.has(".flyball"));
}
