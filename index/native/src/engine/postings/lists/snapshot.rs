//! Lists in a snapshot: their items as an arena, their parts, and the blocks of the long ones.

use super::{BLOCK_ITEMS, ListId, Lists, Long, PARTS, Part, WIDTHS, full, words_for};
use crate::engine::memory::arena::Claims;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Item for [Part; PARTS] {
    fn write(&self, out: &mut Vec<u8>) {
        for part in self {
            part.room.write(out);
            if part.room > 0 {
                part.len.write(out);
                part.place.write(out);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let mut parts = [Part::default(); PARTS];
        for part in &mut parts {
            part.room = u16::read(from)?;
            if part.room > 0 {
                part.len = u16::read(from)?;
                part.place = from.u32()?;
            }
        }
        Ok(parts)
    }
}

impl Item for Long {
    fn write(&self, out: &mut Vec<u8>) {
        self.len.write(out);
        self.blocks.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(Long {
            len: from.u32()?,
            blocks: Vec::read(from)?,
        })
    }
}

impl Lists {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 3] {
        [&self.arena, &self.parts, &self.long]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 3] {
        [&mut self.arena, &mut self.parts, &mut self.long]
    }

    /// Find the free lists and blocks, and check that no two lists share a block.
    ///
    /// # Errors
    /// If it does not.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        let mut claims = self.arena.claims()?;
        let mut unclaimed = vec![true; self.long.len()];
        for id in 0..self.parts.len() as ListId {
            let parts = *self.parts.get(id);
            let widths = parts.map(|part| part.width() as usize);
            let fit = [WIDTHS, [WIDTHS[0], 0], [0; PARTS]].contains(&widths);
            ensure(fit, "a list has parts that do not fit together")?;
            if widths == [0; PARTS] {
                let nothing = parts.iter().all(|part| part.room == 0);
                ensure(nothing, "a free list has items")?;
                self.free.push(id);
                continue;
            }
            for part in parts {
                self.claim(part, &mut claims, &mut unclaimed)?;
            }
        }
        for (place, free) in unclaimed.into_iter().enumerate() {
            if free {
                let Long { len, blocks } = self.long.get(place as u32);
                ensure(*len == 0 && blocks.is_empty(), "blocks belong to no list")?;
                self.free_long.push(place as u32);
            }
        }
        // The free list is a stack: the lowest number comes out first.
        self.free.reverse();
        self.arena.settle(&claims);
        Ok(())
    }

    fn claim(
        &mut self,
        part: Part,
        claims: &mut Claims,
        unclaimed: &mut [bool],
    ) -> Result<(), Malformed> {
        if part.is_long() {
            let known = unclaimed.get_mut(part.place as usize);
            let first = part.width() > 0 && known.is_some_and(std::mem::take);
            ensure(first, "a list has no blocks, or those of another list")?;
            let Long { len, blocks } = self.long.get(part.place);
            let room = blocks.len() as u64 * u64::from(BLOCK_ITEMS);
            let fits = u64::from(*len) <= room && !blocks.is_empty();
            ensure(fits, "a list is longer than its blocks")?;
            for &block in blocks {
                claims.claim(block, full(part.width()))?;
            }
            self.long_blocks += blocks.len();
            return Ok(());
        }
        let items = part.items();
        let fits = part.len <= items && words_for(items.into(), part.width()) <= full(part.width());
        ensure(fits, "a list is longer than its block")?;
        if items > 0 {
            claims.claim(part.place, words_for(items.into(), part.width()))?;
        }
        Ok(())
    }

    /// The upper bound of the numbers of all lists.
    pub fn numbers(&self) -> u32 {
        self.parts.len() as u32
    }

    /// The upper bound of `position`.
    pub fn reach(&self) -> usize {
        2 * self.arena.reach()
    }

    /// The position of an existing item among all numbers.
    pub fn position(&self, id: ListId, at: u32) -> usize {
        let (block, start, _) = self.place(id, at);
        2 * block as usize + start
    }

    /// The number of parts of a list; `None` if the list does not exist.
    pub fn parts(&self, id: ListId) -> Option<usize> {
        if id >= self.numbers() {
            return None;
        }
        let parts = self.parts.get(id).iter();
        let count = parts.filter(|part| part.width() > 0).count();
        (count > 0).then_some(count)
    }
}
