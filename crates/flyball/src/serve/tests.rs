//! The window without a socket: every route, every way to be turned away, every size.

mod acts;
mod hostile;
mod house;
mod live;
mod metrics;
mod pages;
mod reading;
mod security;
mod standing;
mod weakened;
