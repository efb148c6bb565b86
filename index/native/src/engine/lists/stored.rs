//! Lists in a snapshot: their items as an arena, and a header each.

use super::{BLOCK_ITEMS, Blocks, Header, ListId, Lists, Ref};
use crate::engine::stored::{Item, Malformed, Reader, Stored, ensure};

/// In place of the items of the only block: there are several.
const MANY: u32 = u32::MAX;

impl Item for Header {
    fn write(&self, out: &mut Vec<u8>) {
        match &self.blocks {
            Blocks::Free => 0u8.write(out),
            Blocks::One(block, items) => {
                (self.width as u8).write(out);
                self.len.write(out);
                items.write(out);
                block.write(out);
            }
            Blocks::Many(blocks) => {
                (self.width as u8).write(out);
                self.len.write(out);
                MANY.write(out);
                blocks.write(out);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let width = u32::from(from.u8()?);
        if width == 0 {
            return Ok(Header::default());
        }
        let len = from.u32()?;
        let blocks = match from.u32()? {
            MANY => Blocks::Many(Vec::read(from)?),
            items => Blocks::One(from.u32()?, items),
        };
        Ok(Header { blocks, len, width })
    }
}

impl Lists {
    /// What a snapshot holds.
    pub fn parts(&self) -> [&dyn Stored; 2] {
        [&self.arena, &self.headers]
    }

    /// See `parts`.
    pub fn parts_mut(&mut self) -> [&mut dyn Stored; 2] {
        [&mut self.arena, &mut self.headers]
    }

    /// Find what is free, and make sure that each list has its blocks to itself.
    ///
    /// # Errors
    /// If not.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        let mut claims = self.arena.claims()?;
        for id in 0..self.headers.len() as ListId {
            let header = self.headers.get(id);
            let width = header.width as usize;
            match &header.blocks {
                Blocks::Free => self.free.push(id),
                Blocks::One(block, items) => {
                    let fits = header.len <= *items && *items <= BLOCK_ITEMS;
                    ensure(fits, "a list is longer than its block")?;
                    claims.claim(*block, *items as usize * width)?;
                }
                Blocks::Many(blocks) => {
                    let room = blocks.len() as u64 * u64::from(BLOCK_ITEMS);
                    let fits = u64::from(header.len) <= room && !blocks.is_empty();
                    ensure(fits, "a list is longer than its blocks")?;
                    for &block in blocks {
                        claims.claim(block, BLOCK_ITEMS as usize * width)?;
                    }
                    self.many += blocks.len() * 4;
                }
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
        (!matches!(header.blocks, Blocks::Free)).then_some(header.width)
    }
}
