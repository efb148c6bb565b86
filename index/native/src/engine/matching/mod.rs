//! From an event to its matches.

pub mod answer;
pub mod best;
pub mod collect;
pub mod event;
pub mod event_json;
pub mod filter;
pub mod gather;
pub mod json;
pub mod marks;
pub mod names;
pub mod scan;
pub mod search;
