//! Every act of the page on a run that is really there.

use std::fs;
use std::thread;

use serde_json::Value;

use super::browser::{Told, Window};
use crate::scenario::Scenario;

/// Waits in each iteration until somebody lets it go on.
const WAITS: &str = "cat > $OUT/prompt-$n; echo up > $OUT/up-$n\n\
                     while ! test -e $OUT/go-$n; do sleep 0.05; done; work";

fn go(scenario: &Scenario, iteration: u32) {
    fs::write(scenario.outside(&format!("go-{iteration}")), "").unwrap();
}

/// What was done to a run through the page, and what came of it, the latest last.
fn acts(window: &Window, run: &str) -> Vec<(String, String)> {
    let acts = window.json(&format!("/api/runs/{run}/acts"));
    let mut acts: Vec<(String, String)> = acts["acts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|act| {
            assert_eq!(act["by"], "page", "{act}");
            (act["act"].as_str().unwrap().to_owned(), act["result"].as_str().unwrap().to_owned())
        })
        .collect();
    acts.reverse();
    acts
}

#[test]
fn a_run_at_work_is_told_limited_stopped_and_goes_on() {
    let scenario = Scenario::new().committed().agent(WAITS);
    let window = Window::open(&scenario, &[]);
    let running = scenario.spawn();
    scenario.until_told("up-1", "up");
    let run = scenario.last_run().run.to_string();
    let path = format!("/api/runs/{run}");
    window.until(&path, |value| value["run"]["stands"] == "at_work");

    let told = window.act(&run, "tell", &[("text", "mind the gap")]);
    assert_eq!(told.ok(), "the next briefing says it");
    let told = window.act(&run, "limits", &[("iterations", "7"), ("stuck", "")]);
    assert_eq!(told.ok(), "changed: iterations=7");
    window.until(&path, |value| value["run"]["max_iterations"] == 7);
    let told = window.act(&run, "limits", &[("iterations", "many")]);
    assert_eq!(told.status, 400, "{told:?}");
    let told = window.act(&run, "resume", &[]);
    assert_eq!(told.too_late(), format!("run `{run}` is at work already"));
    let told = window.act(&run, "stop", &[("after_iteration", "true")]);
    assert_eq!(told.ok(), "it ends once iteration 1 is over");
    go(&scenario, 1);
    assert_eq!(running.wait().code, 143);

    let row = window.until(&path, |value| value["run"]["stands"] == "ended");
    assert_eq!(row["run"]["state"]["iteration"], 1);
    let token = window.token(&format!("/runs/{run}"));
    for (act, fields) in [("tell", &[("text", "hello")][..]), ("stop", &[])] {
        let told = window.send(&run, act, &token, fields);
        assert!(told.too_late().contains("has ended already"), "{told:?}");
    }
    assert_eq!(window.act(&run, "resume", &[]).ok(), "it goes on");
    scenario.until_told("up-2", "up");
    assert!(scenario.told("prompt-2").contains("mind the gap"), "{}", scenario.told("prompt-2"));
    assert_eq!(window.act(&run, "stop", &[]).ok(), "it was asked to end");
    window.until(&path, |value| value["run"]["outcome"] == "terminated");
    let all = acts(&window, &run);
    let done: Vec<&str> =
        all.iter().filter(|(_, came)| came == "done").map(|(act, _)| act.as_str()).collect();
    assert_eq!(done, ["tell", "limits", "stop", "resume", "stop"], "{all:?}");
    let late = all.iter().filter(|(_, came)| came == "too_late").count();
    assert_eq!(late, 3, "{all:?}");
}

/// Two people press the same button at the same moment.
fn at_once(window: &Window, run: &str, act: &str, fields: &[&[(&str, &str)]; 2]) -> [Told; 2] {
    let token = window.token(&format!("/runs/{run}"));
    thread::scope(|scope| {
        let both = fields.map(|fields| {
            let token = &token;
            scope.spawn(move || window.send(run, act, token, fields))
        });
        both.map(|one| one.join().unwrap())
    })
}

