//! The slots of shared expressions: most expressions have one id, many have a few, one may have a
//! million.
//!
//! ```text
//!   few    how many (32) │ room for (32)   then the slots, two a word      one line of memory
//!   many   a list in blocks (lists.rs)                                     none is ever copied
//! ```
//!
//! A program and its postings refer to either by a handle. When a few need more room, they move and
//! get a new handle, which the caller must store.

mod snapshot;

use crate::engine::ids::slots::Slot;
use crate::engine::memory::arena::{Arena, Ref};
use crate::engine::postings::lists::Lists;

/// The bit that tells a handle from a slot.
pub const SEVERAL: u32 = 1 << 30;
/// The bit of a handle for a list in blocks.
const MANY: u32 = 1 << 29;
const NUMBER: u32 = MANY - 1;

/// The maximum number outside of a list.
const MOST_FEW: u32 = 254;

/// The handle of the slots of an expression.
pub type Handle = u32;

/// The slots of all shared expressions.
#[derive(Default)]
pub struct SharedIds {
    few: Arena,
    many: Lists,
}

/// The words for a few slots of this capacity.
fn words_for(room: u32) -> usize {
    1 + room.div_ceil(2) as usize
}

impl SharedIds {
    /// Start with two slots that share an expression.
    pub fn create(&mut self, first: Slot, second: Slot) -> Handle {
        let place = self.make_few(2);
        self.set_len(place, 2);
        self.few_mut(place).copy_from_slice(&[first, second]);
        SEVERAL | place
    }

    fn make_few(&mut self, room: u32) -> Ref {
        let place = self.few.alloc(words_for(room));
        assert!(place <= NUMBER, "slots of shared expressions take 4 GiB");
        self.few.words_mut(place, 1)[0] = u64::from(room) << 32;
        place
    }

    fn set_len(&mut self, place: Ref, len: u32) {
        let head = &mut self.few.words_mut(place, 1)[0];
        *head = *head >> 32 << 32 | u64::from(len);
    }

    /// Number of slots and capacity.
    #[inline(always)]
    fn head(&self, place: Ref) -> (u32, u32) {
        let head = self.few.words(place, 1)[0];
        (head as u32, (head >> 32) as u32)
    }

    #[inline(always)]
    fn few(&self, place: Ref) -> &[Slot] {
        let (len, _) = self.head(place);
        self.few.halves(place + 1, len as usize)
    }

    fn few_mut(&mut self, place: Ref) -> &mut [Slot] {
        let (len, _) = self.head(place);
        self.few.halves_mut(place + 1, len as usize)
    }

    /// Add a slot. Returns the new handle and the slot's position.
    pub fn push(&mut self, handle: Handle, slot: Slot) -> (Handle, u32) {
        if handle & MANY != 0 {
            let place = self.many.push(handle & NUMBER, &[slot]);
            return (handle, place);
        }
        let mut place = handle & NUMBER;
        let (len, room) = self.head(place);
        if len == MOST_FEW {
            let handle = self.make_many(place);
            return (handle, self.many.push(handle & NUMBER, &[slot]));
        }
        if len == room {
            place = self.move_few(place, (len + len.div_ceil(4)).next_multiple_of(2));
        }
        self.set_len(place, len + 1);
        self.few_mut(place)[len as usize] = slot;
        (SEVERAL | place, len)
    }

    fn make_many(&mut self, place: Ref) -> Handle {
        let list = self.many.create(1);
        assert!(list < NUMBER, "expressions that many share are too many");
        for slot in self.few(place).to_vec() {
            self.many.push(list, &[slot]);
        }
        self.free_few(place);
        SEVERAL | MANY | list
    }

    fn free_few(&mut self, place: Ref) {
        let (_, room) = self.head(place);
        self.few.free(place, words_for(room));
    }

    /// Move to another capacity.
    fn move_few(&mut self, from: Ref, room: u32) -> Ref {
        let to = self.make_few(room.min(MOST_FEW));
        let (len, _) = self.head(from);
        self.set_len(to, len);
        self.few.copy(from + 1, to + 1, len.div_ceil(2) as usize);
        self.free_few(from);
        to
    }

    /// Remove the slot at a position, of at least two slots. The last slot moves there, and is
    /// returned if it is another one. Also returns the new handle.
    pub fn swap_remove(&mut self, handle: Handle, at: u32) -> (Handle, Option<Slot>) {
        if handle & MANY != 0 {
            let moved = self.many.swap_remove(handle & NUMBER, at);
            return (handle, moved.map(|(_, item)| item[0]));
        }
        let mut place = handle & NUMBER;
        let (len, room) = self.head(place);
        let last = len - 1;
        let moved = self.few(place)[last as usize];
        self.few_mut(place)[at as usize] = moved;
        self.set_len(place, last);
        if last > 1 && last * 3 < room {
            place = self.move_few(place, last.next_multiple_of(2));
        }
        (SEVERAL | place, (last != at).then_some(moved))
    }

