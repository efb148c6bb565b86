//! An arena in a snapshot: the free lists, then the allocated words of its chunks.

use super::{Arena, CHUNK_BITS, CHUNK_BYTES, CHUNK_WORDS, Chunk, EXACT, MASK, Ref, class_of};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Section for Arena {
    fn portions(&self) -> usize {
        1 + self.chunks.len()
    }

    fn store(&self, portion: usize, out: &mut Vec<u8>) {
        let Some(chunk) = portion.checked_sub(1) else {
            (self.next as u64).write(out);
            self.free.write(out);
            return;
        };
        let last = chunk + 1 == self.chunks.len();
        let words = if last { self.next } else { CHUNK_WORDS };
        // SAFETY: a chunk has this many words, all of them set, and any byte of a word may be read.
        out.extend_from_slice(unsafe {
            std::slice::from_raw_parts(self.chunks[chunk].cast::<u8>(), words * 8)
        });
    }

    fn restore(&mut self, portion: usize, from: &mut Reader) -> Result<(), Malformed> {
        if portion == 0 {
            let next = from.u64()?;
            ensure(
                next <= CHUNK_WORDS as u64,
                "an arena ends behind its last chunk",
            )?;
            self.next = next as usize;
            self.free = Vec::read(from)?;
            return Ok(());
        }
        let bytes = from.take_all();
        ensure(bytes.len() <= CHUNK_BYTES, "a chunk is too large")?;
        let Chunk(chunk) = *Chunk::make(self.huge_pages);
        // SAFETY: the chunk has room for them, and no other value has it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), chunk.cast(), bytes.len()) };
        self.chunks.push(chunk);
        Ok(())
    }
}

/// The owners of an arena's words, to check that no two overlap.
pub struct Claims {
    taken: Vec<u64>,
    used: usize,
}

impl Claims {
    /// Claim what `alloc` returned for this number of words.
    ///
    /// # Errors
    /// If it is outside the arena, or overlaps with another claim.
    pub fn claim(&mut self, place: Ref, words: usize) -> Result<(), Malformed> {
        let size = self.claim_free(place, words)?;
        self.used += size;
        Ok(())
    }

    fn claim_free(&mut self, place: Ref, words: usize) -> Result<usize, Malformed> {
        let (_, size) = class_of(words.clamp(1, CHUNK_WORDS));
        let first = place as usize;
        let fits =
            (place & MASK) as usize + size <= CHUNK_WORDS && first + size <= self.taken.len() * 64;
        ensure(
            words > 0 && words <= size && fits,
            "a place is outside its arena",
        )?;
        let mut at = first;
        while at < first + size {
            let bits = (first + size - at).min(64 - at % 64);
            let mask = (u64::MAX >> (64 - bits)) << (at % 64);
            ensure(self.taken[at / 64] & mask == 0, "two owners share memory")?;
            self.taken[at / 64] |= mask;
            at += bits;
        }
        Ok(size)
    }
}

impl Arena {
    /// Whether this number of words can be read at a position.
    pub fn has(&self, place: Ref, words: usize) -> bool {
        (place >> CHUNK_BITS) < self.chunks.len() as u32
            && (place & MASK) as usize + words <= CHUNK_WORDS
    }

    /// Start with the free lists as the first claims.
    ///
    /// # Errors
    /// If they overlap.
    pub fn claims(&self) -> Result<Claims, Malformed> {
        ensure(
            self.chunks.len() <= 1 << (32 - CHUNK_BITS),
            "an arena is too large",
        )?;
        ensure(
            !self.chunks.is_empty() || self.next == CHUNK_WORDS,
            "an arena has no chunks and room",
        )?;
        let mut claims = Claims {
            taken: vec![0; self.reach() / 64],
            used: 0,
        };
        for (class, places) in self.free.iter().enumerate() {
            let size = size_of_class(class);
            for &place in places {
                ensure(size > 0, "free memory has no size")?;
                claims.claim_free(place, size)?;
            }
        }
        Ok(claims)
    }

    /// Call this when all allocated words have been claimed.
    pub fn settle(&mut self, claims: &Claims) {
        self.used = claims.used;
    }
}

/// The words of a class, 0 if there is no such class.
fn size_of_class(class: usize) -> usize {
    if class <= EXACT {
        return class;
    }
    let (step, quarters) = ((class - EXACT) / 8, (class - EXACT) % 8 + 3);
    if !(3..=7).contains(&quarters) || step > CHUNK_BITS as usize {
        return 0;
    }
    (quarters + 1) << step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_sizes_that_they_hand_out() {
        for words in 1..=CHUNK_WORDS {
            let (class, size) = class_of(words);
            assert_eq!(size_of_class(class), size, "{words}");
        }
    }

    #[test]
    fn a_place_is_claimed_once_and_inside_its_chunk() {
        let mut arena = Arena::new();
        let (a, b) = (arena.alloc(100), arena.alloc(63));
        arena.free(a, 100);
        let mut claims = arena.claims().unwrap();
        assert_eq!(
            claims.claim(a, 1),
            Err(Malformed("two owners share memory"))
        );
        assert_eq!(claims.claim(b, 63), Ok(()));
        assert!(claims.claim(b + 62, 5).is_err());
        assert!(claims.claim(MASK, 2).is_err(), "over the end of the chunk");
        assert!(claims.claim(u32::MAX, 1).is_err());
        assert!(claims.claim(b + 100, usize::MAX).is_err());
        assert!(claims.claim(b + 100, 0).is_err());
    }
}
