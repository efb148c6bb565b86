//! The postings whose guards hold: the inner loop of matching.
//!
//! ```text
//!   posting   guard │ guard │ target
//!   bare      target                    where there is no guard
//! ```
//!
//! A target is always written, and kept if the guards hold: a branch would be mispredicted at every
//! other posting. Each guard is one bit of a row (`truth.rs`), so there is nothing to decide by
//! operator, and both are checked at once.
//!
//! Tried and rejected: guards as whole literals of eight bytes, four at once with AVX2 (a posting
//! takes 24 bytes instead of 12, and most of the time goes to memory); up to four guards where they
//! decide, which spares the program (a million expressions: be-sparse 2 %, ads 1 % faster, be-dense
//! 10 % slower, since the lists are longer); a byte for 64 pages instead of
//! the bits that say which pages are marked (`marks.rs`: marking gets cheaper, reading the marks more
//! expensive).

use crate::engine::core::Target;
use crate::engine::matching::event::Event;

/// The numbers of a posting with guards.
pub const POSTING: usize = 3;

/// Append the targets of the postings of a block whose guards hold.
#[inline(always)]
pub fn scan(block: &[u32], event: &Event, targets: &mut Vec<Target>) {
    let (postings, _) = block.as_chunks::<POSTING>();
    targets.reserve(postings.len());
    // SAFETY: there is room for all postings behind the targets so far; what was kept is made part
    // of the vector.
    unsafe {
        let mut next = targets.as_mut_ptr().add(targets.len());
        for &[first, second, target] in postings {
            next.write(target);
            next = next.add(event.both(first, second) as usize);
        }
        targets.set_len(next.offset_from(targets.as_ptr()) as usize);
    }
}
