//! The names of attributes that events have had, and what they stand for.
//!
//! ```text
//!   "country"  attribute 3         next ─┐
//!   "page"     undeclared, counted  ◀────┘  next ─┐
//!   "user.id"  undeclared, counted  ◀─────────────┘
//! ```
//!
//! Clients send their attributes in the same order again and again. So each name remembers which
//! one came after it. That one is compared with the event first; if it is there, neither the end of
//! the name nor a hash is needed. Everything else goes through the table.
//!
//! Every buffer of a match has names of its own, so no lock is needed. They are those that are
//! declared or counted, so that there is a bound on their number; others are new.

use crate::engine::matching::json::{Cursor, Probable, Unexpected};
use crate::language::Schema;
use hashbrown::HashTable;
use parking_lot::RwLock;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often events had each undeclared name.
pub type Counts = FxHashMap<String, Arc<AtomicU64>>;

/// No attribute: the name is not declared.
const UNDECLARED: u32 = u32::MAX;

struct Name {
    text: Box<str>,
    /// As most clients write it in JSON, with its quotes.
    quoted: Probable,
    attribute: u32,
    /// Only of undeclared names.
    count: Option<Arc<AtomicU64>>,
    /// How often it was seen since `flush`.
    pending: u64,
    /// The place of the name that came next the last time.
    next: u32,
}

/// Names, and those of the current event that count.
#[derive(Default)]
pub struct Names {
    known: Vec<Name>,
    by_text: HashTable<u32>,
    /// The schema that they belong to.
    version: u64,
    /// The place of the first name of the last event, and of the name before.
    first: u32,
    previous: Option<u32>,
    /// The undeclared names of the event, by place, and those that are not counted yet.
    seen: Vec<u32>,
    new: Vec<String>,
}

impl Names {
    /// Start an event.
    pub fn begin(&mut self, schema: &Schema) {
        if self.version != schema.version() {
            self.flush();
            self.known.clear();
            self.by_text.clear();
            self.version = schema.version();
        }
        self.previous = None;
        self.seen.clear();
        self.new.clear();
    }

    /// Read the name that is next. Returns its attribute, if it is declared.
    ///
    /// # Errors
    /// If there is no name.
    #[inline(always)]
    pub fn read(
        &mut self,
        json: &mut Cursor,
        schema: &Schema,
        counts: &RwLock<Counts>,
    ) -> Result<Option<u32>, Unexpected> {
        let next = match self.previous {
            Some(previous) => self.known[previous as usize].next,
            None => self.first,
        };
        let is_next = |name: &Name| json.take_probable(&name.quoted);
        let place = if self.known.get(next as usize).is_some_and(is_next) {
            next
        } else if let Some(place) = self.read_other(json, schema, counts)? {
            place
        } else {
            return Ok(None);
        };
        self.previous = Some(place);
        let attribute = self.known[place as usize].attribute;
        if attribute == UNDECLARED {
            self.seen.push(place);
            return Ok(None);
        }
        Ok(Some(attribute))
    }

    /// The place of a name that did not come next the last time, or none if it is new.
    #[inline(never)]
    fn read_other(
        &mut self,
        json: &mut Cursor,
        schema: &Schema,
        counts: &RwLock<Counts>,
    ) -> Result<Option<u32>, Unexpected> {
        let name = json.text()?;
        let hash = FxBuildHasher.hash_one(&name);
        let known = &self.known;
        let is_same = |&place: &u32| *known[place as usize].text == *name;
        let place = match self.by_text.find(hash, is_same) {
            Some(&place) => place,
            None => match self.add(&name, hash, schema, counts) {
                Some(place) => place,
                None => {
                    self.new.push(name.into_owned());
                    return Ok(None);
                }
            },
        };
        match self.previous {
            Some(previous) => self.known[previous as usize].next = place,
            None => self.first = place,
        }
        Ok(Some(place))
    }

    fn add(
        &mut self,
        name: &str,
        hash: u64,
        schema: &Schema,
        counts: &RwLock<Counts>,
    ) -> Option<u32> {
        let attribute = schema.attr(name);
        let count = match attribute {
            Some(_) => None,
            None => Some(counts.read().get(name)?.clone()),
        };
        let quoted = serde_json::to_vec(name).ok()?;
        let place = self.known.len() as u32;
        self.known.push(Name {
            text: name.into(),
            quoted: Probable::new(quoted),
            attribute: attribute.unwrap_or(UNDECLARED),
            count,
            pending: 0,
            next: 0,
        });
        let known = &self.known;
        let hash_of = |&place: &u32| FxBuildHasher.hash_one(&known[place as usize].text);
        self.by_text.insert_unique(hash, place, hash_of);
        Some(place)
    }

    /// Count the undeclared names of the event. Returns those that are not counted yet.
    pub fn count(&mut self) -> Vec<String> {
        for &place in &self.seen {
            self.known[place as usize].pending += 1;
        }
        std::mem::take(&mut self.new)
    }

    /// Add what was counted to the counts that all buffers share. Not at each event: an event has
    /// dozens of undeclared names, and an atomic addition takes as long as reading one.
    pub fn flush(&mut self) {
        for name in &mut self.known {
            if let Some(count) = &name.count {
                count.fetch_add(std::mem::take(&mut name.pending), Ordering::Relaxed);
            }
        }
    }
}
