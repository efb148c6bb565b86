//! An event in the layout of matching: one slot for each attribute, its hot half separate.
//!
//! ```text
//!   hot    key (32 bits), small (32 bits)            every check reads this
//!   cold   order (64 bits), where its text or list is    long literals and the index's keys
//! ```
//!
//! `key` identifies equal values: the number of a string, or an integer of 32 bits. `small` is an
//! integer clamped to 22 bits, for ranges. `order` is the value as 64 bits that sort like the
//! values. Absent attributes have the key ABSENT; present values without a key have NO_KEY. An
//! event is reused: only the slots that were set are cleared.

use crate::engine::expression::literal_word::{int_key, small};
use crate::engine::expression::strings::Strings;
use crate::engine::expression::truth::{Guard, absent_row};
use crate::language::address::Network;
use crate::language::bucket::bucket_of;
use crate::language::folding::fold_into;
use crate::language::geometry::Point;
use std::cell::Cell;

/// The key of a missing attribute.
pub const ABSENT: u32 = u32::MAX;
/// The key of a value that fits no literal word.
pub const NO_KEY: u32 = u32::MAX - 1;
/// The `order` of a string that no predicate names.
pub const UNKNOWN: u64 = u64::MAX;

const NOTHING: u32 = u32::MAX;

/// The part of a slot that checks read.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct Hot {
    pub key: u32,
    pub small: u32,
}

#[derive(Clone, Copy, Default)]
struct Cold {
    order: u64,
    start: u32,
    len: u32,
}

const EMPTY: Hot = Hot {
    key: ABSENT,
    small: NOTHING,
};

/// 64 bits that sort like the integers.
#[inline]
pub fn order_of_int(value: i64) -> u64 {
    (value as u64) ^ (1 << 63)
}

/// 64 bits that sort like the doubles.
#[inline]
pub fn order_of_float(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | (1 << 63)
    }
}

/// One event.
#[derive(Default)]
pub struct Event {
    hot: Vec<Hot>,
    cold: Vec<Cold>,
    present: Vec<u32>,
    elements: Vec<u64>,
    text: Vec<u8>,
    /// A folded text, and the folded elements of the started list.
    folded: String,
    folded_elements: Vec<u64>,
    /// The answers of long literals: the number of the event (7 bits) and the answer.
    memo: Vec<Cell<u8>>,
    number: u8,
    /// The addresses of the rows of its values, by table (`truth.rs`), and the tables that have one.
    rows: Vec<usize>,
    filled: Vec<u16>,
    /// The rows that were made for it, and where each begins.
    made: Vec<u64>,
    made_rows: Vec<(u16, usize)>,
    has_all_rows: bool,
}

impl Event {
    /// Make room for this number of answers of long literals, and forget the previous ones.
    pub fn remember(&mut self, answers: usize) {
        self.number = (self.number + 1) & 0x7f;
        if self.number == 0 || self.memo.len() != answers {
            self.memo.clear();
            self.memo.resize(answers, Cell::new(0));
            self.number = 1;
        }
    }

    /// The answer of a long literal for this event: the remembered one, or what `find` returns.
    #[inline(always)]
    pub fn remembered(&self, at: usize, find: impl FnOnce() -> bool) -> bool {
        let Some(cell) = self.memo.get(at) else {
            return find();
        };
        let known = cell.get();
        if known >> 1 == self.number {
            return known & 1 == 1;
        }
        let answer = find();
        cell.set(self.number << 1 | u8::from(answer));
        answer
    }

    /// Forget all rows, and make room for those of this number of tables; the first has this one.
    /// `all` says whether rows will be made as well.
    pub fn begin_rows(&mut self, tables: usize, first: usize, all: bool) {
        self.has_all_rows = all;
        for table in self.filled.drain(..) {
            self.rows[usize::from(table)] = absent_row();
        }
        self.made.clear();
        self.made_rows.clear();
        self.rows.resize(tables, absent_row());
        self.rows[0] = first;
    }

    /// Set the row of a table.
    #[inline(always)]
    pub fn set_row(&mut self, table: u16, row: usize) {
        self.rows[usize::from(table)] = row;
        self.filled.push(table);
    }

    /// Begin a row of its own as a copy. Returns where it begins.
    #[inline(always)]
    pub fn make_row(&mut self, row: &[u64]) -> usize {
        self.made.extend_from_slice(row);
        self.made.len() - row.len()
    }

    /// Change some bits of a row of its own: numbers, shifted by one, and whether they become 0.
    #[inline(always)]
    pub fn change_row(&mut self, start: usize, changes: &[u32]) {
        for &change in changes {
            let (bit, word) = (
                change >> 1 & 63,
                &mut self.made[start + (change >> 7) as usize],
            );
            let becomes = u64::from(change & 1 ^ 1);
            *word = *word & !(1 << bit) | becomes << bit;
        }
    }

    /// Set the row of a table to one of its own.
    #[inline(always)]
    pub fn set_made_row(&mut self, table: u16, start: usize) {
        self.made_rows.push((table, start));
    }

