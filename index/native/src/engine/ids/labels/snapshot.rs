//! Sets of labels in a snapshot: their texts by number. Use counts and labels are rebuilt.

use super::{LabelSet, Labels};
use crate::engine::snapshot::sections::{Malformed, Section, ensure};

impl Labels {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 1] {
        self.sets.sections()
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 1] {
        self.sets.sections_mut()
    }

    /// Count one use of a set that was read.
    ///
    /// # Errors
    /// If there is no such set.
    pub fn count(&mut self, set: LabelSet) -> Result<(), Malformed> {
        if let Some(number) = set.checked_sub(1) {
            let is_known = self.sets.is_known(u64::from(number));
            ensure(is_known, "an id has unknown labels")?;
            self.sets.retain(number);
        }
        Ok(())
    }

    /// Rebuild the tables, after all uses are counted.
    ///
    /// # Errors
    /// If a set is not used, or is there twice.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        self.sets.rebuild()?;
        for number in 0..self.sets.numbers() {
            if self.sets.is_known(u64::from(number)) {
                let is_text = !self.sets.text(number).is_empty();
                ensure(is_text, "a set of labels is empty")?;
                self.fill(number);
            }
        }
        Ok(())
    }
}
