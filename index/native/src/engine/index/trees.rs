//! The trees as they were written, for `explain`: equal ones once, and packed.
//!
//! ```text
//!   ["=","device.type","phone"]   ──▶   [ 14 32 , 14 33 , 14 34 ]      words 0, 1 and 2
//!
//!   14 to 31, then 32 to 127      one of the first 1,728 words
//!   1, first of all               a text that has such bytes itself: it follows as it is
//! ```
//!
//! A word is a string of JSON with its quotes. JSON has no byte below 32 except white space, so none
//! of these bytes can be part of a tree. With many more words, they would be found in memory and not
//! in the cache, and inserts were a third slower.

use crate::engine::expression::strings::Strings;
use crate::engine::snapshot::sections::{
    Item, Malformed, PORTION, Reader, Section, ensure, write_bytes,
};
use hashbrown::HashTable;
use memchr::memchr2;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

const LEADS: std::ops::RangeInclusive<u8> = 14..=31;
const AS_IT_IS: u8 = 1;
/// The bytes behind a lead, which keep the text valid UTF-8.
const FIRST: u8 = 32;
const EACH: usize = 96;

/// The maximum number of words.
const MOST_WORDS: usize = 18 * EACH;
/// The lengths of words, with their quotes.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=66;

/// Trees in JSON form by id.
pub struct Trees {
    numbers: FxHashMap<u64, u32>,
    texts: Strings,
    words: Words,
    buffer: String,
}

impl Default for Trees {
    fn default() -> Self {
        Trees {
            numbers: FxHashMap::default(),
            texts: Strings::new(),
            words: Words::default(),
            buffer: String::new(),
        }
    }
}

/// Strings by their numbers, and the reverse.
#[derive(Default)]
struct Words {
    texts: Vec<Box<str>>,
    numbers: HashTable<u32>,
}

impl Words {
    /// The number of a word, a new one if there is room.
    fn number(&mut self, word: &str) -> Option<usize> {
        let hash = FxBuildHasher.hash_one(word);
        let texts = &self.texts;
        let is_it = |&number: &u32| *texts[number as usize] == *word;
        match self.numbers.find(hash, is_it) {
            Some(&number) => Some(number as usize),
            None => self.add(word, hash),
        }
    }

    fn add(&mut self, word: &str, hash: u64) -> Option<usize> {
        let number = self.texts.len();
        if number == MOST_WORDS {
            return None;
        }
        self.texts.push(word.into());
        let texts = &self.texts;
        let hash_of = |&number: &u32| FxBuildHasher.hash_one(&*texts[number as usize]);
        self.numbers.insert_unique(hash, number as u32, hash_of);
        Some(number)
    }

    fn total_bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| text.len()).sum();
        texts + self.texts.capacity() * size_of::<Box<str>>() + self.numbers.allocation_size()
    }
}

impl Trees {
    /// Set the tree of an id.
    pub fn put(&mut self, id: u64, json: &[u8]) {
        self.pack(&String::from_utf8_lossy(json));
        let number = self.texts.acquire(&self.buffer);
        if let Some(old) = self.numbers.insert(id, number) {
            self.texts.release(old);
        }
    }

    /// Remove the tree of an id.
    pub fn remove(&mut self, id: u64) {
        if let Some(number) = self.numbers.remove(&id) {
            self.texts.release(number);
        }
    }

    /// The tree of an id.
    pub fn get(&self, id: u64) -> Option<String> {
        let packed = self.texts.text(*self.numbers.get(&id)?);
        if packed.as_bytes().first() == Some(&AS_IT_IS) {
            return Some(packed[1..].to_owned());
        }
        let mut json = String::with_capacity(3 * packed.len());
        let mut rest = packed;
        while let Some(at) = rest.bytes().position(|byte| LEADS.contains(&byte)) {
            json.push_str(&rest[..at]);
            json.push_str(&self.words.texts[word_at(&rest.as_bytes()[at..])?]);
            rest = &rest[at + 2..];
        }
        json.push_str(rest);
        Some(json)
    }

