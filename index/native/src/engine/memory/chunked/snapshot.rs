//! A vector in a snapshot: its items in order.

use super::Chunked;
use crate::engine::snapshot::sections::{Item, Malformed, PORTION, Reader, Section};

impl<T: Item + Default> Section for Chunked<T> {
    fn portions(&self) -> usize {
        self.len.div_ceil(PORTION)
    }

    fn store(&self, portion: usize, out: &mut Vec<u8>) {
        let first = portion * PORTION;
        for at in first..(first + PORTION).min(self.len) {
            self.get(at as u32).write(out);
        }
    }

    fn restore(&mut self, _: usize, from: &mut Reader) -> Result<(), Malformed> {
        while !from.is_done() {
            self.push(T::read(from)?);
        }
        Ok(())
    }
}
