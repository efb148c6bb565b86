//! An allocator of words: allocates by size class and reuses freed space.
//!
//! ```text
//!   Ref = 32 bits      chunk ─┬───────────┬──── word in chunk
//!                             ▼           ▼
//!   chunks   [ 2 MiB, aligned, huge page ][ 2 MiB ][ 2 MiB ] …
//!   free     by size class: a list of Refs that were given back
//! ```
//!
//! A `Ref` counts words of eight bytes, so 32 bits reach 32 GiB. Growing takes one more chunk and
//! moves nothing: no update ever waits for a table to be copied. Huge pages save most TLB misses,
//! since a match reads this memory at random.

mod snapshot;

pub use snapshot::Claims;

use std::alloc::{Layout, handle_alloc_error};
use std::ptr;

const CHUNK_BITS: u32 = 18;
const CHUNK_WORDS: usize = 1 << CHUNK_BITS;
const CHUNK_BYTES: usize = CHUNK_WORDS * 8;
const MASK: u32 = (CHUNK_WORDS - 1) as u32;
/// The smallest page of any system.
const PAGE_BYTES: usize = 4096;

/// Sizes up to this many words have a class each; above, there are four classes per doubling.
const EXACT: usize = 64;

/// A position in an arena, in words.
pub type Ref = u32;

/// No position.
pub const NOWHERE: Ref = u32::MAX;

/// An arena of words.
pub struct Arena {
    chunks: Vec<*mut u64>,
    /// The first word of the last chunk that was never allocated.
    next: usize,
    free: Vec<Vec<Ref>>,
    spare: Option<Box<Chunk>>,
    /// Allocated words, rounded up to their size classes.
    used: usize,
    huge_pages: bool,
}

// SAFETY: the chunks are owned, and reached only through `&self` and `&mut self`.
unsafe impl Send for Arena {}
// SAFETY: `&self` only reads.
unsafe impl Sync for Arena {}

/// The size class of a number of words, and the words of that class.
fn class_of(words: usize) -> (usize, usize) {
    if words <= EXACT {
        return (words, words);
    }
    let step = (usize::BITS - 1 - words.leading_zeros()) - 2; // a quarter of the power below
    let quarters = (words - 1) >> step; // 4..=7, rounded down; the class is one above
    let size = (quarters + 1) << step;
    (EXACT + ((step as usize) * 8) + quarters - 3, size)
}

/// Memory that is not yet part of an arena.
pub struct Chunk(*mut u64);

// SAFETY: no other value has the pointer.
unsafe impl Send for Chunk {}
// SAFETY: nothing can be done with a reference to it.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// A chunk of zeros, in a huge page if asked for and available.
    ///
    /// It comes from the system and not from the allocator: what the allocator hands out was often
    /// touched before, and memory that is mapped already stays in small pages.
    pub fn make(huge_page: bool) -> Box<Chunk> {
        // Chunks that are mapped one after the other are usually neighbours, so the second try is
        // needed only now and then.
        let chunk = map(CHUNK_BYTES);
        let chunk = if chunk.addr().is_multiple_of(CHUNK_BYTES) {
            chunk
        } else {
            unmap(chunk, CHUNK_BYTES);
            let wide = map(2 * CHUNK_BYTES);
            let before = wide.align_offset(CHUNK_BYTES);
            let chunk = wide.wrapping_add(before);
            unmap(wide, before);
            unmap(chunk.wrapping_add(CHUNK_BYTES), CHUNK_BYTES - before);
            chunk
        };
        advise(chunk, huge_page);
        // Touch every page now: whoever uses the chunk may hold the lock.
        for page in (0..CHUNK_BYTES).step_by(PAGE_BYTES) {
            // SAFETY: the page lies in the chunk.
            unsafe { chunk.add(page).write_volatile(0) };
        }
        Box::new(Chunk(chunk.cast()))
    }
}

