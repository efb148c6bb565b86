//! Selectivity in a snapshot: the statistics in use and the sampled events.

use super::{Column, SAMPLES, Selectivity};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Section for Selectivity {
    fn portions(&self) -> usize {
        1
    }

    fn store(&self, _: usize, out: &mut Vec<u8>) {
        (self.samples as u32, self.next).write(out);
        (self.columns.len() as u32).write(out);
        for column in &self.columns {
            column.values.write(out);
        }
        u8::from(self.statistics.is_some()).write(out);
        if let Some(statistics) = &self.statistics {
            statistics.write(out);
        }
    }

    fn restore(&mut self, _: usize, from: &mut Reader) -> Result<(), Malformed> {
        let (samples, next): (u32, u16) = Item::read(from)?;
        ensure(
            samples as usize <= SAMPLES && (next as usize) < SAMPLES,
            "there are too many samples",
        )?;
        (self.samples, self.next) = (samples as usize, next);
        for _ in 0..from.u32()? {
            let column = Column {
                values: Item::read(from)?,
            };
            ensure(
                column.values.len() <= self.samples,
                "a sample has two values",
            )?;
            self.columns.push(column);
        }
        if from.u8()? != 0 {
            self.statistics = Some(Item::read(from)?);
        }
        ensure(from.is_done(), "there are bytes after the statistics")
    }
}
