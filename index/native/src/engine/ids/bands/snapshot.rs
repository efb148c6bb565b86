//! The bands in a snapshot: their borders. The members are rebuilt from the programs.

use super::{BANDS, Band, Bands, Rank, Sweep};
use crate::engine::ids::slots::Owner;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Item for Rank {
    fn write(&self, out: &mut Vec<u8>) {
        (self.0, self.1).write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (score, id) = Item::read(from)?;
        Ok(Rank(score, id))
    }
}

impl Section for Bands {
    fn portions(&self) -> usize {
        1
    }

    fn store(&self, _: usize, out: &mut Vec<u8>) {
        for border in self.borders {
            Vec::from_iter(border).write(out);
        }
        let sweep = self.sweep;
        Vec::from_iter(sweep.map(|sweep| (sweep.border, (sweep.band, sweep.page)))).write(out);
    }

    fn restore(&mut self, _: usize, from: &mut Reader) -> Result<(), Malformed> {
        for border in &mut self.borders {
            *border = Vec::read(from)?.pop();
        }
        let sweep: Option<(Rank, (Band, u32))> = Vec::read(from)?.pop();
        self.sweep = sweep.map(|(border, (band, page))| Sweep { border, band, page });
        let known = sweep.is_none_or(|(_, (band, _))| (1..=BANDS as Band).contains(&band));
        ensure(known && from.is_done(), "the borders are not valid")
    }
}

impl Bands {
    /// Add a member that a program of a band has.
    ///
    /// # Errors
    /// If it is in another band, or in two programs.
    pub fn restore_member(
        &mut self,
        rank: Rank,
        band: Band,
        owner: Owner,
    ) -> Result<(), Malformed> {
        let is_new = self.members.insert(rank, owner).is_none();
        self.counts[band as usize - 1] += usize::from(is_new);
        ensure(
            is_new && self.band_of(rank) == Some(band),
            "an id is in a wrong band",
        )
    }
}
