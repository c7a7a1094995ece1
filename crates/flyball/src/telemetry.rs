//! What a run leaves behind (B12): a log per iteration, `summary.csv`, and the row `status` reads.

use std::fs::File;
use std::io::{self, Write};

use flyball_core::effect::{IterationReport, IterationResult};
use flyball_core::{IterationNo, Moment};

use crate::clock;
use crate::files::Folder;
use crate::journal::RunProgress;
use crate::loopdir::LoopDir;

/// The columns of `summary.csv`; the first eight keep their order for good.
const HEADER: &str = "iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,\
stuck_count,timestamp,tokens,cost_usd,gates,score,outcome,task";

const SUMMARY: &str = "summary.csv";
/// How much of it is looked through for a row that is there already.
const SUMMARY_MAX: u64 = 4 * 1024 * 1024;

/// The full output of one iteration, up to a size.
#[derive(Debug)]
pub struct IterationLog {
    file: Option<File>,
    left: u64,
    is_full: bool,
}

impl IterationLog {
    /// Opens `iteration-007.log` in the folder of logs; one that goes on after a wait is added to.
    pub fn create(logs: &Folder, iteration: IterationNo, max_bytes: u64) -> io::Result<Self> {
        let file = logs.append(&format!("iteration-{:03}.log", iteration.get()))?;
        let used = file.metadata()?.len();
        Ok(Self { file: Some(file), left: max_bytes.saturating_sub(used), is_full: false })
    }

    /// A log that keeps nothing, for an agent that lets none be written.
    pub fn none() -> Self {
        Self { file: None, left: 0, is_full: true }
    }

    /// Adds a line of flyball's own, marked as such, wherever the output stands.
    pub fn remark(&mut self, text: &str) {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.write(format!("\n[flyball: {line}]\n").as_bytes());
    }

    /// Adds output. Says so once when the log is full; the agent goes on unlogged.
    pub fn write(&mut self, bytes: &[u8]) -> Option<String> {
        if self.is_full {
            return None;
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.add(kept);
        self.left = self.left.saturating_sub(kept.len() as u64);
        if room == bytes.len() {
            return None;
        }
        self.is_full = true;
        let note = "the log of this iteration is full; further output is shown but not kept";
        self.add(format!("\n[flyball: {note}]\n").as_bytes());
        Some(note.to_owned())
    }

    fn add(&mut self, bytes: &[u8]) {
        // An agent may delete its own log: what is written then goes nowhere, which is its affair.
        if let Some(file) = &mut self.file {
            file.write_all(bytes).ok();
        }
    }
}

/// Telemetry of a run.
#[derive(Debug)]
pub struct Telemetry {
    logs: LoopDir,
    shown: Option<(Moment, RunProgress)>,
    /// The latest iteration whose row is there.
    written: Option<IterationNo>,
}

impl Telemetry {
    /// Telemetry in the logs of this loop folder.
    pub fn new(logs: LoopDir) -> Self {
        Self { logs, shown: None, written: None }
    }

    /// Whether the run's row should be written anew: at once when it moved on, otherwise once a
    /// second, so that a chatty agent does not cost a write per token.
    pub fn is_news(&mut self, now: Moment, state: &RunProgress) -> bool {
        let is_news = match &self.shown {
            None => true,
            Some((_, shown)) if shown == state => false,
            Some((at, shown)) => {
                (shown.iteration, &shown.phase) != (state.iteration, &state.phase)
                    || now.since(*at).get() >= 1000
            }
        };
        if is_news {
            self.shown = Some((now, state.clone()));
        }
        is_news
    }

