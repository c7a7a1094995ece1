//! Processes that belong to a test, found by a mark in their environment. With `memory` the only place
//! of the test kit that knows where the system keeps such things.

use std::fs;

/// The live processes that were started with this `NAME=value`, with their command lines.
pub fn marked(mark: &str) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| carries(*pid, mark) && !is_zombie(*pid))
        .map(|pid| (pid, command_line(pid)))
        .collect()
}

fn carries(pid: u32, mark: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|text| text.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned()
}

/// Milliseconds of CPU time a process itself has used, and whether it has ended and nobody has waited for
/// it yet; none when it is gone.
pub fn cpu_used(pid: u32) -> Option<(u64, bool)> {
    /// The system counts in hundredths of a second.
    const TICK_MS: u64 = 10;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let used = ticks(11)?.saturating_add(ticks(12)?).saturating_mul(TICK_MS);
    Some((used, fields.first() == Some(&"Z")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_found_by_its_mark_as_long_as_it_lives() {
        let mark = format!("FLYBALL_MARKED={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = Command::new("sleep").arg("1000").env(name, value).spawn().unwrap();
        let found = loop {
            // Between fork and exec it is still this very program.
            match marked(&mark).as_slice() {
                [one] if one.1.starts_with("sleep") => break one.clone(),
                _ => std::thread::yield_now(),
            }
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, (child.id(), "sleep 1000".to_owned()));
        assert_eq!(marked(&mark), []);
    }
}
