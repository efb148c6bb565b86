//! Rows of truth: what a value of an attribute says about all guards on that attribute.
//!
//! ```text
//!   guards on age     0: = 30     1: 18..=34     2: not in (17, 30)
//!   spaces of age     ..=16   17   18..=29   30   31..=34   35..       the bounds cut the values
//!   rows              001     000  011       110  011       001        a bit for each guard
//!
//!   event: age 30 ──▶ its space ──▶ its row; each guard on age is then one bit of that row
//! ```
//!
//! This is BE-Tree's bitmap evaluation over PS-Tree's predicate spaces. A guard is 32 bits: its
//! table and its number within it. A check reads the row of the table and one bit, whatever the
//! operator; the row of an absent attribute is all zeros.
//!
//! An attribute with many values would have too many spaces, and a list has several values at once.
//! Their guards are in a table *by value*: a row is made for the event, from a row for values that
//! no guard names, and from what each value of the event changes in it. The number of guards that
//! one value changes is limited. A literal that fits neither table (a prefix, a pattern, a huge set)
//! is no guard: the program checks it.

mod snapshot;
mod table;

pub use table::Ranges;

use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::matching::event::Event;
use crate::engine::memory::arena::prefetch;
use crate::engine::memory::chunked::Chunked;
use crate::language::Type;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::hash::BuildHasher;
use table::Table;

/// A guard: its table in the upper half, its number in the lower.
pub type Guard = u32;
/// The guard that always holds, the only one of the first table.
pub const ALWAYS_TRUE: Guard = 0;

const NUMBER_BITS: u32 = 16;
/// The maximum number of guards of a table.
const MOST_GUARDS: usize = 1 << NUMBER_BITS;
/// The maximum number of tables: the highest bit of a guard is never set.
const MOST_TABLES: usize = 1 << 15;
/// The maximum number of spaces of a table, and of words in its rows.
const MOST_SPACES: usize = 1 << 10;
const MOST_WORDS: usize = 1 << 15;
/// Spaces of close values are looked up, not searched.
const MOST_CLOSE: u64 = 1 << 12;
/// The maximum number of values of a guard, and of guards that one value changes in a table by
/// value.
pub const MOST_VALUES: usize = 64;
const MOST_CHANGES: usize = 4096;
const SHARDS: usize = 256;
/// The cache lines of a row that are prefetched.
const MOST_LINES: usize = 16;

/// In place of the word of a guard: it is free.
const FREE: LiteralWord = literal_word::ALWAYS;

/// The row of an absent attribute.
static ABSENT: [u64; MOST_GUARDS / 64] = [0; MOST_GUARDS / 64];
/// The row of the first table.
static PRESENT: [u64; 1] = [1];

/// The address of the row of an absent attribute.
#[inline(always)]
pub fn absent_row() -> usize {
    ABSENT.as_ptr() as usize
}

/// What a value changes in the row of a table by value.
struct Changes {
    value: u64,
    table: u32,
    /// The numbers of guards, shifted by one, and whether they become false.
    guards: SmallVec<[u32; 4]>,
}

/// The tables of an attribute: with a row for each space, and by value; 0 is none.
type Tables = [u16; 2];

/// All guards in use.
pub struct Truth {
    tables: Chunked<Table>,
    of_attribute: Vec<Tables>,
    changes: Vec<HashTable<Changes>>,
    spilled: usize,
}

impl Default for Truth {
    fn default() -> Self {
        let mut truth = Truth::unread();
        truth.tables.push(Table::default());
        let first = truth.tables.get_mut(0);
        first.words.push(literal_word::ALWAYS);
        first.uses.push(1);
        truth
    }
}

fn split(guard: Guard) -> (u32, usize) {
    let number = guard & (MOST_GUARDS as u32 - 1);
    (guard >> NUMBER_BITS, number as usize)
}

fn join(table: u32, number: usize) -> Guard {
    table << NUMBER_BITS | number as u32
}