/// Map memory of zeros.
fn map(bytes: usize) -> *mut u8 {
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping, at a place that the system chooses.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        handle_alloc_error(Layout::new::<[u64; CHUNK_WORDS]>());
    }
    start.cast()
}

/// Give mapped memory back to the system.
fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: `map` returned it, and nobody uses it any more.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Arena {
            chunks: Vec::new(),
            next: CHUNK_WORDS,
            free: Vec::new(),
            spare: None,
            used: 0,
            huge_pages: true,
        }
    }

    /// Set whether new chunks use huge pages.
    pub fn use_huge_pages(&mut self, huge_pages: bool) {
        self.huge_pages = huge_pages;
    }

    /// Allocate words, at most one chunk. The content is undefined.
    ///
    /// # Panics
    /// If the size is more than a chunk, or the arena would exceed 32 GiB.
    pub fn alloc(&mut self, words: usize) -> Ref {
        let (class, size) = class_of(words);
        assert!(
            size <= CHUNK_WORDS,
            "{words} words are more than a chunk has"
        );
        self.used += size;
        if let Some(place) = self.free.get_mut(class).and_then(Vec::pop) {
            return place;
        }
        if self.next + size > CHUNK_WORDS {
            self.grow();
        }
        let place = ((self.chunks.len() - 1) << CHUNK_BITS) + self.next;
        self.next += size;
        u32::try_from(place).expect("an arena holds at most 32 GiB")
    }

    fn grow(&mut self) {
        let make = || Chunk::make(self.huge_pages);
        let Chunk(start) = *self.spare.take().unwrap_or_else(make);
        self.chunks.push(start);
        self.next = 0;
    }

    /// Whether the next chunk will be needed soon and has not been made.
    pub fn wants_spare(&self) -> bool {
        self.spare.is_none() && self.next > CHUNK_WORDS / 4 * 3
    }

    /// Provide the next chunk. The system needs time to make one, so the writer makes it before it
    /// takes the lock.
    pub fn give_spare(&mut self, spare: Box<Chunk>) {
        self.spare = Some(spare);
    }

    /// Free what `alloc` returned for this number of words.
    pub fn free(&mut self, place: Ref, words: usize) {
        let (class, size) = class_of(words);
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(place);
        self.used -= size;
    }

    /// The words at a place.
    #[inline(always)]
    pub fn words(&self, place: Ref, len: usize) -> &[u64] {
        debug_assert!((place & MASK) as usize + len <= CHUNK_WORDS);
        // SAFETY: places come from `alloc`, which never crosses a chunk's end.
        unsafe { std::slice::from_raw_parts(self.at(place), len) }
    }

    /// The words at a place, to change them.
    #[inline(always)]
    pub fn words_mut(&mut self, place: Ref, len: usize) -> &mut [u64] {
        debug_assert!((place & MASK) as usize + len <= CHUNK_WORDS);
        // SAFETY: as in `words`, and `&mut self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.at(place), len) }
    }

    /// The halves of the words at a place, from the first on.
    #[inline(always)]
    pub fn halves(&self, place: Ref, len: usize) -> &[u32] {
        debug_assert!((place & MASK) as usize + len.div_ceil(2) <= CHUNK_WORDS);
        // SAFETY: as in `words`; a word is two halves, whose alignment is smaller.
        unsafe { std::slice::from_raw_parts(self.at(place).cast(), len) }
    }

    /// The halves of the words at a place, to change them.
    #[inline(always)]
    pub fn halves_mut(&mut self, place: Ref, len: usize) -> &mut [u32] {
        debug_assert!((place & MASK) as usize + len.div_ceil(2) <= CHUNK_WORDS);
        // SAFETY: as in `halves`, and `&mut self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.at(place).cast(), len) }
    }

    /// Copy words from one place to another; the two do not overlap.
    pub fn copy(&mut self, from: Ref, to: Ref, len: usize) {
        // SAFETY: as in `words`; two places that were handed out never overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.at(from), self.at(to), len) };
    }

    #[inline(always)]
    fn at(&self, place: Ref) -> *mut u64 {
        debug_assert!(((place >> CHUNK_BITS) as usize) < self.chunks.len());
        // SAFETY: a place that was handed out lies in a chunk that is there.
        unsafe {
            self.chunks
                .get_unchecked((place >> CHUNK_BITS) as usize)
                .add((place & MASK) as usize)
        }
    }

    /// Prefetch a position, which may be invalid.
    #[inline(always)]
    pub fn prefetch(&self, place: Ref) {
        if let Some(chunk) = self.chunks.get((place >> CHUNK_BITS) as usize) {
            prefetch(chunk.wrapping_add((place & MASK) as usize));
        }
    }

    /// Prefetch a position and the cache lines behind it.
    #[inline(always)]
    pub fn prefetch_lines(&self, place: Ref, lines: usize) {
        if let Some(chunk) = self.chunks.get((place >> CHUNK_BITS) as usize) {
            let place = chunk.wrapping_add((place & MASK) as usize);
            for line in 0..lines {
                prefetch(place.wrapping_add(8 * line));
            }
        }
    }

    /// The upper bound of all positions.
    pub fn reach(&self) -> usize {
        self.chunks.len() << CHUNK_BITS
    }

    /// Allocated memory in bytes.
    pub fn used_bytes(&self) -> usize {
        self.used * 8
    }

    /// Memory in bytes: chunks and the free lists.
    pub fn total_bytes(&self) -> usize {
        let lists: usize = self.free.iter().map(|list| list.capacity() * 4).sum();
        self.chunks.len() * CHUNK_BYTES + lists
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let spare = self.spare.take().map(|spare| spare.0);
        for &chunk in self.chunks.iter().chain(&spare) {
            unmap(chunk.cast(), CHUNK_BYTES);
        }
    }
}

