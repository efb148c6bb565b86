//! The matching engine: expressions in normal form in, ids out.

pub mod answer;
pub mod arena;
pub mod check;
pub mod chunked;
pub mod collect;
pub mod core;
pub mod digest;
pub mod encode;
pub mod event;
pub mod event_json;
pub mod filter;
pub mod formula;
pub mod gather;
pub mod groups;
pub mod hold;
pub mod index;
pub mod invariants;
pub mod keys;
pub mod layout;
pub mod lists;
pub mod long_literals;
pub mod marks;
pub mod node_table;
pub mod pairs;
pub mod plan;
pub mod programs;
pub mod ranges;
pub mod report;
pub mod restore;
pub mod scan;
pub mod search;
pub mod selectivity;
pub mod set_bits;
pub mod sharers;
pub mod slots;
pub mod snapshot;
pub mod sparse;
pub mod statistics;
pub mod stored;
pub mod strings;
pub mod tuning;
pub mod used_pairs;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
