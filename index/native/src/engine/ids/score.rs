//! The bits of a score: the priority above, the bid below.
//!
//! ```text
//!   63        53                                                     0
//!   ┌──────────┬─────────────────────────────────────────────────────┐
//!   │ priority │ bid in micros                                       │
//!   └──────────┴─────────────────────────────────────────────────────┘
//! ```
//!
//! `index/score.py` has the same layout; a test compares the two.

/// The number of bits of the bid.
pub const BID_BITS: u32 = 53;

const BID: u64 = (1 << BID_BITS) - 1;

/// The bid, in micros: what a floor applies to.
#[inline(always)]
pub fn bid(score: i64) -> u64 {
    score as u64 & BID
}

/// The priority, which orders scores before the bid does.
#[inline(always)]
pub fn priority(score: i64) -> i64 {
    score >> BID_BITS
}
