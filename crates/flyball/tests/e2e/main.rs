//! Real clients on the scripted model.
//!
//! `FLYBALL_E2E=goose,claude,codex` names the clients. They are installed from npm at pinned
//! versions (several hundred megabytes each); a client that cannot be installed fails the test. Each
//! is read by its adapter alone, then run by the built `flyball run` in every situation of
//! [`situations`]. All are tried before the test fails, and the table of what held is printed.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails loudly")]
#![expect(clippy::print_stderr, reason = "the table is for people")]
#![expect(clippy::disallowed_methods, reason = "real clients take real time")]

mod first_minutes;
mod scene;
mod session;
mod situations;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use flyball_testkit::clients::{Client, cache, client};

/// Something a client must do.
#[derive(Clone, Copy)]
struct Trial {
    /// A short name.
    name: &'static str,
    /// Clients it means nothing for.
    not_for: &'static [&'static str],
    attempt: fn(&Client, &Path),
}

impl Trial {
    /// A trial for every client.
    const fn new(name: &'static str, attempt: fn(&Client, &Path)) -> Self {
        Self { name, not_for: &[], attempt }
    }

    const fn but_for(self, not_for: &'static [&'static str]) -> Self {
        Self { not_for, ..self }
    }
}

#[test]
fn real_clients_are_read_and_governed() {
    let Ok(asked) = std::env::var("FLYBALL_E2E") else {
        eprintln!("FLYBALL_E2E names no client: nothing was asked");
        return;
    };
    // One trial alone, while working on it.
    let only = std::env::var("FLYBALL_E2E_ONLY").unwrap_or_default();
    let mut table = Vec::new();
    for name in asked.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let client = client(name).unwrap_or_else(|| panic!("FLYBALL_E2E: no client `{name}`"));
        let program = if client.package.is_empty() {
            PathBuf::from(env!("CARGO_BIN_EXE_flyball"))
        } else {
            client.install(&cache()).unwrap_or_else(|error| panic!("{error}"))
        };
        eprintln!("{name} {}: {}", client.version, program.display());
        table.extend(all_trials(client, &program, &only));
    }
    for (client, trial, held) in &table {
        eprintln!("{} {client}: {trial}", if *held { "held  " } else { "FAILED" });
    }
    assert!(!table.is_empty(), "FLYBALL_E2E_ONLY=`{only}` names no trial");
    assert!(table.iter().all(|(_, _, held)| *held), "not everything held; see above");
}

/// Every trial of a client. Waiting for a limit takes a minute and no processor: it goes beside.
fn all_trials(
    client: &'static Client,
    program: &Path,
    only: &str,
) -> Vec<(&'static str, &'static str, bool)> {
    let wanted = |trials: &[Trial]| -> Vec<Trial> {
        let asked = |trial: &&Trial| only.is_empty() || trial.name == only;
        let means = |trial: &&Trial| !trial.not_for.contains(&client.name);
        trials.iter().filter(asked).filter(means).copied().collect()
    };
    thread::scope(|scope| {
        let waiting = wanted(&situations::WAITING);
        let beside = scope.spawn(move || attempt_all(client, program, &waiting));
        let mut held = attempt_all(client, program, &wanted(&session::TRIALS));
        held.extend(attempt_all(client, program, &wanted(&situations::TRIALS)));
        held.extend(attempt_all(client, program, &wanted(&first_minutes::TRIALS)));
        held.extend(beside.join().expect("no panic outside of a trial"));
        held
    })
}

fn attempt_all(
    client: &'static Client,
    program: &Path,
    trials: &[Trial],
) -> Vec<(&'static str, &'static str, bool)> {
    let attempt = |trial: &Trial| {
        let (began, name) = (Instant::now(), trial.name);
        let held = catch_unwind(AssertUnwindSafe(|| (trial.attempt)(client, program))).is_ok();
        eprintln!("{}: {name}: {held} ({:.1} s)", client.name, began.elapsed().as_secs_f64());
        (client.name, name, held)
    };
    trials.iter().map(attempt).collect()
}
