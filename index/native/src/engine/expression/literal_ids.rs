//! The numbers of literals, 32 bits each: what programs and postings hold.
//!
//! ```text
//!   0 │ table (15) │ number (16)    a guard with rows: one bit of a row (`truth.rs`)
//!   1 │ 0 │ number (30)             open: its word is in a table
//! ```
//!
//! A literal has one number as long as a program names it, so two literals are equal exactly when
//! their numbers are. It is open if its attribute has no room for another row, or if it asks more of
//! a value than to be in some ranges (a prefix, a pattern, a huge set, a list). An open one may have
//! a guard by value besides, once it guards a posting or several expressions share it.
//!
//! Programs count the uses. A number owns what its word names, a string or a long literal, and the
//! postings of a program use the numbers of that program.

mod snapshot;

use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::{LongLiteral, LongLiterals, Test};
use crate::engine::expression::truth::{ALWAYS_TRUE, Guard, MOST_VALUES, Ranges, Truth};
use crate::engine::matching::event::{Event, order_of_int};
use crate::engine::memory::chunked::Chunked;
use crate::engine::planning::selectivity::point_of;
use crate::language::Type;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// The number of a literal.
pub type LiteralId = u32;

/// A literal with its number.
pub type Numbered = (LiteralWord, LiteralId);

/// The bit of an open literal, and of a gate (`formula.rs`).
pub const OPEN: LiteralId = 1 << 31;

/// Growing a shard hashes its words again, so shards must be small.
const SHARDS: usize = 4096;
/// Events remember the answers of open literals up to this many.
const MOST_ANSWERS: usize = 1 << 20;

/// An open literal.
#[derive(Clone, Copy, Default)]
struct Open {
    word: LiteralWord,
    /// 0 if it is free.
    uses: u32,
    /// Its guard by value, or `ALWAYS_TRUE`: none.
    guard: Guard,
}

/// The numbers of all literals.
pub struct Numbers {
    truth: Truth,
    open: Chunked<Open>,
    free: Vec<u32>,
    /// By word; long literals know their numbers.
    table: Vec<HashTable<LiteralId>>,
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers {
            truth: Truth::default(),
            open: Chunked::default(),
            free: Vec::new(),
            table: (0..SHARDS).map(|_| HashTable::new()).collect(),
        }
    }
}

fn hash_word(word: LiteralWord) -> u64 {
    FxBuildHasher.hash_one(word)
}

