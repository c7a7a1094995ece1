//! The deeds of flyball: everything that touches the world. Decisions are `flyball-core`'s.

pub mod gate;
