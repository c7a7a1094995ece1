//! The `flyball` program.
fn main() {}
