//! The iteration ring (B): may the next iteration start?
