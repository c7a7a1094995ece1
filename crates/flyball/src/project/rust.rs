//! Rust: cargo, with nextest where the project is set up for it.

use super::{Look, Proposal};

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let manifest = look.read("Cargo.toml")?;
    let table: toml::Table = manifest.parse().unwrap_or_default();
    // Without it, cargo would leave out the members of a workspace that has a package at its root.
    let members = table.contains_key("workspace") && table.contains_key("package");
    let all = if members { " --workspace" } else { "" };
    let tests = if look.has(".config/nextest.toml") && look.programs.has("cargo-nextest") {
        Proposal::new("tests", &format!("cargo nextest run{all}"), ".config/nextest.toml")
    } else {
        Proposal::new("tests", &format!("cargo test{all}"), "Cargo.toml")
    };
    let lint = format!("cargo clippy{all} --all-targets -- -D warnings");
    Some(vec![
        tests,
        Proposal::new("lint", &lint, "Cargo.toml").with_program("cargo-clippy"),
        Proposal::new("build", &format!("cargo build{all}"), "Cargo.toml"),
    ])
}
