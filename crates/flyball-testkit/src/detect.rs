//! The call ring played on recorded runs: when it would have spoken, and whether it would have been
//! right.

mod label;
mod play;
mod recording;
mod table;
mod vector;

pub use self::play::{Firings, Guards, firings};
pub use self::recording::{Recording, RecordingError, read, recordings};
pub use self::table::{Row, Table};
pub use self::vector::{Miss, VectorReport, play_vectors};
