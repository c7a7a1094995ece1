//! `flyball watch`: the runs of this machine in one terminal, at two levels: all of them, and one.
//!
//! [`Reader`] keeps what the journal says ([`Board`]), [`State`] is what the person looks at and types,
//! [`draw()`] puts both on a frame. Nothing in here writes to the journal or to the terminal, and no
//! character of an agent's text can drive it: every cell is looked at before it is sent.

mod board;
mod boxes;
mod draw;
mod fit;
mod iteration;
mod key;
mod list;
mod matrix;
mod row;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod tint;

pub use self::board::{Board, Ended, Reader};
pub use self::draw::{Scene, draw};
pub use self::key::Order;
pub use self::row::{Row, RowMark, Standing};
pub use self::state::{Act, State};
pub use self::tint::Look;
