//! The face of the papers' engines, and the half of it that the conjunctive ones share.

use super::literal::{Event, Literal};
use super::store::Store;

/// An engine under measurement. Errors say why an expression or an event does not fit.
pub trait Engine: Send + Sync {
    /// Events to take statistics and domains from, before the first insert.
    fn learn(&mut self, events: &[String]) -> Result<(), String>;
    /// Replaces the expression of `id`, if it has one.
    fn insert(&mut self, id: u64, tree: &str) -> Result<(), String>;
    /// Whether it was there.
    fn remove(&mut self, id: u64) -> bool;
    /// What the paper does now and then, or after a build, given recent events.
    fn maintain(&mut self, events: &[String]) -> Result<(), String>;
    fn event(&self, text: &str) -> Result<Event, String>;
    /// Write the ids of the matching expressions to `found`, ascending.
    fn search(&mut self, event: &Event, found: &mut Vec<u64>);
    /// Panics if something is not as it should be.
    fn check_invariants(&self);
    /// Panics if something is left of expressions that are gone.
    fn check_empty(&self);
}

/// An index over conjunctions in slots of a store.
pub trait Index: Send + Sync {
    fn learn(&mut self, _events: &[Event]) {}
    /// Why a conjunction does not fit.
    fn refuse(&self, _literals: &[Literal]) -> Result<(), String> {
        Ok(())
    }
    /// The slot has just been filled.
    fn add(&mut self, slot: u32, store: &Store);
    /// The slot is about to be emptied.
    fn remove(&mut self, slot: u32, store: &Store);
    fn maintain(&mut self, _events: &[Event], _store: &Store) {}
    /// Push each matching slot once.
    fn search(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>);
    fn check_invariants(&self, store: &Store);
    /// Nodes, lists, tables: 0 when there are no conjunctions.
    fn size(&self) -> usize;
}

/// A conjunctive engine: a store and an index over it.
pub struct Conjunctive<I> {
    pub store: Store,
    pub index: I,
    slots: Vec<u32>,
    marks: Vec<u64>,
}

impl<I: Index> Conjunctive<I> {
    pub fn new(store: Store, index: I) -> Self {
        Conjunctive {
            store,
            index,
            slots: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn events(&self, texts: &[String]) -> Result<Vec<Event>, String> {
        texts.iter().map(|text| self.event(text)).collect()
    }
}

impl<I: Index> Engine for Conjunctive<I> {
    fn learn(&mut self, events: &[String]) -> Result<(), String> {
        for event in events {
            Event::number(event, &self.store.schema, &mut self.store.names)?;
        }
        self.index.learn(&self.events(events)?);
        Ok(())
    }

    fn insert(&mut self, id: u64, tree: &str) -> Result<(), String> {
        let literals = self.store.read(tree)?;
        self.index.refuse(&literals)?;
        self.remove(id);
        let slot = self.store.add(id, literals);
        self.index.add(slot, &self.store);
        Ok(())
    }

    fn remove(&mut self, id: u64) -> bool {
        let Some(slot) = self.store.ids.slot(id) else {
            return false;
        };
        self.index.remove(slot, &self.store);
        self.store.release(slot);
        true
    }

    fn maintain(&mut self, events: &[String]) -> Result<(), String> {
        self.index.maintain(&self.events(events)?, &self.store);
        Ok(())
    }

    fn event(&self, text: &str) -> Result<Event, String> {
        Event::read(text, &self.store.schema, &self.store.names)
    }

    fn search(&mut self, event: &Event, found: &mut Vec<u64>) {
        self.slots.clear();
        self.index.search(event, &self.store, &mut self.slots);
        self.store.ids.sorted(&self.slots, &mut self.marks, found);
    }

    fn check_invariants(&self) {
        self.index.check_invariants(&self.store);
    }

    fn check_empty(&self) {
        assert_eq!(self.store.count(), 0);
        assert!(self.store.literals.is_empty());
        assert_eq!(self.index.size(), 0);
    }
}
