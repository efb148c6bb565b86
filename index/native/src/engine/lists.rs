//! Lists of items of a few words each, in blocks: postings, and the ids that share an expression.
//!
//! ```text
//!   header   len, blocks ──▶ [ items ]                  up to a block's worth, by quarters
//!                        └─▶ [ items ][ items ][ … ]    beyond: full blocks, none ever moves
//! ```
//!
//! Removing an item moves the last one into its place; the caller is told, since whoever owns the
//! moved item remembers its position. No operation copies more than one block.

mod stored;

use super::arena::{Arena, Ref};
use super::chunked::Chunked;

/// The number of a list.
pub type ListId = u32;
/// No list.
pub const NO_LIST: ListId = u32::MAX;

const BLOCK_ITEMS: u32 = 512;

enum Blocks {
    Free,
    One(Ref, u32),
    Many(Vec<Ref>),
}

struct Header {
    blocks: Blocks,
    len: u32,
    width: u32,
}

impl Default for Header {
    fn default() -> Self {
        Header {
            blocks: Blocks::Free,
            len: 0,
            width: 1,
        }
    }
}

/// All lists, and the memory of their items.
#[derive(Default)]
pub struct Lists {
    arena: Arena,
    headers: Chunked<Header>,
    free: Vec<ListId>,
    many: usize,
}

