//! Chores of the project: `cargo xtask <chore>`.

mod bench;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("bench") => bench::run(),
        Some(other) => bail!("there is no chore `{other}`; there is: bench"),
        None => bail!("which chore? there is: bench"),
    }
}
