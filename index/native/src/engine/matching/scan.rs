//! The postings whose first guard holds: the inner loop of matching.
//!
//! ```text
//!   posting   guard │ guard │ target
//!   narrow    guard │ target            where one guard is all there is
//! ```
//!
//! The rest of a posting is always written, and kept if its guard holds: a branch would be
//! mispredicted at every other posting. The first guard is the rarer one and removes most postings
//! (three quarters, on ads), so the second guard is checked in a loop of its own over the rest
//! (`search.rs`). With AVX2 four postings are checked at once. Guards that do not fit a word
//! (`long_literals.rs`) are rare and must be loaded: those postings are put aside and checked when
//! their memory has arrived.
//!
//! Tried and rejected: both guards in this loop (383,000 cycles per event on ads instead of
//! 252,000; over a whole match that is within the noise of the machine); the second guard only
//! where the first holds, with a branch (which costs more than the check); a byte for 64 pages
//! instead of the bits that say which pages are marked (`marks.rs`: marking gets cheaper, reading
//! the marks more expensive); one by one with a table lookup by operation, without any branch (4.8
//! ns per posting from the cache, 3.4 ns with four at once).

use crate::engine::expression::literal_word::{self, ALWAYS, LiteralWord};
use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::matching::event::Event;
use crate::engine::postings::lists::NARROW;

/// The words of a posting with two guards.
pub const POSTING: usize = 3;

/// A posting whose first guard holds: its second guard, and its target.
pub type Half = (LiteralWord, u64);

/// The postings found so far.
#[derive(Default)]
pub struct Found {
    /// Postings whose second guard must still be checked.
    pub halves: Vec<Half>,
    /// The targets of postings without a second guard.
    pub targets: Vec<u64>,
    /// Postings whose first guard is long and must still be checked.
    aside: Aside,
}

impl Found {
    /// Clear it.
    pub fn clear(&mut self) {
        self.halves.clear();
        self.targets.clear();
        self.aside.clear();
    }

    /// Add the postings of a block whose first guards hold.
    #[inline(always)]
    pub fn scan(&mut self, block: &[u64], event: &Event, long: &LongLiterals, wide: bool) {
        append::<POSTING, Half>(block, event, long, wide, &mut self.halves, &mut self.aside);
    }

    /// The same for a block of narrow postings.
    #[inline(always)]
    pub fn scan_narrow(&mut self, block: &[u64], event: &Event, long: &LongLiterals, wide: bool) {
        append::<NARROW, u64>(block, event, long, wide, &mut self.targets, &mut self.aside);
    }

    /// Check the postings that were put aside, and add those whose guards hold.
    #[inline(always)]
    pub fn look_at_aside(&mut self, event: &Event, long: &LongLiterals) {
        for &[guard, second, target] in &self.aside {
            if literal_word::holds(guard, event, long) {
                self.halves.push((second, target));
            }
        }
    }
}

/// Postings that were put aside.
type Aside = Vec<[u64; POSTING]>;

/// The rest of a posting of `WORDS` words, after its first guard.
trait Left<const WORDS: usize>: Copy {
    fn of(posting: &[u64; WORDS]) -> Self;
    fn whole(posting: &[u64; WORDS]) -> [u64; POSTING];
}

impl Left<POSTING> for Half {
    #[inline(always)]
    fn of(posting: &[u64; POSTING]) -> Self {
        (posting[1], posting[2])
    }

    #[inline(always)]
    fn whole(posting: &[u64; POSTING]) -> [u64; POSTING] {
        *posting
    }
}

impl Left<NARROW> for u64 {
    #[inline(always)]
    fn of(posting: &[u64; NARROW]) -> Self {
        posting[1]
    }

    #[inline(always)]
    fn whole(posting: &[u64; NARROW]) -> [u64; POSTING] {
        [posting[0], ALWAYS, posting[1]]
    }
}

/// Write the rest of a posting, and keep it or not. Returns where the next one goes.
///
/// # Safety
/// There must be room for it.
#[inline(always)]
unsafe fn write<const WORDS: usize, T: Left<WORDS>>(
    next: *mut T,
    posting: &[u64; WORDS],
    keep: bool,
) -> *mut T {
    // SAFETY: as the caller says.
    unsafe {
        next.write(T::of(posting));
        next.add(usize::from(keep))
    }
}

