//! Expressions as the core keeps them: literals in words, programs with their gates.

pub mod encode;
pub mod formula;
pub mod literal_word;
pub mod long_literals;
pub mod programs;
pub mod set_bits;
pub mod strings;
