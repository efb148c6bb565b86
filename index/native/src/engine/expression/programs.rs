//! Programs: each distinct expression once for each band, with its code, its entries and its ids.
//!
//! ```text
//!   word 0   words of code (20) │ entries (20) │ to check (20) │ kind (2) │ band (2)
//!   word 1   number of the program (32) │ its only slot, or the handle of several (32)
//!   then     code, two words of it in one
//!   then     entries: list (32) │ position in it (32)
//! ```
//!
//! A match reads the beginning and the code; only updates read the entries, so they come last.
//!
//! A program keeps its number; its position may change when it is planned again. Equality is
//! decided by structure: the hash only says where to look.

mod snapshot;

use crate::engine::expression::formula::{
    Canonical, CodeWord, Formula, Kind, canonical_conjunction, hash_code, mix,
};
use crate::engine::ids::bands::{BANDS, Band};
use crate::engine::memory::arena::{Arena, NOWHERE, Ref};
use crate::engine::memory::chunked::Chunked;
use hashbrown::HashTable;

const HEADER: usize = 2;
/// Enough bits for the lengths of a program, which fits a chunk of the arena.
const LENGTH_BITS: u32 = 20;
const LENGTH: u64 = (1 << LENGTH_BITS) - 1;
const KIND_SHIFT: u32 = 3 * LENGTH_BITS;
const BAND_SHIFT: u32 = KIND_SHIFT + 2;
const _: () = assert!(
    BANDS <= 3,
    "a band has two bits, and one value is all entries"
);

/// In place of a slot: none. Neither is it a handle, or a deep target (`core.rs`).
pub const NO_SLOT: u32 = u32::MAX >> 1;
/// Growing a shard hashes its programs again, so shards must be small.
const SHARDS: usize = 4096;

/// The number of a program.
pub type ProgramId = u32;

/// All programs.
pub struct Programs {
    arena: Arena,
    places: Chunked<Ref>,
    free: Vec<ProgramId>,
    table: Vec<HashTable<ProgramId>>,
    /// The number of programs of each band.
    counts: [usize; BANDS + 1],
    /// All ones; a test sets it to 0 to make all expressions collide.
    pub hash_mask: u64,
}

impl Default for Programs {
    fn default() -> Self {
        Programs {
            arena: Arena::new(),
            places: Chunked::default(),
            free: Vec::new(),
            table: (0..SHARDS).map(|_| HashTable::new()).collect(),
            counts: [0; BANDS + 1],
            hash_mask: u64::MAX,
        }
    }
}

/// A program, to read.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    header: &'a [u64],
    arena: &'a Arena,
    place: Ref,
}

impl<'a> Program<'a> {
    fn code_len(&self) -> usize {
        (self.header[0] & LENGTH) as usize
    }

    /// The words of the arena that its code takes.
    fn code_room(&self) -> usize {
        self.code_len().div_ceil(2)
    }

    /// The words of the arena that it takes.
    fn room(&self) -> usize {
        HEADER + self.code_room() + self.entry_count()
    }

    /// The number of its entries.
    pub fn entry_count(&self) -> usize {
        (self.header[0] >> LENGTH_BITS & LENGTH) as usize
    }

    /// The format of its code.
    #[inline]
    pub fn kind(&self) -> Kind {
        Kind::from_number(self.header[0] >> KIND_SHIFT & 3)
    }

    /// The band that it belongs to.
    pub fn band(&self) -> Band {
        (self.header[0] >> BAND_SHIFT) as Band
    }

    /// The number of literals of a conjunction that must still be checked.
    #[inline]
    pub fn to_check(&self) -> usize {
        (self.header[0] >> (2 * LENGTH_BITS) & LENGTH) as usize
    }

    /// Its number.
    pub fn number(&self) -> ProgramId {
        self.header[1] as u32
    }

