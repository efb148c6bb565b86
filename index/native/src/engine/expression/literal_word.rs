//! A literal in one word: what it asks of its attribute.
//!
//! ```text
//!   63                              20 19           4 3    0
//!   ┌─────────────────────────────────┬──────────────┬──────┐
//!   │             payload             │  attribute   │  op  │
//!   └─────────────────────────────────┴──────────────┴──────┘
//!   EQ, NE          key of the value (32 bits); ABSENT there makes `is null` and `is not null`
//!   RANGE, OUTSIDE  low (22 bits), high (22 bits), both inclusive, biased
//!   TINY, NOT_TINY  two to five different integers of 0 to 255, ascending, in the upper bytes
//!   TRUE            always true
//!   LITERAL         its number among the long literals
//! ```
//!
//! Most literals of real traffic fit. The rest (huge sets, doubles, large numbers, prefixes …) are
//! in a table. One literal has one word, so two words are equal exactly when the literals are.
//! Matching checks a word only where its number has no rows (`literal_ids.rs`).

use crate::engine::matching::event::{ABSENT, Event, NO_KEY};
use smallvec::SmallVec;

/// A literal, packed.
pub type LiteralWord = u64;

pub const EQ: u64 = 0;
pub const RANGE: u64 = 1;
pub const NE: u64 = 2;
pub const OUTSIDE: u64 = 3;
pub const LITERAL: u64 = 4;
/// Always true; it names no attribute.
pub const TRUE: u64 = 8;
pub const TINY: u64 = 9;
pub const NOT_TINY: u64 = 11;
/// What `op_of` returns for a NE of ABSENT.
pub const PRESENT: u64 = 16;
/// What `op_of` returns for an EQ of ABSENT.
pub const MISSING: u64 = 17;

const USES_SMALL: u64 = 1;
const INVERTED: u64 = 2;
/// The bit of a word that needs the table of long literals.
pub const IS_LONG: u64 = 4;
const IS_TINY: u64 = 8;

/// The literal that is always true.
pub const ALWAYS: LiteralWord = TRUE;

/// Attributes have 16 bits.
pub const MAX_ATTRIBUTES: usize = 1 << 16;

/// What makes `small` unsigned.
pub const HALF: i64 = 1 << 21;
/// What bounds of ranges may be; the values beyond stand for "no bound".
pub const SMALL: std::ops::RangeInclusive<i64> = -HALF + 1..=HALF - 2;
const KEYS: std::ops::RangeInclusive<i64> = -(1 << 31)..=(1 << 31) - 3;

/// A word from its parts.
#[inline]
pub fn pack(op: u64, attribute: u32, payload: u64) -> LiteralWord {
    let (op, payload) = match op {
        PRESENT => (NE, u64::from(ABSENT)),
        MISSING => (EQ, u64::from(ABSENT)),
        _ => (op, payload),
    };
    op | (u64::from(attribute) << 4) | (payload << 20)
}

/// The maximum number of values of a tiny set.
const TINY_VALUES: usize = 5;
const TINY_SHIFT: u32 = 24;

/// The word of a set of few small integers, ascending; the last is repeated to fill it.
pub fn tiny(attribute: u32, values: &[i64], positive: bool) -> Option<LiteralWord> {
    let last = *values.last()?;
    if values.len() > TINY_VALUES || values[0] < 0 || last > 255 {
        return None;
    }
    let op = if positive { TINY } else { NOT_TINY };
    let byte = |place: usize| *values.get(place).unwrap_or(&last) as u64;
    let bytes = (0..TINY_VALUES).map(|place| byte(place) << (TINY_SHIFT + 8 * place as u32));
    Some(op | u64::from(attribute) << 4 | bytes.fold(0, |all, byte| all | byte))
}

/// The integers of a tiny set, ascending.
pub fn tiny_values(check: LiteralWord) -> SmallVec<[i64; TINY_VALUES]> {
    let byte = |place: usize| (check >> (TINY_SHIFT + 8 * place as u32) & 255) as i64;
    let mut values: SmallVec<[i64; TINY_VALUES]> = (0..TINY_VALUES).map(byte).collect();
    values.dedup();
    values
}