    /// Make room for so many ids.
    pub fn reserve(&mut self, ids: usize) {
        self.numbers.reserve(ids);
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Memory in bytes; nothing if none are kept.
    pub fn total_bytes(&self) -> usize {
        if self.texts.numbers() == 0 {
            return 0;
        }
        self.texts.total_bytes() + self.numbers.capacity() * 17 + self.words.total_bytes()
    }

    /// Pack a tree into `buffer`.
    fn pack(&mut self, json: &str) {
        self.buffer.clear();
        let is_special = |byte: u8| (byte == AS_IT_IS) | (byte.wrapping_sub(14) <= 17);
        // To its end: without a branch in it, many bytes are looked at together.
        if json.bytes().fold(false, |any, byte| any | is_special(byte)) {
            self.buffer.push(char::from(AS_IT_IS));
            self.buffer.push_str(json);
            return;
        }
        let mut rest = json;
        // The next string is usually two or three bytes ahead.
        while let Some(quote) = rest.bytes().position(|byte| byte == b'"') {
            let (before, from) = rest.split_at(quote);
            let (string, after) = from.split_at(string_len(from.as_bytes()));
            self.buffer.push_str(before);
            self.push(string);
            rest = after;
        }
        self.buffer.push_str(rest);
    }

    fn push(&mut self, string: &str) {
        let is_word = LENGTHS.contains(&string.len());
        match is_word.then(|| self.words.number(string)).flatten() {
            Some(number) => {
                let (lead, low) = (number / EACH, number % EACH);
                self.buffer.push(char::from(LEADS.start() + lead as u8));
                self.buffer.push(char::from(FIRST + low as u8));
            }
            None => self.buffer.push_str(string),
        }
    }

    /// Check that all words of all trees exist. To be called when all portions are read.
    ///
    /// # Errors
    /// If one does not.
    pub fn check(&self) -> Result<(), Malformed> {
        for &number in self.numbers.values() {
            let packed = self.texts.text(number).as_bytes();
            if packed.first() == Some(&AS_IT_IS) {
                continue;
            }
            for (at, _) in packed
                .iter()
                .enumerate()
                .filter(|(_, byte)| LEADS.contains(byte))
            {
                let exists = word_at(&packed[at..]).is_some_and(|n| n < self.words.texts.len());
                ensure(exists, "a tree has an unknown word")?;
            }
        }
        Ok(())
    }
}

/// The length of the string that the text starts with, with its quotes; all of it if the string does
/// not end.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if text[at + found] == b'"' {
            return at + found + 1;
        }
        at += found + 2;
    }
    text.len()
}

/// The number of the word that starts with a lead.
fn word_at(packed: &[u8]) -> Option<usize> {
    match *packed {
        [lead, low @ FIRST..=127, ..] => {
            Some(usize::from(lead - LEADS.start()) * EACH + usize::from(low - FIRST))
        }
        _ => None,
    }
}

/// The words, then ids with their packed trees, in portions.
impl Section for Trees {
    fn portions(&self) -> usize {
        1 + self.numbers.len().div_ceil(PORTION / 4)
    }

    fn store(&self, portion: usize, out: &mut Vec<u8>) {
        let Some(portion) = portion.checked_sub(1) else {
            for word in &self.words.texts {
                write_bytes(out, word.as_bytes());
            }
            return;
        };
        let all = self.numbers.iter();
        for (id, &number) in all.skip(portion * (PORTION / 4)).take(PORTION / 4) {
            id.write(out);
            write_bytes(out, self.texts.text(number).as_bytes());
        }
    }

    fn restore(&mut self, portion: usize, from: &mut Reader) -> Result<(), Malformed> {
        while !from.is_done() {
            if portion == 0 {
                let word = from.text()?;
                let added = self.words.add(word, FxBuildHasher.hash_one(word));
                ensure(added.is_some(), "there are too many words")?;
                continue;
            }
            let id = from.u64()?;
            let number = self.texts.acquire(from.text()?);
            let known = self.numbers.insert(id, number);
            ensure(known.is_none(), "an id has two trees")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_trees_are_kept_once() {
        let mut trees = Trees::default();
        for id in 0..1000 {
            trees.put(id, format!("[1,{}]", id % 2).as_bytes());
        }
        assert_eq!((trees.len(), trees.texts.len()), (1000, 2));
        trees.put(7, b"[1,true]");
        assert_eq!(trees.get(7).as_deref(), Some("[1,true]"));
        assert_eq!(
            (trees.get(9).as_deref(), trees.get(1000)),
            (Some("[1,1]"), None)
        );
        for id in 0..1001 {
            trees.remove(id);
        }
        assert!(trees.texts.is_empty() && trees.len() == 0);
    }

    #[test]
    fn what_repeats_is_short() {
        let mut trees = Trees::default();
        let json = r#"[1,["and",["=","device.type","phone"],["=","country","US"]]]"#;
        trees.put(3, json.as_bytes());
        assert_eq!(trees.get(3).as_deref(), Some(json));
        assert!(trees.texts.text(trees.numbers[&3]).len() <= json.len() / 2);
    }

    #[test]
    fn there_may_be_more_words_than_numbers() {
        let mut trees = Trees::default();
        let text = |id: u64| format!(r#"[1,["=","s","value {id}"]]"#);
        let all = MOST_WORDS as u64 + 100;
        for id in 0..all {
            trees.put(id, text(id).as_bytes());
        }
        assert_eq!(trees.words.texts.len(), MOST_WORDS);
        assert!((0..all).all(|id| trees.get(id) == Some(text(id))));
        assert_eq!(trees.check(), Ok(()));
        trees.words = Words::default();
        assert_eq!(trees.check(), Err(Malformed("a tree has an unknown word")));
    }

    proptest! {
        #[test]
        fn a_tree_comes_back_as_it_was(
            some in prop::collection::vec(r#"[\["a-c\\,\x01-\x1fé ]{0,40}"#, 1..8)
        ) {
            let mut trees = Trees::default();
            for (id, text) in (0..).zip(&some) {
                trees.put(id, text.as_bytes());
            }
            let mut loaded = Trees::default();
            for portion in 0..trees.portions() {
                let mut out = Vec::new();
                trees.store(portion, &mut out);
                loaded.restore(portion, &mut Reader::new(&out)).unwrap();
            }
            loaded.check().unwrap();
            for (id, text) in (0..).zip(&some) {
                prop_assert_eq!(trees.get(id), Some(text.clone()));
                prop_assert_eq!(loaded.get(id), Some(text.clone()));
            }
        }
    }
}
