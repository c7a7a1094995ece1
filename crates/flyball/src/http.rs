//! Servers on this machine: what stands before every one of them, whatever it serves.
//!
//! A page of another site, a name that was pointed at this machine, a program that guesses, a client
//! that never finishes its question: each is turned away before anything is routed. Requests are
//! answered only to those who know the token, on connections that are few and do not dawdle.

mod guard;
mod serve;
mod token;

#[cfg(feature = "mcp")]
pub(crate) use self::guard::Guard;
#[cfg(feature = "serve")]
pub(crate) use self::guard::{Tries, bearer, is_local, is_own_origin, name_in};
#[cfg(feature = "mcp")]
pub(crate) use self::serve::guarded;
#[cfg(feature = "serve")]
pub(crate) use self::serve::{Ends, SLOW, in_time};
pub(crate) use self::serve::{loopback, serve};
pub(crate) use self::token::Token;
