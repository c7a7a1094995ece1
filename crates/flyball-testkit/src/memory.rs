//! How much memory a process takes and how much it reads and writes, for tests and benches. With `flyball::platform`, the only
//! place that knows where the system keeps such things.

use std::fs;

/// The most a process has taken so far, in KiB; none when it is gone.
pub fn peak_kib(pid: u32) -> Option<u64> {
    figure(pid, "VmHWM:")
}

/// What a process takes now, in KiB, its code and mapped files included.
pub fn resident_kib(pid: u32) -> Option<u64> {
    figure(pid, "VmRSS:")
}

/// What a process holds of its own, in KiB: neither its code nor files it has mapped.
pub fn held_kib(pid: u32) -> Option<u64> {
    figure(pid, "RssAnon:")
}

/// How often a process has read and written so far, and how many bytes; none when it is gone. No load
/// changes that.
pub fn traffic(pid: u32) -> Option<[u64; 2]> {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let sum = |names: [&str; 2]| -> Option<u64> {
        let of = |name| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let [one, other]: [Option<u64>; 2] = names.map(of);
        Some(one?.saturating_add(other?))
    };
    Some([sum(["syscr:", "syscw:"])?, sum(["rchar:", "wchar:"])?])
}

fn figure(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_has_taken_at_least_what_it_holds() {
        let own = std::process::id();
        let held = held_kib(own).unwrap();
        assert!(held > 0 && resident_kib(own).unwrap() >= held);
        assert!(peak_kib(own).unwrap() >= held);
        assert_eq!(peak_kib(0), None);
        let [calls, bytes] = traffic(own).unwrap();
        assert!(calls > 0 && bytes >= calls);
    }
}
