//! Servers on this machine: what stands before every one of them, whatever it serves.
//!
//! A page of another site, a name that was pointed at this machine, a program that guesses, a client
//! that never finishes its question: each is turned away before anything is routed. Requests are
//! answered only to those who know the token, on connections that are few and do not dawdle.

// The page has doors of its own: without `mcp` nobody is let in by the token of a server alone.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "the guard of `mcp --http`"))]
mod guard;
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "the guard of `mcp --http`"))]
mod serve;
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "the token of `mcp --http`"))]
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
