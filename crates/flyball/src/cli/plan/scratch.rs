//! Where an agent puts its draft, and what of the loop folder it must not have changed afterwards.

use std::fs;

use crate::error::CliError;
use crate::files;
use crate::loopdir::{LoopDir, TASKS_MAX};
use flyball_core::tasklist::draft;

/// The folder for the draft, inside of the loop folder and never committed.
const FOLDER: &str = "logs/draft";

/// The loop folder while an agent drafts.
pub(super) struct Scratch<'a> {
    loop_dir: &'a LoopDir,
    /// Whether there was no loop folder before.
    is_new: bool,
    /// What stood in the files that a draft may become, before.
    tasks: Option<String>,
    prd: Option<String>,
    /// The draft that was left in the folder for another try.
    left: Option<String>,
}

impl<'a> Scratch<'a> {
    /// Looks at what is there.
    pub(super) fn of(loop_dir: &'a LoopDir) -> Self {
        let is_new = !loop_dir.path().exists();
        let tasks = files::read_text(&loop_dir.tasks_path(), TASKS_MAX).ok();
        let prd = files::read_text(&loop_dir.file("prd.md"), TASKS_MAX).ok();
        Self { loop_dir, is_new, tasks, prd, left: None }
    }

    /// The folder as the agent is told.
    pub(super) fn relative(&self) -> String {
        format!("{}/{FOLDER}", self.loop_dir.relative())
    }

    /// Has the folder there while something is done. What fails leaves everything as it was.
    pub(super) fn around<T>(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let folder = self.loop_dir.file(FOLDER);
        fs::remove_dir_all(&folder).ok();
        let made = self.loop_dir.prepare().and_then(|()| fs::create_dir_all(&folder));
        let done = made
            .map_err(|error| CliError::io("the folder for the draft cannot be made").cause(error))
            .and_then(|()| work(&mut self));
        fs::remove_dir_all(&folder).ok();
        if done.is_err() {
            self.put_back();
            if self.is_new {
                fs::remove_dir_all(self.loop_dir.path()).ok();
            }
        }
        done
    }

    /// Leaves a draft in its folder, for the agent to mend.
    pub(super) fn leave(&mut self, stories: &str) {
        let path = self.loop_dir.file(FOLDER).join("tasks.json");
        if fs::create_dir_all(self.loop_dir.file(FOLDER)).is_ok()
            && files::write_whole(&path, stories).is_ok()
        {
            self.left = Some(stories.to_owned());
        }
    }

    /// The stories and the description that were drafted: in their folder, in the files themselves,
    /// or in what was said; else what was left for this try. The files themselves are as they were afterwards.
    pub(super) fn found(&self, said: &str) -> (Option<String>, Option<String>) {
        let read = |name: &str| {
            let path = self.loop_dir.file(FOLDER).join(name);
            files::read_text(&path, TASKS_MAX).ok()
        };
        let changed = |now: Option<String>, before: &Option<String>| {
            now.filter(|now| before.as_ref() != Some(now))
        };
        let tasks = files::read_text(&self.loop_dir.tasks_path(), TASKS_MAX).ok();
        let prd = files::read_text(&self.loop_dir.file("prd.md"), TASKS_MAX).ok();
        let stories = changed(read("tasks.json"), &self.left)
            .or_else(|| changed(tasks, &self.tasks))
            .or_else(|| draft::found_in(said))
            .or_else(|| read("tasks.json"));
        let prd = read("prd.md").or_else(|| changed(prd, &self.prd));
        self.put_back();
        (stories, prd)
    }

    /// What the agent changed directly is as it was before.
    fn put_back(&self) {
        let Ok(folder) = self.loop_dir.open() else { return };
        match &self.tasks {
            Some(text) => self.loop_dir.write_tasks(text).ok(),
            None => fs::remove_file(self.loop_dir.tasks_path()).ok(),
        };
        match &self.prd {
            Some(text) => folder.write("prd.md", text).ok(),
            None => folder.remove("prd.md").ok(),
        };
    }
}
