//! Guards in a snapshot: the word of each. Rows, changes and use counts follow from them.

use super::{FREE, Guard, MOST_GUARDS, MOST_TABLES, Ranges, SHARDS, Table, Truth, split};
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::memory::chunked::Chunked;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};
use hashbrown::HashTable;

impl Item for Table {
    fn write(&self, out: &mut Vec<u8>) {
        self.attribute.write(out);
        u8::from(self.by_value).write(out);
        self.words.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (attribute, by_value) = (from.u32()?, from.u8()? != 0);
        let words: Vec<LiteralWord> = Vec::read(from)?;
        ensure(words.len() <= MOST_GUARDS, "a table has too many guards")?;
        Ok(Table {
            attribute,
            by_value,
            words,
            starts: vec![0],
            start_uses: vec![1],
            ..Default::default()
        })
    }
}

impl Truth {
    /// Guards to read a snapshot into.
    pub fn unread() -> Self {
        Truth {
            tables: Chunked::default(),
            of_attribute: Vec::new(),
            changes: (0..SHARDS).map(|_| HashTable::new()).collect(),
            spilled: 0,
        }
    }

    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 1] {
        [&self.tables]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 1] {
        [&mut self.tables]
    }

    /// The table of a guard, if there is such a guard.
    fn home(&self, guard: Guard) -> Option<&Table> {
        let (table, number) = split(guard);
        let exists = (table as usize) < self.tables.len();
        let home = exists.then(|| self.tables.get(table))?;
        let word = *home.words.get(number)?;
        (word != FREE || table == 0).then_some(home)
    }

    /// Whether there is such a guard, with rows.
    #[inline]
    pub fn has_row(&self, guard: Guard) -> bool {
        self.home(guard).is_some_and(|table| !table.by_value)
    }

    /// Whether there is such a guard, by value, and of this word.
    pub fn is_by_value(&self, guard: Guard, word: LiteralWord) -> bool {
        let is_so = self.home(guard).is_some_and(|table| table.by_value);
        is_so && self.word(guard) == word
    }

    /// The number of guards by value.
    pub fn count_by_value(&self) -> usize {
        let tables = self.tables.iter().filter(|table| table.by_value);
        let words = tables.flat_map(|table| &table.words);
        words.filter(|&&word| word != FREE).count()
    }

    /// The guards with rows and their words, but for the first.
    pub fn iter_rows(&self) -> impl Iterator<Item = (Guard, LiteralWord)> {
        let tables = (0..).zip(self.tables.iter()).skip(1);
        let tables = tables.filter(|(_, of)| !of.by_value);
        tables.flat_map(|(table, of)| {
            let words = of.words.iter().enumerate().filter(|it| *it.1 != FREE);
            words.map(move |(number, &word)| (super::join(table, number), word))
        })
    }

    /// Whether every guard has a use.
    pub fn are_used(&self) -> bool {
        let has_use = |(word, uses): (&LiteralWord, &u32)| *word == FREE || *uses > 0;
        let mut tables = self.tables.iter();
        tables.all(|table| table.words.iter().zip(&table.uses).all(has_use))
    }

    /// Rebuild the rows. `ranges` of a word.
    ///
    /// # Errors
    /// If a guard is not valid.
    pub fn rebuild(
        &mut self,
        attributes: usize,
        ranges: impl Fn(LiteralWord) -> Option<Ranges>,
    ) -> Result<(), Malformed> {
        let first = self.tables.iter().next();
        let is_alone = first.is_some_and(|table| table.words.len() == 1 && !table.by_value);
        ensure(is_alone, "the first table has another guard than its own")?;
        ensure(
            self.tables.len() <= MOST_TABLES,
            "there are too many tables",
        )?;
        self.of_attribute = vec![[0; 2]; attributes];
        self.tables.get_mut(0).uses = vec![1];
        for table in 1..self.tables.len() as u32 {
            let of = self.tables.get_mut(table);
            let known = self.of_attribute.get_mut(of.attribute as usize);
            let known = known.map(|tables| &mut tables[usize::from(of.by_value)]);
            let Some(known @ 0) = known else {
                return Err(Malformed(
                    "an attribute has a table twice, or does not exist",
                ));
            };
            *known = table as u16;
            let uses = u32::from(of.by_value);
            of.uses = vec![uses; of.words.len()];
            let words = of.words.clone();
            let guards = words.iter().enumerate().filter(|(_, word)| **word != FREE);
            let mut asked: Vec<(usize, Ranges)> = Vec::new();
            for (number, &word) in guards {
                let is_its = literal_word::attribute_of(word) == of.attribute;
                let Some(ranges) = ranges(word).filter(|_| is_its) else {
                    return Err(Malformed("a guard asks nothing of a value"));
                };
                asked.push((number, ranges));
            }
            let of = self.tables.get_mut(table);
            let free = (0..words.len()).rev().filter(|&at| words[at] == FREE);
            of.free = free.map(|number| number as u16).collect();
            of.stride = words.len().div_ceil(64);
            if of.by_value {
                of.rows = vec![0; of.stride];
                for (number, ranges) in &asked {
                    self.change(table, *number, ranges);
                }
                continue;
            }
            let stride = std::mem::take(&mut of.stride); // no rows are moved while spaces begin
            asked.iter().for_each(|(_, ranges)| of.cut(ranges));
            (of.stride, of.rows) = (stride, vec![0; stride * of.starts.len()]);
            for (number, ranges) in &asked {
                of.flip(*number, ranges);
            }
        }
        Ok(())
    }
}
