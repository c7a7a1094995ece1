//! The process table as `/proc` shows it, and signals that hit nobody else.

use std::fs::{self, File};
use std::io::Read;
use std::time::Duration;

use flyball_core::{Millis, Moment};
use rustix::process::{self, PidfdFlags, kill_process_group, pidfd_open, pidfd_send_signal};

use super::id;
use crate::platform::{Began, Process, Signal};

/// Every process there is. One that ends while the table is read may be missing.
pub fn snapshot() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(look)
        .collect()
}

/// One process by its id; none when it is gone.
pub fn look(pid: u32) -> Option<Process> {
    parse(pid, &stat(pid)?)
}

/// The line of a process, which is a page at most and is given whole: one call, where reading an unknown
/// length takes half a dozen.
fn stat(pid: u32) -> Option<String> {
    let mut line = [0; 4096];
    let count = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    Some(String::from_utf8_lossy(line.get(..count)?).into_owned())
}

/// Whether a process was stopped and waits to be told to go on. A stop that was sent and has not
/// reached it yet counts: on a busy machine that takes its time.
pub fn is_stopped(pid: u32) -> bool {
    let state = stat(pid)
        .and_then(|line| Some(line.rsplit_once(')')?.1.trim_start().starts_with(['T', 't'])));
    state.is_some_and(|stopped| stopped || stop_is_on_its_way(pid))
}

fn stop_is_on_its_way(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = |line: &str| {
        let (name, mask) = line.split_once(':')?;
        let pending = ["SigPnd", "ShdPnd"].contains(&name);
        pending.then(|| u64::from_str_radix(mask.trim(), 16).ok()).flatten()
    };
    let stop = 1_u64 << (process::Signal::STOP.as_raw() - 1);
    status.lines().filter_map(mask).any(|mask| mask & stop != 0)
}

/// When a process began, by the time of day.
pub fn began_at(process: &Process) -> Option<Moment> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot = Moment::from_millis(boot.trim().parse::<u64>().ok()?.checked_mul(1000)?);
    let Began(ticks) = process.began;
    Some(boot.plus(Millis::new(ticks.saturating_mul(1000) / ticks_per_second())))
}

/// Sends a signal to exactly this process; whether it was still there. It goes through a pidfd
/// after a second look, so that a process id used anew is never hit.
pub fn signal(process: &Process, signal: Signal) -> bool {
    let Some(pid) = id(process.pid) else { return false };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    is_still(process) && pidfd_send_signal(handle, number(signal)).is_ok()
}

/// Kills the group this process belongs to at one stroke, which no fork can outrun.
///
/// Only for descendants of a keeper: a group never spans sessions, and theirs are all its own.
pub fn kill_group(process: &Process) {
    if let (true, Some(group)) = (is_still(process), id(process.group)) {
        // Already gone is as good.
        kill_process_group(group, process::Signal::KILL).ok();
    }
}

fn is_still(process: &Process) -> bool {
    look(process.pid).is_some_and(|now| now.began == process.began)
}

const fn number(signal: Signal) -> process::Signal {
    match signal {
        Signal::Interrupt => process::Signal::INT,
        Signal::Terminate => process::Signal::TERM,
        Signal::Kill => process::Signal::KILL,
        Signal::Continue => process::Signal::CONT,
        Signal::Stop => process::Signal::STOP,
    }
}

fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

fn time(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(1000) / ticks_per_second())
}

/// Reads a `stat` line. The name in it may hold blanks and brackets: the last bracket ends it.
fn parse(pid: u32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Process {
        pid,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: small(1)?,
        group: small(2)?,
        session: small(3)?,
        cpu: time(number(11)?.saturating_add(number(12)?)),
        cpu_of_ended: time(number(13)?.saturating_add(number(14)?)),
        began: Began(number(19)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "42 (a (b) c) S 7 40 39 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 555 1 2";

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let process = parse(42, STAT).unwrap();
        assert_eq!((process.parent, process.group, process.session), (7, 40, 39));
        assert_eq!((process.cpu, process.cpu_of_ended), (time(30), time(70)));
        assert_eq!(process.began.to_string(), "555");
        assert!(!process.zombie);
    }

    #[test]
    fn a_line_cut_short_is_no_process() {
        assert_eq!(parse(42, "42 (a) S 7"), None);
        assert_eq!(parse(42, ""), None);
    }

    #[test]
    fn this_very_process_is_in_the_table() {
        assert!(snapshot().iter().any(|p| p.pid == std::process::id()));
    }

    #[test]
    fn a_process_that_is_another_by_now_is_not_signalled() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = look(child.id()).unwrap();
        let Began(ticks) = found.began;
        let earlier = Process { began: Began(ticks - 1), ..found };
        let hit_another = signal(&earlier, Signal::Kill);
        let ran_on = child.try_wait().unwrap().is_none();
        let hit = signal(&found, Signal::Kill);
        child.kill().ok();
        child.wait().unwrap();
        assert_eq!((hit_another, ran_on, hit), (false, true, true));
    }
}
