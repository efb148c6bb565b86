//! Many rows at once: checked first, all of them, and then inserted, several to a hold.
//!
//! The first pass keeps the normal forms that it makes, as far as there is room, so that the
//! second need not make them again.

use super::{Index, PORTION, Properties, Writer, check_size, write_formula};
use crate::language::{Forms, FrontEnd, NormalForm, TreeError};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Normal forms of so many bytes are kept.
const KEPT: usize = 64 << 20;
/// Rows that are inserted under one hold of the lock, at the most,
const MOST_ROWS: usize = 64;
/// and after how long no other is begun.
const LONG_ENOUGH: Duration = Duration::from_micros(200);

/// An expression, as the JSON form of its tree, with what stands beside it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub id: u64,
    pub tree: &'a [u8],
    pub properties: Properties,
}

/// Rows that can be inserted: the normal forms of the first ones.
pub struct Checked {
    forms: Forms,
    /// Numbers of attributes hold as long as no snapshot is loaded.
    loads: u64,
}

impl Index {
    /// Check many trees, while others write: two who insert many check theirs side by side.
    ///
    /// # Errors
    /// With the place of the first that is none.
    pub fn check_many<'a>(
        &self,
        trees: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Checked, (usize, TreeError)> {
        let (schema, loads) = {
            let writer = self.writer.lock();
            (Arc::clone(&writer.schema), writer.loads)
        };
        let mut front = FrontEnd::default();
        let mut checked = Checked {
            forms: Forms::default(),
            loads,
        };
        let mut has_room = true;
        for (place, tree) in trees.enumerate() {
            let form = front.normalize(tree, &schema, &self.limits);
            let form = form.map_err(|error| (place, error))?;
            check_size(&form).map_err(|error| (place, error))?;
            has_room = has_room && checked.forms.bytes() < KEPT;
            if has_room {
                checked.forms.push(&form);
            }
        }
        Ok(checked)
    }

    /// Insert rows that were checked, the first of them as number `first`.
    ///
    /// # Errors
    /// As `insert`, with the place of the row: only if a snapshot was loaded in the meantime.
    pub fn insert_checked(
        &self,
        rows: &[Row],
        checked: &Checked,
        first: usize,
    ) -> Result<(), (usize, TreeError)> {
        let mut writer = self.writer.lock();
        let mut done = 0;
        while done < rows.len() {
            let some = self.insert_some(&mut writer, &rows[done..], checked, first + done);
            if some == 0 {
                let Row {
                    id,
                    tree,
                    properties,
                } = rows[done];
                self.insert_locked(&mut writer, id, tree, properties)
                    .map_err(|error| (done, error))?;
            }
            done += some.max(1);
        }
        Ok(())
    }

    /// Insert as many rows as one hold may take; how many they were. Those whose forms were not
    /// kept, or that have huge sets, are left to be inserted alone.
    fn insert_some(
        &self,
        writer: &mut Writer,
        rows: &[Row],
        checked: &Checked,
        first: usize,
    ) -> usize {
        if checked.loads != writer.loads {
            return 0;
        }
        let simple = |place: usize| checked.forms.get(first + place).filter(is_simple);
        let Some(mut form) = simple(0) else {
            return 0;
        };
        self.make_spares();
        let mut done = 0;
        {
            let mut core = self.write_with_samples();
            let since = Instant::now();
            loop {
                let Row { id, properties, .. } = rows[done];
                let known = FxHashMap::default();
                let expression = write_formula(&form, &mut writer.formula, known, &mut core);
                core.insert(id, expression, properties);
                done += 1;
                let enough = done == rows.len().min(MOST_ROWS)
                    || core.want_spares().contains(&true)
                    || core.long.has_garbage()
                    || since.elapsed() > LONG_ENOUGH;
                match simple(done) {
                    Some(next) if !enough => form = next,
                    _ => break,
                }
            }
        }
        self.collect_garbage();
        if self.keeps_trees {
            let mut trees = self.trees.lock();
            trees.extend(rows[..done].iter().map(|row| (row.id, row.tree.into())));
        }
        done
    }
}

/// Whether no set is so large that its strings are acquired beforehand.
fn is_simple(form: &NormalForm) -> bool {
    !form
        .literals()
        .any(|literal| literal.values.len() > PORTION && literal.op.takes_set())
}