    /// Its only slot, the handle of several (`shared_ids.rs`), or NO_SLOT.
    #[inline]
    pub fn slot(&self) -> u32 {
        (self.header[1] >> 32) as u32
    }

    /// Its entries: the list, and the position in it.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let start = self.place + (HEADER + self.code_room()) as u32;
        self.arena
            .words(start, self.entry_count())
            .iter()
            .map(|&word| (word as u32, (word >> 32) as u32))
    }

    /// Its code.
    #[inline]
    pub fn code(&self) -> &'a [CodeWord] {
        self.arena
            .halves(self.place + HEADER as u32, self.code_len())
    }
}

impl Programs {
    /// The program at a position.
    #[inline]
    pub fn at(&self, place: Ref) -> Program<'_> {
        Program {
            header: self.arena.words(place, HEADER),
            arena: &self.arena,
            place,
        }
    }

    /// The position of a program.
    #[inline]
    pub fn place(&self, number: ProgramId) -> Ref {
        *self.places.get(number)
    }

    /// A program by its number.
    pub fn get(&self, number: ProgramId) -> Program<'_> {
        self.at(self.place(number))
    }

    /// Prefetch a program.
    #[inline(always)]
    pub fn prefetch(&self, place: Ref) {
        self.arena.prefetch_lines(place, 2);
    }

    fn hash_of(&self, number: ProgramId) -> u64 {
        let program = self.get(number);
        let hash = hash_code(program.kind(), program.code());
        self.masked(hash, program.band())
    }

    fn masked(&self, hash: u64, band: Band) -> u64 {
        mix(hash ^ u64::from(band)) & self.hash_mask
    }

    /// The program of an expression in a band, if it exists.
    pub fn find(&self, formula: &Formula, kind: Kind, band: Band, hash: u64) -> Option<ProgramId> {
        let masked = self.masked(hash, band);
        let mut wanted: Option<Canonical> = None;
        self.table[masked as usize % SHARDS]
            .find(masked, |&number| {
                let program = self.get(number);
                let other = || self.masked(hash_code(kind, program.code()), band);
                if program.kind() != kind || program.band() != band || other() != masked {
                    return false;
                }
                // Equal hashes make equality likely, but do not decide it.
                let wanted = wanted.get_or_insert_with(|| formula.canonical(kind));
                if kind == Kind::Conjunction {
                    return *wanted == canonical_conjunction(program.code());
                }
                let mut known = Formula::default();
                known.read(kind, program.code(), u64::from); // words do not count here
                *wanted == known.canonical(kind)
            })
            .copied()
    }

    /// Add a program without slots, with room for this number of entries.
    pub fn create(
        &mut self,
        kind: Kind,
        band: Band,
        code: &[CodeWord],
        to_check: usize,
        entries: usize,
        hash: u64,
    ) -> ProgramId {
        self.counts[band as usize] += 1;
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(NOWHERE);
            self.places.len() as u32 - 1
        });
        let about = (kind as u64) << KIND_SHIFT | u64::from(band) << BAND_SHIFT;
        *self.places.get_mut(number) = self.write(number, about, code, to_check, entries, NO_SLOT);
        let masked = self.masked(hash, band);
        // Taken out for the borrow checker: growing the table hashes the programs again.
        let mut shard = std::mem::take(&mut self.table[masked as usize % SHARDS]);
        shard.insert_unique(masked, number, |&other| self.hash_of(other));
        self.table[masked as usize % SHARDS] = shard;
        number
    }

    /// Write a program; `about` has its kind and band, in place.
    fn write(
        &mut self,
        number: ProgramId,
        about: u64,
        code: &[CodeWord],
        to_check: usize,
        entries: usize,
        slot: u32,
    ) -> Ref {
        let room = code.len().div_ceil(2);
        let size = HEADER + room + entries;
        let place = self.arena.alloc(size);
        assert!(place >> 31 == 0, "programs take at most 16 GiB");
        let words = self.arena.words_mut(place, size);
        words[0] = code.len() as u64
            | (entries as u64) << LENGTH_BITS
            | (to_check as u64) << (2 * LENGTH_BITS)
            | about;
        words[1] = u64::from(number) | u64::from(slot) << 32;
        words[HEADER..].fill(0);
        self.arena
            .halves_mut(place + HEADER as u32, code.len())
            .copy_from_slice(code);
        place
    }

    /// Replace the code of a program and its room for entries. The program may move.
    pub fn rewrite(
        &mut self,
        number: ProgramId,
        code: &[CodeWord],
        to_check: usize,
        entries: usize,
    ) {
        let old = self.place(number);
        let program = self.at(old);
        let about = program.header[0] >> KIND_SHIFT << KIND_SHIFT;
        let slot = program.slot();
        let size = program.room();
        self.arena.free(old, size);
        *self.places.get_mut(number) = self.write(number, about, code, to_check, entries, slot);
    }

    /// Update the position of an entry that has moved in its list.
    pub fn move_entry(&mut self, place: Ref, list: u32, from: u32, to: u32) {
        let (count, code) = (self.at(place).entry_count(), self.at(place).code_room());
        let old = u64::from(list) | u64::from(from) << 32;
        let start = place + (HEADER + code) as u32;
        let entries = self.arena.words_mut(start, count);
        if let Some(word) = entries.iter_mut().find(|word| **word == old) {
            *word = u64::from(list) | u64::from(to) << 32;
        }
    }

    /// Set the list and position of an entry of the program at a position.
    pub fn set_entry(&mut self, place: Ref, entry: usize, list: u32, position: u32) {
        let at = place + (HEADER + self.at(place).code_room() + entry) as u32;
        self.arena.words_mut(at, 1)[0] = u64::from(list) | u64::from(position) << 32;
    }

    /// Set the slot of a program, or the handle of several.
    pub fn set_slot(&mut self, number: ProgramId, slot: u32) {
        let place = self.place(number);
        self.arena.words_mut(place, HEADER)[1] = u64::from(number) | u64::from(slot) << 32;
    }

    /// Remove a program.
    pub fn destroy(&mut self, number: ProgramId) {
        let hash = self.hash_of(number);
        let shard = &mut self.table[hash as usize % SHARDS];
        if let Ok(entry) = shard.find_entry(hash, |&other| other == number) {
            entry.remove();
        }
        let place = self.place(number);
        let program = self.at(place);
        let (band, size) = (program.band(), program.room());
        self.counts[band as usize] -= 1;
        self.arena.free(place, size);
        *self.places.get_mut(number) = NOWHERE;
        self.free.push(number);
    }

    /// The arena, to give it its next chunk.
    pub fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// Whether the arena needs its next chunk soon.
    pub fn wants_spare(&self) -> bool {
        self.arena.wants_spare()
    }

    /// The number of programs of a band.
    pub fn count(&self, band: Band) -> usize {
        self.counts[band as usize]
    }

    /// Whether no band has one.
    pub fn is_empty(&self) -> bool {
        self.counts == [0; BANDS + 1]
    }

    /// The upper bound of the numbers of all programs.
    pub fn numbers(&self) -> u32 {
        self.places.len() as u32
    }

    /// Whether a number below `numbers` belongs to a program.
    pub fn is_there(&self, number: ProgramId) -> bool {
        self.place(number) != NOWHERE
    }

    /// The numbers of all programs.
    pub fn iter(&self) -> impl Iterator<Item = ProgramId> {
        (0..self.numbers()).filter(|&number| self.is_there(number))
    }

    /// Memory in bytes: of the programs, and of the tables.
    pub fn total_bytes(&self) -> (usize, usize) {
        let tables: usize = self.table.iter().map(HashTable::allocation_size).sum();
        let around = tables + self.places.total_bytes() + self.free.capacity() * 4;
        (self.arena.total_bytes(), around)
    }
}
