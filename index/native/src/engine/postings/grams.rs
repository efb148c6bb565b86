//! Grams: pieces of a few bytes of the texts that an event's text must contain.
//!
//! ```text
//!   page contains '/sport/'        ──▶ gram (page, 4, "spor")         one of its pieces of 4 bytes
//!   page matches 'checkout\?id='   ──▶ gram (page, 8, "eckout?i")
//! ```
//!
//! An event looks up every piece of its text, in the lengths that the attribute has. A filter of
//! bits over the first three bytes passes over most of them: for few grams a text costs a nanosecond
//! a byte. Bits are set and never cleared, until the attribute has no grams at all.

const LENGTHS: [usize; 3] = [8, 4, 3];
const FILTER_BITS: u32 = 15;

/// The length of the grams of a text with this number of bytes, if it is long enough to have any.
pub fn gram_length(bytes: usize) -> Option<usize> {
    LENGTHS.into_iter().find(|&length| length <= bytes)
}

/// The bytes of a gram, at most eight, as a number.
pub fn gram_of(bytes: &[u8]) -> u64 {
    let mut gram = [0; 8];
    gram[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(gram)
}

/// The grams of an attribute.
#[derive(Default)]
pub(crate) struct Grams {
    /// How many there are of each length.
    counts: [u32; LENGTHS.len()],
    filter: Vec<u64>,
}

fn place(first: u32) -> (usize, u64) {
    let hash = (first & 0xff_ffff).wrapping_mul(0x9e37_79b1) >> (32 - FILTER_BITS);
    (hash as usize / 64, 1 << (hash % 64))
}

impl Grams {
    pub(crate) fn is_empty(&self) -> bool {
        self.counts == [0; LENGTHS.len()]
    }

    fn count(&mut self, length: u8) -> Option<&mut u32> {
        let at = LENGTHS
            .iter()
            .position(|&each| each == usize::from(length))?;
        self.counts.get_mut(at)
    }

    pub(crate) fn add(&mut self, length: u8, gram: u64) {
        if let Some(count) = self.count(length) {
            *count += 1;
        }
        self.filter.resize(1 << (FILTER_BITS - 6), 0);
        let (word, bit) = place(gram as u32);
        self.filter[word] |= bit;
    }

    pub(crate) fn remove(&mut self, length: u8) {
        if let Some(count) = self.count(length) {
            *count -= 1;
        }
        if self.is_empty() {
            self.filter = Vec::new();
        }
    }

    /// Calls `look` with the pieces of a text that may be grams.
    pub(crate) fn each(&self, text: &[u8], mut look: impl FnMut(u8, u64)) {
        if self.is_empty() {
            return;
        }
        for at in 0..text.len().saturating_sub(2) {
            let rest = &text[at..];
            let first = u32::from_le_bytes([rest[0], rest[1], rest[2], 0]);
            let (word, bit) = place(first);
            if self.filter[word] & bit == 0 {
                continue;
            }
            for (length, count) in LENGTHS.into_iter().zip(self.counts) {
                if count > 0 && length <= rest.len() {
                    look(length as u8, gram_of(&rest[..length]));
                }
            }
        }
    }

    pub(crate) fn total_bytes(&self) -> usize {
        self.filter.capacity() * 8
    }
}
