//! Who has a file open, and who works where.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::snapshot;
use crate::platform::below;

/// Whether any process that may be looked into has this file open.
pub fn is_open(path: &Path) -> bool {
    let Ok(file) = fs::metadata(path) else { return false };
    let is_it = |link: &Path| {
        fs::metadata(link).is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()))
    };
    snapshot().iter().any(|process| {
        let open = fs::read_dir(format!("/proc/{}/fd", process.pid));
        open.into_iter().flatten().flatten().any(|link| {
            // A pipe or a socket would not be looked at by its path.
            fs::read_link(link.path()).is_ok_and(|to| to.is_absolute()) && is_it(&link.path())
        })
    })
}

/// Whether a program of this name is at work in a folder, or below it, that was not started here.
pub fn works_in(program: &str, folder: &Path) -> bool {
    let table = snapshot();
    let own = below(&table, std::process::id());
    let others = table.iter().filter(|process| !process.zombie && !own.contains(process));
    others.into_iter().any(|process| {
        let name = fs::read_to_string(format!("/proc/{}/comm", process.pid)).unwrap_or_default();
        name.trim_end() == program
            && fs::read_link(format!("/proc/{}/cwd", process.pid))
                .is_ok_and(|at| at.starts_with(folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_held_as_long_as_it_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = fs::File::create(&path).unwrap();
        assert!(is_open(&path));
        drop(file);
        assert!(!is_open(&path) && !is_open(&folder.path().join("other")));
    }

    #[test]
    fn a_program_works_in_its_folder_unless_it_was_started_here() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        // One that nobody started: it is handed to the first process, or the next that adopts.
        let script = "sleep 1000 > /dev/null 2>&1 & echo $!";
        let mut shell = std::process::Command::new("sh");
        let said = shell.args(["-c", script]).current_dir(&root).output().unwrap();
        let pid: u32 = String::from_utf8(said.stdout).unwrap().trim().parse().unwrap();
        let limit = crate::clock::Deadline::after(std::time::Duration::from_mins(1));
        while !works_in("sleep", &root) && !limit.passed() {
            std::thread::yield_now();
        }
        let found = [("sleep", ""), ("sleepy", ""), ("sleep", "other")]
            .map(|(name, below)| works_in(name, &root.join(below)));
        let process = super::super::look(pid).unwrap();
        let own = below(&snapshot(), std::process::id()).contains(&process);
        super::super::signal(&process, crate::platform::Signal::Kill);
        assert_eq!((found, own), ([true, false, false], false));
        let mut child = std::process::Command::new("sleep");
        let mut child = child.arg("1000").current_dir(&root).spawn().unwrap();
        let limit = crate::clock::Deadline::after(std::time::Duration::from_mins(1));
        while works_in("sleep", &root) && !limit.passed() {
            std::thread::yield_now();
        }
        let ours = works_in("sleep", &root);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!ours);
    }
}
