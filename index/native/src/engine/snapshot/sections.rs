//! The content of a snapshot: sections in portions, copied from memory.
//!
//! A section is written in portions that take about a millisecond each, which is the longest that
//! an update waits for the lock. Reading appends portion after portion. What follows from the rest
//! is not written: tables, use counts and free lists are rebuilt (`restore.rs`).

use rustc_hash::FxHashSet;
use std::fmt;
use std::hash::Hash;

/// The number of items in one portion.
pub const PORTION: usize = 1 << 15;

/// Why the content of a snapshot with a right checksum is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An error unless the condition holds.
#[inline(always)]
pub fn ensure(holds: bool, what: &'static str) -> Result<(), Malformed> {
    if holds { Ok(()) } else { Err(Malformed(what)) }
}

/// A section of a snapshot.
pub trait Section {
    /// The number of portions.
    fn portions(&self) -> usize;

    /// Append a portion to `out`.
    fn store(&self, portion: usize, out: &mut Vec<u8>);

    /// Read a portion. They come in order, the first into an empty section.
    ///
    /// # Errors
    /// If the bytes are not valid.
    fn restore(&mut self, portion: usize, from: &mut Reader) -> Result<(), Malformed>;
}

/// An item of a section.
pub trait Item: Sized {
    fn write(&self, out: &mut Vec<u8>);

    /// # Errors
    /// If the bytes are not valid.
    fn read(from: &mut Reader) -> Result<Self, Malformed>;
}

/// Reads a portion.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Read these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Whether all bytes are read.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// If there are fewer; likewise below.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(Malformed("a portion is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// All remaining bytes.
    pub fn take_all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        Ok(self.take(N)?.try_into().unwrap_or([0; N]))
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Bytes after their length.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    /// Text after its length.
    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("a text is not UTF-8"))
    }
}

/// Append the length of bytes, then the bytes.
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    (bytes.len() as u32).write(out);
    out.extend_from_slice(bytes);
}

macro_rules! number_items {
    ($($kind:ty),*) => {$(
        impl Item for $kind {
            #[inline]
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn read(from: &mut Reader) -> Result<Self, Malformed> {
                Ok(<$kind>::from_le_bytes(from.array()?))
            }
        }
    )*};
}

number_items!(u8, u16, u32, u64, i64, f32, f64);

impl<A: Item, B: Item> Item for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// A set in one portion, since it may change while other sections are written.
impl<K: Item + Eq + Hash> Section for FxHashSet<K> {
    fn portions(&self) -> usize {
        1
    }

    fn store(&self, _: usize, out: &mut Vec<u8>) {
        for key in self {
            key.write(out);
        }
    }

    fn restore(&mut self, _: usize, from: &mut Reader) -> Result<(), Malformed> {
        while !from.is_done() {
            self.insert(K::read(from)?);
        }
        Ok(())
    }
}

/// A vector inside an item or a portion, after its length.
impl<T: Item> Item for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        for item in self {
            item.write(out);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let len = from.u32()?;
        (0..len).map(|_| T::read(from)).collect()
    }
}
