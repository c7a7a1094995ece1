//! flyball against the real world: the real program, real processes, real git, a real journal.

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod gate_run;
#[cfg(test)]
mod init;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_client;
#[cfg(test)]
mod mcp_guard;
#[cfg(test)]
mod process;
#[cfg(test)]
mod world;
#[cfg(test)]
mod worktree;
