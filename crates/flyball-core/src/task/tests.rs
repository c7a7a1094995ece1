//! Tables over the ring.