fn hash_value(table: u32, value: u64) -> u64 {
    FxBuildHasher.hash_one((table, value))
}

fn shard_of(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

fn heap_bytes(guards: &SmallVec<[u32; 4]>) -> usize {
    if guards.spilled() {
        guards.capacity() * 4
    } else {
        0
    }
}

impl Truth {
    fn tables_of(&self, attribute: u32) -> Tables {
        let tables = self.of_attribute.get(attribute as usize);
        tables.copied().unwrap_or_default()
    }

    /// The word of a guard.
    #[inline]
    pub fn word(&self, guard: Guard) -> LiteralWord {
        let (table, number) = split(guard);
        self.tables.get(table).words[number]
    }

    /// The number of uses of a guard with rows; one by value has one.
    pub fn uses(&mut self, guard: Guard) -> &mut u32 {
        let (table, number) = split(guard);
        &mut self.tables.get_mut(table).uses[number]
    }

    /// A new guard with rows and one use, for a literal that asks this of an attribute; `None` if
    /// there is no room.
    pub fn add(&mut self, word: LiteralWord, ranges: &Ranges) -> Option<Guard> {
        let attribute = literal_word::attribute_of(word);
        let fits = match self.tables_of(attribute)[0] {
            0 => self.tables.len() < MOST_TABLES,
            table => self.tables.get(table.into()).fits(ranges),
        };
        if !fits {
            return None;
        }
        let table = self.table(attribute, false);
        let of = self.tables.get_mut(table);
        let number = of.number(word);
        of.cut(ranges);
        of.flip(number, ranges);
        Some(join(table, number))
    }

    /// Whether there is room for a guard by value.
    pub fn has_room_by_value(&self, word: LiteralWord, ranges: &Ranges) -> bool {
        if !ranges.are_points() || ranges.ranges.len() > MOST_VALUES {
            return false;
        }
        let table = self.tables_of(literal_word::attribute_of(word))[1];
        if table == 0 {
            return self.tables.len() < MOST_TABLES;
        }
        let is_full = |value: u64| self.changes_of(table.into(), value).len() >= MOST_CHANGES;
        let has_room = self.tables.get(table.into()).has_room();
        has_room && !ranges.ranges.iter().any(|&(value, _)| is_full(value))
    }

    /// A new guard by value, for a literal that asks this of an attribute, or of one element of a
    /// list; `None` if there is no room.
    pub fn add_by_value(&mut self, word: LiteralWord, ranges: &Ranges) -> Option<Guard> {
        if !self.has_room_by_value(word, ranges) {
            return None;
        }
        let table = self.table(literal_word::attribute_of(word), true);
        let number = self.tables.get_mut(table).number(word);
        self.change(table, number, ranges);
        Some(join(table, number))
    }

    /// The table of an attribute, created if necessary.
    fn table(&mut self, attribute: u32, by_value: bool) -> u32 {
        if self.of_attribute.len() <= attribute as usize {
            self.of_attribute.resize(attribute as usize + 1, [0; 2]);
        }
        let known = self.of_attribute[attribute as usize][usize::from(by_value)];
        if known != 0 {
            return known.into();
        }
        let table = self.tables.len() as u32;
        self.tables.push(Table {
            attribute,
            by_value,
            starts: vec![0],
            start_uses: vec![1],
            ..Default::default()
        });
        self.of_attribute[attribute as usize][usize::from(by_value)] = table as u16;
        table
    }

    /// Write what the values of a guard change in a table by value.
    fn change(&mut self, table: u32, number: usize, ranges: &Ranges) {
        let row = &mut self.tables.get_mut(table).rows[number / 64];
        *row = *row & !(1 << (number % 64)) | u64::from(!ranges.positive) << (number % 64);
        for &(value, _) in &ranges.ranges {
            let hash = hash_value(table, value);
            let entry = self.changes[shard_of(hash)]
                .entry(
                    hash,
                    |other| other.value == value && other.table == table,
                    |other| hash_value(other.table, other.value),
                )
                .or_insert_with(|| Changes {
                    value,
                    table,
                    guards: SmallVec::new(),
                });
            let guards = &mut entry.into_mut().guards;
            let before = heap_bytes(guards);
            guards.push((number as u32) << 1 | u32::from(!ranges.positive));
            self.spilled += heap_bytes(guards) - before;
        }
    }

    fn unchange(&mut self, table: u32, number: usize, ranges: &Ranges) {
        for &(value, _) in &ranges.ranges {
            let hash = hash_value(table, value);
            let found = self.changes[shard_of(hash)]
                .find_entry(hash, |other| other.value == value && other.table == table);
            let Ok(mut entry) = found else { continue };
            let guards = &mut entry.get_mut().guards;
            self.spilled -= heap_bytes(guards);
            if let Some(at) = guards.iter().position(|&it| it >> 1 == number as u32) {
                guards.swap_remove(at);
            }
            if guards.len() * 4 <= guards.capacity() {
                guards.shrink_to_fit();
            }
            if guards.is_empty() {
                entry.remove();
            } else {
                self.spilled += heap_bytes(guards);
            }
        }
    }

    #[inline(always)]
    fn changes_of(&self, table: u32, value: u64) -> &[u32] {
        let hash = hash_value(table, value);
        self.changes[shard_of(hash)]
            .find(hash, |other| other.value == value && other.table == table)
            .map_or(&[], |found| &found.guards[..])
    }

    /// Remove a guard. `ranges` are what it was added with.
    pub fn remove(&mut self, guard: Guard, ranges: &Ranges) {
        let (table, number) = split(guard);
        let of = self.tables.get_mut(table);
        of.words[number] = FREE;
        of.free.push(number as u16);
        if of.by_value {
            self.unchange(table, number, ranges);
        } else {
            of.flip(number, ranges);
            of.mend(ranges);
        }
    }

    /// Find the rows of an event's values. Those that must be made are left out if `rows_only`.
    pub fn fill(&self, event: &mut Event, types: &[Type], rows_only: bool) {
        event.begin_rows(self.tables.len(), PRESENT.as_ptr() as usize, !rows_only);
        // Three dependent accesses for each attribute: fetch each of them for all attributes first.
        for &attribute in event.present() {
            for table in self.tables_of(attribute) {
                prefetch(self.tables.get(table.into()));
            }
        }
        for &attribute in event.present() {
            let table = self.tables.get(self.tables_of(attribute)[0].into());
            if let Some(place) = table.close_place(event.order(attribute)) {
                prefetch(table.close.as_ptr().wrapping_add(place));
            }
        }
        for place in 0..event.present().len() {
            let attribute = event.present()[place];
            let [rows, by_value] = self.tables_of(attribute);
            if rows != 0 && !types[attribute as usize].is_list() {
                let table = self.tables.get(rows.into());
                let row = table.row(table.space_of(event.order(attribute)));
                for line in row.chunks(8).take(MOST_LINES) {
                    prefetch(line.as_ptr());
                }
                event.set_row(rows, row.as_ptr() as usize);
            }
            if by_value != 0 && !rows_only {
                let table = self.tables.get(by_value.into());
                let start = event.make_row(&table.rows);
                if types[attribute as usize].is_list() {
                    for element in 0..event.elements(attribute).len() {
                        let value = event.elements(attribute)[element];
                        event.change_row(start, self.changes_of(by_value.into(), value));
                    }
                } else {
                    let value = event.order(attribute);
                    event.change_row(start, self.changes_of(by_value.into(), value));
                }
                event.set_made_row(by_value, start);
            }
        }
        event.end_rows();
    }

    /// The number of guards, and of the bits of their rows.
    pub fn count(&self) -> (usize, usize) {
        let tables = self.tables.iter().skip(1);
        let count = |table: &Table| (table.words.len() - table.free.len(), table.rows.len() * 64);
        tables.fold((0, 0), |(guards, bits), table| {
            let (more, wider) = count(table);
            (guards + more, bits + wider)
        })
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let changes: usize = self.changes.iter().map(HashTable::allocation_size).sum();
        let tables = self.tables.iter().map(|table| {
            table.words.capacity() * 12
                + table.free.capacity() * 2
                + table.starts.capacity() * 12
                + table.rows.capacity() * 8
                + table.close.capacity() * 2
        });
        let tables: usize = tables.sum();
        let around = self.tables.total_bytes() + self.of_attribute.capacity() * 4;
        changes + self.spilled + tables + around
    }

    /// Check every bit against what its guard asks. `ranges` of a word; `uses` of a guard.
    pub fn check_invariants(
        &self,
        ranges: impl Fn(LiteralWord) -> Option<Ranges>,
        uses: impl Fn(Guard) -> u32,
    ) -> Result<(), String> {
        let mut changes = 0;
        for table in 1..self.tables.len() as u32 {
            let of = self.tables.get(table);
            let mut cuts: Vec<u64> = Vec::new();
            for (number, &word) in of.words.iter().enumerate() {
                if word == FREE {
                    continue;
                }
                let guard = join(table, number);
                if of.uses[number] != uses(guard) {
                    return Err(format!(
                        "guard {guard} has {} uses, not {}",
                        of.uses[number],
                        uses(guard)
                    ));
                }
                let Some(ranges) = ranges(word) else {
                    return Err(format!("guard {guard} asks nothing of a value"));
                };
                let bit = |row: &[u64]| row[number / 64] >> (number % 64) & 1 == 1;
                if of.by_value {
                    let changed = |&(value, _): &(u64, u64)| {
                        let change = (number as u32) << 1 | u32::from(!ranges.positive);
                        self.changes_of(table, value).contains(&change)
                    };
                    changes += ranges.ranges.len();
                    if bit(&of.rows) == ranges.positive || !ranges.ranges.iter().all(changed) {
                        return Err(format!("guard {guard} is not changed by its values"));
                    }
                    continue;
                }
                cuts.extend(ranges.cuts());
                for (space, &start) in of.starts.iter().enumerate() {
                    let found = of.space_of(start) == space;
                    if !found || bit(of.row(space)) != ranges.hold(start) {
                        return Err(format!("guard {guard} has a wrong bit in space {space}"));
                    }
                }
            }
            let free = of.words.iter().filter(|&&word| word == FREE).count();
            cuts.sort_unstable();
            cuts.dedup();
            if free != of.free.len() || of.starts[1..] != cuts {
                return Err(format!("table {table} has guards or spaces without a use"));
            }
        }
        let all = self.changes.iter().flatten();
        let found: usize = all.map(|it| it.guards.len()).sum();
        if found != changes {
            return Err(format!("{found} changes by values, not {changes}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::expression::literal_word::{EQ, pack};
    use crate::engine::matching::event::order_of_int;

    fn word(number: u64) -> LiteralWord {
        pack(EQ, 0, number)
    }

    fn between(low: i64, high: i64, positive: bool) -> Ranges {
        let ranges = [(order_of_int(low), order_of_int(high))].into_iter();
        Ranges {
            ranges: ranges.collect(),
            positive,
        }
    }

    /// Check each guard on attribute 0 for each value, then the invariants.
    fn check(truth: &Truth, guards: &[(Guard, Ranges)]) {
        let mut event = Event::default();
        for value in -5..60 {
            event.reset(2);
            event.set_int(0, value);
            truth.fill(&mut event, &[Type::Int, Type::IntList], false);
            for (guard, ranges) in guards {
                assert_eq!(event.meets(*guard), ranges.hold(order_of_int(value)));
                let both = event.both(*guard, ALWAYS_TRUE);
                assert_eq!(both, u64::from(event.meets(*guard)));
            }
            assert!(event.meets(ALWAYS_TRUE));
        }
        let of = |word: LiteralWord| {
            let known = guards.iter().find(|(guard, _)| truth.word(*guard) == word);
            known.map(|(_, ranges)| ranges.clone())
        };
        truth.check_invariants(of, |_| 1).unwrap();
    }

    #[test]
    fn a_guard_holds_where_its_ranges_say_while_others_come_and_go() {
        let mut truth = Truth::default();
        let mut guards: Vec<(Guard, Ranges)> = Vec::new();
        for number in 0..200u64 {
            let (low, width) = (number as i64 * 7 % 50, number as i64 % 9);
            let ranges = if number % 3 == 0 {
                let points = [low, low + 2, low + 3].map(order_of_int);
                Ranges::of_points(points.into_iter(), number % 2 == 0)
            } else {
                between(low, low + width, number % 2 == 0)
            };
            let guard = truth.add(word(number), &ranges).unwrap();
            guards.push((guard, ranges));
            if number % 4 == 3 {
                let (guard, ranges) = guards.swap_remove(number as usize % guards.len());
                truth.remove(guard, &ranges);
            }
        }
        check(&truth, &guards);
        for (guard, ranges) in guards.drain(..) {
            truth.remove(guard, &ranges);
        }
        check(&truth, &guards);
        assert_eq!(truth.tables.get(1).starts, [0]);
    }

    #[test]
    fn what_does_not_fit_rows_is_by_value_or_no_guard() {
        let mut truth = Truth::default();
        let mut guards: Vec<(Guard, Ranges)> = Vec::new();
        for number in 0..600u64 {
            let ranges = Ranges::of_points([number * 10].into_iter(), number % 2 == 0);
            let guard = match truth.add(word(number), &ranges) {
                Some(guard) => guard,
                None => truth.add_by_value(word(number), &ranges).unwrap(),
            };
            guards.push((guard, ranges));
        }
        let by_value = |(guard, _): &&(Guard, Ranges)| truth.tables.get(split(*guard).0).by_value;
        assert!(guards.iter().filter(by_value).count() > 50);
        check(&truth, &guards);
        let range = between(1, 2, true);
        assert_eq!(truth.add(word(999), &range), None);
        assert_eq!(truth.add_by_value(word(999), &range), None);
        let point = Ranges::of_points([7].into_iter(), true);
        assert_eq!(truth.add(word(999), &point), None);
        assert!(truth.has_room_by_value(word(999), &point));
    }

    #[test]
    fn a_list_meets_the_guards_of_all_its_elements() {
        let mut truth = Truth::default();
        let set = |values: &[i64], positive: bool| {
            Ranges::of_points(values.iter().copied().map(order_of_int), positive)
        };
        let on_list = |number: u64| pack(EQ, 1, number);
        let mut add = |number, ranges: &Ranges| truth.add_by_value(on_list(number), ranges);
        let any = add(1, &set(&[1, 2], true)).unwrap();
        let none = add(2, &set(&[3, 4], false)).unwrap();
        let mut event = Event::default();
        for (elements, expected) in [
            (&[][..], (false, true)),
            (&[1, 2], (true, true)),
            (&[2, 3], (true, false)),
            (&[3, 4], (false, false)),
            (&[9], (false, true)),
        ] {
            event.reset(2);
            let start = event.begin_list();
            elements.iter().for_each(|&element| event.push_int(element));
            event.end_list(1, None, start, elements.len());
            truth.fill(&mut event, &[Type::Int, Type::IntList], false);
            assert_eq!((event.meets(any), event.meets(none)), expected);
        }
        event.reset(2);
        truth.fill(&mut event, &[Type::Int, Type::IntList], false);
        assert!(!event.meets(any) && !event.meets(none), "it is absent");
    }

    #[test]
    fn a_popular_value_changes_a_limited_number_of_guards() {
        let mut truth = Truth::default();
        let ranges = Ranges::of_points([7].into_iter(), true);
        for number in 0..MOST_CHANGES as u64 {
            assert!(truth.add_by_value(word(number), &ranges).is_some());
        }
        assert_eq!(truth.add_by_value(word(1 << 20), &ranges), None);
    }
}