/// Append the rest of the postings of a block whose first guards hold.
#[inline(always)]
fn append<const WORDS: usize, T: Left<WORDS>>(
    block: &[u64],
    event: &Event,
    long: &LongLiterals,
    wide: bool,
    into: &mut Vec<T>,
    aside: &mut Aside,
) {
    let (postings, _) = block.as_chunks::<WORDS>();
    into.reserve(postings.len());
    let kept = into.len();
    // SAFETY: there is room for all postings behind those that are kept; `wide` says that the
    // processor has AVX2; what was written is made part of the vector.
    unsafe {
        let next = into.as_mut_ptr().add(kept);
        #[cfg(target_arch = "x86_64")]
        let end = if wide {
            by_four::scan(postings, event, long, next, aside)
        } else {
            one_by_one(postings, event, long, next, aside)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let end = one_by_one(postings, event, long, next, aside);
        into.set_len(end.offset_from(into.as_ptr()) as usize);
    }
    let _ = wide;
}

/// Whether the CPU can check four postings at once, and count bits.
pub fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Write the rest of postings one by one. Returns where the next one would go.
///
/// # Safety
/// There must be room for the rest of every posting.
#[inline(always)]
unsafe fn one_by_one<const WORDS: usize, T: Left<WORDS>>(
    postings: &[[u64; WORDS]],
    event: &Event,
    long: &LongLiterals,
    mut next: *mut T,
    aside: &mut Aside,
) -> *mut T {
    for posting in postings {
        if let Some(number) = literal_word::long_of(posting[0]) {
            long.prefetch(number);
            aside.push(T::whole(posting));
            continue;
        }
        // SAFETY: no more are kept than were looked at.
        unsafe { next = write(next, posting, literal_word::short_holds(posting[0], event)) };
    }
    next
}

#[cfg(target_arch = "x86_64")]
mod by_four {
    use super::{Aside, Event, Left, LongLiterals, literal_word, one_by_one, write};
    use std::arch::x86_64::*;

    /// Which byte goes where, so that the first of every lane fills it.
    const FIRST: [i64; 2] = [0, 0x0808_0808_0808_0808];

    /// As `one_by_one`.
    ///
    /// # Safety
    /// As `one_by_one`, and the CPU must have AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub unsafe fn scan<const WORDS: usize, T: Left<WORDS>>(
        postings: &[[u64; WORDS]],
        event: &Event,
        long: &LongLiterals,
        mut next: *mut T,
        aside: &mut Aside,
    ) -> *mut T {
        let (fours, rest) = postings.as_chunks::<4>();
        // The last four, filled up with words for the first attribute.
        let mut last = [[0; WORDS]; 4];
        last[..rest.len()].copy_from_slice(rest);
        let in_last = rest.len();
        let all = fours.len() + usize::from(in_last > 0);
        for place in 0..all {
            let (four, whole) = match fours.get(place) {
                Some(four) => (four, true),
                None => (&last, false),
            };
            // SAFETY: no more are kept than were looked at; of the last ones only those are
            // written that there are.
            unsafe {
                let Some(hold) = holding(four, event) else {
                    let there = if whole { four } else { rest };
                    next = one_by_one(there, event, long, next, aside);
                    continue;
                };
                next = write(next, &four[0], hold & 1 != 0);
                if whole || in_last > 1 {
                    next = write(next, &four[1], hold & 2 != 0);
                }
                if whole || in_last > 2 {
                    next = write(next, &four[2], hold & 4 != 0);
                }
                if whole {
                    next = write(next, &four[3], hold & 8 != 0);
                }
            }
        }
        next
    }

    /// Which of four postings hold, as bits; `None` if a guard is long.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn holding<const WORDS: usize>(four: &[[u64; WORDS]; 4], event: &Event) -> Option<u32> {
        let guard = |place: usize| four[place][0] as i64;
        let guards = _mm256_set_epi64x(guard(3), guard(2), guard(1), guard(0));
        let long = _mm256_set1_epi64x(literal_word::IS_LONG as i64);
        if _mm256_testz_si256(guards, long) == 0 {
            return None;
        }
        // SAFETY: the processor has AVX2.
        let fail = unsafe { fails(four, guards, event) };
        Some(!_mm256_movemask_pd(_mm256_castsi256_pd(fail)) as u32)
    }

    /// All ones where a word does not hold; none may be long. This is `literal_word::holds` four
    /// times. Each width calls it from one place, so that it is inlined into the loop.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn fails<const WORDS: usize>(
        four: &[[u64; WORDS]; 4],
        words: __m256i,
        event: &Event,
    ) -> __m256i {
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
        let (hot, marks) = event.tables();
        let (hot, marks): (*const i64, *const i64) = (hot.cast(), marks.cast());
        let place = _mm256_and_si256(_mm256_srli_epi64(payload, 6), marked);
        let [low, high] = [
            _mm256_castsi256_si128(place),
            _mm256_extracti128_si256(place, 1),
        ];
        // SAFETY: attributes and bits of an index's words lie within the tables of an event that
        // is matched against it (`Event::hot`, `Event::marked`); place 0 is always there. Four
        // loads of our own take less time than one that gathers.
        let (slot, mark) = unsafe {
            let slot = |at: usize| *hot.add(literal_word::attribute_of(four[at][0]) as usize);
            let mark = |place: i64| *marks.add(place as usize);
            (
                _mm256_set_epi64x(slot(3), slot(2), slot(1), slot(0)),
                _mm256_set_epi64x(
                    mark(_mm_extract_epi64::<1>(high)),
                    mark(_mm_cvtsi128_si64(high)),
                    mark(_mm_extract_epi64::<1>(low)),
                    mark(_mm_cvtsi128_si64(low)),
                ),
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
        let mut outside = _mm256_or_si256(
            _mm256_cmpgt_epi64(low, value),
            _mm256_cmpgt_epi64(value, high),
        );
        if _mm256_testz_si256(tiny, tiny) == 0 {
            let number = _mm256_sub_epi64(_mm256_srli_epi64(slot, 32), all(literal_word::HALF));
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
            outside = _mm256_blendv_epi8(outside, not_one, tiny);
        }
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
    use crate::engine::expression::literal_word::{
        EQ, LITERAL, MISSING, NE, OUTSIDE, PRESENT, RANGE, marked, pack,
    };
    use crate::engine::expression::long_literals::{LongLiteral, Test};
    use crate::engine::matching::event::order_of_int;

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
                let key = u64::from(literal_word::int_key(value).unwrap());
                words.push(pack(EQ, attribute, key));
                words.push(pack(NE, attribute, key));
                for width in [0, 4, 1000] {
                    for op in [RANGE, OUTSIDE] {
                        words.extend(literal_word::range(
                            op,
                            attribute,
                            Some(value),
                            Some(value + width),
                        ));
                        words.extend(literal_word::range(op, attribute, None, Some(value)));
                        words.extend(literal_word::range(op, attribute, Some(value), None));
                    }
                }
            }
            for set in [&[0, 2, 7][..], &[2, 12], &[1, 3, 5, 200, 255], &[0, 255]] {
                words.extend(literal_word::tiny(attribute, set, true));
                words.extend(literal_word::tiny(attribute, set, false));
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
        let narrow: Vec<u64> = (0..20_002).flat_map(|target| [draw(), target]).collect();
        let [single, four] = [false, is_wide()].map(|wide| {
            let mut found = Found::default();
            found.halves.push((9, 9));
            found.scan(&block, &event, &long, wide);
            found.scan(&block[..15], &event, &long, wide);
            found.scan_narrow(&narrow, &event, &long, wide);
            found.scan_narrow(&narrow[..6], &event, &long, wide);
            assert!(found.aside.is_empty());
            found
        });
        assert!((1000..19_000).contains(&single.halves.len()));
        assert!((1000..19_000).contains(&single.targets.len()));
        assert_eq!(single.halves, four.halves);
        assert_eq!(single.targets, four.targets);
        let holding = block
            .chunks(3)
            .filter(|p| literal_word::holds(p[0], &event, &long));
        let holding: Vec<Half> = holding.map(|p| (p[1], p[2])).collect();
        assert_eq!(single.halves[1..=holding.len()], holding);
    }

    #[test]
    fn long_guards_are_looked_at_in_the_end() {
        let mut long = LongLiterals::default();
        let [low, high] = [3, 8].map(|bound| {
            long.acquire(LongLiteral {
                attribute: 0,
                positive: true,
                texts: false,
                test: Test::Order(order_of_int(bound), u64::MAX),
            })
        });
        let [low, high] = [low, high].map(|number| pack(LITERAL, 0, u64::from(number)));
        let mut event = Event::default();
        event.reset(1);
        event.unmark(1);
        event.mark(0);
        event.set_int(0, 5);
        for wide in [false, is_wide()] {
            let mut found = Found::default();
            let block: Vec<u64> = (0..9)
                .flat_map(|n| [[low, ALWAYS, high][n % 3], ALWAYS, n as u64])
                .collect();
            found.scan(&block, &event, &long, wide);
            found.scan_narrow(&[low, 9, high, 10, ALWAYS, 11], &event, &long, wide);
            found.look_at_aside(&event, &long);
            let mut targets: Vec<u64> = found.halves.iter().map(|half| half.1).collect();
            targets.extend(&found.targets);
            targets.sort_unstable();
            assert_eq!(targets, [0, 1, 3, 4, 6, 7, 9, 11]);
        }
    }
}