fn shard_of(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

impl Numbers {
    /// The word of a literal.
    #[inline]
    pub fn word(&self, id: LiteralId) -> LiteralWord {
        match id & OPEN {
            0 => self.truth.word(id),
            _ => self.open.get(id ^ OPEN).word,
        }
    }

    /// The number of a literal that is not long, if it has one.
    fn find(&self, word: LiteralWord) -> Option<LiteralId> {
        if word == literal_word::ALWAYS {
            return Some(ALWAYS_TRUE);
        }
        let hash = hash_word(word);
        self.table[shard_of(hash)]
            .find(hash, |&id| self.word(id) == word)
            .copied()
    }

    /// Let the word of a number find it.
    fn name(&mut self, id: LiteralId) {
        let hash = hash_word(self.word(id));
        let mut shard = std::mem::take(&mut self.table[shard_of(hash)]);
        shard.insert_unique(hash, id, |&other| hash_word(self.word(other)));
        self.table[shard_of(hash)] = shard;
    }

    /// A number with one use for a word that has none.
    fn create(&mut self, word: LiteralWord, ranges: Option<Ranges>, is_list: bool) -> LiteralId {
        let ranges = ranges.filter(|_| !is_list);
        let guard = ranges.and_then(|ranges| self.truth.add(word, &ranges));
        let id = guard.unwrap_or_else(|| {
            let number = self.free.pop().unwrap_or_else(|| {
                self.open.push(Open::default());
                self.open.len() as u32 - 1
            });
            *self.open.get_mut(number) = Open {
                word,
                uses: 1,
                guard: ALWAYS_TRUE,
            };
            number | OPEN
        });
        if literal_word::long_of(word).is_none() {
            self.name(id);
        }
        id
    }

    #[inline]
    fn uses(&mut self, id: LiteralId) -> &mut u32 {
        match id & OPEN {
            0 => self.truth.uses(id),
            _ => &mut self.open.get_mut(id ^ OPEN).uses,
        }
    }

    /// Remove a number without uses.
    fn remove(&mut self, id: LiteralId, ranges: Option<Ranges>) {
        let hash = hash_word(self.word(id));
        let shard = &mut self.table[shard_of(hash)];
        if let Ok(entry) = shard.find_entry(hash, |&other| other == id) {
            entry.remove();
        }
        let guard = match id & OPEN {
            0 => id,
            _ => std::mem::take(self.open.get_mut(id ^ OPEN)).guard,
        };
        if id & OPEN != 0 {
            self.free.push(id ^ OPEN);
        }
        if let Some(ranges) = ranges
            && guard != ALWAYS_TRUE
        {
            self.truth.remove(guard, &ranges);
        }
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let shards: usize = self.table.iter().map(HashTable::allocation_size).sum();
        let open = self.open.total_bytes() + self.free.capacity() * 4;
        shards + open + self.truth.total_bytes()
    }
}

impl LongLiterals {
    /// The word of a literal.
    #[inline]
    pub fn word(&self, id: LiteralId) -> LiteralWord {
        self.numbers.word(id)
    }

    /// The rows of truth.
    pub fn truth(&self) -> &Truth {
        &self.numbers.truth
    }

    /// The number of a word, counting one more use. What the word names was acquired once: a new
    /// number takes over that use, otherwise it is released.
    pub fn take(&mut self, word: LiteralWord, kind: Type) -> Numbered {
        let id = match self.numbers.find(word) {
            Some(id) => {
                self.let_go(word, kind);
                self.retain(id);
                id
            }
            None => self.number(word, kind),
        };
        (word, id)
    }

    /// A number with one use for a word that has none.
    pub(super) fn number(&mut self, word: LiteralWord, kind: Type) -> LiteralId {
        let ranges = self.ranges(word, kind);
        self.numbers.create(word, ranges, kind.is_list())
    }

    /// Count one more use.
    pub fn retain(&mut self, id: LiteralId) {
        if id != ALWAYS_TRUE {
            *self.numbers.uses(id) += 1;
        }
    }

    /// Count one more use of a long literal by another expression. It will be checked often.
    pub(super) fn share(&mut self, id: LiteralId, kind: Type) {
        self.retain(id);
        if id & OPEN != 0 {
            self.give_guard_by_value(id ^ OPEN, kind);
        }
    }

    /// Count one use less. The last one removes the literal and what it names.
    pub fn release(&mut self, id: LiteralId, types: &[Type]) {
        if id == ALWAYS_TRUE {
            return;
        }
        let uses = self.numbers.uses(id);
        *uses -= 1;
        if *uses > 0 {
            return;
        }
        let word = self.word(id);
        let kind = types[literal_word::attribute_of(word) as usize];
        let ranges = self.ranges(word, kind);
        self.numbers.remove(id, ranges);
        self.let_go(word, kind);
    }

    /// Release what a word names.
    fn let_go(&mut self, word: LiteralWord, kind: Type) {
        match literal_word::op_of(word) {
            literal_word::EQ | literal_word::NE if kind == Type::Str => {
                self.strings_mut().release(point_of(word, kind) as u32);
            }
            literal_word::LITERAL => self.remove(literal_word::number_of(word)),
            _ => {}
        }
    }

    /// Whether a literal can be a guard; in a band only one with rows.
    pub fn can_guard(&self, id: LiteralId, types: &[Type], in_band: bool) -> bool {
        if id & OPEN == 0 {
            return true;
        }
        let Open { word, guard, .. } = *self.numbers.open.get(id ^ OPEN);
        if in_band || guard != ALWAYS_TRUE {
            return !in_band;
        }
        let kind = types[literal_word::attribute_of(word) as usize];
        let ranges = self.ranges(word, kind);
        ranges.is_some_and(|ranges| self.numbers.truth.has_room_by_value(word, &ranges))
    }

    /// The guard of a literal, created if necessary; `None` if it cannot be one.
    pub fn give_guard(&mut self, id: LiteralId, types: &[Type], in_band: bool) -> Option<Guard> {
        if id & OPEN == 0 {
            return Some(id);
        }
        if in_band {
            return None;
        }
        let attribute = literal_word::attribute_of(self.word(id));
        self.give_guard_by_value(id ^ OPEN, types[attribute as usize])
    }

    fn give_guard_by_value(&mut self, number: u32, kind: Type) -> Option<Guard> {
        let Open { word, guard, .. } = *self.numbers.open.get(number);
        if guard != ALWAYS_TRUE {
            return Some(guard);
        }
        let ranges = self.ranges(word, kind)?;
        let guard = self.numbers.truth.add_by_value(word, &ranges)?;
        self.numbers.open.get_mut(number).guard = guard;
        Some(guard)
    }

    /// The guard of a literal, if it has one.
    pub fn guard(&self, id: LiteralId) -> Option<Guard> {
        let guard = match id & OPEN {
            0 => id,
            _ => self.numbers.open.get(id ^ OPEN).guard,
        };
        (guard != ALWAYS_TRUE).then_some(guard)
    }

    /// What a literal asks of a present value; `None` if that is more than to be in some ranges.
    pub(super) fn ranges(&self, word: LiteralWord, kind: Type) -> Option<Ranges> {
        let of = |low: Option<u64>, high: Option<u64>, positive: bool| Ranges {
            ranges: SmallVec::from_elem((low.unwrap_or(0), high.unwrap_or(u64::MAX)), 1),
            positive,
        };
        let op = literal_word::op_of(word);
        if op == literal_word::LITERAL {
            return ranges_of(&self.get(literal_word::number_of(word)));
        }
        if !matches!(kind, Type::Bool | Type::Int | Type::Str) {
            let is_scalar = matches!(kind, Type::Float | Type::Version);
            return (op == literal_word::PRESENT && is_scalar).then(|| of(None, None, true));
        }
        match op {
            literal_word::EQ | literal_word::NE => {
                let point = point_of(word, kind);
                Some(of(Some(point), Some(point), op == literal_word::EQ))
            }
            literal_word::RANGE | literal_word::OUTSIDE => {
                let (low, high) = literal_word::int_bounds(word);
                let (low, high) = (low.map(order_of_int), high.map(order_of_int));
                Some(of(low, high, op == literal_word::RANGE))
            }
            literal_word::TINY | literal_word::NOT_TINY => {
                let values = literal_word::tiny_values(word).into_iter();
                let positive = op == literal_word::TINY;
                Some(Ranges::of_points(values.map(order_of_int), positive))
            }
            literal_word::PRESENT => Some(of(None, None, true)),
            _ => None,
        }
    }

    /// The number of answers that an event should have room for. With very many literals few are
    /// checked twice, and remembering would cost more.
    pub fn answers(&self) -> usize {
        let open = self.numbers.open.len();
        if open <= MOST_ANSWERS { open } else { 0 }
    }

    /// Whether an event makes a literal true.
    #[inline(always)]
    pub fn holds(&self, id: LiteralId, event: &Event) -> bool {
        match id & OPEN {
            0 => event.meets(id),
            _ => self.open_holds(id ^ OPEN, event),
        }
    }

    /// The same for an open one. The answer of a long literal is remembered for the event, because
    /// popular ones are in many programs: without this a shared `contains` is 15 times slower
    /// (20,000 expressions, 489 instead of 32 µs).
    fn open_holds(&self, number: u32, event: &Event) -> bool {
        let Open { word, guard, .. } = *self.numbers.open.get(number);
        if guard != ALWAYS_TRUE && event.has_all_rows() {
            return event.meets(guard);
        }
        match literal_word::long_of(word) {
            Some(long) => event.remembered(number as usize, || self.is_true(long, event)),
            None => literal_word::short_holds(word, event),
        }
    }

    /// Prefetch what an open literal needs.
    #[inline(always)]
    pub fn prefetch(&self, id: LiteralId) {
        if id & OPEN != 0 {
            crate::engine::memory::arena::prefetch(self.numbers.open.get(id ^ OPEN));
        }
    }

    /// Check all numbers and all bits of the rows of truth. `uses` by programs.
    pub fn check_numbers(
        &self,
        types: &[Type],
        uses: &FxHashMap<LiteralId, u32>,
    ) -> Result<(), String> {
        let mut counts = uses.clone();
        counts.remove(&ALWAYS_TRUE);
        let mut open = 0;
        for (number, literal) in (0..).zip(self.numbers.open.iter()) {
            let used = counts.remove(&(number | OPEN)).unwrap_or(0);
            if used != literal.uses {
                return Err(format!(
                    "open literal {number} does not have {} uses",
                    literal.uses
                ));
            }
            open += usize::from(used > 0);
            if literal.guard != ALWAYS_TRUE {
                if self.numbers.truth.word(literal.guard) != literal.word {
                    return Err(format!("open literal {number} has the guard of another"));
                }
                counts.insert(literal.guard, 1);
            }
        }
        if open + self.numbers.free.len() != self.numbers.open.len() {
            return Err("an open literal is neither free nor in use".to_owned());
        }
        for &id in uses.keys() {
            let word = self.word(id);
            let known = match literal_word::long_of(word) {
                Some(long) => Some(self.id_of(long)),
                None => self.numbers.find(word),
            };
            if known != Some(id) {
                return Err(format!("literal {id} is not found by its word"));
            }
        }
        self.numbers.truth.check_invariants(
            |word| self.ranges(word, types[literal_word::attribute_of(word) as usize]),
            |guard| counts.get(&guard).copied().unwrap_or(0),
        )
    }
}

fn ranges_of(literal: &LongLiteral) -> Option<Ranges> {
    match literal.test {
        Test::Order(low, high) => Some(Ranges {
            ranges: SmallVec::from_elem((low, high), 1),
            positive: literal.positive,
        }),
        Test::Among(values) | Test::AnyOf(values) if values.len() <= MOST_VALUES => {
            Some(Ranges::of_points(values.iter().copied(), literal.positive))
        }
        _ => None,
    }
}
