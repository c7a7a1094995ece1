//! flyball as its user meets it: the real program in temporary repositories.

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod init;
#[cfg(test)]
mod world;
