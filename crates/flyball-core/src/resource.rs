//! Resources of the machine that ran out, seen in what programs say when that happens (S4): no other
//! approach helps before the resource is there again.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Something a machine has only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Main memory.
    Memory,
    /// Room on a disk, or in a quota of it.
    Disk,
    /// Open files.
    FileDescriptors,
}

/// What programs and kernels say, in lower case.
const SIGNS: &[(Resource, &[&str])] = &[
    (
        Resource::Memory,
        &[
            "cannot allocate memory",
            "can't allocate memory",
            "out of memory",
            "outofmemoryerror",
            "memory exhausted",
            "virtual memory exhausted",
            "memory allocation of",
            "std::bad_alloc",
            "enomem",
            "oom-kill",
            "oom killed",
            "oomkilled",
            "exit code 137",
            "exit status 137",
            "exited with 137",
            "signal: 9, sigkill",
        ],
    ),
    (
        Resource::Disk,
        &[
            "no space left on device",
            "not enough space on the disk",
            "disk quota exceeded",
            "database or disk is full",
            "enospc",
            "edquot",
        ],
    ),
    (Resource::FileDescriptors, &["too many open files", "emfile", "enfile"]),
];

impl Resource {
    /// The resources that ran out by this text.
    pub fn exhausted_in(text: &str) -> BTreeSet<Self> {
        let text = text.to_lowercase();
        let ran_out = SIGNS.iter().filter(|(_, signs)| signs.iter().any(|sign| says(&text, sign)));
        ran_out.map(|(resource, _)| *resource).collect()
    }

    /// What ran out, as it begins a sentence.
    const fn words(self) -> &'static str {
        match self {
            Self::Memory => "Memory",
            Self::Disk => "Disk space",
            Self::FileDescriptors => "File descriptors",
        }
    }

    /// What an agent can do about it.
    const fn for_agent(self) -> &'static str {
        match self {
            Self::Memory => {
                "Use less at once: fewer jobs in parallel, one test or package at a time, smaller \
                 inputs; end what you left running."
            }
            Self::Disk => {
                "Remove what you made and do not need (build output, caches, downloads of this \
                 work, nothing else), and write no large files."
            }
            Self::FileDescriptors => {
                "Close what is opened, open fewer files and connections at once, and end what you \
                 left running."
            }
        }
    }

    /// What a human can look at.
    const fn for_human(self) -> &'static str {
        match self {
            Self::Memory => {
                "memory ran out: look at `free -h`, and give it more or run less at once"
            }
            Self::Disk => "disk space ran out: look at `df -h`, and make room",
            Self::FileDescriptors => {
                "file descriptors ran out: look at `ulimit -n`, and raise it or end what holds them"
            }
        }
    }
}

/// Whether the sign stands there as words of its own: `enfile` is none in `openfile`.
fn says(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + sign.len()..).and_then(|rest| rest.chars().next());
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_word(before) && !is_word(after)
    })
}

/// To the agent: what ran out and what it can do. Nothing when nothing did.
pub fn advice(resources: &BTreeSet<Resource>) -> Option<String> {
    (!resources.is_empty()).then(|| {
        let lines: Vec<String> = resources
            .iter()
            .map(|one| format!("{} ran out in the last iteration. {}", one.words(), one.for_agent()))
            .collect();
        format!(
            "# A Resource Ran Out\n{}\nNo other approach to the task helps before that. If you cannot \
             free enough, say so with a BLOCKED promise that names it.",
            lines.join("\n")
        )
    })
}

/// To a human: what ran out and where to look.
pub fn steps(resources: &BTreeSet<Resource>) -> Vec<String> {
    resources.iter().map(|one| String::from(one.for_human())).collect()
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;

    use super::*;

    #[test]
    fn what_ran_out_is_known_by_what_programs_say() {
        use Resource::{Disk, FileDescriptors, Memory};
        let cases: &[(&str, &[Resource])] = &[
            ("cp: error writing 'x': No space left on device", &[Disk]),
            ("fork: Cannot allocate memory", &[Memory]),
            ("FATAL ERROR: Reached heap limit - JavaScript heap out of memory", &[Memory]),
            ("java.lang.OutOfMemoryError: Java heap space", &[Memory]),
            ("(signal: 9, SIGKILL: kill)", &[Memory]),
            ("make: *** [test] Error: exit status 137", &[Memory]),
            ("Error: EMFILE: too many open files, open 'a'", &[FileDescriptors]),
            ("OSError: [Errno 24] Too many open files; ENOSPC", &[Disk, FileDescriptors]),
            ("openfile: no such file", &[]),
            ("exit status 1370", &[]),
            ("assertion failed: left == right", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<Resource> = Resource::exhausted_in(text).into_iter().collect();
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_said_when_nothing_ran_out() {
        assert_eq!(advice(&BTreeSet::new()), None);
        let text = advice(&BTreeSet::from([Resource::Disk])).unwrap();
        assert!(text.contains("Disk space ran out"), "{text}");
    }
}
