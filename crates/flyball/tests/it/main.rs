//! The shell against the real world: real processes, real git, real SQLite.
#![expect(missing_docs, reason = "tests are sentences")]

mod process;
