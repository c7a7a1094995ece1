//! What init will write, worked out before anything is written.

use std::path::{Path, PathBuf};

use super::stories::{self, Converted};
use super::{Setup, adopt, read, template};
use crate::config::FILE_NAME;
use crate::error::CliError;
use crate::loopdir::IGNORE_ALL;

/// Everything init will do.
pub(super) struct Plan {
    /// Files to write, relative to the root.
    pub(super) files: Vec<Planned>,
    /// Files that stay as they are.
    pub(super) kept: Vec<PathBuf>,
    /// The stories that were taken over.
    pub(super) converted: Option<Converted>,
    /// Whether the list that is there or was taken over knows no reviews: then there are none.
    pub(super) without_review: bool,
    /// What the user should look at.
    pub(super) warnings: Vec<String>,
}

/// One file to write.
pub(super) struct Planned {
    /// Where.
    pub(super) path: PathBuf,
    /// What.
    pub(super) text: String,
    /// What becomes of a file that is there.
    pub(super) existing: Existing,
}

/// What becomes of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// There is none.
    None,
    /// It is replaced.
    Replaced,
    /// Lines are added to it.
    Extended,
}

impl Plan {
    pub(super) fn make(setup: &Setup) -> Result<Self, CliError> {
        let mut plan = Self {
            files: Vec::new(),
            kept: Vec::new(),
            converted: None,
            without_review: false,
            warnings: Vec::new(),
        };
        let dir = setup.folder.dir.as_path();
        let tasks = plan.tasks(setup)?;
        let config = template::config(setup, plan.without_review);
        plan.replace(setup, PathBuf::from(FILE_NAME), config)?;
        plan.prompt(setup)?;
        match tasks {
            Ok(written) => plan.files.push(written),
            Err(kept) => plan.kept.push(kept),
        }
        plan.add(setup, dir.join("prd.md"), template::PRD);
        plan.add(setup, dir.join("progress.txt"), template::PROGRESS);
        plan.ignore(setup)?;
        Ok(plan)
    }

    /// Files that are there and would be replaced by something else.
    pub(super) fn overwritten(&self) -> impl Iterator<Item = &Path> {
        let replaced = self.files.iter().filter(|file| file.existing == Existing::Replaced);
        replaced.map(|file| file.path.as_path())
    }

    /// Writes the files.
    pub(super) fn write(&self, root: &Path) -> Result<(), CliError> {
        for file in &self.files {
            let path = root.join(&file.path);
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| crate::files::write_whole(&path, &file.text))
                .map_err(|error| {
                    CliError::io(format!("`{}` could not be written", file.path.display()))
                        .cause(error)
                })?;
        }
        Ok(())
    }

    fn prompt(&mut self, setup: &Setup) -> Result<(), CliError> {
        let dir = setup.folder.dir.as_path();
        let path = dir.join("prompt.md");
        if !setup.folder.adopted {
            return self.replace(setup, path, template::prompt(dir));
        }
        if let Some(text) = read(&setup.root.join(&path))? {
            self.judge_prompt(&path, &text);
            self.kept.push(path);
            return Ok(());
        }
        let text = match read(&setup.root.join(dir).join("PROMPT.md"))? {
            Some(text) => {
                self.judge_prompt(&path, &text);
                text
            }
            None => template::prompt(dir),
        };
        self.files.push(Planned { path, text, existing: Existing::None });
        Ok(())
    }

    /// Says what in an adopted prompt does not go well with flyball.
    fn judge_prompt(&mut self, path: &Path, text: &str) {
        let bare = |line: &str| {
            let line = line.trim();
            line.starts_with("<promise>") && line.ends_with("</promise>")
        };
        if let Some(line) = text.lines().position(bare) {
            self.warnings.push(format!(
                "{}:{} holds nothing but a promise tag: an agent that quotes the line makes a claim; \
                 put words around it",
                path.display(),
                line + 1
            ));
        }
        if !crate::prompt::places_task(text) {
            self.warnings.push(format!(
                "{} names neither {{{{task}}}} nor {{{{mode}}}}: every run appends the task, the mode and \
                 flyball's rules to it",
                path.display()
            ));
        }
        if text.contains("prd.json") {
            self.warnings.push(format!(
                "{} speaks of `prd.json`, but flyball reads `tasks.json`: change the name there",
                path.display()
            ));
        }
    }

    /// The task list: one to write, or one that stays.
    fn tasks(&mut self, setup: &Setup) -> Result<Result<Planned, PathBuf>, CliError> {
        let dir = setup.folder.dir.as_path();
        let path = dir.join("tasks.json");
        let project =
            setup.root.file_name().map_or("project".into(), |name| name.to_string_lossy());
        let there = setup.root.join(&path);
        let existing = if there.exists() {
            let text = read(&there)?.unwrap_or_default();
            let Some(bare) = stories::bare(&text, &path, &project) else {
                self.without_review = setup.folder.adopted && !stories::knows_reviews(&text)
                    || adopt::has_no_review(&setup.root);
                return Ok(Err(path));
            };
            self.converted = Some(bare);
            Existing::Extended
        } else {
            self.converted = stories::convert(&setup.root, dir, &project)?;
            Existing::None
        };
        self.without_review = self.converted.as_ref().is_some_and(|found| !found.has_reviews);
        let text = match &self.converted {
            Some(converted) => converted.text.clone(),
            None => template::tasks(&project),
        };
        Ok(Ok(Planned { path, text, existing }))
    }

    /// The ignore file gets the lines it lacks.
    fn ignore(&mut self, setup: &Setup) -> Result<(), CliError> {
        let path = setup.folder.dir.join(".gitignore");
        let Some(text) = read(&setup.root.join(&path))? else {
            let text = template::IGNORE.to_owned();
            self.files.push(Planned { path, text, existing: Existing::None });
            return Ok(());
        };
        // Left by a run that had a task of its own: now there is something to commit here.
        if text == IGNORE_ALL {
            let text = template::IGNORE.to_owned();
            self.files.push(Planned { path, text, existing: Existing::Extended });
            return Ok(());
        }
        let has = |wanted: &str| text.lines().any(|line| line.trim() == wanted);
        let lacking: Vec<&str> =
            template::IGNORE.lines().filter(|line| !line.starts_with('#') && !has(line)).collect();
        if lacking.is_empty() {
            self.kept.push(path);
            return Ok(());
        }
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{text}{newline}{}\n", lacking.join("\n"));
        self.files.push(Planned { path, text, existing: Existing::Extended });
        Ok(())
    }

    /// A file of the user's: written only when it is not there.
    fn add(&mut self, setup: &Setup, path: PathBuf, text: &str) {
        if setup.root.join(&path).try_exists().unwrap_or(true) {
            self.kept.push(path);
        } else {
            self.files.push(Planned { path, text: text.to_owned(), existing: Existing::None });
        }
    }

    /// A file of flyball's: written anew unless it already says the same.
    fn replace(&mut self, setup: &Setup, path: PathBuf, text: String) -> Result<(), CliError> {
        let existing = match read(&setup.root.join(&path))? {
            Some(old) if old == text => {
                self.kept.push(path);
                return Ok(());
            }
            Some(_) => Existing::Replaced,
            None => Existing::None,
        };
        self.files.push(Planned { path, text, existing });
        Ok(())
    }
}
