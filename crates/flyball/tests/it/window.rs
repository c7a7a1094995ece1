//! The window over HTTP, as a browser speaks to it, on runs that are at work: every act, two people at
//! once, a server that comes back, and an agent that tries to act on its own run.

mod acts;
mod browser;
mod guarded;
mod sessions;
mod stream;
