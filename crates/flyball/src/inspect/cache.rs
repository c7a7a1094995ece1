//! What was found in transcripts, kept so that unchanged ones need not be opened again. It may be
//! deleted at any time, and what is damaged in it is as good as not there.
//!
//! One file for each way of judging (limits, prices, version), one line for each transcript. A transcript
//! is unchanged while its size and its time are; one that has grown is read anew, because what its
//! reader and the guards knew at its old end is not kept.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::look::Lens;
use super::session::SourceReport;
use crate::files;
use crate::transcript::Source;

/// Goes up when what is kept means something else.
const LAYOUT: u32 = 1;
/// The most that is kept, in bytes.
const BYTES_MAX: u64 = 48 << 20;
/// Ways of judging of which something is kept.
const FILES_MAX: usize = 4;
const PREFIX: &str = "inspect-";
const SUFFIX: &str = ".jsonl";

/// Transcripts by their path.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    reports: HashMap<PathBuf, SourceReport>,
    is_changed: bool,
}

impl Cache {
    /// What is kept in this folder for this way of judging; nothing where nothing can be read.
    pub fn open(folder: &Path, lens: &Lens) -> Self {
        let path = folder.join(format!("{PREFIX}{}{SUFFIX}", name(lens)));
        let bytes = files::read(&path, BYTES_MAX.saturating_mul(2)).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let kept = lines.filter_map(|line| serde_json::from_slice::<SourceReport>(line).ok());
        let reports = kept.map(|report| (report.path.clone(), report)).collect();
        Self { path, reports, is_changed: false }
    }

    /// What was found in this transcript, if it has not changed since.
    pub fn get(&self, source: &Source) -> Option<&SourceReport> {
        let report = self.reports.get(&source.path)?;
        let is_same = (report.size, report.modified) == (source.size, source.modified);
        is_same.then_some(report)
    }

    /// Keeps what was found.
    pub(super) fn take(&mut self, reports: &[SourceReport]) {
        for report in reports {
            let differs =
                |kept: &SourceReport| (kept.size, kept.modified) != (report.size, report.modified);
            if self.reports.get(&report.path).is_none_or(differs) {
                self.reports.insert(report.path.clone(), report.clone());
                self.is_changed = true;
            }
        }
    }

    /// Writes what is kept, the latest first, as much as there is room for. Transcripts that are gone
    /// are forgotten.
    pub fn write(&self) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        files::private_folder(folder)?;
        let mut reports: Vec<&SourceReport> =
            self.reports.values().filter(|report| report.path.exists()).collect();
        reports.sort_by_key(|report| std::cmp::Reverse(report.modified));
        let mut beside = files::beside(&self.path, 0o600)?;
        let mut written = 0_u64;
        for report in reports {
            let mut line = serde_json::to_vec(report)?;
            line.push(b'\n');
            written = written.saturating_add(line.len() as u64);
            if written > BYTES_MAX {
                break;
            }
            beside.write_all(&line)?;
        }
        beside.persist(&self.path)?;
        forget_old(folder)
    }
}

/// A name for a way of judging.
fn name(lens: &Lens) -> String {
    let judging = serde_json::to_string(&lens.rules).unwrap_or_default();
    let reading = format!("{:?} {:?}", lens.request.free_text, lens.request.prices);
    let version = env!("CARGO_PKG_VERSION");
    let all = format!("{LAYOUT} {version} {} {judging} {reading}", crate::client::prices::as_of());
    let hash = blake3::hash(all.as_bytes()).to_hex();
    flyball_core::text::prefix(&hash, 16).to_owned()
}

/// Removes what was kept for ways of judging that were not asked for lately.
fn forget_old(folder: &Path) -> io::Result<()> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    kept.sort_unstable();
    let old = kept.len().saturating_sub(FILES_MAX);
    kept.iter().take(old).try_for_each(|(_, path)| files::remove(path))
}
