//! Gates: flyball's own checks on the work, and what their output says.

pub mod parse;
