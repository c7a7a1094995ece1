//! Reads what test runners, compilers, linters and formatters print, as people print it: no flags,
//! no report files, colours or not.
//!
//! From the output of a command to what is wrong, in a few lines:
//!
//! ```
//! # #[cfg(feature = "read")]
//! # fn main() -> std::io::Result<()> {
//! let output = "tests/test_a.py F\n\
//!     =================================== FAILURES ===================================\n\
//!     ___________________________________ test_sum ___________________________________\n\
//!     >       assert 1 + 1 == 3\n\
//!     E       assert 2 == 3\n\n\
//!     tests/test_a.py:4: AssertionError\n\
//!     =========================== short test summary info ============================\n\
//!     FAILED tests/test_a.py::test_sum - assert 2 == 3\n\
//!     ============================== 1 failed in 0.02s ===============================\n";
//! let parsed = flyball_gates::read("pytest", Some(1), output.as_bytes())?;
//! let finding = &parsed.findings[0];
//! assert_eq!(finding.name.as_deref(), Some("tests/test_a.py::test_sum"));
//! assert_eq!(finding.place().as_deref(), Some("tests/test_a.py:4"));
//! assert_eq!(finding.message, "assert 2 == 3");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "read"))]
//! # fn main() {}
//! ```
//!
//! [`Parser`] does the same piece by piece while a command still runs. Memory is bounded whatever is
//! printed: lines, findings, messages and names all have limits, and what was left out is counted.
//! Nothing is ever started, read from disk or decided here: whether a check is green is what its exit
//! code says.
//!
//! [`Finding::identity`] says which findings of two readings are the same, [`Difference`] what changed
//! between them, and [`Executed`] which tests ran at all. [`Finding::locate`] makes a file a path in the
//! repository, for who can look whether it is there.
//!
//! Without the feature `read` only those types are left, and the standard library is not needed.
#![cfg_attr(not(feature = "read"), no_std)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod counts;
mod difference;
mod executed;
mod finding;
mod locate;

#[cfg(feature = "read")]
mod ansi;
#[cfg(feature = "read")]
mod bytes;
#[cfg(feature = "read")]
mod common;
#[cfg(feature = "read")]
mod exit;
#[cfg(feature = "read")]
mod hints;
#[cfg(feature = "read")]
mod kept;
#[cfg(feature = "read")]
mod lines;
#[cfg(feature = "read")]
mod merge;
#[cfg(feature = "read")]
mod owner;
#[cfg(feature = "read")]
mod panel;
#[cfg(feature = "read")]
mod parser;
#[cfg(feature = "read")]
mod passing;
#[cfg(feature = "read")]
mod place;
#[cfg(feature = "read")]
mod prefix;
#[cfg(feature = "read")]
mod reading;
#[cfg(feature = "read")]
mod reason;
#[cfg(feature = "read")]
mod recogniser;
#[cfg(feature = "read")]
mod report;
#[cfg(feature = "read")]
mod rounds;
#[cfg(feature = "read")]
mod skim;
#[cfg(feature = "read")]
mod stream;
#[cfg(feature = "read")]
mod tail;
#[cfg(feature = "read")]
mod text;
#[cfg(feature = "read")]
mod tool;
#[cfg(feature = "read")]
mod wants;
#[cfg(feature = "read")]
mod window;

pub use self::counts::Counts;
pub use self::difference::{Difference, Label};
pub use self::executed::{Executed, Fewer};
#[cfg(feature = "read")]
pub use self::exit::Exit;
pub use self::finding::{Finding, FindingKind};
pub use self::locate::Tree;
#[cfg(feature = "read")]
pub use self::parser::{Parsed, Parser, read};
