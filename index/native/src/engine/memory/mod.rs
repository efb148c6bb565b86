//! Memory that grows by chunks and never moves, and the write lock.

pub mod arena;
pub mod chunked;
pub mod resident;
pub mod sparse;
pub mod write_lock;
