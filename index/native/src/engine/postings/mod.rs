//! The lists that an event leads to: keys, ranges, postings.

pub mod keys;
pub mod lists;
pub mod node_table;
pub mod ranges;
