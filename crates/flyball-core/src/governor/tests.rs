//! Stories the governor must tell right: what each iteration does goes in, the outcome comes out.
//! No process, no clock, no file.

mod claims;
mod door;
mod endings;
mod limits;
mod resuming;
mod review;
mod story;
mod tasks;
