//! `OpenAI` chat completions, as `OpenAI` writes them and as everyone else does.

mod calls;
pub(crate) mod decode;
pub(crate) mod encode;
mod thoughts;
