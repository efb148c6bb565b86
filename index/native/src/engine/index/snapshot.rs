//! An index in portions: copied out while it answers, and loaded.

use super::trees::Trees;
use super::{Core, Index};
use crate::engine::expression::literal_word::MAX_ATTRIBUTES;
use crate::engine::planning::tuning::Tuning;
use crate::engine::snapshot::SnapshotError;
use crate::engine::snapshot::layout::LAYOUT;
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure, write_bytes};
use crate::language::{Schema, Type};
use std::io;

/// The source of a snapshot's pieces.
pub trait Source {
    /// The next `len` bytes, valid until the next call.
    ///
    /// # Errors
    /// If there are fewer bytes.
    fn next(&mut self, len: u64) -> io::Result<&[u8]>;

    /// Whether all bytes are read.
    fn is_done(&self) -> bool;
}

impl Index {
    /// Pass the whole index to `sink`, piece by piece. Updates wait; matching goes on, and muting
    /// waits for at most one portion. The muted groups are those at the time of their portion.
    ///
    /// # Errors
    /// From the sink.
    pub fn store(&self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let _writer = self.writer.lock();
        let mut out = Vec::new();
        self.read(|core| self.write_about(core, &mut out));
        sink(&framed(&out))?;
        for part in 0..self.read(|core| core.sections().len()) {
            let portions = self.read(|core| core.sections()[part].portions());
            sink(&(portions as u32).to_le_bytes())?;
            for portion in 0..portions {
                out.clear();
                0u64.write(&mut out);
                self.read(|core| core.sections()[part].store(portion, &mut out));
                put_length(&mut out);
                sink(&out)?;
            }
        }
        let portions = self.trees.lock().portions();
        sink(&(portions as u32).to_le_bytes())?;
        for portion in 0..portions {
            out.clear();
            0u64.write(&mut out);
            self.trees.lock().store(portion, &mut out);
            put_length(&mut out);
            sink(&out)?;
        }
        Ok(())
    }

    fn write_about(&self, core: &Core, out: &mut Vec<u8>) {
        LAYOUT.write(out);
        for (name, _) in Tuning::NAMES {
            (core.tuning.get(name) as u8).write(out);
        }
        u8::from(self.keeps_trees).write(out);
        (core.schema.declared().count() as u32).write(out);
        for attribute in core.schema.declared() {
            write_bytes(out, core.schema.ty(attribute).name().as_bytes());
            write_bytes(out, core.schema.name(attribute).as_bytes());
        }
    }

    /// Load what `store` wrote. The index is built aside and swapped in as a whole. Attributes keep
    /// the numbers of the snapshot; those that only this index has come after them. Groups that are
    /// muted here stay muted.
    ///
    /// # Errors
    /// If this index is not empty, or the snapshot does not fit it.
    pub fn restore(&self, from: &mut impl Source) -> Result<(), SnapshotError> {
        let mut writer = self.writer.lock();
        if !self.read(|core| core.slots.is_empty()) {
            return Err(SnapshotError::NotEmpty);
        }
        let (mut core, has_trees) = read_about(piece(from)?, &writer.schema)?;
        if self.keeps_trees && !has_trees {
            return Err(SnapshotError::NoTrees);
        }
        for part in core.sections_mut() {
            read_part(from, part)?;
        }
        core.rebuild()?;
        let mut trees = Trees::default();
        trees.reserve(if has_trees { core.slots.len() } else { 0 });
        read_part(from, &mut trees)?;
        trees.check()?;
        ensure(from.is_done(), "there are bytes after the index")?;
        let so_many = if has_trees { core.slots.len() } else { 0 };
        ensure(
            trees.len() == so_many,
            "the numbers of trees and ids differ",
        )?;
        writer.schema = core.schema.clone().into();
        writer.loads += 1;
        if self.keeps_trees {
            *self.trees.lock() = trees;
        }
        let mut here = self.write();
        for group in here.slots.groups().muted() {
            core.slots.groups_mut().mute(group);
        }
        std::mem::swap(&mut *here, &mut core);
        drop(here); // the lock first, then the empty index that was there
        Ok(())
    }
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

/// Write the length of what follows to the first eight bytes.
fn put_length(out: &mut [u8]) {
    let len = out.len() as u64 - 8;
    out[..8].copy_from_slice(&len.to_le_bytes());
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, &b| sum << 8 | u64::from(b))
}

/// The next piece, after its length.
fn piece(from: &mut impl Source) -> io::Result<Reader<'_>> {
    let len = number(from.next(8)?);
    Ok(Reader::new(from.next(len)?))
}

fn read_part(from: &mut impl Source, part: &mut dyn Section) -> Result<(), SnapshotError> {
    let portions = number(from.next(4)?) as usize;
    for portion in 0..portions {
        part.restore(portion, &mut piece(from)?)?;
    }
    Ok(())
}

/// An index to load into, with the attributes of the snapshot first and then those that only this
/// index has; and whether the snapshot has trees.
fn read_about(mut from: Reader, here: &Schema) -> Result<(Core, bool), SnapshotError> {
    let layout = from.u64()?;
    if layout != LAYOUT {
        return Err(SnapshotError::Layout(layout));
    }
    let mut tuning = Tuning::default();
    for (name, _) in Tuning::NAMES {
        let set = tuning.set(name, u32::from(from.u8()?));
        set.map_err(|_| Malformed("a switch has no such value"))?;
    }
    let has_trees = from.u8()? != 0;
    let mut attributes: Vec<(&str, Type)> = Vec::new();
    for _ in 0..from.u32()? {
        let (kind, name) = (from.text()?, from.text()?);
        let known = here.attr(name).map(|attribute| here.ty(attribute));
        match (known, Type::from_name(kind)) {
            (Some(known), Some(kind)) if known == kind => attributes.push((name, kind)),
            _ => {
                let here = known.map_or("not declared", Type::name);
                let what = format!("{name} was {kind}, here it is {here}");
                return Err(SnapshotError::Schema(what));
            }
        }
    }
    let mut schema = Schema::new(attributes).map_err(|_| Malformed("an attribute exists twice"))?;
    for attribute in here.declared() {
        // An attribute of the snapshot keeps its number.
        let _ = schema.add(here.name(attribute), here.ty(attribute));
    }
    ensure(
        schema.len() <= MAX_ATTRIBUTES,
        "there are too many attributes",
    )?;
    let mut core = Core::unread(schema);
    core.tune(tuning)
        .map_err(|_| Malformed("a switch has no such value"))?;
    Ok((core, has_trees))
}
