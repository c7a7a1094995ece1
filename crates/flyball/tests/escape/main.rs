//! What a hostile agent tries, and what an honest one needs: every attempt is shown to go through
//! without what protects against it, and to be refused with it; as root and as an ordinary user.
//!
//! Where the system gives no namespaces the same tests look at what flyball says and does then.

#[cfg(test)]
mod back_doors;
#[cfg(test)]
mod fallbacks;
#[cfg(test)]
mod house;
#[cfg(test)]
mod human_doors;
#[cfg(test)]
mod outliving;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod state;
#[cfg(test)]
mod still_works;
