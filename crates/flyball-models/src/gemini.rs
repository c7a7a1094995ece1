//! Gemini: how a request is written, and how its stream is read.

pub(crate) mod decode;
pub(crate) mod encode;
