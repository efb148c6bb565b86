//! A vector of mostly default values: a chunk is allocated when the first other value is set in it.

mod snapshot;

const BITS: u32 = 12;
const SIZE: usize = 1 << BITS;

/// Values by index. Unset values cost nothing; setting one allocates at most one chunk.
pub struct Sparse<T> {
    chunks: Vec<Option<Box<[T; SIZE]>>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { chunks: Vec::new() }
    }
}

fn fresh<T: Copy + Default>() -> Box<[T; SIZE]> {
    let values = vec![T::default(); SIZE].into_boxed_slice();
    values
        .try_into()
        .unwrap_or_else(|_| unreachable!("the length is SIZE"))
}

impl<T: Copy + Default + PartialEq> Sparse<T> {
    /// The item at an index.
    #[inline(always)]
    pub fn get(&self, at: u32) -> T {
        match self.chunks.get((at >> BITS) as usize) {
            Some(Some(chunk)) => chunk[at as usize & (SIZE - 1)],
            _ => T::default(),
        }
    }

    /// Prefetch the item at an index.
    #[inline(always)]
    pub fn prefetch(&self, at: u32) {
        if let Some(Some(chunk)) = self.chunks.get((at >> BITS) as usize) {
            crate::engine::memory::arena::prefetch(&chunk[at as usize & (SIZE - 1)]);
        }
    }

    /// Set the item at an index.
    pub fn set(&mut self, at: u32, value: T) {
        let chunk = (at >> BITS) as usize;
        if value == T::default() && !matches!(self.chunks.get(chunk), Some(Some(_))) {
            return;
        }
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let values = self.chunks[chunk].get_or_insert_with(fresh);
        values[at as usize & (SIZE - 1)] = value;
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        self.chunks.iter().flatten().count() * SIZE * size_of::<T>()
            + self.chunks.capacity() * size_of::<Option<Box<[T; SIZE]>>>()
    }
}

#[cfg(test)]
mod tests {
    use super::Sparse;

    #[test]
    fn only_what_is_not_default_costs_memory() {
        let mut values = Sparse::default();
        values.set(1_000_000, 0u64);
        assert_eq!(values.total_bytes(), 0);
        values.set(1_000_000, 7);
        assert_eq!((values.get(1_000_000), values.get(999_999)), (7, 0));
        assert_eq!((values.get(0), values.get(u32::MAX)), (0, 0));
        assert!(values.total_bytes() < 40_000);
        values.set(1_000_000, 0);
        assert_eq!(values.get(1_000_000), 0);
    }
}
