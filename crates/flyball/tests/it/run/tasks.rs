//! B11: the task list is the agent's to edit and flyball's to guard.

use crate::scenario::{Scenario, TWO_STORIES};

/// One story with every field of review on one line, and fields nobody knows.
const REVIEWED: &str = r#"{"project":"p","theme":{"colour":"blue","n":1.50},"userStories":[
{"id":"a","title":"do a","passes":false,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"","estimate":"3 days","tags":["x",null]}
]}
"#;

/// Implements, is asked for changes in the first review, makes them, approves in the second.
const REVIEWER: &str = r#"
t=.flyball/tasks.json
say "$FLYBALL_MODE" >> $OUT/modes
cat > $OUT/prompt-$n
case $FLYBALL_MODE in
implement) work; sed -i 's/"reviewStatus":null/"reviewStatus":"needs_review"/; s/"notes":""/"notes":"made"/' $t;;
review)
  if grep -q '"reviewCount":0' $t; then
    sed -i 's/"needs_review","reviewCount":0,"reviewFeedback":""/"changes_requested","reviewCount":1,"reviewFeedback":"name it better"/' $t
  else
    sed -i 's/"passes":false,"reviewStatus":"needs_review","reviewCount":1/"passes":true,"reviewStatus":"approved","reviewCount":2/' $t
  fi;;
review-fix) work; sed -i 's/"changes_requested"/"needs_review"/' $t;;
esac
commit "$FLYBALL_MODE"
"#;

fn reviewed() -> Scenario {
    Scenario::bare().tasks(REVIEWED).committed()
}

#[test]
fn a_story_goes_through_the_whole_review() {
    let scenario = reviewed().agent(REVIEWER);
    scenario.run().ended(0).silent_on("UNDO");
    assert_eq!(scenario.told("modes"), "implement\nreview\nreview-fix\nreview\n");
    let story = &scenario.stories()[0];
    assert_eq!(story["reviewCount"], 2);
    assert_eq!(story["estimate"], "3 days");
    assert_eq!(scenario.column("mode"), ["implement", "review", "review-fix", "review"]);
    assert_eq!(scenario.git(&["status", "--porcelain"]), "");
}

#[test]
fn review_at_the_cap_approves_with_a_mark() {
    let never_content = r#"
t=.flyball/tasks.json
case $FLYBALL_MODE in
implement) work; sed -i 's/"reviewStatus":null/"reviewStatus":"needs_review"/; s/"notes":""/"notes":"made"/' $t;;
review) c=$(sed -n 's/.*"reviewCount":\([0-9]*\).*/\1/p' $t); c=$((c + 1))
  if [ $c -lt 2 ]; then s=changes_requested; p=false; f="again"; else s=approved; p=true; f="[AUTO-APPROVED AT CAP] again"; fi
  sed -i 's/"passes":[a-z]*,"reviewStatus":"[a-z_]*","reviewCount":[0-9]*,"reviewFeedback":"[^"]*"/"passes":'$p',"reviewStatus":"'$s'","reviewCount":'$c',"reviewFeedback":"'"$f"'"/' $t;;
review-fix) work; sed -i 's/"changes_requested"/"needs_review"/' $t;;
esac
commit "$FLYBALL_MODE"
"#;
    let scenario = reviewed().agent(never_content).flags(&["--review-cap", "2"]);
    scenario.run().ended(0).silent_on("UNDO");
    assert_eq!(scenario.stories()[0]["reviewFeedback"], "[AUTO-APPROVED AT CAP] again");
}

#[test]
fn self_approval_is_undone_and_named_in_the_next_briefing() {
    let script = r#"
cat > $OUT/prompt-$n
work
sed -i 's/"passes":false,"reviewStatus":null/"passes":true,"reviewStatus":"approved"/; s/"notes":""/"notes":"trust me"/' .flyball/tasks.json
commit "approve myself"
say '<promise>COMPLETE</promise>'
"#;
    let scenario = reviewed().agent(script).flags(&["--max-iterations", "2"]);
    let ran = scenario.run().saying("UNDO");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let story = &scenario.stories()[0];
    assert_eq!((&story["passes"], story["reviewStatus"].as_str()), (&false.into(), None));
    assert_eq!(story["tags"][0], "x");
    let told = scenario.told("prompt-2");
    assert!(told.contains("Undone In The Task List") && told.contains("story `a`"), "{told}");
    assert!(scenario.has("work-1"), "the agent's other work stays");
}

#[test]
fn a_story_that_vanished_comes_back_with_everything_in_it() {
    let tasks = r#"{"userStories":[{"id":"a","title":"do a","owner":{"name":"Ann","since":2019}}, {"id":"b","title":"do b"}]}"#;
    let script =
        r#"echo '{"userStories":[{"id":"b","title":"do b"}]}' > .flyball/tasks.json; work"#;
    let scenario =
        Scenario::new().tasks(tasks).committed().agent(script).flags(&["--max-iterations", "1"]);
    scenario.run().ended(1).saying("UNDO");
    let stories = scenario.stories();
    assert_eq!(stories.len(), 2);
    let a = stories.iter().find(|story| story["id"] == "a").unwrap();
    assert_eq!(a["owner"]["since"], 2019);
}

#[test]
fn a_task_list_made_unreadable_or_deleted_comes_back() {
    for script in ["echo '{' > .flyball/tasks.json; work", "rm .flyball/tasks.json; work"] {
        let scenario = Scenario::new().committed().agent(script).flags(&["--once"]);
        scenario.run().ended(1).saying("UNDO");
        assert_eq!(scenario.stories().len(), 2, "{script}");
    }
}

#[test]
fn passing_several_stories_at_once_is_as_good_as_the_rules_say() {
    let scenario = Scenario::new().committed().agent("pass a; pass b");
    scenario.run().ended(0);
    assert_eq!(scenario.read(".flyball/tasks.json").matches("\"passes\":true").count(), 2);
}

#[test]
fn stories_are_taken_by_priority_and_after_what_they_need() {
    let tasks = r#"{"userStories":[
{"id":"last","title":"z","priority":1,"dependsOn":["first"],"passes":false,"notes":""},
{"id":"first","title":"y","priority":2,"passes":false,"notes":""},
{"id":"later","title":"x","priority":3,"passes":false,"notes":""}
]}"#;
    let scenario = Scenario::new().tasks(tasks).committed().agent("pass $FLYBALL_TASK");
    scenario.run().ended(0);
    assert_eq!(scenario.column("task"), ["first", "last", "later"]);
}

#[test]
fn verify_commands_of_the_task_list_are_gates() {
    let tasks = TWO_STORIES.replace(r#""project":"p""#, r#""verifyCommands":["test -e proof"]"#);
    let scenario = Scenario::new()
        .tasks(&tasks)
        .committed()
        .agent("pass a; pass b; if [ $n = 2 ]; then touch proof; commit proof; fi");
    scenario.run().ended(0).saying("Iterations:  2 / 15");
}

#[test]
fn a_list_flyball_never_had_to_mend_is_never_written() {
    let odd = "{ \"userStories\" : [ {\"id\":\"a\",\t\"title\":\"do a\", \"n\": 1.0e2 } ] }";
    let scenario = Scenario::new().tasks(odd).committed().agent("true");
    scenario.run().ended(4);
    assert_eq!(scenario.read(".flyball/tasks.json"), odd);
}
