//! Transcripts, read by two threads: unchanged ones are taken from what was kept of them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use flyball_core::policy::CallRules;
use flyball_core::text::prefix;

use super::cache::Cache;
use super::listener::{Listener, Nobody};
use super::session::SourceReport;
use crate::client::ReadRequest;
use crate::transcript::{Found, Skipped, Source, read};

/// Threads that read.
const THREADS: usize = 2;
/// Characters kept of why a record could not be read.
const WHY: usize = 200;

/// How sessions are read and judged.
#[derive(Clone, Debug)]
pub struct Lens {
    /// The limits of the guards.
    pub rules: CallRules,
    /// Prices, and what else readers must know.
    pub request: ReadRequest,
}

/// What was looked at.
#[derive(Debug, Default)]
pub struct Looked {
    /// Transcripts, in the order of their paths.
    pub reports: Vec<SourceReport>,
    /// What was left out, and why.
    pub unheard: Vec<Unheard>,
    /// Transcripts that were read.
    pub read: usize,
    /// Transcripts that had not changed since they were last read.
    pub kept: usize,
}

/// Something that could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unheard {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// How far reading has come: bytes read, and bytes in all.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Reads and judges what was found.
pub fn look(
    found: Found,
    lens: &Lens,
    cache: Option<&mut Cache>,
    progress: Progress<'_>,
) -> Looked {
    let Found { sources, skipped } = found;
    let mut looked = Looked::default();
    let unheard = |skipped: Skipped| Unheard { path: skipped.path, why: skipped.why };
    looked.unheard.extend(skipped.into_iter().map(unheard));
    let mut changed = Vec::with_capacity(sources.len());
    for source in sources {
        match cache.as_ref().and_then(|cache| cache.get(&source)) {
            Some(report) => looked.reports.push(report.clone()),
            None => changed.push(source),
        }
    }
    looked.kept = looked.reports.len();
    // The largest first, so that no thread is left with one at the end.
    changed.sort_by_key(|source| std::cmp::Reverse(source.size));
    for result in read_all(&changed, lens, progress) {
        match result {
            Ok(report) => {
                looked.read += 1;
                looked.reports.push(report);
            }
            Err(unheard) => looked.unheard.push(unheard),
        }
    }
    looked.reports.sort_by(|one, other| one.path.cmp(&other.path));
    looked.unheard.sort_by(|one, other| one.path.cmp(&other.path));
    if let Some(cache) = cache {
        cache.take(&looked.reports);
    }
    looked
}

fn read_all(
    sources: &[Source],
    lens: &Lens,
    progress: Progress<'_>,
) -> Vec<Result<SourceReport, Unheard>> {
    let whole: u64 = sources.iter().map(|source| source.size).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let results = Mutex::new(Vec::with_capacity(sources.len()));
    let advance = |bytes: u64| {
        let before = done.fetch_add(bytes, Ordering::Relaxed);
        progress(before.saturating_add(bytes), whole);
    };
    let work = || {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = read_one(source, lens, &advance);
            if let Ok(mut results) = results.lock() {
                results.push(result);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..THREADS.min(sources.len()) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().unwrap_or_default()
}

fn read_one(
    source: &Source,
    lens: &Lens,
    advance: &(dyn Fn(u64) + Sync),
) -> Result<SourceReport, Unheard> {
    let mut listener = Listener::new(&lens.rules, Nobody, advance);
    let reading = read(source, &lens.request, &mut listener)
        .map_err(|error| Unheard { path: source.path.clone(), why: error.to_string() })?;
    let first = reading.first_unread.as_ref();
    Ok(SourceReport {
        path: source.path.clone(),
        format: source.format.to_owned(),
        size: source.size,
        modified: source.modified,
        offset: reading.bytes,
        sessions: listener.finish().0,
        unread: reading.unread,
        first_unread: first.map(|one| (one.record, prefix(&one.why, WHY).to_owned())),
    })
}
