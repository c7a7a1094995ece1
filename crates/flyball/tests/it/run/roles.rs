//! Agents by role: who reviews, who goes on when one cannot, and what each costs.

use crate::scenario::Scenario;

/// One story that is reviewed.
const REVIEWED: &str = r#"{"userStories":[
{"id":"a","title":"do a","passes":false,"reviewStatus":null,"reviewCount":0,"notes":""}
]}
"#;

/// An agent of another role: a script beside the repository that speaks flyball's protocol.
fn role(scenario: &Scenario, name: &str, script: &str) -> String {
    let prelude = std::fs::read_to_string(scenario.outside("agent.sh")).unwrap();
    let prelude = prelude.split("n=$FLYBALL_ITERATION").next().unwrap();
    let path = scenario.outside(&format!("{name}.sh"));
    std::fs::write(&path, format!("{prelude}n=$FLYBALL_ITERATION\n{script}\n")).unwrap();
    format!("[agents.{name}]\ncommand = [\"sh\", \"{}\"]\noutput = \"flyball\"\n", path.display())
}

const MARK: &str = "echo $FLYBALL_MODE $n >> $OUT/";

#[test]
fn the_one_who_reviews_is_not_the_one_who_wrote_and_costs_are_told_apart() {
    let scenario = Scenario::bare().tasks(REVIEWED);
    let critic = format!(
        "{MARK}critic; sed -i 's/\"needs_review\"/\"approved\"/; s/\"passes\":false/\"passes\":true/; \
         s/\"reviewCount\":0/\"reviewCount\":1/' .flyball/tasks.json; commit review; usage 100 0.25"
    );
    let critic = role(&scenario, "critic", &critic);
    let scenario = scenario.config(&format!("[roles]\nreview = \"critic\"\n{critic}")).committed();
    let scenario = scenario.speaker(&format!(
        "{MARK}writer; touch done; sed -i 's/\"reviewStatus\":null/\"reviewStatus\":\"needs_review\"/; \
         s/\"notes\":\"\"/\"notes\":\"did it\"/' .flyball/tasks.json; commit a; usage 10 0.05"
    ));
    let ran = scenario.run().ended(0);
    assert_eq!(scenario.told("writer"), "implement 1\n");
    assert_eq!(scenario.told("critic"), "review 2\n");
    let ran = ran.saying("Spent:       110 tokens, $0.30");
    ran.saying("1 session, 10 tokens, $0.05")
        .saying("review (critic): 1 session, 100 tokens, $0.25");
    let status: serde_json::Value =
        serde_json::from_str(&scenario.flyball(&["status", "--json"]).stdout).unwrap();
    let roles = &status["runs"][0]["roles"];
    assert_eq!(roles[0]["role"], "work");
    assert_eq!((&roles[1]["role"], &roles[1]["agent"]), (&"review".into(), &"critic".into()));
    assert_eq!(roles[1]["cost_micro_usd"], 250_000);
    let status = scenario.flyball(&["status"]).stdout;
    assert!(status.contains("review (critic): 1 session, 100 tokens, $0.25"), "{status}");
    for format in ["md", "html", "json"] {
        let report = scenario.flyball(&["report", "--format", format]).stdout;
        assert!(report.contains("critic") && report.contains("review"), "{format}: {report}");
    }
}

#[test]
fn the_next_agent_goes_on_when_one_is_refused_or_not_there() {
    let refused = "printf '%s\\n' '{\"type\":\"text\",\"text\":\"no\"}'; exit 1";
    for (first, what) in [
        (
            "command = [\"no-such-agent\"]".to_owned(),
            "there is no program `no-such-agent`: next goes on",
        ),
        (String::new(), "401"),
    ] {
        let scenario = Scenario::new();
        let next = role(&scenario, "next", &format!("{MARK}next; pass a; pass b; text done"));
        // As claude says that its key is wrong.
        let claude = scenario.outside("claude");
        let said = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"result":"Invalid API key 401"}"#;
        std::fs::write(
            &claude,
            format!("#!/bin/sh\necho x >> $OUT/first\necho '{said}'\n{refused}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let first = if first.is_empty() {
            format!("name = \"claude\"\nprogram = \"{}\"", claude.display())
        } else {
            first
        };
        let config = format!("[agent]\n{first}\n[roles]\nfallback = [\"next\"]\n{next}");
        let scenario = scenario.config(&config).committed().command(&[]);
        let ran = scenario.run().ended(0);
        assert!(ran.stderr.contains(what), "{what}: {}", ran.stderr);
        assert_eq!(scenario.told("next"), "implement 1\n", "the same iteration");
        assert!(scenario.told("first").len() <= 2, "it was asked once at most");
    }
}

#[test]
fn an_agent_described_by_name_works_when_it_is_asked_for() {
    let scenario = Scenario::new();
    let strong = role(&scenario, "strong", &format!("{MARK}strong; pass a; pass b"));
    let scenario = scenario.config(&strong).committed().command(&[]);
    scenario.run_with(&["--agent", "strong"]).ended(0);
    assert_eq!(scenario.told("strong"), "implement 1\n");
}
