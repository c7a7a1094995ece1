//! The shell against the real world: real processes, real git, real SQLite.

#[cfg(test)]
mod process;
#[cfg(test)]
mod worktree;
