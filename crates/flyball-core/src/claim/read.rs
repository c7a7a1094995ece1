//! Reading claims.
use super::ClaimReading;
/// Plain.
pub fn read_plain(_text: &str, _prompt: &str) -> ClaimReading { ClaimReading::default() }
/// Structured.
pub fn read_structured(_text: &str) -> ClaimReading { ClaimReading::default() }
