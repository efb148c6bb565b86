//! The index itself: insert, remove, match. One thread at a time changes it, many may read it.
//!
//! ```text
//!   event ──keys──▶ lists of postings ──guards──▶ ids, or candidates ──programs──▶ ids
//!
//!   posting   guard │ guard │ program (31) deep (1) slot (32)
//! ```
//!
//! A posting whose guards hold is either decided (then its slot is marked at once, or all slots of
//! its program if several ids share the expression), or *deep*: the program is evaluated.
//!
//! Invariants (`check_invariants`): every entry of a program is a posting at the position that the
//! program remembers, and back; every slot belongs to one program, which lists it; programs are
//! pairwise different; use counts of strings and long literals are the occurrences in the code.

use super::arena::NOWHERE;
use super::check::{self, Check};
use super::event::Event;
use super::formula::{Formula, Kind, Node, is_true, literals};
use super::keys::Keys;
use super::lists::{ListId, Lists};
use super::long_literals::LongLiterals;
use super::plan::{Knowledge, Plan};
use super::programs::{ProgramId, Programs};
use super::selectivity::{Selectivity, point_of};
use super::slots::{Marks, Owner, Slot, Slots};
use crate::language::{Schema, Type};

/// In the third word of a posting: the program must be evaluated.
const DEEP: u64 = 1 << 31;
/// In place of a slot: ask the program.
const SEVERAL: u32 = u32::MAX;
/// How many candidates are on their way from memory while one is evaluated.
const AHEAD: usize = 12;

#[inline(always)]
fn place_of(candidate: u64) -> u32 {
    candidate as u32 & !(DEEP as u32)
}

