//! What every conjunctive engine needs beside its index: the distinct literals with their use
//! counts, and the conjunctions by slot.
//!
//! ```text
//!   id 70 ─► slot 2 ─► literals │ 5 │ 9 │      literal 5 ─► age in [18, 24]   used 3 times
//!   id 71 ─► slot 3 ─► literals │ 5 │ 1 │ 0 │
//! ```
//!
//! A conjunction never has the same literal twice. So a literal with a use count of 1 is new when
//! its conjunction is added, and about to vanish when its conjunction is removed.

use _native::language::Schema;
use rustc_hash::FxHashMap;

use super::literal::Literal;
use crate::flat::Names;
use crate::tree::{self, Tree};

#[derive(Default)]
pub struct Literals {
    all: Vec<Literal>,
    uses: Vec<u32>,
    numbers: FxHashMap<Literal, u32>,
    free: Vec<u32>,
}

impl Literals {
    /// The number of a literal, which is used once more.
    pub fn take(&mut self, literal: Literal) -> u32 {
        let number = match self.numbers.get(&literal) {
            Some(&number) => number,
            None => {
                let number = self.free.pop().unwrap_or(self.all.len() as u32);
                if number as usize == self.all.len() {
                    self.all.push(literal.clone());
                    self.uses.push(0);
                } else {
                    self.all[number as usize] = literal.clone();
                }
                self.numbers.insert(literal, number);
                number
            }
        };
        self.uses[number as usize] += 1;
        number
    }

    pub fn release(&mut self, number: u32) {
        let place = number as usize;
        self.uses[place] -= 1;
        if self.uses[place] == 0 {
            self.numbers.remove(&self.all[place]);
            self.free.push(number);
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> &Literal {
        &self.all[number as usize]
    }

    pub fn uses(&self, number: u32) -> u32 {
        self.uses[number as usize]
    }

    /// One more than the highest number.
    pub fn bound(&self) -> usize {
        self.all.len()
    }

    /// The literals in use.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Literal)> {
        let used = (0..).zip(&self.all).zip(&self.uses);
        used.filter(|(_, uses)| **uses > 0).map(|(pair, _)| pair)
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

pub struct Store {
    pub schema: Schema,
    pub names: Names,
    pub literals: Literals,
    pub ids: Ids,
    bodies: Vec<Box<[u32]>>,
}

impl Store {
    pub fn new(schema: Schema) -> Self {
        Store {
            schema,
            names: Names::default(),
            literals: Literals::default(),
            ids: Ids::default(),
            bodies: Vec::new(),
        }
    }

    /// The distinct literals of a conjunction, or why it is none.
    pub fn read(&mut self, text: &str) -> Result<Vec<Literal>, String> {
        let mut literals = Vec::new();
        self.conjuncts(&tree::read(text, &self.schema)?, &mut literals)?;
        Ok(literals)
    }

    fn conjuncts(&mut self, tree: &Tree, literals: &mut Vec<Literal>) -> Result<(), String> {
        let (predicate, negate) = match tree {
            Tree::Constant(true) => return Ok(()),
            Tree::And(children) => {
                let mut children = children.iter();
                return children.try_for_each(|child| self.conjuncts(child, literals));
            }
            Tree::Predicate(predicate) => (predicate, false),
            Tree::Not(child) => match &**child {
                Tree::Predicate(predicate) => (predicate, true),
                _ => return Err("holds conjunctions only, not a negated gate".to_owned()),
            },
            Tree::Constant(false) => return Err("holds conjunctions only, not false".to_owned()),
            Tree::Or(_) => return Err("holds conjunctions only, not or".to_owned()),
            Tree::Xor(..) => return Err("holds conjunctions only, not xor".to_owned()),
        };
        let literal = Literal::new(predicate, &self.schema, &mut self.names, negate)?;
        if !literals.contains(&literal) {
            literals.push(literal);
        }
        Ok(())
    }

    /// A slot for a new conjunction.
    pub fn add(&mut self, id: u64, literals: Vec<Literal>) -> u32 {
        let body = literals
            .into_iter()
            .map(|literal| self.literals.take(literal))
            .collect();
        let slot = self.ids.take(id);
        if slot as usize == self.bodies.len() {
            self.bodies.push(body);
        } else {
            self.bodies[slot as usize] = body;
        }
        slot
    }

    pub fn release(&mut self, slot: u32) {
        self.ids.release(slot);
        for number in std::mem::take(&mut self.bodies[slot as usize]) {
            self.literals.release(number);
        }
    }

    /// The numbers of the literals of a conjunction.
    #[inline]
    pub fn body(&self, slot: u32) -> &[u32] {
        &self.bodies[slot as usize]
    }

    /// The literals of a conjunction.
    pub fn literals_of(&self, slot: u32) -> impl Iterator<Item = &Literal> {
        self.body(slot).iter().map(|&n| self.literals.get(n))
    }

    pub fn count(&self) -> usize {
        self.ids.slots.len()
    }

    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.ids.slots.values().copied()
    }
}

/// Which slot has which id.
#[derive(Default)]
pub struct Ids {
    all: Vec<u64>,
    slots: FxHashMap<u64, u32>,
    free: Vec<u32>,
    /// Whether the ids do not ascend with the slots.
    shuffled: bool,
}

impl Ids {
    /// A free slot for a new id.
    pub fn take(&mut self, id: u64) -> u32 {
        let slot = self.free.pop().unwrap_or(self.all.len() as u32);
        let place = slot as usize;
        if place == self.all.len() {
            self.shuffled |= self.all.last().is_some_and(|&last| last >= id);
            self.all.push(id);
        } else {
            self.shuffled |= self.all[place] != id;
            self.all[place] = id;
        }
        self.slots.insert(id, slot);
        slot
    }

    pub fn release(&mut self, slot: u32) {
        self.slots.remove(&self.all[slot as usize]);
        self.free.push(slot);
    }

    pub fn slot(&self, id: u64) -> Option<u32> {
        self.slots.get(&id).copied()
    }

    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// The ids of slots, ascending. Many slots are sorted by a bitmap.
    pub fn sorted(&self, slots: &[u32], marks: &mut Vec<u64>, found: &mut Vec<u64>) {
        found.clear();
        if self.shuffled || slots.len() < 64 {
            found.extend(slots.iter().map(|&slot| self.all[slot as usize]));
            return found.sort_unstable();
        }
        marks.resize(self.all.len().div_ceil(64), 0);
        for &slot in slots {
            marks[slot as usize / 64] |= 1 << (slot % 64);
        }
        for (place, word) in marks.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            while left != 0 {
                found.push(self.all[place * 64 + left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
    }
}