    /// Adds the iteration's row, once.
    pub fn iteration(&mut self, report: &IterationReport) -> io::Result<()> {
        let logs = self.logs.open_logs()?;
        // What was there before this process began is looked for in the file, and no more than once.
        if self.written.is_none_or(|written| report.iteration <= written) {
            let before = logs.read(SUMMARY, SUMMARY_MAX).unwrap_or_default();
            let number = format!("{},", report.iteration);
            if String::from_utf8_lossy(&before).lines().any(|line| line.starts_with(&number)) {
                return Ok(());
            }
        }
        let mut file = logs.append(SUMMARY)?;
        if file.metadata()?.len() == 0 {
            writeln!(file, "{HEADER}")?;
        }
        writeln!(file, "{}", row(report))?;
        self.written = Some(report.iteration);
        Ok(())
    }
}

fn row(report: &IterationReport) -> String {
    let gates = match report.green {
        None => "",
        Some(true) => "green",
        Some(false) => "red",
    };
    let commit = report.commit.as_deref().unwrap_or("");
    let score = report.score.map(|score| format!("{score:.2}")).unwrap_or_default();
    let task = report.task.as_ref().map(ToString::to_string).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "money for people")]
    let cost = report.cost_micro_usd as f64 / 1e6;
    [
        report.iteration.to_string(),
        report.mode.as_str().to_owned(),
        (report.ended.since(report.started).get() / 1000).to_string(),
        flyball_core::text::prefix(commit, 12).to_owned(),
        report.stories_complete.to_string(),
        report.stories_total.to_string(),
        report.stuck.to_string(),
        clock::rfc3339(report.ended),
        report.tokens.to_string(),
        format!("{cost:.4}"),
        gates.to_owned(),
        score,
        result_word(report.result).to_owned(),
        field(&task),
    ]
    .join(",")
}

/// How an iteration ended, in one word.
pub fn result_word(result: IterationResult) -> &'static str {
    match result {
        IterationResult::Passed => "passed",
        IterationResult::Unchecked => "unchecked",
        IterationResult::Red => "red",
        IterationResult::Improved => "improved",
        IterationResult::Halted(outcome) | IterationResult::Cut(outcome) => outcome.as_str(),
        IterationResult::Died => "died",
        IterationResult::Lost => "lost",
    }
}

/// A field of a CSV row, quoted where it must be.
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use flyball_core::TaskId;
    use flyball_core::tasklist::Mode;

    use super::*;

    fn report(number: u32) -> IterationReport {
        IterationReport {
            iteration: IterationNo::new(number),
            mode: Mode::Implement,
            task: Some(TaskId::new("a, \"b\"")),
            started: Moment::from_millis(1_000),
            ended: Moment::from_millis(61_500),
            commit: None,
            stories_complete: 1,
            stories_total: 5,
            stuck: 2,
            tokens: 1200,
            cost_micro_usd: 380_000,
            green: Some(false),
            score: Some(0.9),
            result: IterationResult::Red,
        }
    }

    #[test]
    fn one_row_per_iteration_even_when_told_twice() {
        let dir = tempfile::tempdir().unwrap();
        let mut telemetry =
            Telemetry::new(LoopDir::new(dir.path(), Path::new("."), Path::new("tasks.json")));
        for number in [1, 1, 2] {
            telemetry.iteration(&report(number)).unwrap();
        }
        let text = fs::read_to_string(dir.path().join("logs/summary.csv")).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[1],
            "1,implement,60,,1,5,2,1970-01-01T00:01:01Z,1200,0.3800,red,0.90,red,\"a, \"\"b\"\"\""
        );
    }

    #[test]
    fn a_log_is_capped_and_says_so_once() {
        let dir = tempfile::tempdir().unwrap();
        let logs = Folder::open(dir.path(), Path::new("")).unwrap();
        let mut log = IterationLog::create(&logs, IterationNo::new(1000), 10).unwrap();
        assert_eq!(log.write(b"12345"), None);
        assert!(log.write(b"1234567").is_some());
        assert_eq!(log.write(b"more"), None);
        let text = fs::read_to_string(dir.path().join("iteration-1000.log")).unwrap();
        assert!(text.starts_with("1234512345\n[flyball: the log"));
        assert!(!text.contains("more"));
    }
}
