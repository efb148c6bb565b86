//! Which literals an expression is entered by, and the knowledge of the traffic to choose them.

pub mod pairs;
pub mod plan;
pub mod selectivity;
pub mod statistics;
pub mod tuning;