    /// Remove all slots of a handle.
    pub fn destroy(&mut self, handle: Handle) {
        if handle & MANY == 0 {
            self.free_few(handle & NUMBER);
            return;
        }
        while let Some(last) = self.many.len(handle & NUMBER).checked_sub(1) {
            self.many.swap_remove(handle & NUMBER, last);
        }
        self.many.destroy(handle & NUMBER);
    }

    /// The number of items.
    pub fn len(&self, handle: Handle) -> u32 {
        if handle & MANY == 0 {
            self.head(handle & NUMBER).0
        } else {
            self.many.len(handle & NUMBER)
        }
    }

    /// The slot at a position.
    pub fn get(&self, handle: Handle, at: u32) -> Slot {
        if handle & MANY == 0 {
            self.few(handle & NUMBER)[at as usize]
        } else {
            self.many.item(handle & NUMBER, at)[0]
        }
    }

    /// Pass all slots to `look`.
    #[inline(always)]
    pub fn each(&self, handle: Handle, mut look: impl FnMut(Slot)) {
        if handle & MANY == 0 {
            self.few(handle & NUMBER)
                .iter()
                .for_each(|&slot| look(slot));
        } else {
            self.many.blocks::<0>(handle & NUMBER, |block| {
                block.iter().for_each(|&slot| look(slot));
            });
        }
    }

    /// Prefetch a few slots.
    #[inline(always)]
    pub fn prefetch(&self, handle: Handle) {
        if handle & MANY == 0 {
            self.few.prefetch(handle & NUMBER);
            self.few.prefetch((handle & NUMBER) + 4);
        }
    }

    /// The arenas, to give them their next chunks.
    pub fn arenas(&mut self) -> [&mut Arena; 2] {
        [&mut self.few, self.many.arena()]
    }

    /// Which of the arenas need their next chunks soon. The first chunks are made on demand, since
    /// many indexes never need them.
    pub fn want_spares(&self) -> [bool; 2] {
        let has_begun = [self.few.reach() > 0, self.many.reach() > 0];
        [
            has_begun[0] && self.few.wants_spare(),
            has_begun[1] && self.many.wants_spare(),
        ]
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let (items, headers) = self.many.total_bytes();
        self.few.total_bytes() + items + headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slots of a handle.
    fn all(shared_ids: &SharedIds, handle: Handle) -> Vec<Slot> {
        let mut slots = Vec::new();
        shared_ids.each(handle, |slot| slots.push(slot));
        slots
    }

    #[test]
    fn they_behave_as_a_vector_with_swap_remove_from_two_to_many_and_back() {
        let mut shared_ids = SharedIds::default();
        let other = shared_ids.create(7, 8);
        let mut handle = shared_ids.create(0, 1);
        let mut model = vec![0, 1];
        let mut seed = 1u64;
        for step in 2..6000u32 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let shrinks = step > 3000;
            if model.len() > 2 && (seed >> 33) % 10 < if shrinks { 8 } else { 3 } {
                let at = (seed >> 40) as usize % model.len();
                let moved;
                (handle, moved) = shared_ids.swap_remove(handle, at as u32);
                model.swap_remove(at);
                assert_eq!(moved, model.get(at).copied());
            } else {
                let place;
                (handle, place) = shared_ids.push(handle, step);
                assert_eq!(place as usize, model.len());
                model.push(step);
            }
            assert_eq!(shared_ids.len(handle) as usize, model.len());
            assert_eq!(shared_ids.get(handle, 1), model[1]);
            if step % 100 == 0 {
                assert_eq!(all(&shared_ids, handle), model);
            }
        }
        assert_eq!(all(&shared_ids, handle), model);
        assert_eq!(all(&shared_ids, other), [7, 8]);
        shared_ids.destroy(handle);
        shared_ids.destroy(other);
        assert_eq!(shared_ids.few.used_bytes(), 0);
        assert_eq!(shared_ids.many.count(), 0);
    }

    #[test]
    fn a_few_are_given_room_by_quarters() {
        let mut shared_ids = SharedIds::default();
        let mut handle = shared_ids.create(0, 1);
        for slot in 2..MOST_FEW {
            (handle, _) = shared_ids.push(handle, slot);
            let (len, room) = shared_ids.head(handle & NUMBER);
            assert!(room >= len && room <= MOST_FEW && room <= len + len.div_ceil(4) + 1);
        }
        assert_eq!(handle & MANY, 0);
        let (handle, place) = shared_ids.push(handle, MOST_FEW);
        assert_eq!((handle & MANY, place), (MANY, MOST_FEW));
        assert_eq!(shared_ids.few.used_bytes(), 0);
    }
}