/// What a match needs beside the index, kept from one event to the next.
#[derive(Default)]
pub struct Scratch {
    pub event: Event,
    lists: Vec<ListId>,
    candidates: Vec<u64>,
    groups: Vec<ListId>,
    truth: Vec<bool>,
    marks: Marks,
    /// Postings that the last match looked at, and programs that it evaluated.
    pub touched: u64,
    pub evaluated: u64,
}

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
    pub selectivity: Selectivity,
    /// How many guards postings get: two, or fewer to see what they bring.
    pub guards: usize,
    plan: Plan,
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
            selectivity: Selectivity::default(),
            guards: 2,
            plan: Plan::default(),
        }
    }

    // Writing.

    /// Insert an expression, or replace the one with this id. The uses that the formula's literals
    /// hold pass to the index.
    pub fn insert(
        &mut self,
        id: u64,
        expression: Expression,
        score: i64,
        window: Option<(f64, f64)>,
    ) {
        let always = Formula {
            nodes: vec![Node::Literal(check::ALWAYS)],
            children: Vec::new(),
        };
        let program = match expression {
            Expression::Never => NOWHERE,
            Expression::Always => self.program_of(&always),
            Expression::Formula(formula) => self.program_of(formula),
        };
        let (slot, fresh) = self.slots.take(id);
        let old = self.slots.owner(slot);
        if fresh || old.program != program {
            if !fresh {
                self.detach(slot);
            }
            self.attach(slot, program);
        }
        self.slots.set_score(slot, score);
        self.slots.set_window(slot, window);
    }

    /// Remove an id; whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        let Some(slot) = self.slots.find(id) else {
            return false;
        };
        self.detach(slot);
        self.slots.give_back(slot);
        true
    }

    /// The program of an expression, made if there is none. A new one has no slots yet.
    fn program_of(&mut self, formula: &Formula) -> ProgramId {
        let kind = formula.kind();
        let hash = formula.hash();
        if let Some(known) = self.programs.find(formula, kind, hash) {
            self.release_literals(formula);
            return known;
        }
        let (code, to_check) = self.compile(formula, kind);
        literals(kind, &code, |check| {
            hold(check, &self.types, &mut self.long)
        });
        self.release_literals(formula);
        let number = self.programs.create(kind, &code, to_check, hash);
        self.post(number, &code, to_check);
        number
    }

    fn release_literals(&mut self, formula: &Formula) {
        for node in &formula.nodes {
            if let Node::Literal(check) = node {
                release(*check, &self.types, &mut self.long);
            }
        }
    }

    /// Plan an expression and lay out its code; how much of a conjunction is to be checked.
    fn compile(&mut self, formula: &Formula, kind: Kind) -> (Vec<u64>, usize) {
        let mut plan = std::mem::take(&mut self.plan);
        plan.make(formula, &self.knowledge());
        let mut code = Vec::new();
        match kind {
            Kind::Conjunction => code.extend_from_slice(&plan.conjunction),
            Kind::Tree => formula.write_tree(
                &|node, children| plan.order(formula, node, children),
                &mut code,
            ),
            Kind::Graph => formula.write_graph(&mut code),
        }
        let to_check = plan.to_check;
        self.plan = plan;
        (
            code,
            if kind == Kind::Conjunction {
                to_check
            } else {
                0
            },
        )
    }

    fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            types: &self.types,
            long: &self.long,
            selectivity: &self.selectivity,
            guards: self.guards,
        }
    }

    /// Write the postings of the plan that was just made.
    fn post(&mut self, number: ProgramId, code: &[u64], to_check: usize) {
        let entries = std::mem::take(&mut self.plan.entries);
        let count: usize = entries.iter().map(|entry| entry.keys.len()).sum();
        let mut placed = Vec::with_capacity(count);
        // The place is known only when the number of entries is: room first, postings then.
        let place = self
            .programs
            .rewrite(number, code, to_check, &vec![(0, 0); count]);
        let program = self.programs.at(place);
        let slot = if program.slot_count() == 1 {
            program.slot_or_list()
        } else {
            SEVERAL
        };
        for entry in &entries {
            let deep = if entry.direct { 0 } else { DEEP };
            let target = u64::from(place) | deep | u64::from(slot) << 32;
            for &key in &entry.keys {
                let list = self.keys.list(key, &mut self.lists, &self.long);
                let posting = [entry.guards[0], entry.guards[1], target];
                placed.push((list, self.lists.push(list, &posting)));
            }
        }
        self.programs.set_entries(number, &placed);
        self.plan.entries = entries;
    }

    fn unpost(&mut self, number: ProgramId) {
        let entries: Vec<(u32, u32)> = self.programs.get(number).entries().collect();
        // Highest positions first: what moves down was then never one of ours still to go.
        let mut entries = entries;
        entries.sort_unstable_by(|a, b| b.cmp(a));
        for (list, position) in entries {
            let last = self.lists.len(list) - 1;
            if let Some(moved) = self.lists.swap_remove(list, position) {
                let owner = moved[2] as u32 & !(DEEP as u32);
                self.programs.move_entry(owner, list, last, position);
            }
            if self.lists.len(list) == 0 {
                self.keys.forget(list, &mut self.lists, &self.long);
            }
        }
    }

    /// Give a slot to a program.
    fn attach(&mut self, slot: Slot, number: ProgramId) {
        if number == NOWHERE {
            self.slots.set_owner(slot, Owner::default());
            return;
        }
        let program = self.programs.get(number);
        let (held, count) = (program.slot_or_list(), program.slot_count());
        let place = match count {
            0 => {
                self.programs.set_slots(number, slot, 1);
                self.name_slot(number, slot);
                0
            }
            1 => {
                let list = self.lists.create(1);
                self.lists.push(list, &[u64::from(held)]);
                let place = self.lists.push(list, &[u64::from(slot)]);
                self.programs.set_slots(number, list, 2);
                self.name_slot(number, SEVERAL);
                place
            }
            _ => {
                let place = self.lists.push(held, &[u64::from(slot)]);
                self.programs.set_slots(number, held, count + 1);
                place
            }
        };
        self.slots.set_owner(
            slot,
            Owner {
                program: number,
                place,
            },
        );
    }

    /// Write a slot, or that there are several, into all postings of a program.
    fn name_slot(&mut self, number: ProgramId, slot: u32) {
        let program = self.programs.get(number);
        for (list, position) in program.entries() {
            let word = &mut self.lists.item_mut(list, position)[2];
            *word = (*word & 0xffff_ffff) | u64::from(slot) << 32;
        }
    }

    /// Take a slot from its program, and the program out with its last.
    fn detach(&mut self, slot: Slot) {
        let Owner {
            program: number,
            place,
        } = self.slots.owner(slot);
        if number == NOWHERE {
            return;
        }
        let program = self.programs.get(number);
        let (list, count) = (program.slot_or_list(), program.slot_count());
        if count == 1 {
            self.destroy(number);
            return;
        }
        if let Some(moved) = self.lists.swap_remove(list, place) {
            let moved = moved[0] as Slot;
            self.slots.set_owner(
                moved,
                Owner {
                    program: number,
                    place,
                },
            );
        }
        if count == 2 {
            let only = self.lists.item(list, 0)[0] as Slot;
            self.lists.swap_remove(list, 0);
            self.lists.destroy(list);
            self.programs.set_slots(number, only, 1);
            self.name_slot(number, only);
            self.slots.set_owner(
                only,
                Owner {
                    program: number,
                    place: 0,
                },
            );
        } else {
            self.programs.set_slots(number, list, count - 1);
        }
    }

    fn destroy(&mut self, number: ProgramId) {
        self.unpost(number);
        let program = self.programs.get(number);
        let (kind, code) = (program.kind(), program.code().to_vec());
        self.programs.destroy(number);
        literals(kind, &code, |check| {
            release(check, &self.types, &mut self.long)
        });
    }

    /// Plan a program anew, with what is known now.
    pub fn replan(&mut self, number: ProgramId) {
        if self.programs.place(number) == NOWHERE {
            return;
        }
        let program = self.programs.get(number);
        let kind = program.kind();
        let mut formula = Formula::default();
        formula.read(kind, program.code());
        let (code, to_check) = self.compile(&formula, kind);
        self.unpost(number);
        self.post(number, &code, to_check);
    }

    /// Plan with other knowledge from now on.
    pub fn forget_probabilities(&mut self) {
        self.plan.forget();
    }

    /// Declare one more attribute.
    pub fn add_attribute(&mut self, kind: Type) {
        self.types.push(kind);
        self.keys.grow_to(self.types.len());
    }

    // Asking.

    /// Mark the slots whose expressions the event in the scratch makes true.
    fn find(&self, scratch: &mut Scratch) {
        let Scratch {
            event,
            lists,
            candidates,
            truth,
            groups,
            marks,
            touched,
            evaluated,
        } = scratch;
        marks.reset(self.slots.pages());
        lists.clear();
        candidates.clear();
        *touched = 0;
        self.keys
            .gather(event, &self.types, &self.lists, &self.long, lists);
        for (i, &list) in lists.iter().enumerate() {
            if let Some(&next) = lists.get(i + 8) {
                self.lists.prefetch_header(next);
            }
            if let Some(&next) = lists.get(i + 4) {
                self.lists.prefetch(next);
            }
            if let Some(block) = self.lists.single_block(list) {
                self.scan(block, event, marks, candidates, touched);
                continue;
            }
            for block in self.lists.blocks(list) {
                self.scan(block, event, marks, candidates, touched);
            }
        }
        *evaluated = candidates.len() as u64;
        groups.clear();
        for (i, &candidate) in candidates.iter().enumerate() {
            self.fetch_ahead(candidates, i);
            let program = self.programs.at(place_of(candidate));
            if candidate & DEEP != 0
                && !is_true(
                    program.kind(),
                    program.code(),
                    program.to_check(),
                    event,
                    &self.long,
                    truth,
                )
            {
                continue;
            }
            let slot = (candidate >> 32) as u32;
            if slot == SEVERAL {
                let list = program.slot_or_list();
                self.lists.prefetch_header(list);
                groups.push(list);
            } else {
                marks.mark(slot);
            }
        }
        for (i, &list) in groups.iter().enumerate() {
            if let Some(&next) = groups.get(i + AHEAD) {
                self.lists.prefetch(next);
            }
            for block in self.lists.blocks(list) {
                for &slot in block {
                    marks.mark(slot as Slot);
                }
            }
        }
    }

    /// Look at the postings of a block: mark what is decided, and note what is not.
    #[inline(always)]
    fn scan(
        &self,
        block: &[u64],
        event: &Event,
        marks: &mut Marks,
        candidates: &mut Vec<u64>,
        touched: &mut u64,
    ) {
        *touched += block.len() as u64 / 3;
        for (i, posting) in block.chunks_exact(3).enumerate() {
            if let Some(&later) = block.get(3 * (i + 6))
                && later & 15 == check::LITERAL
            {
                self.long.prefetch(check::payload_of(later) as u32);
            }
            if check::both_hold(posting[0], posting[1], event, &self.long) {
                let slot = (posting[2] >> 32) as u32;
                if posting[2] & DEEP == 0 && slot != SEVERAL {
                    marks.mark(slot);
                } else {
                    candidates.push(posting[2]);
                }
            }
        }
    }

    /// Bring what the next candidates need on its way: first their programs, then, when those
    /// have come, the long literals in them.
    #[inline(always)]
    fn fetch_ahead(&self, candidates: &[u64], i: usize) {
        if let Some(&far) = candidates.get(i + 2 * AHEAD) {
            self.programs.prefetch(place_of(far));
        }
        if let Some(&near) = candidates.get(i + AHEAD)
            && near & DEEP != 0
        {
            let program = self.programs.at(place_of(near));
            let code = program.code();
            let open = match program.kind() {
                Kind::Conjunction => program.to_check(),
                _ => code.len(),
            };
            for &word in code[..open].iter().take(4) {
                if word & 15 == check::LITERAL {
                    self.long.prefetch(check::payload_of(word) as u32);
                }
            }
        }
    }

    /// The ids that the event in the scratch matches, ascending, into `out`; with a moment, only
    /// those whose windows are open then.
    pub fn matches(&self, scratch: &mut Scratch, at: Option<f64>, out: &mut Vec<u64>) {
        self.find(scratch);
        out.clear();
        scratch.marks.drain(|page, marked| {
            let mut open = at.map_or(marked, |at| self.slots.open_at(page, marked, at));
            let base = self.slots.base(page);
            while open != 0 {
                out.push(base | u64::from(open.trailing_zeros()));
                open &= open - 1;
            }
        });
        if self.slots.unordered() {
            out.sort_unstable();
        }
    }

    /// The best `limit` matches by score, lower ids first among equals, into `out`; and how many
    /// match in all.
    pub fn top(
        &self,
        scratch: &mut Scratch,
        at: Option<f64>,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        self.find(scratch);
        out.clear();
        let mut total = 0;
        let better = |a: &(i64, u64), b: &(i64, u64)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        scratch.marks.drain(|page, marked| {
            let mut open = at.map_or(marked, |at| self.slots.open_at(page, marked, at));
            total += open.count_ones() as usize;
            while open != 0 {
                let slot = page * 64 + open.trailing_zeros();
                open &= open - 1;
                out.push((self.slots.score(slot), self.slots.id(slot)));
            }
            // Twice what is asked for is kept, so that each is looked at twice on the average.
            if limit > 0 && out.len() > limit.max(512).saturating_mul(2) {
                out.select_nth_unstable_by(limit - 1, better);
                out.truncate(limit);
            }
        });
        if limit < out.len() {
            if limit > 0 {
                out.select_nth_unstable_by(limit - 1, better);
            }
            out.truncate(limit);
        }
        out.sort_unstable_by(better);
        total
    }
}

fn hold(check: Check, types: &[Type], long: &mut LongLiterals) {
    match check::op_of(check) {
        check::EQ | check::NE => {
            let kind = types[check::attribute_of(check) as usize];
            if kind == Type::Str {
                long.strings_mut().hold(point_of(check, kind) as u32);
            }
        }
        check::LITERAL => long.hold(check::payload_of(check) as u32),
        _ => {}
    }
}

fn release(check: Check, types: &[Type], long: &mut LongLiterals) {
    match check::op_of(check) {
        check::EQ | check::NE => {
            let kind = types[check::attribute_of(check) as usize];
            if kind == Type::Str {
                long.strings_mut().release(point_of(check, kind) as u32);
            }
        }
        check::LITERAL => long.release(check::payload_of(check) as u32),
        _ => {}
    }
}
