//! flyball killed at every point: before and after every effect. Whatever the point, a resume must
//! come to the end of the calm run, with nothing lost, doubled or left running.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use flyball_core::{Millis, Moment};

use crate::scenario::{Ran, Scenario, TWO_STORIES};

const WORKERS: u32 = 4;
/// No run of these scenarios has so many points.
const MANY: u32 = 1000;

const ANSWERED: &str =
    "## Question (from iteration 4, 2026-01-01T00:00:00Z)\nred or blue?\n\n---\n## Answer\nblue\n";

/// What it does depends on the files it finds, not on its number: an agent that is started again
/// after a loss goes on where the work stands.
const WORKER: &str = r#"
find .git -name '*.lock' -delete
cat > $OUT/prompt-$n
if [ ! -e one ]; then
  echo 1 > one
  printf '{"project":"p","userStories":[\n{"id":"a","title":"do a","passes":false,"notes":""}\n]}\n' > .flyball/tasks.json
  commit "story b is gone"
elif grep -q '"id":"a".*"passes":false' .flyball/tasks.json; then
  echo 1 > mended; pass a
  say '<promise>COMPLETE</promise>'
else
  pass b
fi
"#;

/// Two stories, a gate that is red at first, a question that was answered, a list to be repaired.
fn full() -> Scenario {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e mended\"\n";
    let scenario = Scenario::new()
        .config(gate)
        .committed()
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "9")
        .env("FLYBALL_ITERATIONS__REGRESSION_WINDOW", "9")
        .agent(WORKER);
    scenario.write(".flyball/decide.txt", ANSWERED);
    scenario
}

/// Ends with the loop exhausted: nothing is ever done.
fn idle() -> Scenario {
    Scenario::new().tasks(TWO_STORIES).committed().agent("find .git -name '*.lock' -delete")
}

/// Ends with a question.
fn asking() -> Scenario {
    Scenario::new()
        .committed()
        .agent("find .git -name '*.lock' -delete; say '<promise>DECIDE:why?</promise>'")
}

/// Kills the run at its n-th point, and each resume at the point `then` gives, as long as it gives
/// one. None when the run came to its end before that point.
fn killed(scenario: &Scenario, at: u32, then: &[u32]) -> Option<Ran> {
    let crash = |at: &u32| ("FLYBALL_TEST_CRASH_AT", at.to_string());
    let (name, value) = crash(&at);
    let mut ran = scenario.spawn_with(&[(name, &value)], &[]).wait();
    if ran.code != -9 {
        return None;
    }
    for at in then {
        scenario.until_quiet();
        if scenario.last_run().outcome.is_some() {
            return Some(ran);
        }
        let (name, value) = crash(at);
        ran = scenario.spawn_resume(&[(name, &value)], &[]).wait();
        if ran.code != -9 {
            return Some(ran);
        }
    }
    scenario.until_quiet();
    if scenario.last_run().outcome.is_none() {
        ran = scenario.resume(&[]);
    }
    Some(ran)
}

/// Does it for every point there is.
fn at_every_point(
    make: impl Fn() -> Scenario + Sync,
    then: impl Fn(u32) -> Vec<u32> + Sync,
    check: impl Fn(&Scenario, &Ran, u32) + Sync,
) -> u32 {
    let (next, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let work = || {
        let mut points = 0;
        while !is_over.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            assert!(at < MANY);
            let scenario = make();
            match killed(&scenario, at, &then(at)) {
                Some(ran) => {
                    check(&scenario, &ran, at);
                    points += 1;
                }
                None => is_over.store(true, Ordering::Relaxed),
            }
        }
        points
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    })
}

