//! What to do about what was found.

use alloc::string::String;
use alloc::vec::Vec;

use super::GateResult;

/// What to do about what was found, most useful first.
pub fn suggestions(_result: &GateResult) -> Vec<String> {
    Vec::new()
}