    /// After the last row was set.
    pub fn end_rows(&mut self) {
        // Only now: what was made may have moved.
        while let Some((table, start)) = self.made_rows.pop() {
            self.set_row(table, self.made[start..].as_ptr() as usize);
        }
    }

    /// Whether the guards of all tables can be checked.
    #[inline(always)]
    pub fn has_all_rows(&self) -> bool {
        self.has_all_rows
    }

    /// Whether a guard holds.
    #[inline(always)]
    pub fn meets(&self, guard: Guard) -> bool {
        self.bit(guard) & 1 == 1
    }

    /// 1 if two guards hold, else 0.
    #[inline(always)]
    pub fn both(&self, first: Guard, second: Guard) -> u64 {
        self.bit(first) & self.bit(second) & 1
    }

    /// The bit of a guard, with others above it.
    #[inline(always)]
    fn bit(&self, guard: Guard) -> u64 {
        let (table, word) = ((guard >> 16) as usize, (guard >> 6 & 0x3ff) as usize);
        debug_assert!(table < self.rows.len());
        // SAFETY: `begin_rows` made room for all tables of the index that is being matched. A row
        // has a bit for every guard of its table, and does not move while the index is read.
        let word = unsafe { *(*self.rows.get_unchecked(table) as *const u64).add(word) };
        word >> (guard & 63)
    }

    /// Clear the event and make room for this number of attributes.
    pub fn reset(&mut self, attributes: usize) {
        for &attribute in &self.present {
            self.hot[attribute as usize] = EMPTY;
        }
        self.present.clear();
        self.elements.clear();
        self.text.clear();
        self.has_all_rows = false;
        let attributes = attributes.max(1);
        if self.hot.len() < attributes {
            self.hot.resize(attributes, EMPTY);
            self.cold.resize(attributes, Cold::default());
        }
    }

    /// The present attributes, in the order in which they were set.
    #[inline]
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// The hot half of an attribute.
    #[inline(always)]
    pub fn hot(&self, attribute: u32) -> Hot {
        // `reset` makes room for all attributes.
        debug_assert!((attribute as usize) < self.hot.len());
        // SAFETY: `reset` made room for all attributes of the index that is being matched.
        unsafe { *self.hot.get_unchecked(attribute as usize) }
    }

    /// Whether an attribute is present.
    #[inline]
    pub fn has(&self, attribute: u32) -> bool {
        self.hot(attribute).key != ABSENT
    }

    /// The value of a present scalar: its order, or the number of its string (or `UNKNOWN`).
    #[inline]
    pub fn order(&self, attribute: u32) -> u64 {
        self.cold[attribute as usize].order
    }

    /// The elements of a present list, ascending, without repeats and without unknown strings; of
    /// an address its version and bits, of a point its degrees and its place on the unit sphere.
    #[inline]
    pub fn elements(&self, attribute: u32) -> &[u64] {
        let cold = self.cold[attribute as usize];
        &self.elements[cold.start as usize..(cold.start + cold.len) as usize]
    }

    /// Whether a present list had no elements at all, unknown ones included.
    #[inline]
    pub fn is_empty_list(&self, attribute: u32) -> bool {
        self.cold[attribute as usize].order == 0
    }

    /// The text of a present string.
    #[inline]
    pub fn text(&self, attribute: u32) -> &[u8] {
        let cold = self.cold[attribute as usize];
        &self.text[cold.start as usize..(cold.start + cold.len) as usize]
    }

    /// Set a bool.
    pub fn set_bool(&mut self, attribute: u32, value: bool) {
        self.set(
            attribute,
            u32::from(value),
            u32::from(value),
            u64::from(value),
            (0, 0),
        );
    }

    /// Set an integer.
    pub fn set_int(&mut self, attribute: u32, value: i64) {
        let key = int_key(value).unwrap_or(NO_KEY);
        self.set(attribute, key, small(value), order_of_int(value), (0, 0));
    }

    /// Set a double, which must be finite.
    pub fn set_float(&mut self, attribute: u32, value: f64) {
        self.set(attribute, NO_KEY, NOTHING, order_of_float(value), (0, 0));
    }

    /// Set a version, by its order.
    pub fn set_version(&mut self, attribute: u32, order: u64) {
        self.set(attribute, NO_KEY, NOTHING, order, (0, 0));
    }

    /// Set an address.
    pub fn set_address(&mut self, attribute: u32, address: Network) {
        let start = self.elements.len() as u32;
        let (high, low) = ((address.bits >> 64) as u64, address.bits as u64);
        self.elements
            .extend([u64::from(address.version), high, low]);
        self.set(attribute, NO_KEY, NOTHING, address.order(), (start, 3));
    }

    /// Set a point.
    pub fn set_point(&mut self, attribute: u32, point: Point) {
        let start = self.elements.len() as u32;
        self.elements.extend([point.lat as u64, point.lon as u64]);
        self.elements.extend(point.on_sphere().map(f64::to_bits));
        self.set(attribute, NO_KEY, NOTHING, point.order(), (start, 5));
    }