/// Prefetch the cache line at an address, which may be invalid.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(target_os = "linux")]
fn advise(chunk: *mut u8, huge_page: bool) {
    let advice = if huge_page {
        libc::MADV_HUGEPAGE
    } else {
        libc::MADV_NOHUGEPAGE
    };
    // SAFETY: the range is ours; the advice changes nothing but speed, so its result is not asked.
    unsafe { libc::madvise(chunk.cast(), CHUNK_BYTES, advice) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: bool) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_asked_for_and_waste_little() {
        let mut last = (0, 0);
        for words in 1..CHUNK_WORDS {
            let (class, size) = class_of(words);
            assert!(size >= words);
            assert!(size <= words + words / 4 + 1, "{words} -> {size}");
            assert!((class, size) >= last, "classes ascend with sizes");
            if class == last.0 {
                assert_eq!(size, last.1, "one size a class, at {words}");
            }
            last = (class, size);
        }
    }

    #[test]
    fn chunks_are_aligned_zeros() {
        let chunks: Vec<_> = (0..5).map(|n| Chunk::make(n % 2 == 0)).collect();
        for chunk in &chunks {
            assert!(chunk.0.addr().is_multiple_of(CHUNK_BYTES));
            // SAFETY: a chunk has this many words.
            let words = unsafe { std::slice::from_raw_parts(chunk.0, CHUNK_WORDS) };
            assert!(words.iter().all(|&word| word == 0));
        }
        for chunk in chunks {
            unmap(chunk.0.cast(), CHUNK_BYTES);
        }
    }

    #[test]
    fn what_is_given_back_is_given_out_again() {
        let mut arena = Arena::new();
        let a = arena.alloc(7);
        arena
            .words_mut(a, 7)
            .copy_from_slice(&[1, 2, 3, 4, 5, 6, 7]);
        let b = arena.alloc(100_000);
        let c = arena.alloc(200_000);
        assert_eq!(arena.words(a, 7)[6], 7);
        arena.free(b, 100_000);
        assert_eq!(arena.alloc(99_999), b);
        assert_ne!(b, c);
        assert!(arena.total_bytes() >= arena.used_bytes());
    }
}
