//! A task that was left is brought back.

use flyball_core::task::Standing;

use super::tasks::{Site, Task, tasks_of};
use crate::clock;
use crate::config::suggest;
use crate::error::CliError;
use crate::journal::Journal;

/// Brings a task back; where it stood, none where it stands open already.
pub fn retry(
    site: &Site<'_>,
    journal: &mut Journal,
    id: &str,
) -> Result<Option<Standing>, CliError> {
    let tasks: Vec<Task> = tasks_of(site, journal)?;
    let Some(task) = tasks.iter().find(|task| task.id.as_str() == id) else {
        let error = CliError::no_input(format!("there is no task `{id}` here"));
        return Err(match suggest::nearest(id, tasks.iter().map(|task| task.id.as_str())) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint("`flyball tasks` lists them"),
        });
    };
    if task.standing == Standing::Open {
        return Ok(None);
    }
    journal.mark_task(site.root, &task.id, (Standing::Open, clock::wall()))?;
    Ok(Some(task.standing))
}
