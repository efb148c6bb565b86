//! Lists in a snapshot: their items as an arena, a header each, and the blocks of the long ones.

use super::{BLOCK_ITEMS, Header, ListId, Lists, Ref, SEVERAL, full};
use crate::engine::stored::{Item, Malformed, Reader, Stored, ensure};

impl Item for Header {
    fn write(&self, out: &mut Vec<u8>) {
        self.width.write(out);
        if self.width > 0 {
            self.len.write(out);
            self.items.write(out);
            self.place.write(out);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let width = from.u8()?;
        if width == 0 {
            return Ok(Header::default());
        }
        Ok(Header {
            width,
            len: from.u32()?,
            items: u16::read(from)?,
            place: from.u32()?,
        })
    }
}

impl Lists {
    /// What a snapshot holds.
    pub fn parts(&self) -> [&dyn Stored; 3] {
        [&self.arena, &self.headers, &self.long]
    }

    /// See `parts`.
    pub fn parts_mut(&mut self) -> [&mut dyn Stored; 3] {
        [&mut self.arena, &mut self.headers, &mut self.long]
    }

    /// Find what is free, and make sure that each list has its blocks to itself.
    ///
    /// # Errors
    /// If not.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        let mut claims = self.arena.claims()?;
        let mut unclaimed = vec![true; self.long.len()];
        for id in 0..self.headers.len() as ListId {
            let header = self.headers.get(id);
            if header.width == 0 {
                self.free.push(id);
            } else if header.items == SEVERAL {
                let known = unclaimed.get_mut(header.place as usize);
                let first = known.is_some_and(std::mem::take);
                ensure(first, "a list has no blocks, or another one's")?;
                let blocks = self.long.get(header.place);
                let room = blocks.len() as u64 * u64::from(BLOCK_ITEMS);
                let fits = u64::from(header.len) <= room && !blocks.is_empty();
                ensure(fits, "a list is longer than its blocks")?;
                for &block in blocks {
                    claims.claim(block, full(header.width()))?;
                }
                self.long_blocks += blocks.len();
            } else {
                let items = u32::from(header.items);
                let fits = header.len <= items && items <= BLOCK_ITEMS;
                ensure(fits, "a list is longer than its block")?;
                claims.claim(header.place, (items * header.width()) as usize)?;
            }
        }
        for (place, free) in unclaimed.into_iter().enumerate() {
            if free {
                ensure(
                    self.long.get(place as u32).is_empty(),
                    "nobody has these blocks",
                )?;
                self.free_long.push(place as u32);
            }
        }
        // The last that was given back is the first to be given out.
        self.free.reverse();
        self.arena.settle(&claims);
        Ok(())
    }

    /// How many lists there were at any time: the numbers of all are below.
    pub fn numbers(&self) -> u32 {
        self.headers.len() as u32
    }

    /// No item stands as high as this.
    pub fn reach(&self) -> usize {
        self.arena.reach()
    }

    /// Where an item that is there stands.
    pub fn place_of(&self, id: ListId, at: u32) -> Ref {
        self.place(id, at).0
    }

    /// The words that an item of a list has; `None` if there is no such list.
    pub fn width(&self, id: ListId) -> Option<u32> {
        if id >= self.numbers() {
            return None;
        }
        let header = self.headers.get(id);
        (header.width > 0).then_some(header.width())
    }
}
