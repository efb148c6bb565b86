//! Lists of items of one or three numbers of 32 bits, in blocks: postings, and the lists that sets
//! link to.
//!
//! ```text
//!   list   two parts, by the width of their items: bare postings, and those with guards
//!   part   len, place ──▶ [ items ]                           up to a block's worth, by quarters
//!                    └─▶ blocks ──▶ [ items ][ items ][ … ]   beyond: full ones, none ever moves
//! ```
//!
//! Removing an item moves the last item of its part into the gap. The caller gets the moved item,
//! because its owner stores its position. No operation copies more than one block.

mod snapshot;

use crate::engine::memory::arena::{Arena, NOWHERE, Ref};
use crate::engine::memory::chunked::Chunked;

/// The number of a list.
pub type ListId = u32;
/// No list.
pub const NO_LIST: ListId = u32::MAX;

/// The parts of a list of postings, by the numbers of an item. A list of other items has only the
/// first part.
pub const PARTS: usize = 2;
const WIDTHS: [usize; PARTS] = [1, 3];

const BLOCK_ITEMS: u32 = 512;
/// The cache lines of a block that are prefetched.
const MOST_LINES: usize = 24;

/// The bit of a position above the index within its part.
const PART_SHIFT: u32 = 31;

/// In place of the capacity of the only block: there are several blocks.
const SEVERAL: u16 = (1 << WIDTH_SHIFT) - 1;
/// The bits above the capacity are the width.
const WIDTH_SHIFT: u32 = 14;

/// Eight bytes, since an event reads hundreds of them at random.
#[derive(Clone, Copy, Default)]
struct Part {
    /// The position of the only block, or the index of the blocks in `long`.
    place: u32,
    /// The number of items in the only block.
    len: u16,
    /// The capacity of the only block, and above it the numbers of an item: 0 if the part does not
    /// exist.
    room: u16,
}

/// A part with several blocks.
#[derive(Default)]
struct Long {
    len: u32,
    blocks: Vec<Ref>,
}

/// All lists, and the memory of their items.
#[derive(Default)]
pub struct Lists {
    arena: Arena,
    parts: Chunked<[Part; PARTS]>,
    free: Vec<ListId>,
    /// The parts that have several blocks.
    long: Chunked<Long>,
    free_long: Vec<u32>,
    /// The number of blocks in `long`.
    long_blocks: usize,
}

impl Part {
    fn empty(width: usize) -> Self {
        Part {
            place: NOWHERE,
            len: 0,
            room: (width as u16) << WIDTH_SHIFT,
        }
    }

    /// The numbers of an item.
    #[inline(always)]
    fn width(self) -> u32 {
        u32::from(self.room >> WIDTH_SHIFT)
    }

    #[inline(always)]
    fn items(self) -> u16 {
        self.room & SEVERAL
    }

    #[inline(always)]
    fn is_long(self) -> bool {
        self.items() == SEVERAL
    }

    fn set_block(&mut self, place: u32, items: u16) {
        self.place = place;
        self.room = self.room & !SEVERAL | items;
    }
}

/// The words of the arena for some items.
fn words_for(items: u32, width: u32) -> usize {
    (items * width).div_ceil(2) as usize
}

/// The words of a full block.
fn full(width: u32) -> usize {
    words_for(BLOCK_ITEMS, width)
}

/// The part of a position, and the index in it.
#[inline(always)]
fn split(at: u32) -> (usize, u32) {
    ((at >> PART_SHIFT) as usize, at & ((1 << PART_SHIFT) - 1))
}

