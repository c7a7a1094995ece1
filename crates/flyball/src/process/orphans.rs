//! What a killed keeper leaves behind becomes a child of flyball itself, and is ended here.
//!
//! flyball is the second one above every program that adopts orphans: whoever kills his keeper falls
//! to the next. Its own children are known; whatever else is its child is an orphan.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock::Deadline;
use crate::platform::{self, Process, Signal};

/// How long killing goes on before it is given up.
const KILL_MAX: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether orphans come to this process. In a program that only links this library they do not:
/// its children are its own affair.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// The processes this one has started itself. Held while one is started, so that none is taken for
/// an orphan before it is known.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// From now on orphans below this process become its children, and [`end_orphans`] ends them. For a
/// program all of whose children are started by [`start_own`].
pub fn adopt_orphans() {
    // A system that refuses leaves the keepers alone to do it.
    if platform::adopt_orphans().is_ok() {
        ADOPTS.store(true, Ordering::SeqCst);
    }
}

/// Starts a child that is no orphan.
pub fn start_own(command: &mut Command) -> io::Result<Child> {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    own.insert(child.id());
    Ok(child)
}

/// Ends what came to this process when a keeper was killed, with all below it; how many there were.
pub fn end_orphans() -> u32 {
    if !ADOPTS.load(Ordering::SeqCst) {
        return 0;
    }
    let mut met = BTreeSet::new();
    let limit = Deadline::after(KILL_MAX);
    loop {
        let (orphans, below) = orphans();
        for process in orphans.iter().chain(&below).filter(|process| !process.zombie) {
            met.insert(process.pid);
            platform::signal(process, Signal::Kill);
        }
        // Nobody else waits for them.
        let left = orphans.iter().filter(|orphan| !platform::reap(orphan.pid)).count();
        if left == 0 || limit.passed() {
            return u32::try_from(met.len()).unwrap_or(u32::MAX);
        }
        thread::sleep(PAUSE);
    }
}

/// The orphans, and what is below them.
fn orphans() -> (Vec<Process>, Vec<Process>) {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let table = platform::snapshot();
    let children: Vec<Process> =
        table.iter().filter(|process| process.parent == std::process::id()).copied().collect();
    // Those that have been waited for are nobody's any more.
    own.retain(|pid| children.iter().any(|child| child.pid == *pid));
    let orphans: Vec<Process> =
        children.into_iter().filter(|child| !own.contains(&child.pid)).collect();
    let below = orphans.iter().flat_map(|orphan| platform::below(&table, orphan.pid)).collect();
    (orphans, below)
}
