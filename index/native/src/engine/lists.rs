//! Lists of items of a few words each, in blocks: postings, and the ids that share an expression.
//!
//! ```text
//!   header   len, place ──▶ [ items ]                           up to a block's worth, by quarters
//!                      └─▶ blocks ──▶ [ items ][ items ][ … ]   beyond: full ones, none ever moves
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

/// In place of the items that the only block has room for: there are several blocks.
const SEVERAL: u16 = u16::MAX;

/// Twelve bytes, since every third expression or so has a list of its ids.
#[derive(Default)]
struct Header {
    /// Of the only block, or of the blocks in `long`.
    place: u32,
    len: u32,
    /// What the only block has room for.
    items: u16,
    /// The words of an item; none in a list that is free.
    width: u8,
}

/// The blocks of a list.
enum Blocks<'a> {
    One(Ref),
    Several(&'a [Ref]),
}

/// All lists, and the memory of their items.
#[derive(Default)]
pub struct Lists {
    arena: Arena,
    headers: Chunked<Header>,
    free: Vec<ListId>,
    /// The blocks of lists that have several.
    long: Chunked<Vec<Ref>>,
    free_long: Vec<u32>,
    /// How many blocks there are in `long`.
    long_blocks: usize,
}

impl Header {
    #[inline(always)]
    fn width(&self) -> u32 {
        u32::from(self.width)
    }

    #[inline(always)]
    fn words(&self) -> usize {
        (self.len * self.width()) as usize
    }
}

/// The words of a full block.
fn full(width: u32) -> usize {
    (BLOCK_ITEMS * width) as usize
}

impl Lists {
    /// A new list for items of so many words.
    pub fn create(&mut self, width: u32) -> ListId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.headers.push(Header::default());
            self.headers.len() as u32 - 1
        });
        debug_assert!((1..256).contains(&width));
        *self.headers.get_mut(id) = Header {
            place: self.arena.alloc(width as usize),
            len: 0,
            items: 1,
            width: width as u8,
        };
        id
    }

    /// Give an empty list back.
    pub fn destroy(&mut self, id: ListId) {
        let header = std::mem::take(self.headers.get_mut(id));
        debug_assert_eq!(header.len, 0);
        if header.items == SEVERAL {
            let blocks = std::mem::take(self.long.get_mut(header.place));
            self.long_blocks -= blocks.len();
            self.free_long.push(header.place);
            for block in blocks {
                self.arena.free(block, full(header.width()));
            }
        } else {
            let words = u32::from(header.items) * header.width();
            self.arena.free(header.place, words as usize);
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
        debug_assert_eq!(item.len(), usize::from(header.width));
        let at = header.len;
        header.len += 1;
        let room = match header.items {
            SEVERAL => self.long.get(header.place).len() as u32 * BLOCK_ITEMS,
            items => u32::from(items),
        };
        if at == room {
            self.make_room(id, at);
        }
        self.item_mut(id, at).copy_from_slice(item);
        at
    }

    /// Room for one more, behind the `at` items that fill what there is.
    fn make_room(&mut self, id: ListId, at: u32) {
        let header = self.headers.get_mut(id);
        let width = header.width();
        if header.items == SEVERAL {
            let more = self.arena.alloc(full(width));
            self.long.get_mut(header.place).push(more);
            self.long_blocks += 1;
        } else if at < BLOCK_ITEMS {
            // By quarters, not by doubling: most lists are short, and a fifth is wasted at most.
            let larger = (at + at.div_ceil(4)).min(BLOCK_ITEMS);
            let new = self.arena.alloc((larger * width) as usize);
            self.arena.copy(header.place, new, (at * width) as usize);
            self.arena.free(header.place, (at * width) as usize);
            (header.place, header.items) = (new, larger as u16);
        } else {
            let blocks = vec![header.place, self.arena.alloc(full(width))];
            self.long_blocks += blocks.len();
            header.place = self.free_long.pop().unwrap_or_else(|| {
                self.long.push(Vec::new());
                self.long.len() as u32 - 1
            });
            header.items = SEVERAL;
            *self.long.get_mut(header.place) = blocks;
        }
    }

    /// Remove the item at a position. The item that was last takes its place: returned if it was
    /// another one.
    pub fn swap_remove(&mut self, id: ListId, at: u32) -> Option<&[u64]> {
        let header = self.headers.get_mut(id);
        header.len -= 1;
        let (last, width) = (header.len, usize::from(header.width));
        if last != at {
            for word in 0..width {
                let value = self.item(id, last)[word];
                self.item_mut(id, at)[word] = value;
            }
        }
        self.give_back_room(id);
        (last != at).then(|| self.item(id, at))
    }

    fn give_back_room(&mut self, id: ListId) {
        let header = self.headers.get_mut(id);
        let (len, width) = (header.len, header.width());
        if header.items == SEVERAL {
            let blocks = self.long.get_mut(header.place);
            let spare = len as usize + BLOCK_ITEMS as usize;
            if blocks.len() > 1
                && spare <= (blocks.len() - 1) * BLOCK_ITEMS as usize
                && let Some(block) = blocks.pop()
            {
                self.arena.free(block, full(width));
                self.long_blocks -= 1;
            }
        } else if len > 0 && len * 3 < u32::from(header.items) {
            let size = u32::from(header.items) * width;
            let new = self.arena.alloc((len * width) as usize);
            self.arena.copy(header.place, new, (len * width) as usize);
            self.arena.free(header.place, size as usize);
            (header.place, header.items) = (new, len as u16);
        }
    }

    #[inline(always)]
    fn blocks_of(&self, header: &Header) -> Blocks<'_> {
        if header.items == SEVERAL {
            Blocks::Several(self.long.get(header.place))
        } else {
            Blocks::One(header.place)
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
        let width = header.width();
        let place = match self.blocks_of(header) {
            Blocks::One(block) => block + at * width,
            Blocks::Several(blocks) => {
                blocks[(at / BLOCK_ITEMS) as usize] + (at % BLOCK_ITEMS) * width
            }
        };
        (place, width as usize)
    }

    /// The items of a list, block by block, as words.
    #[inline]
    pub fn blocks(&self, id: ListId) -> impl Iterator<Item = &[u64]> {
        let header = self.headers.get(id);
        let (words, block_words) = (header.words(), full(header.width()));
        let (one, several) = match self.blocks_of(header) {
            Blocks::One(block) => (Some(block), &[][..]),
            Blocks::Several(blocks) => (None, blocks),
        };
        let firsts = (0..).step_by(block_words.max(1));
        one.into_iter()
            .chain(several.iter().copied())
            .zip(firsts)
            .map(move |(block, first): (Ref, usize)| {
                let rest = words.saturating_sub(first);
                self.arena.words(block, rest.min(block_words))
            })
    }

    /// The items of a list that is one block, as words: most are.
    #[inline(always)]
    pub fn single_block(&self, id: ListId) -> Option<&[u64]> {
        let header = self.headers.get(id);
        match self.blocks_of(header) {
            Blocks::One(block) => Some(self.arena.words(block, header.words())),
            Blocks::Several(_) => None,
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
        let lines = header.words().div_ceil(8).min(4);
        match self.blocks_of(header) {
            Blocks::One(block) => self.arena.prefetch_lines(block, lines),
            Blocks::Several(blocks) => self.arena.prefetch_lines(blocks[0], lines),
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
        let free = (self.free.capacity() + self.free_long.capacity()) * 4;
        let long = self.long.total_bytes() + self.long_blocks * 4;
        let headers = self.headers.total_bytes() + long + free;
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
