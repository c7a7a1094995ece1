//! `flyball report`, and the report written at the end of a run.

use serde_json::Value;

use crate::scenario::Scenario;

const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n";
const CHECK: &str = "echo 1..2; bad=0
if [ -e new.txt ]; then echo 'ok 1 - new is there'; else echo 'not ok 1 - new is there'; bad=1; fi
if grep -q broken b.txt; then echo 'not ok 2 - b is fine'; bad=1; else echo 'ok 2 - b is fine'; fi
exit $bad\n";
/// Breaks what worked, claims to be done, and mends it when told.
const SCRIPT: &str = "usage 1200 0.02; \
if [ $n = 1 ]; then echo x > new.txt; echo broken > b.txt; pass a; pass b; else echo fine > b.txt; commit mended; fi; \
text 'Done. <promise>COMPLETE</promise>'";

fn scenario(more: &str) -> Scenario {
    Scenario::new()
        .config(&format!("{more}{GATE}"))
        .file("check.sh", CHECK)
        .file("b.txt", "fine\n")
        .committed()
        .speaker(SCRIPT)
}

#[test]
fn a_run_is_reported_in_every_form() {
    let scenario = scenario("");
    scenario.run().ended(0);
    let page = scenario.flyball(&["report"]).stdout;
    for part in ["<h1 class=\"good\">complete</h1>", "new is there", "newly fails", "broke 1 check"]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    let comment = scenario.flyball(&["report", "--format", "md"]).stdout;
    for part in [
        "### ✅ flyball:",
        "**1 check failed at the start.** 2 of 2 iterations moved it forward.",
        "Iteration 1 **broke 1 check** that had worked; iteration 2 repaired it.",
        "**once it was not**, and was told what is missing.",
        "| <code>b is fine</code> | · | ⬛ | ✅ |",
        "| <code>new is there</code> | 🟥 | ✅ | · |",
    ] {
        assert!(comment.contains(part), "{part}\nin\n{comment}");
    }
    let json = scenario.flyball(&["report", "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let run = &json["run"];
    assert_eq!(run["matrix"]["rows"][1]["cells"], serde_json::json!(["passes", "breaks", "fixed"]));
    assert_eq!(run["iterations"][0]["claim"]["complete"], "refused");
    assert_eq!(run["iterations"][1]["claim"]["complete"], "accepted");
    assert_eq!(json["failing"], serde_json::json!({ "first": 1, "last": 0 }));
    let refusal = run["lines"].as_array().unwrap().iter().find(|line| line["verb"] == "refuse");
    assert_eq!(refusal.unwrap()["speaker"], "guard");
    let table = scenario.flyball(&["report", "--format", "csv"]).stdout;
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(rows[1].contains(",improved,true,1,1,1,"), "{table}");
}

#[test]
fn the_file_s_name_says_the_form() {
    let scenario = scenario("");
    scenario.run().ended(0);
    let said = scenario.flyball(&["report", "--output", "out.md"]);
    assert!(said.stderr.contains("out.md"), "{}", said.stderr);
    assert!(scenario.read("out.md").starts_with("<!-- flyball:"));
    let unclear = scenario.flyball(&["report", "--output", "out.txt"]);
    assert_eq!(unclear.code, 64);
    assert!(unclear.stderr.contains("--format"), "{}", unclear.stderr);
    assert!(!scenario.has("out.txt"));
    let unknown = scenario.flyball(&["report", "no-such-run"]);
    assert_eq!(unknown.code, 66, "{}", unknown.stderr);
}

#[test]
fn a_run_leaves_the_report_it_is_asked_for() {
    let scenario = scenario("[report]\nfile = \".flyball/logs/deep/report.html\"\n");
    scenario.run().ended(0).saying("report: .flyball/logs/deep/report.html");
    let page = scenario.read(".flyball/logs/deep/report.html");
    assert!(page.contains("<h1 class=\"good\">complete</h1>"), "{page}");
}

#[test]
fn a_report_that_cannot_be_written_does_not_change_the_outcome() {
    let scenario = scenario("[report]\nfile = \"check.sh/report.html\"\n");
    scenario.run().ended(0).saying("the report `check.sh/report.html` could not be written");
    let wrong = Scenario::new().config("[report]\nfile = \"report.txt\"\n").committed();
    let error = wrong.run().refused(78);
    assert!(error.contains("name it .html, .md, .json or .csv"), "{error}");
}
