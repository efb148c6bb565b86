//! Ids in a snapshot: pages, programs and properties. Tables, the digest and the free lists are
//! rebuilt.

use super::{FREE, Origin, Owner, Page, Properties, SHARDS, Slots, Window, hash};
use crate::engine::ids::digest;
use crate::engine::memory::arena::NOWHERE;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Item for Page {
    fn write(&self, out: &mut Vec<u8>) {
        self.taken.write(out);
        self.windowed.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(Page {
            taken: from.u64()?,
            windowed: from.u64()?,
        })
    }
}

impl Item for Owner {
    fn write(&self, out: &mut Vec<u8>) {
        (self.program, self.position).write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (program, position) = Item::read(from)?;
        Ok(Owner { program, position })
    }
}

impl Item for Origin {
    fn write(&self, out: &mut Vec<u8>) {
        (self.group, self.version).write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (group, version) = Item::read(from)?;
        Ok(Origin { group, version })
    }
}

impl Item for Window {
    fn write(&self, out: &mut Vec<u8>) {
        (self.start, self.end).write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (start, end) = Item::read(from)?;
        Ok(Window { start, end })
    }
}

impl Slots {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 10] {
        let [groups, muted] = self.groups.sections();
        let [labels] = self.labels.sections();
        [
            &self.bases,
            &self.pages,
            &self.owners,
            &self.scores,
            &self.origins,
            &self.windows,
            &self.label_sets,
            groups,
            muted,
            labels,
        ]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 10] {
        let [groups, muted] = self.groups.sections_mut();
        let [labels] = self.labels.sections_mut();
        [
            &mut self.bases,
            &mut self.pages,
            &mut self.owners,
            &mut self.scores,
            &mut self.origins,
            &mut self.windows,
            &mut self.label_sets,
            groups,
            muted,
            labels,
        ]
    }

    /// Rebuild the tables.
    ///
    /// # Errors
    /// If pages, slots and properties do not fit together.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        let pages = self.pages.len();
        let so_many =
            pages < 1 << 25 && self.bases.len() == pages && self.owners.len() == pages * 64;
        ensure(so_many, "the numbers of slots and ids differ")?;
        let mut last = 0;
        self.best.grow_to(pages);
        for page in 0..pages as u32 {
            let base = *self.bases.get(page);
            let Page { taken, windowed } = *self.pages.get(page);
            self.windowed += windowed.count_ones() as usize;
            self.find_best(page);
            ensure(windowed & !taken == 0, "a window belongs to no id")?;
            self.check_page(page, base, taken, windowed)?;
            if taken == 0 {
                ensure(base == FREE, "a page has no ids")?;
                if page % 64 == 0 {
                    self.runs.push(FREE);
                }
                continue;
            }
            ensure(base <= u64::MAX >> 6, "a page has an invalid base")?;
            self.set_base(page, base);
            ensure(self.page_of(base).is_none(), "a page exists twice")?;
            self.unordered |= base < last;
            last = base;
            self.len += taken.count_ones() as usize;
            let hash = hash(base);
            let known = &self.bases;
            self.shards[(hash >> 50) as usize % SHARDS]
                .insert_unique(hash, page, |&other| self::hash(*known.get(other)));
        }
        self.free = (0..pages as u32)
            .rev()
            .filter(|&page| self.pages.get(page).taken == 0)
            .collect();
        self.labels.rebuild()?;
        self.groups.rebuild()
    }

    fn check_page(
        &mut self,
        page: u32,
        base: u64,
        taken: u64,
        windowed: u64,
    ) -> Result<(), Malformed> {
        for bit in 0..64 {
            let slot = page * 64 + bit;
            let Origin { group, version } = self.origins.get(slot);
            let Window { start, end } = self.windows.get(slot);
            let is_window = !(start.is_nan() || end.is_nan());
            let is_known = windowed >> bit & 1 == 1 || self.windows.get(slot) == Window::default();
            ensure(is_window && is_known, "a window belongs to no id")?;
            if taken >> bit & 1 == 0 {
                let clean = self.owner(slot).program == NOWHERE
                    && (group, version) == (0, 0)
                    && self.label_sets.get(slot) == 0
                    && self.score(slot) == Properties::default().score;
                ensure(clean, "a free slot has properties")?;
                continue;
            }
            let id = base << 6 | u64::from(bit);
            self.digest = self.digest.wrapping_add(digest::term(id, version));
            self.groups.count(group)?;
            self.labels.count(self.label_sets.get(slot))?;
        }
        Ok(())
    }
}
