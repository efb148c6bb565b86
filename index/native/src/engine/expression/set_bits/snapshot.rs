//! Set bits in a snapshot: the literal of each. The values that mark them follow from the literals.

use super::SetBits;
use crate::engine::snapshot::sections::{Malformed, Section, ensure};

impl SetBits {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 1] {
        [&self.literals]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 1] {
        [&mut self.literals]
    }

    /// Set bits to read a snapshot into.
    pub fn unread() -> Self {
        SetBits {
            literals: Default::default(),
            ..Default::default()
        }
    }

    /// The number of bits, in use or free.
    pub fn numbers(&self) -> usize {
        self.literals.len()
    }

    /// Restore the bit of a set.
    ///
    /// # Errors
    /// If there is no such bit, or it belongs to another set.
    pub fn restore(
        &mut self,
        bit: u32,
        attribute: u32,
        values: &[u64],
        literal: u32,
    ) -> Result<(), Malformed> {
        let is_its = (bit as usize) < self.numbers() && self.literal(bit) == literal;
        ensure(is_its, "a set has the bit of another set")?;
        self.join(bit, attribute, values);
        Ok(())
    }

    /// Set the free bits.
    ///
    /// # Errors
    /// If the bit that is always marked is missing.
    pub fn rebuild(&mut self, free: Vec<u32>) -> Result<(), Malformed> {
        ensure(
            !self.literals.is_empty(),
            "the bit that is always marked is missing",
        )?;
        self.free = free;
        Ok(())
    }
}