#[track_caller]
fn one_wins(both: &[Told; 2]) -> usize {
    let mut statuses = [both[0].status, both[1].status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{both:?}");
    usize::from(both[1].status == 200)
}

/// What the run asks, as the page shows it.
fn about(window: &Window, run: &str) -> String {
    let asks = window.until("/api/asks", |asks| asks["asks"][0]["run"]["run"] == run);
    asks["asks"][0]["about"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_is_answered_by_one_of_two_and_the_run_goes_on_with_it() {
    let asks = "cat > $OUT/prompt-$n\n\
                if test $n = 1; then say '<promise>DECIDE:Blue or green?</promise>'; else\n\
                work; pass a; pass b; say '<promise>COMPLETE</promise>'; fi";
    let scenario = Scenario::new().committed().agent(asks);
    let window = Window::open(&scenario, &[]);
    assert_eq!(scenario.run().code, 3);
    let run = scenario.last_run().run.to_string();
    let about = about(&window, &run);
    let answers: [&[(&str, &str)]; 2] = [
        &[("text", "it shall be blue"), ("about", &about), ("then", "resume")],
        &[("text", "it shall be green"), ("about", &about), ("then", "resume")],
    ];
    let both = at_once(&window, &run, "answer", &answers);
    let winner = one_wins(&both);
    assert_eq!(both[winner].done, "answered; the run goes on");
    window.until(&format!("/api/runs/{run}"), |value| value["run"]["outcome"] == "complete");
    let prompt = scenario.told("prompt-2");
    let words = ["it shall be blue", "it shall be green"];
    assert!(prompt.contains(words[winner]) && !prompt.contains(words[1 - winner]), "{prompt}");
}

#[test]
fn a_block_is_cleared_by_one_of_two() {
    let blocked = "if test -e $OUT/key; then work; pass a; pass b\n\
                   say '<promise>COMPLETE</promise>'; else say '<promise>BLOCKED:no key</promise>'; fi";
    let scenario = Scenario::new().committed().agent(blocked);
    let window = Window::open(&scenario, &[]);
    assert_eq!(scenario.run().code, 2);
    let run = scenario.last_run().run.to_string();
    let about = about(&window, &run);
    fs::write(scenario.outside("key"), "").unwrap();
    let fields: &[(&str, &str)] = &[("about", &about), ("then", "resume")];
    let both = at_once(&window, &run, "unblock", &[fields, fields]);
    one_wins(&both);
    window.until(&format!("/api/runs/{run}"), |value| value["run"]["outcome"] == "complete");
}

/// A repository whose test an agent weakens.
fn weakened() -> Scenario {
    let weakens = "if test $n = 1; then printf 'def test_a():\\n    assert True\\n' > tests/test_x.py\n\
                   pass a; pass b; fi; say '<promise>COMPLETE</promise>'";
    Scenario::new()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"grep -q True tests/test_x.py\"\n")
        .file("tests/test_x.py", "def test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n")
        .committed()
        .agent(weakens)
}

/// The findings as the page of weakened tests shows them, with its token.
fn shown(window: &Window, run: &str) -> (String, Vec<(&'static str, String)>) {
    let path = format!("/runs/{run}/tamper");
    let page = window.get(&path);
    let (_, form) = page.split_once("/restore-tamper\"").unwrap();
    let (form, _) = form.split_once("</form>").unwrap();
    let marks = form.split("name=\"finding\" value=\"").skip(1);
    let marks = marks.map(|rest| {
        let mark = rest.split('"').next().unwrap();
        (
            "finding",
            mark.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&"),
        )
    });
    (window.token(&path), marks.collect())
}

fn fields<'a>(marks: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    marks.iter().map(|(name, mark)| (*name, mark.as_str())).collect()
}

#[test]
fn weakened_tests_are_accepted_as_they_were_shown_or_not_at_all() {
    let scenario = weakened();
    let window = Window::open(&scenario, &[]);
    assert_eq!(scenario.run().code, 3);
    let run = scenario.last_run().run.to_string();
    let (token, marks) = shown(&window, &run);
    assert!(!marks.is_empty());
    // Somebody weakens it further while the page is looked at.
    scenario.write("tests/test_x.py", "# True\n");
    let told = window.send(&run, "accept-tamper", &token, &fields(&marks));
    assert_eq!(told.too_late(), "what is weakened has changed since it was shown");
    let (token, now) = shown(&window, &run);
    assert_ne!(marks, now);
    let both = thread::scope(|scope| {
        [0, 1]
            .map(|_| scope.spawn(|| window.send(&run, "accept-tamper", &token, &fields(&now))))
            .map(|one| one.join().unwrap())
    });
    one_wins(&both);
    assert!(window.get(&format!("/runs/{run}/tamper")).contains("Nothing is weakened"));
}

#[test]
fn weakened_tests_are_brought_back() {
    let scenario = weakened();
    let window = Window::open(&scenario, &[]);
    assert_eq!(scenario.run().code, 3);
    let run = scenario.last_run().run.to_string();
    let page = window.get(&format!("/runs/{run}/tamper"));
    assert!(page.contains("+    assert True"), "the lines are shown as they stand: {page}");
    let (token, marks) = shown(&window, &run);
    let told = window.send(&run, "restore-tamper", &token, &fields(&marks));
    assert!(told.ok().starts_with("brought back "), "{told:?}");
    assert!(scenario.read("tests/test_x.py").contains("assert f(1) == 2"));
    let told = window.send(&run, "restore-tamper", &token, &fields(&marks));
    told.too_late();
    let asks: Value = window.json("/api/asks");
    assert_eq!(asks["asks"].as_array().unwrap().len(), 0, "{asks}");
}
