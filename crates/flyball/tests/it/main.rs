//! The shell against the real world: real processes, real git, a real journal.

#[cfg(test)]
mod journal;
#[cfg(test)]
mod process;
#[cfg(test)]
mod worktree;
