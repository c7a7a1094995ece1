//! Servers on this machine: what stands before every one of them, whatever it serves.
//!
//! A page of another site, a name that was pointed at this machine, a program that guesses, a client
//! that never finishes its question: each is turned away before anything is routed. Requests are
//! answered only to those who know the token, on connections that are few and do not dawdle.

mod guard;
mod serve;
mod token;

pub(crate) use self::guard::Guard;
pub(crate) use self::serve::{guarded, loopback, serve};
pub(crate) use self::token::Token;