/// What holds after every run, however often it was killed.
fn nothing_lost_or_doubled(scenario: &Scenario, ran: &Ran, at: u32) {
    assert_eq!(ran.left, [0; 0], "point {at}: left running\n{}", ran.stderr);
    let run = scenario.last_run();
    let rows = scenario.column("iteration");
    let wanted: Vec<String> = (1..=rows.len()).map(|number| number.to_string()).collect();
    assert_eq!(rows, wanted, "point {at}: {}", scenario.read(".flyball/logs/summary.csv"));
    let closed = scenario.journal().iterations(&run.run).unwrap();
    assert_eq!(closed.len(), rows.len(), "point {at}");
    let (now, day) = (Moment::from_millis(u64::MAX / 2), Millis::from_secs(u64::MAX / 1000));
    let root = scenario.root().canonicalize().unwrap();
    let memory = scenario.journal().task_memory(&root, now, day).unwrap();
    let mut attempts: Vec<_> =
        memory.attempts.iter().map(|a| (a.task.to_string(), a.iteration.get())).collect();
    let all = attempts.len();
    attempts.sort();
    attempts.dedup();
    assert_eq!(attempts.len(), all, "point {at}: {:?}", memory.attempts);
    assert!(all <= rows.len(), "point {at}: {all} attempts in {} iterations", rows.len());
    assert!(!scenario.has(".flyball/active.json"), "point {at}");
}

fn full_is_complete(scenario: &Scenario, ran: &Ran, at: u32) {
    let outcome = scenario.last_run().outcome;
    assert_eq!(outcome.as_deref(), Some("complete"), "point {at}: {}", ran.stderr);
    nothing_lost_or_doubled(scenario, ran, at);
    let stories = scenario.stories();
    let passed: Vec<_> = stories.iter().map(|s| (s["id"].as_str(), &s["passes"])).collect();
    let yes = true.into();
    assert_eq!(passed, [(Some("a"), &yes), (Some("b"), &yes)], "point {at}");
    assert!(!scenario.has(".flyball/decide.txt"), "point {at}");
    let results = scenario.column("outcome");
    let told: Vec<usize> = (1..=results.len())
        .filter(|number| scenario.told(&format!("prompt-{number}")).contains("blue"))
        .collect();
    // Only an iteration that was lost may have been given the answer before another was.
    let (last, before) = told.split_last().unwrap_or_else(|| panic!("point {at}: no answer"));
    assert!(before.iter().all(|n| results[n - 1] == "lost"), "point {at}: {told:?} {results:?}");
    assert!(results[..*last - 1].iter().all(|r| r == "lost"), "point {at}: {told:?} {results:?}");
}

#[test]
fn a_run_killed_at_any_point_comes_to_its_end() {
    let calm = full();
    let ran = calm.run().ended(0).saying("UNDO").saying("begins red").saying("REFUSE");
    full_is_complete(&calm, &ran, MANY);
    let points = at_every_point(full, |_| Vec::new(), full_is_complete);
    assert!(points > 30, "only {points} points");
}

#[test]
fn a_run_killed_again_while_it_resumes_comes_to_its_end() {
    at_every_point(full, |at| vec![at % 5, at % 3], full_is_complete);
}

#[test]
fn an_idle_run_killed_at_any_point_is_stuck_after_as_many_iterations() {
    let points = at_every_point(
        idle,
        |_| Vec::new(),
        |scenario, ran, at| {
            assert_eq!(scenario.last_run().outcome.as_deref(), Some("stuck"), "point {at}");
            nothing_lost_or_doubled(scenario, ran, at);
            let results = scenario.column("outcome");
            let counted = results.iter().filter(|result| *result != "lost").count();
            assert_eq!(counted, 3, "point {at}: {results:?}");
            assert!(results.len() <= 4, "point {at}: {results:?}");
        },
    );
    assert!(points > 15, "only {points} points");
}

#[test]
fn a_question_asked_at_any_point_is_asked_once() {
    at_every_point(
        asking,
        |_| Vec::new(),
        |scenario, ran, at| {
            assert_eq!(scenario.last_run().outcome.as_deref(), Some("decide"), "point {at}");
            nothing_lost_or_doubled(scenario, ran, at);
            let file = scenario.read(".flyball/decide.txt");
            assert_eq!(file.matches("## Question").count(), 1, "point {at}: {file}");
            assert!(file.contains("why?\n"), "point {at}: {file}");
        },
    );
}
