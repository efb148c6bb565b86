//! The index for many threads: one writer, any number of readers.
//!
//! A match holds a read lock from its first step to its last, so it sees one version. The writer
//! prepares what it can before it takes the write lock, and holds it for one expression at a time.
//! Large work (the strings of a huge set) is done in portions, with the lock released in between.
//! No table grows by copying itself, so even the longest hold is short; `longest_update_ns` is the
//! measured maximum.

mod bulk;
mod snapshot;
mod trees;

pub use bulk::{Checked, Row};
pub use snapshot::Source;

use crate::engine::core::Core;
use crate::engine::expression::encode::{check_size, write_formula};
use crate::engine::expression::formula::Formula;
use crate::engine::ids::slots::Properties;
use crate::engine::matching::event_json::{self, Unfit};
use crate::engine::matching::names::Counts;
use crate::engine::matching::search::Scratch;
use crate::engine::memory::arena::Chunk;
use crate::engine::memory::write_lock::WriteLock;
use crate::engine::planning::statistics::{Statistics, StatisticsError};
use crate::engine::planning::tuning::TuningError;
use crate::language::{self, FrontEnd, Limits, NormalForm, Schema, TreeError, Type, Value};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use trees::Trees;

/// Strings of a set that are acquired under one hold of the lock.
const PORTION: usize = 1000;
/// Steps towards the right sizes of the bands after an update. One update makes at most one band
/// too large, and each band pushes a member to the next.
const STEPS: usize = 4;
/// How long expressions are planned again without a pause,
const BURST: Duration = Duration::from_micros(100);
/// and the length of the pause.
const REST: Duration = Duration::from_micros(100);
/// How many expressions are planned again between two calls of the progress callback.
const PROGRAMS: u32 = 10_000;
/// One event in this many is sampled.
const SAMPLED: u64 = 64;
/// The maximum number of unknown names that are counted by name. The rest is counted under the
/// empty name.
const MAX_UNKNOWN: usize = 1000;

struct Writer {
    front: FrontEnd,
    formula: Formula,
    /// Shared with threads that check trees while another one writes.
    schema: Arc<Schema>,
    /// The number of snapshots that were loaded.
    loads: u64,
}

/// An index for many threads.
pub struct Index {
    core: RwLock<Core>,
    writer: Mutex<Writer>,
    trees: Mutex<Trees>,
    /// Boxes, since a buffer is taken and returned at each match.
    #[allow(clippy::vec_box)]
    scratch: Mutex<Vec<Box<Scratch>>>,
    samples: Mutex<Vec<Vec<(u32, u64)>>>,
    matches: AtomicU64,
    /// The postings that a match reads, in 256ths: a running mean over the sampled events.
    postings_read: AtomicU64,
    unknown: RwLock<Counts>,
    longest: AtomicU64,
    limits: Limits,
    /// Whether the trees as written are kept, for `explain`.
    keeps_trees: bool,
}

impl Index {
    /// An empty index.
    pub fn new(schema: Schema, limits: Limits, keeps_trees: bool) -> Self {
        Index {
            core: RwLock::new(Core::new(schema.clone())),
            writer: Mutex::new(Writer {
                front: FrontEnd::default(),
                formula: Formula::default(),
                schema: Arc::new(schema),
                loads: 0,
            }),
            trees: Mutex::default(),
            scratch: Mutex::default(),
            samples: Mutex::default(),
            matches: AtomicU64::new(0),
            postings_read: AtomicU64::new(0),
            unknown: RwLock::default(),
            longest: AtomicU64::new(0),
            limits,
            keeps_trees,
        }
    }

