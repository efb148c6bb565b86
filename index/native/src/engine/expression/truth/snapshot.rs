//! Guards in a snapshot: the word of each. Rows, changes and use counts follow from them.

use super::{FREE, Guard, MOST_GUARDS, Ranges, SHARDS, Table, Truth, split};
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
            uses: vec![0; words.len()],
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
            numbers: (0..SHARDS).map(|_| HashTable::new()).collect(),
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

    /// Whether there is such a guard.
    pub fn has(&self, guard: Guard) -> bool {
        let (table, number) = split(guard);
        let exists = (table as usize) < self.tables.len();
        let words = exists.then(|| &self.tables.get(table).words);
        let word = words.and_then(|words| words.get(number));
        word.is_some_and(|&word| word != FREE || table == 0)
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
        ensure(self.has(super::ALWAYS_TRUE), "the first guard is missing")?;
        self.of_attribute = vec![[0; 2]; attributes];
        self.tables.get_mut(0).uses[0] = 1;
        self.name(super::ALWAYS_TRUE);
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
            let words = of.words.clone();
            let guards = words.iter().enumerate().filter(|(_, word)| **word != FREE);
            let mut asked: Vec<(usize, Ranges)> = Vec::new();
            for (number, &word) in guards {
                let Some(ranges) = ranges(word) else {
                    return Err(Malformed("a guard asks nothing of a value"));
                };
                if literal_word::op_of(word) != literal_word::LITERAL {
                    self.name(super::join(table, number));
                }
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
                of.write(*number, ranges);
            }
        }
        Ok(())
    }

    /// Whether every guard has a use.
    pub fn are_used(&self) -> bool {
        let has_use = |(word, uses): (&LiteralWord, &u32)| *word == FREE || *uses > 0;
        let mut tables = self.tables.iter();
        tables.all(|table| table.words.iter().zip(&table.uses).all(has_use))
    }
}
