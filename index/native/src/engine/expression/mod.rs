//! Expressions in the core: literals as words and numbers, programs of numbers and gates.

pub mod areas;
pub mod encode;
pub mod formula;
pub mod literal_ids;
pub mod literal_word;
pub mod long_literals;
pub mod programs;
pub mod strings;
pub mod truth;
