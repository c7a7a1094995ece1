//! The prompt of one iteration: the template with its variables filled in, and the briefing.

use flyball_core::tasklist::{Mode, TaskList};
use flyball_core::{IterationNo, TaskId};

/// What the template may name.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// The iteration.
    pub iteration: IterationNo,
    /// The limit; 0 is none.
    pub max_iterations: u32,
    /// The mode.
    pub mode: Mode,
    /// The task, with id and title and what is known of it.
    pub task: &'a str,
    /// What the last iterations leave to say.
    pub briefing: &'a str,
    /// What was asked for on the command line.
    pub request: &'a str,
}

/// The prompt for a repository that has none.
pub fn default_template(loop_dir: &str) -> String {
    include_str!("../templates/prompt.md").replace("{{dir}}", loop_dir)
}

/// Whether a template says where task or mode go.
pub fn places_task(template: &str) -> bool {
    let names = template.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    names.map(str::trim).any(|name| name == "task" || name == "mode")
}

/// The rules of a loop with a task list, for prompts that were written for another.
pub fn with_rules(template: &str, loop_dir: &str) -> String {
    let rules = include_str!("../templates/rules.md").replace("{{dir}}", loop_dir);
    format!("{}\n{rules}", template.trim_end())
}

/// The prompt of a run whose one task was given on the command line.
pub fn request_template() -> String {
    include_str!("../templates/request.md").to_owned()
}

/// Fills in the template. A briefing the template does not place is put at its end.
pub fn render(template: &str, variables: &Variables<'_>) -> String {
    let Variables { iteration, max_iterations, mode, task, briefing, request } = variables;
    let (number, max) = (iteration.to_string(), max_words(*max_iterations));
    let values = [
        ("iteration", number.as_str()),
        ("max_iterations", max.as_str()),
        ("mode", mode.as_str()),
        ("task", task),
        ("briefing", briefing),
        ("request", request),
        ("RALPH_ITERATION", number.as_str()),
        ("RALPH_MAX_ITERATIONS", max.as_str()),
    ];
    let mut places_briefing = false;
    let mut out = String::with_capacity(template.len() + briefing.len());
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let name = tail.get(2..).and_then(|tail| tail.split_once("}}")).map(|(name, _)| name);
        let value = name.and_then(|name| {
            let known = values.iter().find(|(known, _)| *known == name.trim());
            known.map(|(known, value)| (name.len(), *known, *value))
        });
        if let Some((length, known, value)) = value {
            places_briefing |= known == "briefing";
            out.push_str(value);
            rest = tail.get(length + 4..).unwrap_or("");
        } else {
            out.push_str("{{");
            rest = tail.get(2..).unwrap_or("");
        }
    }
    out.push_str(rest);
    if !places_briefing && !briefing.is_empty() {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push('\n');
        out.push_str(briefing);
        out.push('\n');
    }
    out
}

fn max_words(max: u32) -> String {
    if max == 0 { "unlimited".into() } else { max.to_string() }
}

/// A task as the prompt tells it: id and title. The rest stands in the task list.
pub fn task_words(list: Option<&TaskList>, task: Option<&TaskId>) -> String {
    let Some(task) = task else { return String::new() };
    match list.and_then(|list| list.story(task)) {
        Some(story) if !story.title.trim().is_empty() => format!("{task}: {}", story.title.trim()),
        Some(_) | None => task.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(briefing: &'static str) -> Variables<'static> {
        Variables {
            iteration: IterationNo::new(3),
            max_iterations: 15,
            mode: Mode::ReviewFix,
            task: "a: x",
            briefing,
            request: "mend {{mode}}",
        }
    }

    #[test]
    fn variables_are_filled_in_and_unknown_ones_left_alone() {
        let template = "{{iteration}}/{{ max_iterations }} {{mode}} {{task}} {{other}} {{ {{";
        let text = render(template, &variables(""));
        assert_eq!(text, "3/15 review-fix a: x {{other}} {{ {{");
    }

    #[test]
    fn a_briefing_goes_where_the_template_says_or_to_the_end_and_is_never_filled_in_itself() {
        let text = render("A {{briefing}} B", &variables("{{task}}"));
        assert_eq!(text, "A {{task}} B");
        assert_eq!(render("A", &variables("told")), "A\n\ntold\n");
        assert_eq!(render("A", &variables("")), "A");
    }

    #[test]
    fn what_was_asked_for_stands_in_the_prompt_word_for_word() {
        let text = render(&request_template(), &variables("told"));
        assert!(text.contains("\nmend {{mode}}\n"), "{text}");
        assert!(text.contains("told") && !text.contains("{{briefing}}"), "{text}");
    }

    #[test]
    fn a_prompt_of_another_loop_is_given_task_mode_and_rules() {
        for (template, places) in [
            ("{{task}}", true),
            ("a {{ mode }} b", true),
            ("{{iteration}} {{other}}", false),
            ("task", false),
            ("{{", false),
        ] {
            assert_eq!(places_task(template), places, "{template}");
        }
        let text = render(&with_rules("Do it.\n\n", "ralph"), &variables("told"));
        assert!(text.starts_with("Do it.\n\n## The rules"), "{text}");
        for words in ["mode `review-fix`, task `a: x`", "`ralph/tasks.json`", "told"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.lines().any(|line| line.trim().starts_with("<promise>")), "{text}");
    }

    #[test]
    fn adopted_prompts_keep_their_names() {
        assert_eq!(
            render("{{RALPH_ITERATION}} of {{RALPH_MAX_ITERATIONS}}", &variables("")),
            "3 of 15"
        );
    }
}
