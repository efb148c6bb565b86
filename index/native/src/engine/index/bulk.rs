//! Many rows at once: all are checked first, then inserted, several for each time the lock is held.
//!
//! The first pass keeps its normal forms up to a limit, so that the second one need not compute
//! them again.

use super::{Index, PORTION, Properties, Writer, check_size, write_formula};
use crate::language::{Forms, FrontEnd, NormalForm, TreeError};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum memory of the kept normal forms in bytes.
const KEPT: usize = 64 << 20;
/// The maximum number of rows that are inserted while the lock is held,
const MOST_ROWS: usize = 64;
/// and the time after which no further row is started.
const LONG_ENOUGH: Duration = Duration::from_micros(200);

/// An expression as the JSON form of its tree, with its properties.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub id: u64,
    pub tree: &'a [u8],
    pub properties: Properties<'a>,
}

/// Checked rows: the normal forms of the first ones.
pub struct Checked {
    forms: Forms,
    /// The numbers of attributes are valid until a snapshot is loaded.
    loads: u64,
}

impl Index {
    /// Check many trees without the writer's lock, so that two threads can check at the same time.
    ///
    /// # Errors
    /// With the position of the first invalid tree.
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
    /// As `insert`, with the position of the row; only if a snapshot was loaded in the meantime.
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
        self.settle(usize::MAX);
        Ok(())
    }

    /// Insert rows while the lock is held once. Returns their number. Rows whose forms were not
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
                core.set_pending(id, form.is_pending());
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
            for row in &rows[..done] {
                trees.put(row.id, row.tree);
            }
        }
        done
    }
}

/// Whether no set is so large that its strings must be acquired beforehand.
fn is_simple(form: &NormalForm) -> bool {
    !form
        .literals()
        .any(|literal| literal.values.len() > PORTION && literal.op.takes_set())
}
