//! What is done after a verified completion: the user's own command, as it stood when the run began.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::effect::Ending;
use flyball_core::{Moment, Outcome};

use super::Driver;
use crate::config::CommandLine;
use crate::process::{Spec, brief_walls, run_shown};
use crate::run_report;

/// The most that is shown of what it prints.
const SHOWN_MAX: usize = 16 * 1024;

impl Driver {
    /// Runs it, after a verified completion only. How it ends is told and changes nothing.
    pub(super) fn run_finish(&mut self, now: Moment, ending: &Ending) {
        let Some(command) = self.terms.config.finish.command.clone() else { return };
        if ending.outcome != Outcome::Complete {
            return;
        }
        let report = match self.finish_report(now) {
            Ok(report) => report,
            Err(error) => return self.reporter.remark(&format!("finish: no report: {error}")),
        };
        let mut spec = Spec::new(String::new(), self.places.worktree.root());
        let mut argv = argv(&command, &report.to_string_lossy()).into_iter();
        spec.program = argv.next().unwrap_or_default();
        spec.args = argv.collect();
        spec.walls = brief_walls();
        spec.env = self.finish_env(ending, &report);
        let timeout = Duration::from_millis(self.terms.config.finish.timeout.get());
        let printed = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&printed);
        let ran = run_shown(&spec, timeout, move |bytes| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            // One more than is shown, to know that there was more.
            let room = (SHOWN_MAX + 1).saturating_sub(kept.len()).min(bytes.len());
            kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        });
        let mut shown =
            std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
        if shown.len() > SHOWN_MAX {
            shown.truncate(SHOWN_MAX);
            shown.extend(b"\n[the rest is left out]");
        }
        for line in String::from_utf8_lossy(&shown).lines().filter(|line| !line.trim().is_empty()) {
            self.reporter.remark(&format!("finish: {line}"));
        }
        self.reporter.remark(&match ran {
            Ok(()) => format!("finish: `{command}` is done"),
            Err(why) => {
                format!("finish: `{command}` failed: {why}; the run is complete all the same")
            }
        });
    }

    /// The report the settings ask for, else one of its own in the loop folder's logs.
    fn finish_report(&self, now: Moment) -> Result<PathBuf, run_report::WriteError> {
        if let Some(file) = &self.terms.config.report_file {
            let path = self.places.worktree.root().join(file);
            if path.is_file() {
                return Ok(path);
            }
        }
        let path = self.places.loop_dir.logs().join("report.md");
        run_report::written(&self.journal, &self.run, &path, now)?;
        Ok(path)
    }

    fn finish_env(
        &self,
        ending: &Ending,
        report: &std::path::Path,
    ) -> Vec<(String, Option<String>)> {
        let branch =
            self.places.worktree.beside_afresh().and_then(|git| git.branch().ok().flatten());
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let set = [
            ("FLYBALL_RUN_ID", self.run.to_string()),
            ("FLYBALL_OUTCOME", ending.outcome.to_string()),
            ("FLYBALL_EXIT_CODE", ending.outcome.exit_code().to_string()),
            ("FLYBALL_WHY", ending.why.clone()),
            ("FLYBALL_REPOSITORY", path(self.places.worktree.root())),
            ("FLYBALL_BRANCH", branch.unwrap_or_default()),
            ("FLYBALL_REPORT", path(report)),
            ("FLYBALL_ITERATIONS", ending.tally.iterations.to_string()),
            ("FLYBALL_STORIES", ending.tally.stories_complete.to_string()),
        ];
        // It is no part of the run: it may use what is for humans.
        let mut env = vec![("FLYBALL_RUN".to_owned(), None)];
        env.extend(set.map(|(name, value)| (name.to_owned(), Some(value))));
        env
    }
}

/// The command with the report as its last argument.
fn argv(command: &CommandLine, report: &str) -> Vec<String> {
    let mut argv = command.argv();
    if let CommandLine::Shell(_) = command {
        argv.push("flyball-finish".to_owned());
    }
    argv.push(report.to_owned());
    argv
}
