//! The engines that Copse is compared with, in one library, so that all are timed in one process.
//!
//! * `flat`: every expression, one after the other, as fast as a scan can be;
//! * `papers`: the engines of the papers, as the papers say;
//! * `peer`: the crate `a-tree`; `quamina`: the crate of that name.
//!
//! All read the JSON form of a checked tree (`tree`) and events as JSON objects (`event`).

mod allocated;
#[cfg(feature = "python")]
mod clock;
pub mod event;
pub mod flat;
pub mod papers;
#[cfg(feature = "peers")]
pub mod peer;
mod program;
#[cfg(feature = "python")]
mod py;
#[cfg(feature = "peers")]
pub mod quamina;
pub mod tree;

#[global_allocator]
static ALLOCATOR: allocated::Counting = allocated::Counting;

/// Bytes that this library has allocated.
pub fn bytes_held() -> usize {
    allocated::now()
}
