//! The tools, in the order they are listed.

mod ask_human;
mod attempt_record;
mod call_check;
mod call_result;
mod context_list;
mod gate_run;
mod iteration_complete;
mod iteration_next;
mod iteration_start;
mod iteration_validate;
mod loop_check;
mod loop_status;
pub(super) mod plan_next;
pub(super) mod task_list;
mod task_update;

use std::sync::LazyLock;

use super::tool::{self, Entry};

static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        Entry::of::<iteration_start::IterationStart>(),
        Entry::of::<iteration_validate::IterationValidate>(),
        Entry::of::<iteration_next::IterationNext>(),
        Entry::of::<iteration_complete::IterationComplete>(),
        Entry::of::<task_list::ListTasks>(),
        Entry::of::<plan_next::PlanNext>(),
        Entry::of::<task_update::UpdateTask>(),
        Entry::of::<attempt_record::RecordAttempt>(),
        Entry::of::<loop_check::CheckLoop>(),
        Entry::of::<loop_status::LoopStatus>(),
        Entry::of::<context_list::ListContext>(),
        Entry::of::<gate_run::RunGates>(),
        Entry::of::<call_check::CheckCall>(),
        Entry::of::<call_result::ReportResult>(),
        Entry::of::<ask_human::AskHuman>(),
    ]
});

/// Every tool.
pub(super) fn all() -> &'static [Entry] {
    &ALL
}

/// The tool of this name.
pub(super) fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// Whether some tool's answer has a field of this name.
pub(super) fn answers_with(name: &str) -> bool {
    ALL.iter().any(|entry| tool::names(&entry.output).any(|field| field == name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The kinds a field may have in a schema.
    fn kind(entry: &serde_json::Map<String, Value>, field: &str) -> String {
        let property = &entry["properties"][field];
        let words: Vec<&Value> = ["oneOf", "enum"].iter().map(|word| &property[*word]).collect();
        format!("{} of {} {words:?}", property["type"], property["items"]["type"])
    }

    #[test]
    fn an_answer_can_be_handed_to_the_next_tool_as_it_is() {
        for from in all() {
            for to in all() {
                for field in tool::names(&from.output) {
                    if !tool::names(&to.input).any(|name| name == field) {
                        continue;
                    }
                    let (given, wanted) = (kind(&from.output, field), kind(&to.input, field));
                    assert_eq!(given, wanted, "{field} from {} to {}", from.name, to.name);
                }
            }
        }
    }

    #[test]
    fn every_schema_is_an_object_in_plain_words() {
        for entry in all() {
            for schema in [&entry.input, &entry.output] {
                assert_eq!(schema["type"], "object", "{}", entry.name);
                let text = serde_json::to_string(schema).unwrap();
                for word in ["$ref", "$defs", "\"format\":\"", "\"null\""] {
                    assert!(!text.contains(word), "{} has {word}: {text}", entry.name);
                }
            }
        }
    }

    #[test]
    fn every_argument_and_every_field_is_described() {
        for entry in all() {
            for schema in [&entry.input, &entry.output] {
                for field in tool::names(schema) {
                    let described = schema["properties"][field]["description"].is_string();
                    assert!(described, "{}.{field}", entry.name);
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_descriptions_short_enough_to_be_read() {
        let mut seen = BTreeSet::new();
        for entry in all() {
            assert!(seen.insert(entry.name), "{}", entry.name);
            assert!((60..=700).contains(&entry.description.len()), "{}", entry.name);
        }
        assert_eq!(seen.len(), 15);
    }
}
