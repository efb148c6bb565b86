//! The numbers of literals in a snapshot: the word of each. Rows and use counts are rebuilt.

use super::{ALWAYS_TRUE, LiteralId, LongLiterals, Numbers, OPEN, Open, Ranges, SHARDS};
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::truth::Truth;
use crate::engine::memory::arena::Ref;
use crate::engine::memory::chunked::Chunked;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};
use hashbrown::HashTable;

/// The word of a free number.
const FREE: LiteralWord = literal_word::ALWAYS;

impl Item for Open {
    fn write(&self, out: &mut Vec<u8>) {
        let word = if self.uses > 0 { self.word } else { FREE };
        (word, self.guard).write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (word, guard) = Item::read(from)?;
        Ok(Open {
            word,
            uses: 0,
            guard,
        })
    }
}

impl Numbers {
    /// Numbers to read a snapshot into.
    pub fn unread() -> Self {
        Numbers {
            truth: Truth::unread(),
            open: Chunked::default(),
            free: Vec::new(),
            table: (0..SHARDS).map(|_| HashTable::new()).collect(),
        }
    }

    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 2] {
        let [truth] = self.truth.sections();
        [truth, &self.open]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 2] {
        let [truth] = self.truth.sections_mut();
        [truth, &mut self.open]
    }

    /// All numbers but `ALWAYS_TRUE`, with their words.
    pub fn iter(&self) -> impl Iterator<Item = (LiteralId, LiteralWord)> {
        let open = (0..).zip(self.open.iter());
        let open = open.map(|(number, open)| (number | OPEN, open.word));
        let open = open.filter(|&(_, word)| word != FREE);
        self.truth.iter_rows().chain(open)
    }

    /// Rebuild the table and the rows. `ranges` of a word.
    ///
    /// # Errors
    /// If a number is not valid.
    pub fn rebuild(
        &mut self,
        attributes: usize,
        ranges: impl Fn(LiteralWord) -> Option<Ranges>,
    ) -> Result<(), Malformed> {
        ensure(
            self.open.len() <= OPEN as usize / 2,
            "there are too many literals",
        )?;
        let mut by_value = 0;
        for (number, open) in (0..).zip(self.open.iter()) {
            if open.word == FREE {
                self.free.push(number);
            }
            if open.guard != ALWAYS_TRUE {
                let is_its = self.truth.is_by_value(open.guard, open.word);
                ensure(is_its, "a literal has the guard of another one")?;
                by_value += 1;
            }
        }
        let all = by_value == self.truth.count_by_value();
        ensure(all, "a guard is of no literal")?;
        self.truth.rebuild(attributes, ranges)?;
        let ids: Vec<(LiteralId, LiteralWord)> = self.iter().collect();
        for (id, word) in ids {
            if literal_word::long_of(word).is_none() {
                ensure(self.find(word).is_none(), "a literal has two numbers")?;
                self.name(id);
            }
        }
        Ok(())
    }
}

impl LongLiterals {
    fn exists(&self, id: LiteralId) -> bool {
        if id & OPEN == 0 {
            return self.numbers.truth.has_row(id);
        }
        let number = id ^ OPEN;
        let is_open = (number as usize) < self.numbers.open.len();
        is_open && self.numbers.open.get(number).word != FREE
    }

    /// Count a use by a program. Returns whether there is such a literal.
    #[inline]
    pub fn count(&mut self, id: LiteralId) -> bool {
        let exists = self.exists(id);
        if exists {
            self.retain(id);
        }
        exists
    }

    /// Whether there is a long literal at a position.
    pub fn is_long(&self, place: Ref) -> bool {
        let id = self.is_inside(place).then(|| self.id_of(place));
        let id = id.filter(|&id| self.exists(id));
        id.is_some_and(|id| literal_word::long_of(self.word(id)) == Some(place))
    }

    /// Whether every literal has a use.
    pub fn are_used(&self) -> bool {
        let mut open = self.numbers.open.iter();
        let are_open_used = open.all(|open| open.word == FREE || open.uses > 0);
        are_open_used && self.numbers.truth.are_used()
    }
}
