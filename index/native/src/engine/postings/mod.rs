//! Lists of postings, and the keys that lead to them.

pub mod grams;
pub mod keys;
pub mod lists;
pub mod node_table;
pub mod ranges;
