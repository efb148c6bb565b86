//! The index itself: its parts, and how it changes. `matching/` is how it answers.
//!
//! ```text
//!   event ──keys──▶ lists of postings ──guards──▶ ids, or candidates ──programs──▶ ids
//!
//!   posting   guard (32) │ guard (32) │ target (32)
//!   bare      target
//!   target    0 │ slot, or the handle of several         decided
//!             1 │ position of the program                deep
//! ```
//!
//! A posting whose guards hold is either decided or *deep*. A decided one marks its slot, or all
//! slots of its handle if several ids share the expression. A deep one is a candidate: its program
//! is evaluated first.
//!
//! Invariants (`check_invariants`): every entry of a program is a posting at the position that the
//! program stores, and the reverse; every slot belongs to one program, which lists it; programs are
//! pairwise different; the use counts of literals are their occurrences in the code.

use crate::engine::expression::formula::{CodeWord, Formula, Kind, Node, literals};
use crate::engine::expression::literal_word;
use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::expression::programs::{NO_SLOT, Program, ProgramId, Programs};
use crate::engine::expression::truth::{ALWAYS_TRUE, Guard};
use crate::engine::ids::bands::{ALL, Band, Bands};
use crate::engine::ids::shared_ids::{SEVERAL, SharedIds};
use crate::engine::ids::slots::{Owner, Properties, Slot, Slots};
use crate::engine::matching::collect::can_count_bits;
use crate::engine::memory::arena::{Arena, NOWHERE, Ref};
use crate::engine::planning::plan::{Knowledge, MOST_GUARDS, Plan};
use crate::engine::planning::selectivity::Selectivity;
use crate::engine::planning::tuning::{Access, Tuning};
use crate::engine::postings::keys::Keys;
use crate::engine::postings::lists::Lists;
use crate::language::{Schema, Type};
use rustc_hash::FxHashSet;

/// The bit of a posting's target that says: evaluate the program.
pub(crate) const DEEP: u32 = 1 << 31;

/// What a posting leads to: a slot, the handle of several, or a program.
pub(crate) type Target = u32;

/// An expression, ready to be inserted.
pub enum Expression<'a> {
    Always,
    Never,
    Formula(&'a Formula),
}

/// The index.
pub struct Core {
    pub schema: Schema,
    pub types: Vec<Type>,
    pub long: LongLiterals,
    pub lists: Lists,
    pub keys: Keys,
    pub programs: Programs,
    pub slots: Slots,
    pub shared_ids: SharedIds,
    pub bands: Bands,
    pub selectivity: Selectivity,
    /// The ids whose expression here is only the outer cover of one with calls.
    pub pending: FxHashSet<u64>,
    pub tuning: Tuning,
    /// Whether the CPU can count bits.
    pub counts_bits: bool,
    plan: Plan,
    /// The code that was laid out last.
    code: Vec<CodeWord>,
}

impl Core {
    /// An empty index.
    pub fn new(schema: Schema) -> Self {
        let types: Vec<Type> = (0..schema.len() as u32).map(|a| schema.ty(a)).collect();
        let mut keys = Keys::default();
        keys.grow_to(types.len());
        Core {
            schema,
            types,
            long: LongLiterals::default(),
            lists: Lists::default(),
            keys,
            programs: Programs::default(),
            slots: Slots::new(),
            shared_ids: SharedIds::default(),
            bands: Bands::default(),
            selectivity: Selectivity::default(),
            pending: FxHashSet::default(),
            tuning: Tuning::default(),
            counts_bits: can_count_bits(),
            plan: Plan::default(),
            code: Vec::new(),
        }
    }

    // Writing.

