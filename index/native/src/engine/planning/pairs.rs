//! Pairs of attributes that a conjunction is entered by: PSTHash's keys of two dimensions.
//!
//! ```text
//!   f1 = 3 and f2 = 8 and …      one of 35 events has f1 = 3, one of 1,225 has both
//! ```
//!
//! A pair of values is rarer than either value, but each pair of attributes is one more lookup for
//! every event. So a pair of attributes is used only when the expressions that would gain have
//! gained more than the lookup costs. Until then each of them adds to its *credit* the postings that
//! an event would be spared. An expression that has a pair in use adds nothing to others, so the
//! pairs that come into use are few: those that most expressions share.

use crate::engine::expression::literal_ids::Numbered;
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::Test;
use crate::engine::planning::plan::Knowledge;
use crate::engine::postings::keys::{Key, KeyVec, MOST_PAIRS};
use crate::language::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The postings that an event must be spared before a pair of attributes is used. Tests use pairs
/// from the third expression or so.
const WORTH: f32 = if cfg!(test) { 0.05 } else { 32.0 };
/// The maximum number of keys of one expression: the product of the values of two literals.
const MOST_KEYS: usize = 8;
/// The literals of a conjunction that are tried in pairs.
const TRIED: usize = 6;
/// Expressions that are found as rarely as this by one literal need no second one.
const COMMON: f32 = 2e-4;
/// The maximum number of pairs of attributes that have a credit.
const CREDITED: usize = 1 << 14;

/// The credits of pairs of attributes.
#[derive(Default)]
pub struct Pairs {
    credit: FxHashMap<(u32, u32), f32>,
    planned: usize,
}

/// A literal that may be half of a pair, and its probability.
pub type Half = (Numbered, f32);

impl Pairs {
    /// Forget all credits, because everything is planned again.
    pub fn forget(&mut self) {
        self.credit.clear();
        self.planned = 0;
    }

    /// Count a planned expression. When as many have been planned as there are, the credits are of
    /// expressions that may be gone.
    pub fn count(&mut self, expressions: usize) {
        self.planned += 1;
        if self.planned > expressions + 1000 {
            self.forget();
        }
    }

    /// The best pair among the literals of an `and` whose cheapest child costs `single`, with the
    /// cost of the pair. Adds to the credits if no pair is in use yet.
    pub fn best(
        &mut self,
        halves: &mut SmallVec<[Half; 8]>,
        single: f32,
        know: &Knowledge,
    ) -> Option<(Half, Half, f32)> {
        let keys = know.pairs?;
        if single < COMMON || halves.len() < 2 {
            return None;
        }
        halves.sort_by(|a, b| a.1.total_cmp(&b.1));
        halves.truncate(TRIED);
        let mut best: Option<(Half, Half, f32)> = None;
        let mut open: SmallVec<[((u32, u32), f32); 16]> = SmallVec::new();
        for (at, &one) in halves.iter().enumerate() {
            for &other in &halves[at + 1..] {
                let cost = one.1 * other.1;
                let is_better = best.is_none_or(|(.., least)| cost < least);
                if cost > single / 2.0 || !is_better || value_count(one, other, know) == 0 {
                    continue;
                }
                let attributes = attributes_of(one, other);
                if keys.has_pair(attributes) {
                    best = Some((one, other, cost));
                } else if keys.pair_count() < MOST_PAIRS {
                    open.push((attributes, cost));
                }
            }
        }
        let now = best.map_or(single, |(.., cost)| cost);
        for (attributes, cost) in open {
            // Only what is much better than the pairs in use.
            if cost <= now / 2.0 {
                self.add(attributes, now - cost);
            }
        }
        if best.is_none() {
            best = self.first_earned(halves, single, know);
        }
        best
    }

    fn add(&mut self, attributes: (u32, u32), gain: f32) {
        if self.credit.len() >= CREDITED && !self.credit.contains_key(&attributes) {
            self.credit.clear();
        }
        *self.credit.entry(attributes).or_insert(0.0) += gain;
    }

    /// The pair with the highest credit, if that is enough to begin to use it.
    fn first_earned(
        &self,
        halves: &[Half],
        single: f32,
        know: &Knowledge,
    ) -> Option<(Half, Half, f32)> {
        if know.pairs?.pair_count() >= MOST_PAIRS {
            return None;
        }
        let mut best = None;
        let mut most = WORTH;
        for (at, &one) in halves.iter().enumerate() {
            for &other in &halves[at + 1..] {
                let credit = self.credit.get(&attributes_of(one, other));
                let cost = one.1 * other.1;
                if let Some(&credit) = credit
                    && credit > most
                    && cost <= single / 2.0
                    && value_count(one, other, know) > 0
                {
                    most = credit;
                    best = Some((one, other, cost));
                }
            }
        }
        best
    }
}

/// The attributes of two literals, ascending.
fn attributes_of(one: Half, other: Half) -> (u32, u32) {
    let [a, b] = [one.0.0, other.0.0].map(literal_word::attribute_of);
    (a.min(b), a.max(b))
}

/// The number of keys of two literals; 0 if they cannot be a pair.
fn value_count(one: Half, other: Half, know: &Knowledge) -> usize {
    let (a, b) = attributes_of(one, other);
    let count = values_of(one.0.0, know).len() * values_of(other.0.0, know).len();
    if a == b || count > MOST_KEYS {
        0
    } else {
        count
    }
}

/// The keys of two literals that are a pair.
pub fn keys_of_pair(one: LiteralWord, other: LiteralWord, know: &Knowledge) -> KeyVec {
    let (one, other) = if literal_word::attribute_of(one) < literal_word::attribute_of(other) {
        (one, other)
    } else {
        (other, one)
    };
    let [a, b] = [one, other].map(literal_word::attribute_of);
    let mut keys = KeyVec::new();
    for first in values_of(one, know) {
        for second in values_of(other, know) {
            let values = u64::from(first) << 32 | u64::from(second);
            keys.push(Key::Pair(a, b as u16, values));
        }
    }
    keys
}

/// The values that make a literal true, as an event has them (`event.rs`); none if there are too many,
/// or if some have no such form.
pub fn values_of(check: LiteralWord, know: &Knowledge) -> SmallVec<[u32; 4]> {
    let kind = know.types[literal_word::attribute_of(check) as usize];
    match literal_word::op_of(check) {
        literal_word::EQ => SmallVec::from_elem(literal_word::payload_of(check) as u32, 1),
        literal_word::TINY => {
            let values = literal_word::tiny_values(check);
            values
                .iter()
                .filter_map(|&v| literal_word::int_key(v))
                .collect()
        }
        literal_word::LITERAL => {
            let literal = know.long.get(literal_word::number_of(check));
            let Test::Among(values) = literal.test else {
                return SmallVec::new();
            };
            if !literal.positive || values.len() > MOST_KEYS {
                return SmallVec::new();
            }
            let key = |&value: &u64| match kind {
                Type::Str => Some(value as u32),
                Type::Int => literal_word::int_key((value ^ (1 << 63)) as i64),
                _ => None,
            };
            let keys: Option<SmallVec<[u32; 4]>> = values.iter().map(key).collect();
            keys.unwrap_or_default()
        }
        _ => SmallVec::new(),
    }
}
