//! The prompt that tells an agent where it stands and how flyball's tools are used.

use super::site::Call;
use super::tools::plan_next;

pub(super) const NAME: &str = "orient";
pub(super) const DESCRIPTION: &str = "Where the work stands, what to do next, and how flyball's \
    tools help";

/// The text; what cannot be learned is said and does not fail.
pub(super) fn text(call: Call<'_>, task: Option<&str>) -> String {
    let next = match (task, plan_next::plan(call)) {
        (Some(task), _) => format!("Work on task `{task}`."),
        (None, Ok(plan)) => match (&plan.task, plan.mode, &plan.title) {
            (Some(task), Some(mode), Some(title)) => {
                format!("The next task is `{task}` ({title}), mode `{mode}`: {}.", plan.advice)
            }
            (_, _, _) => format!("There is no task to plan: {}.", plan.advice),
        },
        (None, Err(refused)) => format!("There is no plan: {refused}."),
    };
    let human_files = call.site.loop_dir.human_files().unwrap_or_default();
    let mut waiting = String::new();
    if let Some(reason) = human_files.blocked {
        waiting.push_str(&format_line("The work is marked blocked", &reason));
    }
    match (human_files.question, human_files.answer) {
        (Some(question), Some(answer)) => {
            let told = format!("{question} Answer: {answer}");
            waiting.push_str(&format_line("A human has answered", &told));
        }
        (Some(question), None) => {
            waiting.push_str(&format_line("A question waits for a human", &question));
        }
        (None, _) => {}
    }
    format!(
        "You work in {}, guarded by flyball.\n\n{next}\n{waiting}\n\
         1. Read `context_list`: decisions there bind you.\n\
         2. Work in small steps. `gate_run` says what is red; done means green.\n\
         3. After each attempt call `attempt_record` with what was really done, then `loop_check`, \
         and follow its briefing.\n\
         4. For a loop of your own: `iteration_start` once, then `iteration_validate` and \
         `iteration_next` for each round, `iteration_complete` at the end. When a guard says no, \
         stop and say why.\n\
         5. Move tasks on with `task_update`. Do not edit tests, gates or flyball's files to get \
         past a check.\n\
         6. What only a human can decide goes to `ask_human`.\n",
        call.site.root.display()
    )
}

fn format_line(what: &str, text: &str) -> String {
    format!("{what}: {}\n", flyball_core::text::head(text.trim(), 1_000))
}