    /// Insert an expression, or replace the one with this id. The index takes over the uses that
    /// the formula's literals count.
    pub fn insert(&mut self, id: u64, expression: Expression, properties: Properties) {
        let program = match expression {
            Expression::Never => NOWHERE,
            Expression::Always => {
                let formula = Formula {
                    nodes: vec![Node::Literal(literal_word::ALWAYS, ALWAYS_TRUE)],
                    children: Vec::new(),
                };
                self.program_of(&formula, ALL)
            }
            Expression::Formula(formula) => self.program_of(formula, ALL),
        };
        let (slot, fresh) = self.slots.take(id);
        let old = self.slots.owner(slot);
        let is_new = fresh || old.program != program;
        let moves = is_new || self.slots.score(slot) != properties.score;
        if moves && !fresh {
            self.leave_band(slot);
        }
        if is_new {
            // In this order: `unpost` finds programs by their slots.
            self.attach(slot, program);
            if !fresh {
                self.detach(old);
            }
        }
        self.slots.set_properties(slot, properties);
        if moves {
            self.enter_band(slot);
        }
    }

    /// Remove an id. Returns whether it existed.
    pub fn remove(&mut self, id: u64) -> bool {
        let Some(slot) = self.slots.find(id) else {
            return false;
        };
        self.leave_band(slot);
        self.detach(self.slots.owner(slot));
        self.slots.give_back(slot);
        self.pending.remove(&id);
        true
    }

    /// Say whether an id that matches still depends on calls.
    pub fn set_pending(&mut self, id: u64, is_pending: bool) {
        if is_pending {
            self.pending.insert(id);
        } else if !self.pending.is_empty() {
            self.pending.remove(&id);
        }
    }

