//! How much memory a process takes, for tests and benches. With `flyball::platform`, the only
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
    }
}
