//! The vectors of the task ring (C2) and of the task list (B11): given ones and our own.

#[cfg(test)]
mod vectors {
    use std::collections::BTreeSet;

    use flyball_core::event::TasksSnapshot;
    use flyball_core::policy::{Policy, Preset, TaskRules};
    use flyball_core::task::{Attempt, TaskMemory, TaskRing};
    use flyball_core::tasklist::{Mode, TaskList, Transition, check_at_stop, check_transition};
    use flyball_core::{Moment, RunId, TaskId};
    use serde_json::{Value, json};

    const FILES: [&str; 2] =
        [include_str!("vectors/rules.jsonl"), include_str!("vectors/tasks.jsonl")];
    const NOW: u64 = 100_000_000;

    fn vectors(rule: &str) -> Vec<Value> {
        let all = FILES.iter().flat_map(|file| file.lines());
        let parsed = all.map(|line| serde_json::from_str::<Value>(line).unwrap());
        parsed.filter(|vector| vector["rule"] == rule).collect()
    }

    #[test]
    fn every_task_ring_vector_holds() {
        let vectors = vectors("C2");
        assert!(vectors.len() >= 15 + 20, "only {} vectors", vectors.len());
        for vector in vectors {
            check_c2(&vector);
        }
    }

    #[test]
    fn every_task_list_vector_holds() {
        let vectors = vectors("B11");
        assert!(vectors.len() >= 30, "only {} vectors", vectors.len());
        for vector in vectors {
            check_b11(&vector);
        }
    }

    fn check_c2(vector: &Value) {
        let (id, expect) = (vector["id"].as_str().unwrap(), &vector["expect"]);
        let rules = rules(&vector["config"]);
        let attempts = attempts(&vector["input"]);
        let now = Moment::from_millis(NOW);
        // With `remedies`, every attempt is looked at and every remedy performed; without, there is
        // one look at the end and nothing remembered.
        let stepwise = expect.get("remedies").is_some();
        let mut ring = TaskRing::new(TaskMemory::default());
        let mut remedies = Vec::new();
        for (number, attempt) in (1..).zip(&attempts) {
            ring.record(attempt.clone());
            if !stepwise {
                continue;
            }
            if let Some(found) = ring.detect(&rules, &run(), now, &attempt.task) {
                ring.apply(&rules, now, &found, format!("e{number}"));
                remedies.extend(found.remedy.map(|remedy| json!([number, remedy])));
            }
        }
        if stepwise {
            assert_eq!(expect["remedies"], json!(remedies), "{id}");
            return;
        }
        let last = &attempts.last().unwrap().task;
        let found = ring.detect(&rules, &run(), now, last);
        let pattern = json!(found.as_ref().map(|found| found.pattern));
        assert_eq!(expect["pattern"], pattern, "{id}");
        let Some(found) = found else { return };
        let checks = [
            ("remedy", json!(found.remedy)),
            ("attempts", json!(found.attempts)),
            ("tasks", json!(found.tasks_in_cycle)),
        ];
        for (field, actual) in checks {
            if let Some(expected) = expect.get(field) {
                assert_eq!(*expected, actual, "{id}: {field}");
            }
        }
    }

    fn run() -> RunId {
        RunId::new("current")
    }

    fn rules(config: &Value) -> TaskRules {
        let mut rules = Policy::default().tasks.clone();
        for (key, value) in config.as_object().unwrap() {
            let number = || u32::try_from(value.as_u64().unwrap()).unwrap();
            match key.as_str() {
                "preset" => {
                    let preset: Preset = serde_json::from_value(value.clone()).unwrap();
                    rules = rules.with_preset(preset);
                }
                "auto_unblock" => rules.auto_unblock = value.as_bool().unwrap(),
                "max_attempts" => rules.max_attempts = number(),
                "max_attempts_before_force_next" => {
                    rules.max_attempts_before_force_next = number();
                }
                "attempt_window_ms" => {
                    rules.attempt_window = serde_json::from_value(value.clone()).unwrap();
                }
                other => panic!("a vector sets `{other}`, which is not known here"),
            }
        }
        rules
    }

    fn attempts(input: &Value) -> Vec<Attempt> {
        if let Some(list) = input.as_array() {
            return list.iter().map(|one| attempt(one, "current", 0)).collect();
        }
        let of = input["run"].as_str().unwrap_or("earlier");
        let ages = input["ages_ms"].as_array().unwrap();
        ages.iter().map(|age| attempt(&input["attempt"], of, age.as_u64().unwrap())).collect()
    }

    fn attempt(from: &Value, run: &str, age: u64) -> Attempt {
        let set = |field: &str| -> BTreeSet<String> {
            from.get(field)
                .map(|it| serde_json::from_value(it.clone()).unwrap())
                .unwrap_or_default()
        };
        Attempt {
            task: TaskId::new(from["task"].as_str().unwrap_or("t")),
            at: Moment::from_millis(NOW - age),
            run: RunId::new(run),
            iteration: flyball_core::IterationNo::default(),
            status: serde_json::from_value(from["status"].clone()).unwrap(),
            blockers: set("blockers"),
            work: set("work"),
            session: "s".to_owned(),
        }
    }

    fn check_b11(vector: &Value) {
        let (id, expect) = (vector["id"].as_str().unwrap(), &vector["expect"]);
        let config = &vector["config"];
        let mut review = Policy::default().review.clone();
        review.enabled = config["review"].as_bool().unwrap_or(true);
        if let Some(cap) = config["cap"].as_u64() {
            review.cap = u32::try_from(cap).unwrap();
        }
        let mode: Mode = serde_json::from_value(config["mode"].clone()).unwrap();
        let given = Transition { mode, story: config["story"].as_str().map(TaskId::new), review };
        let text = |side: &str| json!({"userStories": vector["input"][side]}).to_string();
        let (before, after) = (text("before"), text("after"));
        let snapshot = TasksSnapshot::Found { text: after.clone() };

        let check = check_transition(&before, &snapshot, &given);

        let starts: Vec<&str> = expect["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        let named = |said: &[String]| {
            said.len() == starts.len()
                && said
                    .iter()
                    .zip(&starts)
                    .all(|(one, start)| one.starts_with(start) || one.contains(start))
        };
        assert!(named(&check.violations), "{id}: {:?}", check.violations);
        assert!(named(&check_at_stop(&before, &snapshot, &given)), "{id}: at the stop");
        let auto = expect.get("auto_approved").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(auto, json!(check.auto_approved), "{id}");
        let Some(stories) = expect.get("stories") else {
            assert_eq!(check.text, None, "{id}");
            return;
        };
        let written: Value = serde_json::from_str(check.text.as_ref().unwrap()).unwrap();
        assert_eq!(*stories, written["userStories"], "{id}");
        assert_eq!(check.list, TaskList::parse(check.text.as_ref().unwrap()).unwrap(), "{id}");
    }
}
