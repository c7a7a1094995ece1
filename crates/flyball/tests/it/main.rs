//! flyball against the real world: the real program, real processes, real git, a real journal.

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod gate_command;
#[cfg(test)]
mod gate_run;
#[cfg(test)]
mod gate_tamper;
#[cfg(test)]
mod home;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod hook_facts;
#[cfg(test)]
mod hook_limits;
#[cfg(test)]
mod hook_run;
#[cfg(test)]
mod hooks_install;
#[cfg(test)]
mod human;
#[cfg(test)]
mod init;
#[cfg(test)]
mod inspect;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_client;
#[cfg(test)]
mod mcp_guard;
#[cfg(test)]
mod mcp_http;
#[cfg(test)]
mod notify;
#[cfg(test)]
#[cfg(feature = "otel")]
mod otel;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod process;
#[cfg(test)]
mod pty;
#[cfg(test)]
mod report;
#[cfg(test)]
mod run;
#[cfg(test)]
mod scenario;
#[cfg(test)]
mod session;
#[cfg(test)]
mod stats;
#[cfg(test)]
mod status;
#[cfg(test)]
mod tasks_by_hand;
#[cfg(test)]
mod vault;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod window;
#[cfg(test)]
mod worktree;
#[cfg(test)]
mod world;
