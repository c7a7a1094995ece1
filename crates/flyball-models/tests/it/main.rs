//! Models asked over real connections: the scripted model, and servers that behave badly.

#[cfg(test)]
mod failures;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod server;
#[cfg(test)]
mod tools;