impl Lists {
    /// A new list with this number of parts.
    pub fn create(&mut self, parts: usize) -> ListId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.parts.push(Default::default());
            self.parts.len() as u32 - 1
        });
        debug_assert!((1..=PARTS).contains(&parts));
        let part = |which: usize| Part::empty(if which < parts { WIDTHS[which] } else { 0 });
        *self.parts.get_mut(id) = [part(0), part(1)];
        id
    }

    /// Free an empty list.
    pub fn destroy(&mut self, id: ListId) {
        for part in std::mem::take(self.parts.get_mut(id)) {
            if part.is_long() {
                let long = std::mem::take(self.long.get_mut(part.place));
                debug_assert_eq!(long.len, 0);
                self.long_blocks -= long.blocks.len();
                self.free_long.push(part.place);
                for block in long.blocks {
                    self.arena.free(block, full(part.width()));
                }
            } else if part.items() > 0 {
                debug_assert_eq!(part.len, 0);
                let words = words_for(part.items().into(), part.width());
                self.arena.free(part.place, words);
            }
        }
        self.free.push(id);
    }

    #[inline(always)]
    fn len_of(&self, part: Part) -> u32 {
        if part.is_long() {
            self.long.get(part.place).len
        } else {
            u32::from(part.len)
        }
    }

    /// The number of items of a list.
    #[inline]
    pub fn len(&self, id: ListId) -> u32 {
        let parts = *self.parts.get(id);
        parts.iter().map(|&part| self.len_of(part)).sum()
    }

    /// Whether a list has an item at a position.
    pub fn has(&self, id: ListId, at: u32) -> bool {
        let (part, at) = split(at);
        let part = self.parts.get(id).get(part);
        part.is_some_and(|&part| at < self.len_of(part))
    }

    /// Append an item. Returns its position.
    pub fn push(&mut self, id: ListId, item: &[u32]) -> u32 {
        let which = usize::from(item.len() > 1);
        let part = self.parts.get(id)[which];
        debug_assert_eq!(item.len(), part.width() as usize);
        let len = self.len_of(part);
        let room = if part.is_long() {
            self.long.get(part.place).blocks.len() as u32 * BLOCK_ITEMS
        } else {
            u32::from(part.items())
        };
        if len == room {
            self.make_room(id, which, len);
        }
        self.set_len(id, which, len + 1);
        let at = len | (which as u32) << PART_SHIFT;
        self.item_mut(id, at).copy_from_slice(item);
        at
    }

    fn set_len(&mut self, id: ListId, which: usize, len: u32) {
        let part = &mut self.parts.get_mut(id)[which];
        if part.is_long() {
            self.long.get_mut(part.place).len = len;
        } else {
            part.len = len as u16;
        }
    }

    /// Make room for one more item in a full part.
    fn make_room(&mut self, id: ListId, which: usize, len: u32) {
        let part = &mut self.parts.get_mut(id)[which];
        let width = part.width();
        if part.is_long() {
            let more = self.arena.alloc(full(width));
            self.long.get_mut(part.place).blocks.push(more);
            self.long_blocks += 1;
        } else if len < BLOCK_ITEMS {
            // Grow by a quarter, not by doubling: most lists are short, and at most a fifth is
            // wasted. What is left of the last word is used.
            let words = words_for((len + len.div_ceil(4)).clamp(1, BLOCK_ITEMS), width);
            let new = self.arena.alloc(words);
            if len > 0 {
                self.arena.copy(part.place, new, words_for(len, width));
                self.arena.free(part.place, words_for(len, width));
            }
            part.set_block(new, (2 * words as u32 / width) as u16);
        } else {
            let blocks = vec![part.place, self.arena.alloc(full(width))];
            self.long_blocks += blocks.len();
            let place = self.free_long.pop().unwrap_or_else(|| {
                self.long.push(Long::default());
                self.long.len() as u32 - 1
            });
            part.set_block(place, SEVERAL);
            *self.long.get_mut(place) = Long { len, blocks };
        }
    }

    /// Remove the item at a position. The last item of its part moves there; if that is another
    /// item, it is returned with its old position.
    pub fn swap_remove(&mut self, id: ListId, at: u32) -> Option<(u32, &[u32])> {
        let (which, _) = split(at);
        let part = self.parts.get(id)[which];
        let len = self.len_of(part) - 1;
        let last = len | (which as u32) << PART_SHIFT;
        if last != at {
            for place in 0..part.width() as usize {
                let value = self.item(id, last)[place];
                self.item_mut(id, at)[place] = value;
            }
        }
        self.set_len(id, which, len);
        self.give_back_room(id, which);
        (last != at).then(|| (last, self.item(id, at)))
    }

    fn give_back_room(&mut self, id: ListId, which: usize) {
        let part = &mut self.parts.get_mut(id)[which];
        let width = part.width();
        if part.is_long() {
            let Long { len, blocks } = self.long.get_mut(part.place);
            let spare = *len as usize + BLOCK_ITEMS as usize;
            if blocks.len() > 1
                && spare <= (blocks.len() - 1) * BLOCK_ITEMS as usize
                && let Some(block) = blocks.pop()
            {
                self.arena.free(block, full(width));
                self.long_blocks -= 1;
            }
            return;
        }
        let (len, items) = (u32::from(part.len), u32::from(part.items()));
        if len == 0 {
            self.arena.free(part.place, words_for(items, width));
            part.set_block(NOWHERE, 0);
        } else if len * 3 < items {
            let words = words_for(len, width);
            let new = self.arena.alloc(words);
            self.arena.copy(part.place, new, words);
            self.arena.free(part.place, words_for(items, width));
            part.set_block(new, (2 * words as u32 / width) as u16);
        }
    }

    /// An item.
    #[inline]
    pub fn item(&self, id: ListId, at: u32) -> &[u32] {
        let (block, start, end) = self.place(id, at);
        &self.arena.halves(block, end)[start..]
    }

    /// An item, to change it.
    #[inline]
    pub fn item_mut(&mut self, id: ListId, at: u32) -> &mut [u32] {
        let (block, start, end) = self.place(id, at);
        &mut self.arena.halves_mut(block, end)[start..]
    }

    /// The block of an item, and where in it the item starts and ends.
    #[inline]
    fn place(&self, id: ListId, at: u32) -> (Ref, usize, usize) {
        let (which, at) = split(at);
        let part = self.parts.get(id)[which];
        let width = part.width() as usize;
        let (block, at) = if part.is_long() {
            let blocks = &self.long.get(part.place).blocks;
            (blocks[(at / BLOCK_ITEMS) as usize], at % BLOCK_ITEMS)
        } else {
            (part.place, at)
        };
        let start = at as usize * width;
        (block, start, start + width)
    }

    /// Pass the numbers of a part's items to `look`, block by block.
    #[inline(always)]
    pub fn blocks<const WHICH: usize>(&self, id: ListId, mut look: impl FnMut(&[u32])) {
        let part = self.parts.get(id)[WHICH];
        let width = part.width();
        if !part.is_long() {
            if part.len > 0 {
                look(self.numbers_at(part.place, u32::from(part.len), width));
            }
            return;
        }
        let Long { len, blocks } = self.long.get(part.place);
        let mut rest = *len;
        for &block in blocks {
            let some = rest.min(BLOCK_ITEMS);
            look(self.numbers_at(block, some, width));
            rest -= some;
        }
    }

    #[inline(always)]
    fn numbers_at(&self, place: Ref, items: u32, width: u32) -> &[u32] {
        self.arena.halves(place, (items * width) as usize)
    }

    /// The items of a list of single numbers.
    pub fn numbers_in(&self, id: ListId) -> impl Iterator<Item = u32> {
        (0..self.len(id)).map(move |at| self.item(id, at)[0])
    }

    /// Prefetch a list's parts.
    #[inline(always)]
    pub fn prefetch_parts(&self, id: ListId) {
        crate::engine::memory::arena::prefetch(self.parts.get(id));
    }

    /// Prefetch a list's items: the first lines of each part. Behind them the CPU's own prefetcher
    /// takes over.
    #[inline(always)]
    pub fn prefetch(&self, id: ListId) {
        for part in *self.parts.get(id) {
            if part.is_long() {
                let place = self.long.get(part.place).blocks[0];
                self.arena.prefetch_lines(place, MOST_LINES);
            } else {
                // The first item may start anywhere in its cache line.
                let numbers = u32::from(part.len) * part.width() + 15;
                let lines = (numbers / 16) as usize;
                self.arena.prefetch_lines(part.place, lines.min(MOST_LINES));
            }
        }
    }

    /// The arena, to give it its next chunk.
    pub fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Whether the arena needs its next chunk soon.
    pub fn wants_spare(&self) -> bool {
        self.arena.wants_spare()
    }

    /// The number of lists.
    pub fn count(&self) -> usize {
        self.parts.len() - self.free.len()
    }

    /// Memory in bytes: of the items, and of everything else.
    pub fn total_bytes(&self) -> (usize, usize) {
        let free = (self.free.capacity() + self.free_long.capacity()) * 4;
        let long = self.long.total_bytes() + self.long_blocks * 4;
        let parts = self.parts.total_bytes() + long + free;
        (self.arena.total_bytes(), parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_behave_as_vectors_with_swap_remove() {
        let mut lists = Lists::default();
        let id = lists.create(2);
        let other = lists.create(1);
        let first = 1 << PART_SHIFT; // of the part for three numbers
        let mut model: Vec<[u32; 3]> = Vec::new();
        let mut seed = 1u64;
        for step in 0..20_000u32 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let shrink = step > 12_000;
            if !model.is_empty() && (seed >> 33) % 10 < if shrink { 8 } else { 3 } {
                let at = (seed >> 40) as usize % model.len();
                let moved = lists.swap_remove(id, first + at as u32);
                let moved = moved.map(|(from, item)| ((from - first) as usize, item.to_vec()));
                model.swap_remove(at);
                let expected = model.get(at).map(|item| (model.len(), item.to_vec()));
                assert_eq!(moved, expected);
            } else {
                let item = [step, step * 2, 7];
                assert_eq!(lists.push(id, &item), first + model.len() as u32);
                model.push(item);
                if step % 7 == 0 {
                    lists.push(other, &[step]);
                }
            }
            if step % 500 == 0 {
                let mut numbers: Vec<u32> = Vec::new();
                lists.blocks::<1>(id, |block| numbers.extend_from_slice(block));
                assert_eq!(numbers, model.concat());
            }
        }
        while lists.len(id) > 0 {
            lists.swap_remove(id, first);
        }
        lists.destroy(id);
        assert_eq!(lists.count(), 1);
    }

    #[test]
    fn parts_of_a_list_know_nothing_of_each_other() {
        let mut lists = Lists::default();
        let id = lists.create(2);
        let (mut wide, mut narrow) = (Vec::new(), Vec::new());
        for step in 0..3000u32 {
            if step % 3 == 0 {
                wide.push(lists.push(id, &[step; 3]));
            } else {
                narrow.push(lists.push(id, &[step]));
            }
        }
        assert_eq!(lists.len(id), 3000);
        assert_eq!(lists.item(id, narrow[1500]), [2251]);
        assert_eq!(lists.item(id, wide[700]), [2100; 3]);
        let (from, moved) = lists.swap_remove(id, narrow[0]).unwrap();
        assert_eq!((from, moved), (narrow[1999], &[2999u32][..]));
        assert!(lists.has(id, wide[999]) && !lists.has(id, narrow[1999]));
        for &at in wide.iter().rev() {
            assert_eq!(lists.swap_remove(id, at), None);
        }
        let mut sum = 0;
        lists.blocks::<0>(id, |block| sum += block.len());
        lists.blocks::<1>(id, |block| sum += block.len());
        assert_eq!((lists.len(id), sum), (1999, 1999));
        while lists.len(id) > 0 {
            lists.swap_remove(id, narrow[0]);
        }
        lists.destroy(id);
        assert_eq!(lists.arena.used_bytes(), 0);
    }
}