    /// Those of some ids that are pending.
    pub fn pending_of(&self, ids: impl Iterator<Item = u64>) -> Vec<u64> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        ids.filter(|id| self.pending.contains(id)).collect()
    }

    /// The program of an expression in a band, created if necessary. A new one has no slots yet.
    pub(crate) fn program_of(&mut self, formula: &Formula, band: Band) -> ProgramId {
        let kind = formula.kind();
        let hash = formula.hash();
        if let Some(known) = self.programs.find(formula, kind, band, hash) {
            self.release_literals(formula);
            return known;
        }
        let to_check = self.compile(formula, kind, band);
        let code = std::mem::take(&mut self.code);
        self.pass_literals(formula, kind, &code);
        let entries = self.plan.entry_count();
        let number = self
            .programs
            .create(kind, band, &code, to_check, entries, hash);
        self.code = code;
        self.post(number);
        number
    }

    /// Turn the uses of a formula's literals into those of its code, which repeats a literal where
    /// a node has several parents.
    fn pass_literals(&mut self, formula: &Formula, kind: Kind, code: &[CodeWord]) {
        let is_literal = |node: &&Node| matches!(node, Node::Literal(..));
        let mut more = 0;
        literals(kind, code, |_| more += 1);
        if more == formula.nodes.iter().filter(is_literal).count() {
            return;
        }
        literals(kind, code, |id| self.long.retain(id));
        self.release_literals(formula);
    }

    fn release_literals(&mut self, formula: &Formula) {
        for node in &formula.nodes {
            if let Node::Literal(_, id) = node {
                self.long.release(*id, &self.types);
            }
        }
    }

    /// Plan an expression and write its code to `self.code`. Returns how many literals of a
    /// conjunction remain to be checked.
    fn compile(&mut self, formula: &Formula, kind: Kind, band: Band) -> usize {
        let mut plan = std::mem::take(&mut self.plan);
        plan.make(formula, &self.knowledge(band));
        for entry in &mut plan.entries {
            for (guard, number) in entry.guards.iter_mut().zip(&mut entry.numbers) {
                match self.long.give_guard(*guard, &self.types, band != ALL) {
                    Some(given) => *number = given,
                    // The entries before it took the room.
                    None => (*guard, entry.direct) = (ALWAYS_TRUE, false),
                }
            }
        }
        if kind == Kind::Conjunction {
            plan.lay_out_conjunction(formula);
        }
        self.code.clear();
        match kind {
            Kind::Conjunction => self.code.extend_from_slice(&plan.conjunction),
            Kind::Tree => formula.write_tree(
                &|node, children| plan.order(formula, node, children),
                &mut self.code,
            ),
            Kind::Graph => formula.write_graph(&mut self.code),
        }
        self.plan = plan;
        if kind == Kind::Conjunction {
            self.plan.to_check
        } else {
            0
        }
    }

    fn knowledge(&self, band: Band) -> Knowledge<'_> {
        Knowledge {
            types: &self.types,
            long: &self.long,
            selectivity: &self.selectivity,
            tuning: self.tuning,
            lists: (self.selectivity.is_blind() && self.tuning.counting)
                .then_some((&self.keys, &self.lists)),
            grams: (&self.keys, &self.lists),
            pairs: (band == ALL && self.tuning.pairs && self.tuning.access == Access::Known)
                .then_some(&self.keys),
            expressions: self.programs.count(ALL),
            in_band: band != ALL,
        }
    }

    /// Write the postings of the last plan, for a program with room for their entries.
    fn post(&mut self, number: ProgramId) {
        let entries = std::mem::take(&mut self.plan.entries);
        let place = self.programs.place(number);
        let (slot, band) = {
            let program = self.programs.at(place);
            (program.slot(), program.band())
        };
        let mut at = 0;
        for entry in &entries {
            let target = if entry.direct { slot } else { DEEP | place };
            for &key in &entry.keys {
                let list = self
                    .keys
                    .list(key.in_band(band), &mut self.lists, &self.long);
                let position = match entry.numbers {
                    [ALWAYS_TRUE, ALWAYS_TRUE] => self.lists.push(list, &[target]),
                    [first, second] => self.lists.push(list, &[first, second, target]),
                };
                self.programs.set_entry(place, at, list, position);
                at += 1;
            }
        }
        self.plan.entries = entries;
    }

    fn unpost(&mut self, number: ProgramId) {
        let program = self.programs.get(number);
        let (band, entries): (_, Vec<(u32, u32)>) = (program.band(), program.entries().collect());
        // Highest positions first, so that a posting that moves is never one that is still to be
        // removed.
        let mut entries = entries;
        entries.sort_unstable_by(|a, b| b.cmp(a));
        for (list, position) in entries {
            if let Some((from, moved)) = self.lists.swap_remove(list, position) {
                let target = target_of(moved);
                let owner = self.place_of(target, band);
                self.programs.move_entry(owner, list, from, position);
            }
            if self.lists.len(list) == 0 {
                self.keys.forget(list, &mut self.lists, &self.long);
            }
        }
    }

    /// The position of the program that a posting of a band leads to.
    fn place_of(&self, target: Target, band: Band) -> Ref {
        if target & DEEP != 0 {
            return target ^ DEEP;
        }
        let slot = if target & SEVERAL == 0 {
            target
        } else {
            self.shared_ids.get(target, 0)
        };
        let owner = if band == ALL {
            self.slots.owner(slot)
        } else {
            self.bands.owner(self.rank(slot)).unwrap_or_default()
        };
        self.programs.place(owner.program)
    }

    /// Add a slot to a program.
    pub(crate) fn attach(&mut self, slot: Slot, program: ProgramId) {
        if program == NOWHERE {
            self.slots.set_owner(slot, Owner::default());
            return;
        }
        let position = match self.programs.get(program).slot() {
            NO_SLOT => {
                self.name_slot(program, slot);
                0
            }
            handle if handle & SEVERAL != 0 => {
                let (now, position) = self.shared_ids.push(handle, slot);
                if now != handle {
                    self.name_slot(program, now);
                }
                position
            }
            held => {
                let handle = self.shared_ids.create(held, slot);
                self.name_slot(program, handle);
                1
            }
        };
        self.set_owner(slot, Owner { program, position });
    }

    /// Set the program of a slot, in the band of the program.
    fn set_owner(&mut self, slot: Slot, owner: Owner) {
        if self.programs.get(owner.program).band() == ALL {
            self.slots.set_owner(slot, owner);
        } else {
            self.bands.set_owner(self.rank(slot), owner);
        }
    }

    /// The number of slots of a program.
    pub(crate) fn slot_count(&self, program: Program) -> u32 {
        match program.slot() {
            NO_SLOT => 0,
            handle if handle & SEVERAL != 0 => self.shared_ids.len(handle),
            _ => 1,
        }
    }

    /// Write a slot, or the handle of several, to a program and its decided postings.
    fn name_slot(&mut self, number: ProgramId, slot: u32) {
        self.programs.set_slot(number, slot);
        let program = self.programs.get(number);
        for (list, position) in program.entries() {
            if let Some(target) = self.lists.item_mut(list, position).last_mut()
                && *target & DEEP == 0
            {
                *target = slot;
            }
        }
    }

    /// Remove the slot of an owner from its program, and the program with its last slot.
    pub(crate) fn detach(&mut self, owner: Owner) {
        let number = owner.program;
        if number == NOWHERE {
            return;
        }
        let held = self.programs.get(number).slot();
        if held & SEVERAL == 0 {
            self.destroy(number);
            return;
        }
        let (handle, moved) = self.shared_ids.swap_remove(held, owner.position);
        if let Some(moved) = moved {
            self.set_owner(moved, owner);
        }
        if self.shared_ids.len(handle) == 1 {
            let only = self.shared_ids.get(handle, 0);
            self.shared_ids.destroy(handle);
            self.name_slot(number, only);
            let owner = Owner {
                program: number,
                position: 0,
            };
            self.set_owner(only, owner);
        } else if handle != held {
            self.name_slot(number, handle);
        }
    }

    fn destroy(&mut self, number: ProgramId) {
        self.unpost(number);
        let program = self.programs.get(number);
        let (kind, code) = (program.kind(), program.code().to_vec());
        self.programs.destroy(number);
        literals(kind, &code, |id| self.long.release(id, &self.types));
    }

    /// Plan a program again with the current knowledge.
    pub fn replan(&mut self, number: ProgramId) {
        if self.programs.place(number) == NOWHERE {
            return;
        }
        let program = self.programs.get(number);
        let (kind, band) = (program.kind(), program.band());
        let mut formula = Formula::default();
        formula.read(kind, program.code(), |id| self.long.word(id));
        let to_check = self.compile(&formula, kind, band);
        self.unpost(number);
        let entries = self.plan.entry_count();
        self.programs.rewrite(number, &self.code, to_check, entries);
        self.post(number);
    }

    /// Which of the `arenas` need their next chunks soon.
    pub fn want_spares(&self) -> [bool; 5] {
        let [few, many] = self.shared_ids.want_spares();
        let (programs, lists) = (self.programs.wants_spare(), self.lists.wants_spare());
        [programs, lists, self.long.wants_spare(), few, many]
    }

    /// All arenas.
    pub fn arenas(&mut self) -> [&mut Arena; 5] {
        let [few, many] = self.shared_ids.arenas();
        let (programs, lists) = (self.programs.arena(), self.lists.arena());
        [programs, lists, self.long.arena(), few, many]
    }

    /// Clear the remembered probabilities, because the knowledge has changed.
    pub fn forget_probabilities(&mut self) {
        self.plan.forget();
    }

    /// Forget which pairs of attributes would be worth a key, because everything is planned again.
    pub fn forget_pairs(&mut self) {
        self.plan.pairs.forget();
    }

    /// Make room for the attributes that were added to the schema.
    pub fn add_attributes(&mut self) {
        let more = self.types.len() as u32..self.schema.len() as u32;
        self.types
            .extend(more.map(|attribute| self.schema.ty(attribute)));
        self.keys.grow_to(self.types.len());
    }
}

/// The guards of a posting.
pub(crate) fn guards_of(posting: &[u32]) -> [Guard; MOST_GUARDS] {
    match *posting {
        [first, second, _] => [first, second],
        _ => [ALWAYS_TRUE; MOST_GUARDS],
    }
}

/// The target of a posting.
pub(crate) fn target_of(posting: &[u32]) -> Target {
    posting.last().copied().unwrap_or(0)
}
