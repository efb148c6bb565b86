//! A vector that never moves its items: it grows by a chunk, not by copying.

mod snapshot;

const BITS: u32 = 12;
const SIZE: usize = 1 << BITS;

/// A vector of chunks. Growing costs at most one chunk, whatever the length.
pub struct Chunked<T> {
    chunks: Vec<Box<[T]>>,
    len: usize,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Chunked {
            chunks: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Default> Chunked<T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Append an item.
    pub fn push(&mut self, value: T) {
        if self.len == self.chunks.len() << BITS {
            self.chunks.push((0..SIZE).map(|_| T::default()).collect());
        }
        self.chunks[self.len >> BITS][self.len & (SIZE - 1)] = value;
        self.len += 1;
    }

    /// Grow to at least this length, with default values.
    pub fn grow_to(&mut self, len: usize) {
        while self.chunks.len() << BITS < len {
            self.chunks.push((0..SIZE).map(|_| T::default()).collect());
        }
        self.len = self.len.max(len);
    }

    /// The item at an index.
    #[inline(always)]
    pub fn get(&self, at: u32) -> &T {
        &self.chunks[(at >> BITS) as usize][at as usize & (SIZE - 1)]
    }

    /// The item at an index, to change it.
    #[inline(always)]
    pub fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.chunks[(at >> BITS) as usize][at as usize & (SIZE - 1)]
    }

    /// All items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.iter())
            .take(self.len)
    }

    /// Memory in bytes, without what the values own.
    pub fn total_bytes(&self) -> usize {
        self.chunks.len() * SIZE * size_of::<T>() + self.chunks.capacity() * size_of::<Box<[T]>>()
    }
}

#[cfg(test)]
mod tests {
    use super::Chunked;

    #[test]
    fn what_is_pushed_is_there() {
        let mut vector = Chunked::default();
        for i in 0..10_000u32 {
            vector.push(i);
        }
        assert!((0..10_000).all(|i| *vector.get(i) == i));
        assert!(vector.iter().copied().eq(0..10_000));
        *vector.get_mut(9_999) = 7;
        vector.grow_to(20_000);
        assert_eq!(
            (*vector.get(9_999), *vector.get(19_999), vector.len()),
            (7, 0, 20_000)
        );
    }
}
