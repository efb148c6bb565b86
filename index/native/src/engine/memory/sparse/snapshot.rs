//! A sparse vector in a snapshot: the values of each chunk, up to the last that is not default.

use super::{SIZE, Sparse};
use crate::engine::snapshot::sections::{Item, Malformed, PORTION, Reader, Section, ensure};

const CHUNKS: usize = PORTION / SIZE;

impl<T: Item + Copy + Default + PartialEq> Section for Sparse<T> {
    fn portions(&self) -> usize {
        self.chunks.len().div_ceil(CHUNKS)
    }

    fn store(&self, portion: usize, out: &mut Vec<u8>) {
        for chunk in self.chunks.iter().skip(portion * CHUNKS).take(CHUNKS) {
            let values = chunk.as_ref().map_or(&[][..], |values| &values[..]);
            let last = values.iter().rposition(|&value| value != T::default());
            let values = &values[..last.map_or(0, |last| last + 1)];
            (values.len() as u16).write(out);
            for value in values {
                value.write(out);
            }
        }
    }

    fn restore(&mut self, _: usize, from: &mut Reader) -> Result<(), Malformed> {
        while !from.is_done() {
            let len = usize::from(u16::read(from)?);
            ensure(len <= SIZE, "a chunk of values is too long")?;
            if len == 0 {
                self.chunks.push(None);
                continue;
            }
            let mut values = super::fresh();
            for value in &mut values[..len] {
                *value = T::read(from)?;
            }
            self.chunks.push(Some(values));
        }
        Ok(())
    }
}