/// The operation of a word.
#[inline(always)]
pub fn op_of(check: LiteralWord) -> u64 {
    match check & 15 {
        EQ if payload_of(check) == u64::from(ABSENT) => MISSING,
        NE if payload_of(check) == u64::from(ABSENT) => PRESENT,
        op => op,
    }
}

/// The attribute of a word.
#[inline(always)]
pub fn attribute_of(check: LiteralWord) -> u32 {
    ((check >> 4) & 0xffff) as u32
}

/// The payload of a word.
#[inline(always)]
pub fn payload_of(check: LiteralWord) -> u64 {
    check >> 20
}

/// The number of the long literal of a LITERAL.
#[inline(always)]
pub fn number_of(check: LiteralWord) -> u32 {
    payload_of(check) as u32
}

/// The key of an integer, if it has one: 32 bits that two integers share only if they are equal.
#[inline]
pub fn int_key(value: i64) -> Option<u32> {
    KEYS.contains(&value).then(|| (value + (1 << 31)) as u32)
}

/// An integer clamped to what ranges tell apart, biased to be unsigned.
#[inline]
pub fn small(value: i64) -> u32 {
    (value.clamp(-HALF, HALF - 1) + HALF) as u32
}

/// The word of a range of small integers; `None` is no bound.
pub fn range(op: u64, attribute: u32, low: Option<i64>, high: Option<i64>) -> Option<LiteralWord> {
    let fits = |bound: Option<i64>| bound.is_none_or(|b| SMALL.contains(&b));
    if !fits(low) || !fits(high) {
        return None;
    }
    let low = u64::from(small(low.unwrap_or(i64::MIN)));
    let high = u64::from(small(high.unwrap_or(i64::MAX)));
    Some(pack(op, attribute, low | (high << 22)))
}

/// The bounds of a RANGE or OUTSIDE, biased as `small` has them.
#[inline(always)]
pub fn bounds_of(check: LiteralWord) -> (u32, u32) {
    let payload = payload_of(check);
    ((payload & 0x3f_ffff) as u32, (payload >> 22) as u32)
}

/// The bounds of a RANGE or OUTSIDE; `None` is no bound.
pub fn int_bounds(check: LiteralWord) -> (Option<i64>, Option<i64>) {
    let (low, high) = bounds_of(check);
    let low = (low != 0).then(|| i64::from(low) - HALF);
    let high = (i64::from(high) != 2 * HALF - 1).then(|| i64::from(high) - HALF);
    (low, high)
}

/// The number of the long literal of a word, if the check needs the table.
#[inline(always)]
pub fn long_of(check: LiteralWord) -> Option<u32> {
    (check & IS_LONG != 0).then(|| payload_of(check) as u32)
}

/// Whether an event makes the literal of a word true that is not long.
#[inline(always)]
pub fn short_holds(check: LiteralWord, event: &Event) -> bool {
    let slot = event.hot(attribute_of(check));
    let payload = payload_of(check);
    let inverted = check & INVERTED != 0;
    let present = slot.key != ABSENT;
    if check & IS_TINY != 0 {
        return check == ALWAYS || (tiny_has(check, slot.small) ^ inverted) & present;
    }
    let ranged = check & USES_SMALL != 0;
    let value = if ranged { slot.small } else { slot.key };
    let low = if ranged {
        payload as u32 & 0x3f_ffff
    } else {
        payload as u32
    };
    let width = if ranged {
        ((payload >> 22) as u32).wrapping_sub(low)
    } else {
        0
    };
    let within = value.wrapping_sub(low) <= width;
    (within ^ inverted) & (!inverted | present)
}

/// Whether a tiny set has the integer that `small` made of the value.
#[inline(always)]
fn tiny_has(check: LiteralWord, small: u32) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let value = small.wrapping_sub(HALF as u32);
    // A byte that becomes zero is the value.
    let bytes = (check >> TINY_SHIFT) ^ (ONES >> TINY_SHIFT).wrapping_mul(u64::from(value & 255));
    let zeros = bytes.wrapping_sub(ONES >> TINY_SHIFT) & !bytes & ((ONES << 7) >> TINY_SHIFT);
    (zeros != 0) & (value < 256)
}

const _: () = assert!(ABSENT > NO_KEY, "both lie above every key");
