//! The matching engine: expressions in normal form in, ids out.

pub mod best;
pub mod core;
pub mod expression;
pub mod ids;
pub mod index;
pub mod invariants;
pub mod matching;
pub mod memory;
pub mod planning;
pub mod postings;
pub mod report;
pub mod snapshot;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