    fn write(&self) -> WriteLock<'_> {
        WriteLock::new(self.core.write(), &self.longest)
    }

    // Writing.

    /// Insert an expression from the JSON form of its tree, or replace the one with this id.
    ///
    /// # Errors
    /// If the bytes are not a valid tree. Then nothing changes.
    pub fn insert(&self, id: u64, json: &[u8], properties: Properties) -> Result<(), TreeError> {
        let mut writer = self.writer.lock();
        self.insert_locked(&mut writer, id, json, properties)
    }

    fn insert_locked(
        &self,
        writer: &mut Writer,
        id: u64,
        json: &[u8],
        properties: Properties,
    ) -> Result<(), TreeError> {
        let Writer {
            front,
            formula,
            schema,
            ..
        } = writer;
        let form = front.normalize(json, schema, &self.limits)?;
        check_size(&form)?;
        let known = self.acquire_huge_sets(&form, schema);
        self.make_spares();
        {
            let mut core = self.write_with_samples();
            let expression = write_formula(&form, formula, known, &mut core);
            core.insert(id, expression, properties);
            core.set_pending(id, form.is_pending());
        }
        self.settle(STEPS);
        self.collect_garbage();
        if self.keeps_trees {
            self.trees.lock().put(id, json);
        }
        Ok(())
    }

    /// Take the write lock, and take over the events that were sampled since the last time.
    fn write_with_samples(&self) -> WriteLock<'_> {
        let samples = std::mem::take(&mut *self.samples.lock());
        let mut core = self.write();
        let attributes = core.types.len();
        for sample in &samples {
            core.selectivity.sample(sample, attributes);
            core.forget_probabilities();
        }
        core
    }

    /// Bring the bands of the best closer to their sizes, by at most this many steps.
    fn settle(&self, steps: usize) {
        let mut done = 0;
        let has_more = |core: &Core| core.bands.next_step(core.slots.len()).is_some();
        while done < steps && self.read(has_more) {
            self.make_spares();
            let mut core = self.write();
            let since = Instant::now();
            let before = done;
            while core.settle() {
                done += 1;
                if done >= steps || since.elapsed() > BURST || core.want_spares().contains(&true) {
                    break;
                }
            }
            if done == before {
                return;
            }
        }
    }

    /// Make the next chunks of memory without holding the lock.
    fn make_spares(&self) {
        let (wanted, huge_pages) = self.read(|core| (core.want_spares(), core.tuning.huge_pages));
        for (arena, _) in wanted.into_iter().enumerate().filter(|&(_, wanted)| wanted) {
            let spare = Chunk::make(huge_pages);
            self.write().arenas()[arena].give_spare(spare);
        }
    }

    /// The numbers of the strings of huge sets, by literal.
    fn acquire_huge_sets(&self, form: &NormalForm, schema: &Schema) -> FxHashMap<u32, Vec<u32>> {
        let mut known = FxHashMap::default();
        for (place, literal) in form.literals().enumerate() {
            if literal.values.len() <= PORTION
                || !literal.op.takes_set()
                || schema.ty(literal.attr).element() != Type::Str
            {
                continue;
            }
            let texts: Vec<&str> = literal
                .values
                .iter()
                .filter_map(|value| match value {
                    Value::Str(text) => Some(text),
                    _ => None,
                })
                .collect();
            let mut numbers = Vec::with_capacity(texts.len());
            for portion in texts.chunks(PORTION) {
                let mut core = self.write();
                let strings = core.long.strings_mut();
                numbers.extend(portion.iter().map(|text| strings.acquire(text)));
            }
            known.insert(place as u32, numbers);
        }
        known
    }

    fn collect_garbage(&self) {
        while self.core.read().long.has_garbage() {
            self.write().long.collect_garbage();
        }
    }

    /// The normal form of a tree, as JSON.
    ///
    /// # Errors
    /// If the bytes are not a valid tree.
    pub fn normal_form(&self, json: &[u8]) -> Result<String, TreeError> {
        let mut writer = self.writer.lock();
        let Writer { front, schema, .. } = &mut *writer;
        Ok(front.normalize(json, schema, &self.limits)?.to_json(schema))
    }

    /// Remove an id. Returns whether it existed.
    pub fn remove(&self, id: u64) -> bool {
        let _writer = self.writer.lock();
        let removed = self.write().remove(id);
        self.settle(STEPS);
        self.collect_garbage();
        if removed {
            self.trees.lock().remove(id);
        }
        removed
    }

    /// Keep the ids of a group from matching until it is unmuted. Returns whether that is a change.
    /// It waits for matches in progress, and not for other writers.
    pub fn mute(&self, group: u64) -> bool {
        self.write().slots.groups_mut().mute(group)
    }

    /// Let the ids of a group match again. Returns whether that is a change.
    pub fn unmute(&self, group: u64) -> bool {
        self.write().slots.groups_mut().unmute(group)
    }

    /// Add an attribute.
    ///
    /// # Errors
    /// If the name is declared already.
    pub fn add_attribute(&self, name: &str, kind: Type) -> Result<(), language::RepeatedName> {
        let mut writer = self.writer.lock();
        Arc::make_mut(&mut writer.schema).add(name, kind)?;
        let mut core = self.write();
        core.schema.add(name, kind)?;
        core.add_attributes();
        Ok(())
    }

    /// Use these statistics, or none, and plan all expressions again, one at a time. Matches and
    /// other writers run in between.
    ///
    /// # Errors
    /// If they cannot be read. Then nothing changes.
    pub fn use_statistics(&self, json: Option<&[u8]>) -> Result<(), StatisticsError> {
        let mut writer = self.writer.lock();
        let statistics = json
            .map(|json| Statistics::read(json, &writer.schema))
            .transpose()?;
        {
            let mut core = self.write_with_samples();
            core.selectivity.set_statistics(statistics);
            core.forget_probabilities();
        }
        self.replan_all(&mut writer, |_, _| true);
        Ok(())
    }

    /// Set a switch (`tuning.rs`), before the first expression.
    ///
    /// # Errors
    /// If there is no such switch, or the index has expressions. Then nothing changes.
    pub fn tune(&self, name: &str, value: u32) -> Result<(), TuningError> {
        let _writer = self.writer.lock();
        let mut core = self.write();
        let mut tuning = core.tuning;
        tuning.set(name, value)?;
        core.tune(tuning)
    }

    /// Plan all expressions again with the sampled events. `goes_on` is called now and then, without
    /// a lock, with how many of how many are done; if it returns false, the rest stays as it is.
    pub fn replan(&self, goes_on: impl FnMut(u32, u32) -> bool) {
        let mut writer = self.writer.lock();
        {
            let mut core = self.write_with_samples();
            core.selectivity.plan_by_sample();
            core.forget_probabilities();
        }
        self.replan_all(&mut writer, goes_on);
    }

    /// Take over the sampled events. Returns how many there are, by how many everything was planned
    /// last, and how far they have moved since (`Selectivity::drift`).
    pub fn sampled(&self) -> (usize, usize, f32) {
        drop(self.write_with_samples());
        self.read(|core| {
            let known = &core.selectivity;
            (known.samples(), known.planned(), known.drift())
        })
    }

    /// The postings that a match reads: a running mean over the sampled events.
    pub fn postings_read(&self) -> f64 {
        self.postings_read.load(Ordering::Relaxed) as f64 / 256.0
    }

    /// Plan every current program again, in bursts with pauses, in which matches and other writers
    /// run. Programs that are added meanwhile use the new knowledge already; removed ones are
    /// skipped.
    fn replan_all(
        &self,
        writer: &mut MutexGuard<'_, Writer>,
        mut goes_on: impl FnMut(u32, u32) -> bool,
    ) {
        self.write().forget_pairs();
        let numbers = self.core.read().programs.numbers();
        let mut since = Instant::now();
        for number in 0..numbers {
            self.make_spares();
            self.write().replan(number);
            if since.elapsed() > BURST {
                MutexGuard::unlocked(writer, || std::thread::sleep(REST));
                since = Instant::now();
            }
            if number % PROGRAMS == PROGRAMS - 1
                && !MutexGuard::unlocked(writer, || goes_on(number + 1, numbers))
            {
                return;
            }
        }
    }

    // Asking.

    /// Run a match: `fill` puts the event into the scratch, `take` takes the answer.
    ///
    /// # Errors
    /// As `fill`.
    pub fn ask<E, T>(
        &self,
        fill: impl FnOnce(&Core, &mut Scratch) -> Result<(), E>,
        take: impl FnOnce(&Core, &mut Scratch) -> T,
    ) -> Result<T, E> {
        let mut question = self.question();
        fill(&question.core, &mut question.scratch)?;
        Ok(question.answer(take))
    }

    /// Start a match. Code that holds a question must not wait for anything that may wait for the
    /// writer, such as the GIL: while a writer waits, no other reader gets in.
    pub fn question(&self) -> Question<'_> {
        let mut scratch = self.scratch.lock().pop().unwrap_or_default();
        let core = self.core.read();
        scratch.event.reset(core.types.len());
        scratch.event.remember(core.long.answers());
        (scratch.touched, scratch.evaluated) = (0, 0);
        Question {
            core,
            scratch,
            index: self,
        }
    }

    fn sample(&self, core: &Core, scratch: &Scratch) {
        let event = &scratch.event;
        let scalars = event
            .present()
            .iter()
            .filter(|&&attribute| !core.types[attribute as usize].is_list())
            .map(|&attribute| (attribute, event.order(attribute)))
            .collect();
        let mean = self.postings_read.load(Ordering::Relaxed);
        let mean = match mean {
            0 => scratch.touched << 8,
            mean => mean - mean / 32 + (scratch.touched << 8) / 32,
        };
        self.postings_read.store(mean, Ordering::Relaxed);
        if let Some(mut samples) = self.samples.try_lock()
            && samples.len() < 64
        {
            samples.push(scalars);
        }
    }

    /// Fill an event from JSON, and count the undeclared names.
    ///
    /// # Errors
    /// If the event is wrong or unusual.
    pub fn fill_json(&self, core: &Core, scratch: &mut Scratch, json: &[u8]) -> Result<(), Unfit> {
        let Scratch {
            event,
            json: buffer,
            names,
            ..
        } = scratch;
        let strings = core.long.strings();
        event_json::fill(
            event,
            json,
            &core.schema,
            strings,
            buffer,
            names,
            &self.unknown,
        )?;
        let new_names = names.count();
        if !new_names.is_empty() {
            self.count_unknown(new_names);
        }
        Ok(())
    }

    /// Count undeclared names.
    pub fn count_unknown(&self, names: Vec<String>) {
        let mut counts = self.unknown.write();
        for mut name in names {
            if !counts.contains_key(&name) && counts.len() >= MAX_UNKNOWN {
                name = String::new();
            }
            counts
                .entry(name)
                .or_default()
                .fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The undeclared names and their counts. What matches count that have not ended comes later.
    pub fn unknown(&self) -> Vec<(String, u64)> {
        for scratch in self.scratch.lock().iter_mut() {
            scratch.names.flush();
        }
        let counts = self.unknown.read();
        counts
            .iter()
            .map(|(name, count)| (name.clone(), count.load(Ordering::Relaxed)))
            .collect()
    }

    /// Make all hashes of expressions and long literals collide.
    #[cfg(test)]
    pub fn weaken_hashes(&self) {
        let mut core = self.write();
        core.programs.hash_mask = 0;
        core.long.hash_mask = 0;
    }

    /// Read the index under the read lock.
    pub fn read<T>(&self, look: impl FnOnce(&Core) -> T) -> T {
        look(&self.core.read())
    }

    /// The tree of an id as it was written, in its JSON form.
    pub fn tree(&self, id: u64) -> Option<String> {
        self.trees.lock().get(id)
    }

    /// Memory of the trees as written, in bytes.
    pub fn tree_bytes(&self) -> usize {
        self.trees.lock().total_bytes()
    }

    /// The longest time that an update blocked matching, in nanoseconds.
    pub fn longest_update_ns(&self) -> u64 {
        self.longest.load(Ordering::Relaxed)
    }

    /// Reset the longest time.
    pub fn reset_longest(&self) {
        self.longest.store(0, Ordering::Relaxed);
    }

    /// The limits of expressions.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// A match in progress: one version of the index, and an event to fill.
pub struct Question<'a> {
    pub core: RwLockReadGuard<'a, Core>,
    pub scratch: Box<Scratch>,
    index: &'a Index,
}

impl Question<'_> {
    /// Match, take the answer, and release the index.
    pub fn answer<T>(mut self, take: impl FnOnce(&Core, &mut Scratch) -> T) -> T {
        let answer = take(&self.core, &mut self.scratch);
        let matches = &self.index.matches;
        if matches
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(SAMPLED)
        {
            self.index.sample(&self.core, &self.scratch);
        }
        drop(self.core);
        self.index.scratch.lock().push(self.scratch);
        answer
    }
}
