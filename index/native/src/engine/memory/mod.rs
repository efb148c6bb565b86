//! Memory that grows by chunks and never moves, and the lock around it.

pub mod arena;
pub mod chunked;
pub mod sparse;
pub mod write_lock;
