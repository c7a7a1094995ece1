//! `flyball stats`.

use serde_json::Value;

use crate::scenario::Scenario;

#[test]
fn what_guards_did_is_counted_over_runs() {
    let script = "work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    assert_eq!(scenario.flyball(&["stats"]).stdout, "No runs within 30 days.\n");
    scenario.run().ended(6);
    let text = scenario.flyball(&["stats"]).stdout;
    for part in [
        "1 run: 1 quality_gate_exhausted\n",
        "Said to be done 5 times; 5 refused, 0 of them with red gates",
        "gate_refusals",
        "NOT SPENT",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = scenario.flyball(&["stats", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["guards"]["completion"]["rungs"]["refuse"], 5);
    assert_eq!(json["guards"]["gate_refusals"]["halts"], 1);
    assert_eq!(json["all"]["runs"], 1);
    let none = scenario.flyball(&["stats", "--project", "elsewhere", "--since", "5h"]).stdout;
    assert_eq!(none, "No runs of project `elsewhere` within 5h 00m.\n");
    let none = scenario.flyball(&["stats", "--model", "other"]).stdout;
    assert_eq!(none, "No runs of model `other` within 30 days.\n");
}

#[test]
fn another_limit_is_tried_on_the_runs_there_are() {
    let script = "work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(6);
    let text = scenario.flyball(&["stats", "--what-if", "iterations.gate_refusals=2"]).stdout;
    assert!(text.starts_with("iterations.gate_refusals = 2 over 1 run:\n"), "{text}");
    assert!(text.contains("stopped earlier 1: ") && text.contains("harm: 0 of them"), "{text}");
    let wrong = scenario.flyball(&["stats", "--what-if", "limits.stcuk=2"]);
    assert_eq!(wrong.code, 64);
    assert!(wrong.stderr.contains("no limit the governor knows"), "{}", wrong.stderr);
    let none = scenario.flyball(&["stats", "--suggest"]).stdout;
    assert!(none.starts_with("No other limit"), "one run is no evidence: {none}");
}

#[test]
fn a_run_is_decided_again_under_other_limits() {
    let script = "work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(6);
    let same = scenario.flyball(&["replay"]).stdout;
    assert!(same.contains("under its own limits:\n  Decided the same throughout.\n"), "{same}");
    assert!(same.ends_with("It would have ended as it did.\n"), "{same}");
    let less = scenario.flyball(&["replay", "--set", "iterations.gate_refusals=2"]).stdout;
    for part in [
        "under iterations.gate_refusals = 2:\n",
        "would have: gate_refusals halt (2 of 2), the run ends: quality_gate_exhausted; was: iteration 3 begins",
        "The run would have ended as quality_gate_exhausted in iteration 2, at ",
        "Saved: ",
    ] {
        assert!(less.contains(part), "{part} in {less}");
    }
    let more = scenario.flyball(&["replay", "--set", "iterations.gate_refusals=9"]).stdout;
    assert!(more.contains("what would have followed is not known"), "{more}");
    let json = scenario.flyball(&["replay", "--set", "limits.iterations=1", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["stop"]["scope"], &json["stop"]["iteration"]), (&"run".into(), &1.into()));
    assert_eq!(json["stop"]["outcome"], "max_iterations");
    scenario.write("other.toml", "[iterations]\ngate_refusals = 3\n");
    let file = scenario.flyball(&["replay", "--policy", "other.toml"]).stdout;
    assert!(file.contains("in iteration 3, at "), "{file}");
    let all = scenario.flyball(&["replay", "--all", "--set", "limits.iterations=1"]).stdout;
    assert!(all.contains("Stopped earlier 1, of them harmed 0"), "{all}");
    let missing = scenario.flyball(&["replay", "--policy", "nowhere.toml"]);
    assert_eq!(missing.code, 66, "{}", missing.stderr);
}
