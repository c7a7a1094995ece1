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
}

/// The prompt for a repository that has none.
pub fn default_template(loop_dir: &str) -> String {
    include_str!("../templates/prompt.md").replace("{{dir}}", loop_dir)
}

/// Fills in the template. A briefing the template does not place is put at its end.
pub fn render(template: &str, variables: &Variables<'_>) -> String {
    let Variables { iteration, max_iterations, mode, task, briefing } = variables;
    let (number, max) = (iteration.to_string(), max_words(*max_iterations));
    let values = [
        ("iteration", number.as_str()),
        ("max_iterations", max.as_str()),
        ("mode", mode.as_str()),
        ("task", task),
        ("briefing", briefing),
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
    fn adopted_prompts_keep_their_names() {
        assert_eq!(
            render("{{RALPH_ITERATION}} of {{RALPH_MAX_ITERATIONS}}", &variables("")),
            "3 of 15"
        );
    }
}
