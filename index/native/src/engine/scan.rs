//! Postings whose first guard an event meets: the loop that a match spends its time in.
//!
//! ```text
//!   posting   guard │ guard │ target
//! ```
//!
//! What is left of a posting is written in any case and kept if its first guard holds: a branch
//! would be mispredicted at every other posting. The first guard is the rarer one and turns most
//! away (three quarters, on ads), so the second is checked in a loop of its own over what is left
//! (`search.rs`). With AVX2 four postings are checked at once; guards that are not in a word
//! (`check.rs`) are rare, and their four go one by one.
//!
//! Tried and not kept: both guards in this loop (383,000 cycles an event on ads, 252,000 like this;
//! of a whole match that is within the noise of the machine it was measured on); the second only
//! where the first holds, with a branch (which costs more than the check); a byte for 64 pages in
//! place of the bits that say which pages are marked (`marks.rs`: marking gets cheaper, reading the
//! marks dearer).

use super::check::{self, Check};
use super::event::Event;
use super::long_literals::LongLiterals;

/// How many words a posting has.
pub const POSTING: usize = 3;

/// A posting whose first guard holds: its second guard, and its target.
pub type Half = (Check, u64);

/// Append what is left of those postings whose first guards hold.
#[inline(always)]
pub fn scan(block: &[u64], event: &Event, long: &LongLiterals, wide: bool, found: &mut Vec<Half>) {
    let postings = block.len() / POSTING;
    found.reserve(postings);
    let kept = found.len();
    // SAFETY: there is room for all postings behind those that are kept; `wide` says that the
    // processor has AVX2; what was written is made part of the vector.
    unsafe {
        let out = found.as_mut_ptr().add(kept);
        #[cfg(target_arch = "x86_64")]
        let more = if wide {
            by_four::scan(block, event, long, out)
        } else {
            one_by_one(block, event, long, out)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let more = one_by_one(block, event, long, out);
        found.set_len(kept + more);
    }
    let _ = wide;
}

/// Whether the processor checks four postings at once.
pub fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes what is left to `out`, which has room for all; how many there are.
///
/// # Safety
/// `out` has room for as many as the block has postings.
#[inline(always)]
unsafe fn one_by_one(block: &[u64], event: &Event, long: &LongLiterals, out: *mut Half) -> usize {
    let mut kept = 0;
    for posting in block.chunks_exact(POSTING) {
        // SAFETY: no more are kept than were looked at.
        unsafe { out.add(kept).write((posting[1], posting[2])) };
        kept += usize::from(check::holds(posting[0], event, long));
    }
    kept
}

#[cfg(target_arch = "x86_64")]
mod by_four {
    use super::{Event, Half, LongLiterals, POSTING, check, one_by_one};
    use std::arch::x86_64::*;

    /// How many words four postings have.
    const FOUR: usize = 4 * POSTING;
    /// Which byte goes where, so that the first of every lane fills it.
    const FIRST: [i64; 2] = [0, 0x0808_0808_0808_0808];

    /// As `one_by_one`.
    ///
    /// # Safety
    /// As `one_by_one`; and the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn scan(block: &[u64], event: &Event, long: &LongLiterals, out: *mut Half) -> usize {
        let mut kept = 0;
        let mut fours = block.chunks_exact(FOUR);
        for four in &mut fours {
            // SAFETY: the four have twelve words; no more are kept than were looked at.
            unsafe {
                let Some(hold) = holding(four, event) else {
                    kept += one_by_one(four, event, long, out.add(kept));
                    continue;
                };
                out.add(kept).write((four[1], four[2]));
                kept += hold & 1;
                out.add(kept).write((four[4], four[5]));
                kept += hold >> 3 & 1;
                out.add(kept).write((four[7], four[8]));
                kept += hold >> 2 & 1;
                out.add(kept).write((four[10], four[11]));
                kept += hold >> 1 & 1;
            }
        }
        let rest = fours.remainder();
        if rest.is_empty() {
            return kept;
        }
        // One more four, filled up with words that ask for the first attribute.
        let mut four = [0; FOUR];
        four[..rest.len()].copy_from_slice(rest);
        // SAFETY: as above; of the last ones only those are written that there are.
        unsafe {
            let Some(hold) = holding(&four, event) else {
                return kept + one_by_one(rest, event, long, out.add(kept));
            };
            out.add(kept).write((four[1], four[2]));
            kept += hold & 1;
            if rest.len() > POSTING {
                out.add(kept).write((four[4], four[5]));
                kept += hold >> 3 & 1;
            }
            if rest.len() > 2 * POSTING {
                out.add(kept).write((four[7], four[8]));
                kept += hold >> 2 & 1;
            }
        }
        kept
    }

    /// Which of four postings hold: bits 0, 3, 2 and 1, in their order. Nothing if a guard is long.
    ///
    /// # Safety
    /// There are twelve words, and the processor has AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn holding(four: &[u64], event: &Event) -> Option<usize> {
        // SAFETY: so many words are there.
        let (x, y, z) = unsafe {
            let words = four.as_ptr().cast::<__m256i>();
            (
                _mm256_loadu_si256(words),        // a0 b0 t0 a1
                _mm256_loadu_si256(words.add(1)), // b1 t1 a2 b2
                _mm256_loadu_si256(words.add(2)), // t2 a3 b3 t3
            )
        };
        let a = _mm256_blend_epi32(_mm256_blend_epi32(x, y, 0x30), z, 0x0c); // a0 a3 a2 a1
        let long = _mm256_set1_epi64x(check::IS_LONG as i64);
        if _mm256_testz_si256(a, long) == 0 {
            return None;
        }
        // SAFETY: the processor has AVX2.
        let fail = unsafe { fails(a, event) };
        Some(!_mm256_movemask_pd(_mm256_castsi256_pd(fail)) as usize)
    }

    /// All ones where a word, none of them long, does not hold: `check::holds`, four times.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn fails(words: __m256i, event: &Event) -> __m256i {
        let all = |value: i64| _mm256_set1_epi64x(value);
        let zero = _mm256_setzero_si256();
        // The sign of a lane, shifted there, as a mask.
        let upper = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64(words, 60));
        let inverted = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64(words, 62));
        let lower = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64(words, 63));
        let tiny = _mm256_and_si256(upper, lower);
        let marked = _mm256_andnot_si256(lower, upper);
        let ranged = _mm256_andnot_si256(upper, lower);
        let payload = _mm256_srli_epi64(words, 20);
        let attribute = _mm256_and_si256(_mm256_srli_epi64(words, 4), all(0xffff));
        let (hot, marks) = event.tables();
        let place = _mm256_and_si256(_mm256_srli_epi64(payload, 6), marked);
        // SAFETY: attributes and bits of an index's words lie within the tables of an event that
        // is matched against it (`Event::hot`, `Event::marked`); place 0 is always there.
        let (slot, mark) = unsafe {
            (
                _mm256_i64gather_epi64::<8>(hot.cast(), attribute),
                _mm256_i64gather_epi64::<8>(marks.cast(), place),
            )
        };
        let bit = _mm256_and_si256(payload, all(63));
        let mark = _mm256_and_si256(_mm256_srlv_epi64(mark, bit), all(1));
        let half = _mm256_and_si256(ranged, all(32));
        let value = _mm256_and_si256(_mm256_srlv_epi64(slot, half), all(0xffff_ffff));
        let value = _mm256_blendv_epi8(value, mark, marked);
        let key = _mm256_and_si256(payload, all(0xffff_ffff));
        let low = _mm256_and_si256(payload, all(0x3f_ffff));
        let low = _mm256_blendv_epi8(_mm256_blendv_epi8(key, low, ranged), all(1), marked);
        let high = _mm256_blendv_epi8(low, _mm256_srli_epi64(payload, 22), ranged);
        let outside = _mm256_or_si256(
            _mm256_cmpgt_epi64(low, value),
            _mm256_cmpgt_epi64(value, high),
        );
        let number = _mm256_sub_epi64(_mm256_srli_epi64(slot, 32), all(check::HALF));
        let first_byte = _mm256_set_epi64x(FIRST[1], FIRST[0], FIRST[1], FIRST[0]);
        let same = _mm256_cmpeq_epi8(words, _mm256_shuffle_epi8(number, first_byte));
        let same = _mm256_and_si256(same, all(!0xff_ffff));
        let not_one = _mm256_or_si256(
            _mm256_cmpeq_epi64(same, zero),
            _mm256_or_si256(
                _mm256_cmpgt_epi64(number, all(255)),
                _mm256_cmpgt_epi64(zero, number),
            ),
        );
        let outside = _mm256_blendv_epi8(outside, not_one, tiny);
        let key = _mm256_and_si256(slot, all(0xffff_ffff));
        let absent = _mm256_cmpeq_epi64(key, all(0xffff_ffff));
        _mm256_or_si256(
            _mm256_xor_si256(outside, inverted),
            _mm256_and_si256(absent, inverted),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::{ALWAYS, EQ, MISSING, NE, OUTSIDE, PRESENT, RANGE, marked, pack};

    #[test]
    fn four_at_once_find_what_one_by_one_finds() {
        let long = LongLiterals::default();
        let mut event = Event::default();
        event.reset(8);
        event.unmark(200);
        event.mark(0);
        for attribute in 0..4 {
            event.set_int(attribute, i64::from(attribute) * 5 - 3);
        }
        event.set_int(4, i64::MAX);
        event.set_float(5, 2.5);
        for bit in [3, 64, 130, 199] {
            event.mark(bit);
        }
        let mut words = vec![ALWAYS];
        for attribute in 0..8 {
            words.push(pack(PRESENT, attribute, 0));
            words.push(pack(MISSING, attribute, 0));
            for value in [-3, 0, 2, 7, 12, 1 << 30] {
                let key = u64::from(check::int_key(value).unwrap());
                words.push(pack(EQ, attribute, key));
                words.push(pack(NE, attribute, key));
                for width in [0, 4, 1000] {
                    for op in [RANGE, OUTSIDE] {
                        words.extend(check::range(
                            op,
                            attribute,
                            Some(value),
                            Some(value + width),
                        ));
                        words.extend(check::range(op, attribute, None, Some(value)));
                        words.extend(check::range(op, attribute, Some(value), None));
                    }
                }
            }
            for set in [&[0, 2, 7][..], &[2, 12], &[1, 3, 5, 200, 255], &[0, 255]] {
                words.extend(check::tiny(attribute, set, true));
                words.extend(check::tiny(attribute, set, false));
            }
            for bit in [1, 3, 63, 64, 130, 131, 199] {
                words.push(marked(attribute, bit, true));
                words.push(marked(attribute, bit, false));
            }
        }
        let mut seed = 7u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            words[(seed >> 33) as usize % words.len()]
        };
        let block: Vec<u64> = (0..20_003)
            .flat_map(|target| [draw(), draw(), target])
            .collect();
        let (mut narrow, mut wide) = (vec![(9, 9)], vec![(9, 9)]);
        scan(&block, &event, &long, false, &mut narrow);
        scan(&block, &event, &long, is_wide(), &mut wide);
        assert!(narrow.len() > 1000 && narrow.len() < 19_000);
        assert_eq!(narrow, wide);
    }
}