impl Lists {
    /// A new list for items of so many words.
    pub fn create(&mut self, width: u32) -> ListId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.headers.push(Header::default());
            self.headers.len() as u32 - 1
        });
        let block = self.arena.alloc(width as usize);
        *self.headers.get_mut(id) = Header {
            blocks: Blocks::One(block, 1),
            len: 0,
            width,
        };
        id
    }

    /// Give an empty list back.
    pub fn destroy(&mut self, id: ListId) {
        let header = std::mem::take(self.headers.get_mut(id));
        debug_assert_eq!(header.len, 0);
        match header.blocks {
            Blocks::Free => {}
            Blocks::One(block, items) => self.arena.free(block, (items * header.width) as usize),
            Blocks::Many(blocks) => {
                for block in blocks {
                    self.arena
                        .free(block, (BLOCK_ITEMS * header.width) as usize);
                    self.many -= 4;
                }
            }
        }
        self.free.push(id);
    }

    /// How many items a list has.
    #[inline]
    pub fn len(&self, id: ListId) -> u32 {
        self.headers.get(id).len
    }

    /// Add an item; its position.
    pub fn push(&mut self, id: ListId, item: &[u64]) -> u32 {
        let header = self.headers.get_mut(id);
        debug_assert_eq!(item.len(), header.width as usize);
        let (at, width) = (header.len, header.width);
        header.len += 1;
        let full = match &header.blocks {
            Blocks::One(_, items) => at == *items,
            Blocks::Many(blocks) => at as usize == blocks.len() * BLOCK_ITEMS as usize,
            Blocks::Free => unreachable!("a list that was destroyed"),
        };
        if full {
            self.make_room(id, at, width);
        }
        self.item_mut(id, at).copy_from_slice(item);
        at
    }

    fn make_room(&mut self, id: ListId, at: u32, width: u32) {
        let header = self.headers.get_mut(id);
        match &mut header.blocks {
            Blocks::One(block, items) if *items < BLOCK_ITEMS => {
                let (old, size) = (*block, *items);
                // By quarters, not by doubling: most lists are short, and a fifth is wasted at most.
                let larger = (size + size.div_ceil(4)).min(BLOCK_ITEMS);
                let new = self.arena.alloc((larger * width) as usize);
                self.arena.copy(old, new, (at * width) as usize);
                self.arena.free(old, (size * width) as usize);
                (*block, *items) = (new, larger);
            }
            Blocks::One(block, _) => {
                let more = self.arena.alloc((BLOCK_ITEMS * width) as usize);
                let blocks = vec![*block, more];
                self.many += 8;
                header.blocks = Blocks::Many(blocks);
            }
            Blocks::Many(blocks) => {
                blocks.push(self.arena.alloc((BLOCK_ITEMS * width) as usize));
                self.many += 4;
            }
            Blocks::Free => {}
        }
    }

    /// Remove the item at a position. The item that was last takes its place: returned if it was
    /// another one.
    pub fn swap_remove(&mut self, id: ListId, at: u32) -> Option<&[u64]> {
        let header = self.headers.get_mut(id);
        header.len -= 1;
        let (last, width) = (header.len, header.width);
        if last != at {
            for word in 0..width as usize {
                let value = self.item(id, last)[word];
                self.item_mut(id, at)[word] = value;
            }
        }
        self.give_back_room(id, last, width);
        (last != at).then(|| self.item(id, at))
    }

    fn give_back_room(&mut self, id: ListId, len: u32, width: u32) {
        let header = self.headers.get_mut(id);
        match &mut header.blocks {
            Blocks::Many(blocks) => {
                if len as usize + BLOCK_ITEMS as usize <= (blocks.len() - 1) * BLOCK_ITEMS as usize
                    && blocks.len() > 1
                    && let Some(block) = blocks.pop()
                {
                    self.arena.free(block, (BLOCK_ITEMS * width) as usize);
                    self.many -= 4;
                }
            }
            Blocks::One(block, items) if len > 0 && len * 3 < *items => {
                let (old, size) = (*block, *items);
                let new = self.arena.alloc((len * width) as usize);
                self.arena.copy(old, new, (len * width) as usize);
                self.arena.free(old, (size * width) as usize);
                (*block, *items) = (new, len);
            }
            _ => {}
        }
    }

    /// An item.
    #[inline]
    pub fn item(&self, id: ListId, at: u32) -> &[u64] {
        let (place, width) = self.place(id, at);
        self.arena.words(place, width)
    }

    /// An item, to change it.
    #[inline]
    pub fn item_mut(&mut self, id: ListId, at: u32) -> &mut [u64] {
        let (place, width) = self.place(id, at);
        self.arena.words_mut(place, width)
    }

    #[inline]
    fn place(&self, id: ListId, at: u32) -> (Ref, usize) {
        let header = self.headers.get(id);
        let width = header.width;
        let place = match &header.blocks {
            Blocks::One(block, _) => block + at * width,
            Blocks::Many(blocks) => {
                blocks[(at / BLOCK_ITEMS) as usize] + (at % BLOCK_ITEMS) * width
            }
            Blocks::Free => unreachable!("a list that was destroyed"),
        };
        (place, width as usize)
    }

    /// The items of a list, block by block, as words.
    #[inline]
    pub fn blocks(&self, id: ListId) -> impl Iterator<Item = &[u64]> {
        let header = self.headers.get(id);
        let (one, many): (Option<Ref>, &[Ref]) = match &header.blocks {
            Blocks::One(block, _) => (Some(*block), &[]),
            Blocks::Many(blocks) => (None, blocks),
            Blocks::Free => (None, &[]),
        };
        let (len, width) = (header.len, header.width);
        let firsts = (0..).step_by(BLOCK_ITEMS as usize);
        one.into_iter().chain(many.iter().copied()).zip(firsts).map(
            move |(block, first): (Ref, u32)| {
                let items = len.saturating_sub(first).min(if one.is_some() {
                    u32::MAX
                } else {
                    BLOCK_ITEMS
                });
                self.arena.words(block, (items * width) as usize)
            },
        )
    }

    /// The items of a list that is one block, as words: most are.
    #[inline(always)]
    pub fn single_block(&self, id: ListId) -> Option<&[u64]> {
        let header = self.headers.get(id);
        match &header.blocks {
            Blocks::One(block, _) => Some(
                self.arena
                    .words(*block, (header.len * header.width) as usize),
            ),
            _ => None,
        }
    }

    /// Ask for a list's header, soon to be read.
    #[inline(always)]
    pub fn prefetch_header(&self, id: ListId) {
        super::arena::prefetch(self.headers.get(id));
    }

    /// Ask for a list's first items, soon to be read.
    #[inline(always)]
    pub fn prefetch(&self, id: ListId) {
        let header = self.headers.get(id);
        let lines = (header.len * header.width).div_ceil(8).min(4) as usize;
        match &header.blocks {
            Blocks::One(block, _) => self.arena.prefetch_lines(*block, lines),
            Blocks::Many(blocks) => self.arena.prefetch_lines(blocks[0], lines),
            Blocks::Free => {}
        }
    }

    /// The memory, to have its next chunk made in time.
    pub fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Whether the memory wants its next chunk made.
    pub fn wants_spare(&self) -> bool {
        self.arena.wants_spare()
    }

    /// How many lists there are.
    pub fn count(&self) -> usize {
        self.headers.len() - self.free.len()
    }

    /// Bytes of items, and of everything around them.
    pub fn total_bytes(&self) -> (usize, usize) {
        let headers = self.headers.total_bytes() + self.free.capacity() * 4 + self.many;
        (self.arena.total_bytes(), headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_behave_as_vectors_with_swap_remove() {
        let mut lists = Lists::default();
        let id = lists.create(3);
        let other = lists.create(1);
        let mut model: Vec<[u64; 3]> = Vec::new();
        let mut seed = 1u64;
        for step in 0..20_000u64 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let shrink = step > 12_000;
            if !model.is_empty() && (seed >> 33) % 10 < if shrink { 8 } else { 3 } {
                let at = (seed >> 40) as usize % model.len();
                let moved = lists.swap_remove(id, at as u32).map(<[u64]>::to_vec);
                model.swap_remove(at);
                assert_eq!(moved.as_deref(), model.get(at).map(|item| &item[..]));
            } else {
                let item = [step, step * 2, step * 3];
                assert_eq!(lists.push(id, &item), model.len() as u32);
                model.push(item);
                if step % 7 == 0 {
                    lists.push(other, &[step]);
                }
            }
            if step % 500 == 0 {
                let words: Vec<u64> = lists.blocks(id).flatten().copied().collect();
                assert_eq!(words, model.concat());
            }
        }
        while lists.len(id) > 0 {
            lists.swap_remove(id, 0);
        }
        lists.destroy(id);
        assert_eq!(lists.count(), 1);
    }
}
