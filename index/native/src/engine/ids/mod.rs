//! Ids and their properties: slots, shared expressions, groups, digests.

pub mod bands;
pub mod digest;
pub mod groups;
pub mod score;
pub mod shared_ids;
pub mod slots;
