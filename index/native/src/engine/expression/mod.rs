//! Expressions in the core: literals as words, programs of words and gates.

pub mod areas;
pub mod encode;
pub mod formula;
pub mod literal_word;
pub mod long_literals;
pub mod programs;
pub mod strings;
pub mod truth;
