//! Literals that do not fit a word: each once, by structure.
//!
//! ```text
//!   word 0   kind (8) │ flags (8) │ attribute (16) │ words of data (32)
//!   word 1   its number among all literals (`literal_ids.rs`)
//!   then     data: bounds, values ascending, or text with its length in front
//! ```
//!
//! The position of a literal is part of its word, and its values follow it, so a check costs one
//! memory access and not three.

mod snapshot;

use crate::engine::expression::areas::Area;
use crate::engine::expression::literal_ids::{LiteralId, Numbered, Numbers};
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::strings::Strings;
use crate::engine::matching::event::Event;
use crate::engine::memory::arena::{Arena, Ref};
use crate::language::Type;
use crate::language::pattern::finds;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The condition of a long literal on a present attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Test<'a> {
    /// The order of a number lies between two, inclusive.
    Order(u64, u64),
    /// The order of a number, or the number of a string, is one of these, ascending.
    Among(&'a [u64]),
    /// The text lies between two; the flags say which bounds are excluded.
    Text(Option<(&'a str, bool)>, Option<(&'a str, bool)>),
    /// The text begins with this string, by number.
    Prefix(u32),
    /// The text ends with this string, by number.
    Suffix(u32),
    /// The text contains this one.
    Contains(&'a str),
    /// The list has any of these, ascending.
    AnyOf(&'a [u64]),
    /// The list has all of these, ascending.
    AllOf(&'a [u64]),
    /// The list is empty.
    Empty,
    /// The address or the point is in an area.
    Area(Area, &'a [u64]),
    /// The text has a match of a pattern: of a `like`, or else of a `matches`.
    Pattern(Matcher<'a>),
    /// The bucket with this salt is in one of the ranges: first and last ones, ascending.
    Bucket(&'a str, &'a [u64]),
}

/// A pattern: its text, a text that every match contains, and its program (`language/pattern.rs`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Matcher<'a> {
    pub is_like: bool,
    pub text: &'a str,
    pub required: &'a str,
    pub program: &'a [u64],
}

/// A literal that does not fit a word. `texts` says that the values of a set are strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LongLiteral<'a> {
    pub attribute: u32,
    pub positive: bool,
    pub texts: bool,
    pub test: Test<'a>,
}

const HEADER: usize = 2;
const ORDER: u64 = 0;
const AMONG: u64 = 1;
const TEXT: u64 = 2;
const PREFIX: u64 = 3;
const SUFFIX: u64 = 4;
const CONTAINS: u64 = 5;
const ANY_OF: u64 = 6;
const ALL_OF: u64 = 7;
const EMPTY: u64 = 8;
const BUCKET: u64 = 9;
const LIKE: u64 = 10;
const MATCHES: u64 = 11;
/// Of the first kind of area.
const AREA: u64 = 16;

const POSITIVE: u64 = 1 << 8;
const TEXTS: u64 = 1 << 9;
const LOW: u64 = 1 << 10;
const LOW_OPEN: u64 = 1 << 11;
const HIGH: u64 = 1 << 12;
const HIGH_OPEN: u64 = 1 << 13;

/// The long literals in use.
pub struct LongLiterals {
    arena: Arena,
    table: Vec<HashTable<Ref>>,
    /// All ones; a test sets it to 0 to make all literals collide.
    pub hash_mask: u64,
    strings: Strings,
    pub(super) numbers: Numbers,
    /// Strings of removed huge sets, to be released a few at a time.
    garbage: Vec<u32>,
    /// Whether sets of a few small integers are words and not long literals.
    pub has_tiny_sets: bool,
}

/// The strings of larger sets are released later, so that no update takes long.
const MANY: usize = 1000;
const SHARDS: usize = 1024;

impl Default for LongLiterals {
    fn default() -> Self {
        LongLiterals {
            arena: Arena::new(),
            table: (0..SHARDS).map(|_| HashTable::new()).collect(),
            hash_mask: u64::MAX,
            strings: Strings::new(),
            numbers: Numbers::default(),
            garbage: Vec::new(),
            has_tiny_sets: true,
        }
    }
}

impl LongLiterals {
    /// The strings that predicates name. They live here because prefixes and suffixes read them.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// The strings, to change them.
    pub fn strings_mut(&mut self) -> &mut Strings {
        &mut self.strings
    }

    fn hash(&self, literal: &LongLiteral) -> u64 {
        FxBuildHasher.hash_one(literal) & self.hash_mask
    }

    /// The position of a literal, if it is in use.
    pub fn find(&self, literal: &LongLiteral) -> Option<Ref> {
        self.find_hashed(self.hash(literal), literal)
    }

    fn find_hashed(&self, hash: u64, literal: &LongLiteral) -> Option<Ref> {
        self.table[(hash >> 45) as usize % SHARDS]
            .find(hash, |&place| self.get(place) == *literal)
            .copied()
    }

    /// The number of a literal, counting one more use. The caller has acquired the strings of the
    /// literal once. The table takes over these uses, or releases them if the literal exists
    /// already.
    pub fn acquire(&mut self, literal: LongLiteral, kind: Type) -> Numbered {
        let hash = self.hash(&literal);
        if let Some(place) = self.find_hashed(hash, &literal) {
            self.release_strings(&literal);
            return self.acquire_known(place, kind);
        }
        let place = self.write(&literal);
        self.enter(place, hash);
        let word = self.word_at(place);
        let id = self.number(word, kind);
        self.arena.words_mut(place + 1, 1)[0] = u64::from(id);
        (word, id)
    }

    /// The number of a literal in use, counting one more use.
    pub fn acquire_known(&mut self, place: Ref, kind: Type) -> Numbered {
        let id = self.id_of(place);
        self.share(id, kind);
        (self.word_at(place), id)
    }

    fn enter(&mut self, place: Ref, hash: u64) {
        let shard = (hash >> 45) as usize % SHARDS;
        let mut table = std::mem::take(&mut self.table[shard]);
        table.insert_unique(hash, place, |&other| self.hash(&self.get(other)));
        self.table[shard] = table;
    }

    /// The number of the literal at a position.
    #[inline(always)]
    pub fn id_of(&self, place: Ref) -> LiteralId {
        self.arena.words(place + 1, 1)[0] as LiteralId
    }

    /// The word of the literal at a position.
    fn word_at(&self, place: Ref) -> LiteralWord {
        let attribute = self.get(place).attribute;
        literal_word::pack(literal_word::LITERAL, attribute, u64::from(place))
    }

    fn write(&mut self, literal: &LongLiteral) -> Ref {
        let mut flags =
            (u64::from(literal.positive) * POSITIVE) | (u64::from(literal.texts) * TEXTS);
        let mut data: Vec<u64> = Vec::new();
        let kind = match literal.test {
            Test::Order(low, high) => {
                data.extend([low, high]);
                ORDER
            }
            Test::Among(values) => {
                data.extend_from_slice(values);
                AMONG
            }
            Test::AnyOf(values) => {
                data.extend_from_slice(values);
                ANY_OF
            }
            Test::AllOf(values) => {
                data.extend_from_slice(values);
                ALL_OF
            }
            Test::Text(low, high) => {
                for (bound, there, excluded) in [(low, LOW, LOW_OPEN), (high, HIGH, HIGH_OPEN)] {
                    let (text, open) = bound.unwrap_or(("", false));
                    flags |= (u64::from(bound.is_some()) * there) | (u64::from(open) * excluded);
                    write_text(&mut data, text);
                }
                TEXT
            }
            Test::Prefix(string) => {
                data.push(u64::from(string));
                PREFIX
            }
            Test::Suffix(string) => {
                data.push(u64::from(string));
                SUFFIX
            }
            Test::Contains(text) => {
                write_text(&mut data, text);
                CONTAINS
            }
            Test::Empty => EMPTY,
            Test::Area(area, words) => {
                data.extend_from_slice(words);
                AREA + area as u64
            }
            Test::Bucket(salt, ranges) => {
                write_text(&mut data, salt);
                data.extend_from_slice(ranges);
                BUCKET
            }
            Test::Pattern(matcher) => {
                write_text(&mut data, matcher.text);
                write_text(&mut data, matcher.required);
                data.extend_from_slice(matcher.program);
                if matcher.is_like { LIKE } else { MATCHES }
            }
        };
        let place = self.arena.alloc(HEADER + data.len());
        let words = self.arena.words_mut(place, HEADER + data.len());
        words[0] = kind | flags | u64::from(literal.attribute) << 16 | (data.len() as u64) << 32;
        words[1] = 0;
        words[HEADER..].copy_from_slice(&data);
        place
    }

    /// A literal in use.
    #[inline(always)]
    pub fn get(&self, number: u32) -> LongLiteral<'_> {
        let header = self.arena.words(number, 1)[0];
        let data = self
            .arena
            .words(number + HEADER as u32, (header >> 32) as usize);
        let test = match header & 0xff {
            ORDER => Test::Order(data[0], data[1]),
            AMONG => Test::Among(data),
            ANY_OF => Test::AnyOf(data),
            ALL_OF => Test::AllOf(data),
            PREFIX => Test::Prefix(data[0] as u32),
            SUFFIX => Test::Suffix(data[0] as u32),
            CONTAINS => Test::Contains(read_text(data).0),
            TEXT => {
                let (low, rest) = read_text(data);
                let (high, _) = read_text(rest);
                let has = |flag: u64| header & flag != 0;
                Test::Text(
                    has(LOW).then_some((low, has(LOW_OPEN))),
                    has(HIGH).then_some((high, has(HIGH_OPEN))),
                )
            }
            EMPTY => Test::Empty,
            BUCKET => {
                let (salt, ranges) = read_text(data);
                Test::Bucket(salt, ranges)
            }
            kind @ (LIKE | MATCHES) => {
                let (text, rest) = read_text(data);
                let (required, program) = read_text(rest);
                Test::Pattern(Matcher {
                    is_like: kind == LIKE,
                    text,
                    required,
                    program,
                })
            }
            area => Test::Area(Area::ALL[(area - AREA) as usize], data),
        };
        LongLiteral {
            attribute: (header >> 16) as u32 & 0xffff,
            positive: header & POSITIVE != 0,
            texts: header & TEXTS != 0,
            test,
        }
    }

    /// Remove a literal and release its strings.
    pub(super) fn remove(&mut self, number: Ref) {
        let hash = self.hash(&self.get(number));
        let shard = &mut self.table[(hash >> 45) as usize % SHARDS];
        if let Ok(entry) = shard.find_entry(hash, |&other| other == number) {
            entry.remove();
        }
        let header = self.arena.words(number, 1)[0];
        let len = (header >> 32) as usize;
        let strings: Vec<u32> = match header & 0xff {
            PREFIX | SUFFIX => vec![self.arena.words(number + HEADER as u32, 1)[0] as u32],
            _ if header & TEXTS != 0 => self
                .arena
                .words(number + HEADER as u32, len)
                .iter()
                .map(|&value| value as u32)
                .collect(),
            _ => Vec::new(),
        };
        self.arena.free(number, HEADER + len);
        self.release_all(&strings);
    }

    fn release_strings(&mut self, literal: &LongLiteral) {
        let strings: Vec<u32> = match literal.test {
            Test::Prefix(string) | Test::Suffix(string) => vec![string],
            Test::Among(values) | Test::AnyOf(values) | Test::AllOf(values) if literal.texts => {
                values.iter().map(|&value| value as u32).collect()
            }
            _ => Vec::new(),
        };
        self.release_all(&strings);
    }

    fn release_all(&mut self, strings: &[u32]) {
        if strings.len() > MANY {
            self.garbage.extend_from_slice(strings);
            return;
        }
        for &string in strings {
            self.strings.release(string);
        }
    }

    /// Release some of the strings of removed sets.
    pub fn collect_garbage(&mut self) {
        for _ in 0..MANY {
            match self.garbage.pop() {
                Some(string) => self.strings.release(string),
                None => break,
            }
        }
    }

    /// Whether there are strings to be released.
    pub fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    /// Whether an event makes the literal at a position true.
    pub(super) fn is_true(&self, number: Ref, event: &Event) -> bool {
        let literal = self.get(number);
        let attribute = literal.attribute;
        if !event.has(attribute) {
            return false;
        }
        let met = match literal.test {
            Test::Order(low, high) => {
                let order = event.order(attribute);
                low <= order && order <= high
            }
            Test::Among(values) => among(values, event.order(attribute)),
            Test::Text(low, high) => {
                let text = event.text(attribute);
                let above = low.is_none_or(|(bound, open)| {
                    text > bound.as_bytes() || (!open && text == bound.as_bytes())
                });
                let below = high.is_none_or(|(bound, open)| {
                    text < bound.as_bytes() || (!open && text == bound.as_bytes())
                });
                above && below
            }
            Test::Prefix(string) => event
                .text(attribute)
                .starts_with(self.strings.text(string).as_bytes()),
            Test::Suffix(string) => event
                .text(attribute)
                .ends_with(self.strings.text(string).as_bytes()),
            Test::Contains(part) => {
                memchr::memmem::find(event.text(attribute), part.as_bytes()).is_some()
            }
            Test::AnyOf(values) => any_common(values, event.elements(attribute)),
            Test::AllOf(values) => {
                let elements = event.elements(attribute);
                values.len() <= elements.len() && values.iter().all(|v| among(elements, *v))
            }
            Test::Empty => event.is_empty_list(attribute),
            Test::Area(area, words) => area.has(words, attribute, event),
            Test::Pattern(matcher) => {
                let text = event.text(attribute);
                memchr::memmem::find(text, matcher.required.as_bytes()).is_some()
                    && std::str::from_utf8(text).is_ok_and(|text| finds(matcher.program, text))
            }
            Test::Bucket(salt, ranges) => {
                let bucket = event.bucket(attribute, salt);
                let mut ranges = ranges.chunks_exact(2);
                ranges.any(|range| (range[0]..=range[1]).contains(&bucket))
            }
        };
        met == literal.positive
    }

    /// The arena, to give it its next chunk.
    pub fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Whether the arena needs its next chunk soon.
    pub fn wants_spare(&self) -> bool {
        self.arena.wants_spare()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.table.iter().map(HashTable::len).sum()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in bytes, without the strings.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.table.iter().map(HashTable::allocation_size).sum();
        let numbers = self.numbers.total_bytes();
        tables + self.arena.total_bytes() + numbers + self.garbage.capacity() * 4
    }
}

fn write_text(data: &mut Vec<u64>, text: &str) {
    data.push(text.len() as u64);
    for bytes in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        data.push(u64::from_ne_bytes(word));
    }
}

/// The text at the beginning of some data, and what follows it.
fn read_text(data: &[u64]) -> (&str, &[u64]) {
    let len = data[0] as usize;
    let (words, rest) = data[1..].split_at(len.div_ceil(8));
    // SAFETY: `write_text` wrote this many bytes of a `str` into these words; `u64` has no padding.
    let text = unsafe {
        std::str::from_utf8_unchecked(std::slice::from_raw_parts(words.as_ptr().cast(), len))
    };
    (text, rest)
}

fn among(ascending: &[u64], value: u64) -> bool {
    if ascending.len() <= 8 {
        ascending.contains(&value)
    } else {
        ascending.binary_search(&value).is_ok()
    }
}

fn any_common(a: &[u64], b: &[u64]) -> bool {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    few.iter().any(|value| among(many, *value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_forgotten_again() {
        let tests = [
            Test::Order(3, 9),
            Test::Among(&[1, 2, 3]),
            Test::AnyOf(&[1, 2, 3]),
            Test::AllOf(&[1, 2, 3]),
            Test::Text(None, Some(("zebra crossing", true))),
            Test::Text(Some(("", false)), None),
            Test::Text(Some(("a", true)), Some(("ü", false))),
            Test::Contains("some text of more than a word"),
            Test::Empty,
            Test::Area(Area::Box, &[1, 2, 3, 4]),
            Test::Bucket("spring", &[0, 99, 500, 500]),
            Test::Bucket("", &[7, 7]),
            Test::Pattern(Matcher {
                is_like: true,
                text: "a?b*",
                required: "a",
                program: &[7, 1, 2],
            }),
        ];
        for mask in [u64::MAX, 0] {
            let mut literals = LongLiterals {
                hash_mask: mask,
                ..Default::default()
            };
            let all: Vec<LongLiteral> = tests
                .iter()
                .flat_map(|&test| [true, false].map(|positive| (test, positive)))
                .map(|(test, positive)| LongLiteral {
                    attribute: 7,
                    positive,
                    texts: false,
                    test,
                })
                .collect();
            let types = [Type::Int; 8];
            let ids: Vec<LiteralId> = all
                .iter()
                .map(|&literal| literals.acquire(literal, Type::Int).1)
                .collect();
            for (literal, &id) in all.iter().zip(&ids) {
                let place = literal_word::number_of(literals.word(id));
                assert_eq!(literals.get(place), *literal);
                assert_eq!(literals.acquire(*literal, Type::Int).1, id);
            }
            assert_eq!(literals.len(), all.len());
            let uses = ids.iter().map(|&id| (id, 2)).collect();
            literals.check_numbers(&types, &uses).unwrap();
            for &id in ids.iter().chain(&ids) {
                literals.release(id, &types);
            }
            assert!(literals.is_empty());
        }
    }
}
