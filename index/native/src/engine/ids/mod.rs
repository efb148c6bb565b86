//! Ids and their properties: slots, shared expressions, groups, labels, digests.

pub mod bands;
pub mod digest;
pub mod groups;
pub mod labels;
pub mod score;
pub mod shared_ids;
pub mod slots;
