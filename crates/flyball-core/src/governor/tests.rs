//! Stories the governor must tell right: what each iteration does goes in, the outcome comes out.
//! No process, no clock, no file.

mod claims;
mod door;
mod endings;
mod helping;
mod human;
mod limits;
mod moving;
mod rescuing;
mod resuming;
mod review;
mod starting;
mod story;
mod survivors;
mod tampering;
mod tasks;