    /// Set a string, and its folded text under `fold`.
    #[inline]
    pub fn set_text(&mut self, attribute: u32, fold: Option<u32>, text: &str, strings: &Strings) {
        self.set_one_text(attribute, text, strings);
        if let Some(fold) = fold {
            self.set_folded(fold, text, strings);
        }
    }

    /// Set the folded text of a string. Never inlined: most events have none.
    #[cold]
    #[inline(never)]
    fn set_folded(&mut self, fold: u32, text: &str, strings: &Strings) {
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        fold_into(text, &mut folded);
        self.set_one_text(fold, &folded, strings);
        self.folded = folded;
    }

    fn set_one_text(&mut self, attribute: u32, text: &str, strings: &Strings) {
        let number = strings.find(text);
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
        self.set(
            attribute,
            number.unwrap_or(NO_KEY),
            NOTHING,
            number.map_or(UNKNOWN, u64::from),
            (start, text.len() as u32),
        );
    }

    /// Start a list; `push_int` and `push_text` add to it, `end_list` sets it.
    pub fn begin_list(&mut self) -> usize {
        self.folded_elements.clear();
        self.elements.len()
    }

    /// Add an element to the started list.
    pub fn push_int(&mut self, value: i64) {
        self.elements.push(order_of_int(value));
    }

    /// Add an element to the started list, and its folded text, if the list has those as well.
    #[inline]
    pub fn push_text(&mut self, text: &str, folds: bool, strings: &Strings) {
        if let Some(number) = strings.find(text) {
            self.elements.push(u64::from(number));
        }
        if folds {
            self.push_folded(text, strings);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_folded(&mut self, text: &str, strings: &Strings) {
        self.folded.clear();
        fold_into(text, &mut self.folded);
        let number = strings.find(&self.folded);
        self.folded_elements.extend(number.map(u64::from));
    }

    /// Set the list that was started at `start`, which had `given` elements in the request, and
    /// that of its folded texts under `fold`.
    #[inline]
    pub fn end_list(&mut self, attribute: u32, fold: Option<u32>, start: usize, given: usize) {
        self.end_one_list(attribute, start, given);
        if let Some(fold) = fold {
            let start = self.elements.len();
            self.elements.extend_from_slice(&self.folded_elements);
            self.end_one_list(fold, start, given);
        }
    }

    fn end_one_list(&mut self, attribute: u32, start: usize, given: usize) {
        self.elements[start..].sort_unstable();
        let mut kept = start;
        for i in start..self.elements.len() {
            if i == start || self.elements[i] != self.elements[i - 1] {
                // `kept` is never ahead of `i`, so nothing is overwritten before it is read.
                let element = self.elements[i];
                self.elements[kept] = element;
                kept += 1;
            }
        }
        self.elements.truncate(kept);
        let place = (start as u32, (kept - start) as u32);
        self.set(attribute, NO_KEY, NOTHING, u64::from(given > 0), place);
    }

    fn set(&mut self, attribute: u32, key: u32, small: u32, order: u64, place: (u32, u32)) {
        let slot = &mut self.hot[attribute as usize];
        if slot.key == ABSENT {
            self.present.push(attribute);
        }
        *slot = Hot { key, small };
        self.cold[attribute as usize] = Cold {
            order,
            start: place.0,
            len: place.1,
        };
    }

    /// Make an attribute absent again, and its folded text: the last of repeated keys counts, even
    /// if it is null.
    pub fn unset(&mut self, attribute: u32, fold: Option<u32>) {
        for attribute in [attribute].into_iter().chain(fold) {
            if self.has(attribute) {
                self.hot[attribute as usize] = EMPTY;
                self.present.retain(|&other| other != attribute);
            }
        }
    }

    /// The bucket of a present string or integer.
    pub fn bucket(&self, attribute: u32, salt: &str) -> u64 {
        if self.hot(attribute).small == NOTHING {
            return bucket_of(salt, self.text(attribute));
        }
        let value = (self.order(attribute) ^ (1 << 63)) as i64;
        bucket_of(salt, value.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_sort_as_values_do() {
        let ints = [i64::MIN, -5, -1, 0, 1, 7, i64::MAX];
        assert!(
            ints.windows(2)
                .all(|w| order_of_int(w[0]) < order_of_int(w[1]))
        );
        let floats = [f64::MIN, -1.5, -5e-324, 0.0, 5e-324, 1.5, f64::MAX];
        assert!(
            floats
                .windows(2)
                .all(|w| order_of_float(w[0]) < order_of_float(w[1]))
        );
        assert_eq!(order_of_float(-0.0), order_of_float(0.0));
    }

    #[test]
    fn a_list_is_sorted_and_its_repeats_collapse() {
        let mut event = Event::default();
        event.reset(2);
        let start = event.begin_list();
        for value in [3, 1, 3, 2, 1] {
            event.push_int(value);
        }
        event.end_list(1, None, start, 5);
        let expected: Vec<u64> = [1, 2, 3].map(order_of_int).to_vec();
        assert_eq!(event.elements(1), expected);
        assert!(!event.is_empty_list(1));
        event.reset(2);
        assert!(!event.has(1));
    }
}
