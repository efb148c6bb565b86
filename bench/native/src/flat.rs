//! The baseline: a flat scan. Every expression is evaluated on every event, one after the other;
//! nothing is shared or indexed. It is as fast as we could make it:
//!
//! ```text
//!   starts  │ 0 │ 3 │ 4 │ …            one u32 per expression
//!   steps   │ s s s │ s │ s s s s │ …  16 bytes per literal, all programs in sequence
//!   sets    │ 7 9 12 │ 3 5 │ …         the larger operands, in the order of the programs
//! ```
//!
//! * programs are read front to back, which the hardware prefetches, and stop at the first literal
//!   that decides;
//! * an event is a dense array of 32-bit slots by attribute and a bit per known list element, so
//!   nothing is hashed or searched during the scan; strings are ids; absence, equality and every
//!   comparison are one subtraction and one unsigned comparison.
//!
//! The cheapest children come first, judged by their operators alone. In the written order the scan is
//! slower on every workload.

use _native::language::{Op, Schema, Type};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::program::{ACCEPT, HIGH, LOW, MISSING, Pattern, REJECT, Step, Test, compile, wide};
use crate::{event, tree};

/// The operands that programs refer to.
pub struct Tables {
    pub schema: Schema,
    pub names: Names,
    sets: Vec<i32>,
    wides: Vec<(i64, i64)>,
    patterns: Vec<Pattern>,
}

impl Tables {
    pub fn set(&mut self, values: &[i32]) -> Result<(u32, u32), String> {
        let start = index(self.sets.len())?;
        self.sets.extend_from_slice(values);
        Ok((start, index(values.len())?))
    }

    pub fn wide(&mut self, low: i64, high: i64) -> Result<u32, String> {
        self.wides.push((low, high));
        index(self.wides.len() - 1)
    }

    pub fn pattern(&mut self, pattern: Pattern) -> Result<u32, String> {
        self.patterns.push(pattern);
        index(self.patterns.len() - 1)
    }
}

fn index(place: usize) -> Result<u32, String> {
    u32::try_from(place).map_err(|_| "the flat scan is full".to_owned())
}

/// Ids of strings and of list elements, attribute by attribute.
#[derive(Default)]
pub struct Names {
    strings: FxHashMap<(u32, Box<str>), i32>,
    integers: FxHashMap<(u32, i64), i32>,
    next: i32,
}

impl Names {
    /// The id of a value that an expression mentions.
    pub fn id(&mut self, attribute: u32, value: &Value) -> Result<i32, String> {
        let next = self.next;
        let id = match value {
            Value::String(text) => *self
                .strings
                .entry((attribute, text.as_str().into()))
                .or_insert(next),
            _ => {
                let number = value
                    .as_i64()
                    .ok_or_else(|| format!("{value} is no element"))?;
                *self.integers.entry((attribute, number)).or_insert(next)
            }
        };
        self.next += i32::from(id == next);
        Ok(id)
    }

    /// The id of a value, if an expression mentions it.
    pub fn known(&self, attribute: u32, value: &Value) -> Option<i32> {
        match value {
            Value::String(text) => self
                .strings
                .get(&(attribute, text.as_str().into()))
                .copied(),
            _ => self.integers.get(&(attribute, value.as_i64()?)).copied(),
        }
    }
}

/// An event as the scan reads it.
pub struct Board {
    slots: Vec<i32>,
    wides: Vec<i64>,
    members: Vec<u64>,
    texts: Vec<String>,
}

pub struct Flat {
    tables: Tables,
    steps: Vec<Step>,
    starts: Vec<u32>,
    ids: Vec<u64>,
}

impl Flat {
    pub fn new(schema: Schema) -> Self {
        let tables = Tables {
            schema,
            names: Names::default(),
            sets: Vec::new(),
            wides: Vec::new(),
            patterns: Vec::new(),
        };
        Flat {
            tables,
            steps: Vec::new(),
            starts: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Append an expression. Ids must ascend, so that the answers are sorted.
    pub fn insert(&mut self, id: u64, text: &str) -> Result<(), String> {
        if self.ids.last().is_some_and(|&last| id <= last) {
            return Err(format!("ids must ascend, {id} does not"));
        }
        let tree = tree::read(text, &self.tables.schema)?;
        let steps = compile(&tree, &mut self.tables)?;
        self.starts.push(index(self.steps.len())?);
        self.steps.extend_from_slice(&steps);
        self.ids.push(id);
        Ok(())
    }

    /// Bytes that a scan reads, without the spare capacity of vectors.
    pub fn bytes(&self) -> usize {
        let patterns = &self.tables.patterns;
        let texts = patterns
            .iter()
            .flat_map(|p| &p.operands)
            .map(|text| text.len() + 16);
        size_of_val(&*self.steps)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.ids)
            + size_of_val(&*self.tables.sets)
            + size_of_val(&*self.tables.wides)
            + size_of_val(&**patterns)
            + texts.sum::<usize>()
    }

    /// Prepare an event for scanning.
    pub fn board(&self, text: &str) -> Result<Board, String> {
        let schema = &self.tables.schema;
        let count = schema.len();
        let mut board = Board {
            slots: vec![MISSING; count.max(1)],
            wides: vec![0; count.max(1)],
            members: vec![0; self.tables.names.next as usize / 64 + 1],
            texts: vec![String::new(); count],
        };
        for (attribute, value) in event::read(text, schema)? {
            let place = attribute as usize;
            board.slots[place] = match (schema.ty(attribute), &value) {
                (Type::Bool, Value::Bool(value)) => (*value).into(),
                (Type::Str, Value::String(text)) => {
                    board.texts[place].clone_from(text);
                    self.tables.names.known(attribute, &value).unwrap_or(-1)
                }
                (kind @ (Type::Int | Type::Float), Value::Number(_)) => {
                    let number = wide(&value, kind)?;
                    board.wides[place] = number;
                    number.clamp(LOW.into(), HIGH.into()) as i32
                }
                (kind, Value::Array(elements)) if kind.is_list() => {
                    for element in elements {
                        if let Some(id) = self.tables.names.known(attribute, element) {
                            board.members[id as usize / 64] |= 1 << (id % 64);
                        }
                    }
                    elements.len() as i32
                }
                (kind, value) => return Err(format!("{value} is not a value for {kind:?}")),
            };
        }
        Ok(board)
    }

    /// Write the ids of the matching expressions to `found`, ascending.
    pub fn scan(&self, board: &Board, found: &mut Vec<u64>) {
        found.clear();
        for (&start, &id) in self.starts.iter().zip(&self.ids) {
            if self.is_true(start as usize, board) {
                found.push(id);
            }
        }
    }

    #[inline(always)]
    fn is_true(&self, start: usize, board: &Board) -> bool {
        let mut at = start;
        loop {
            // SAFETY: programs are never empty, and `compile` gives every jump a place in its own
            // program, or one of the two that end it.
            let step = unsafe { self.steps.get_unchecked(at) };
            // SAFETY: a step's attribute is a place in the schema, which the board has a slot for.
            let slot = unsafe { *board.slots.get_unchecked(step.attribute as usize) };
            let holds = if step.test == Test::Range {
                (slot as u32).wrapping_sub(step.a) <= step.b
            } else {
                self.passes(step, slot, board)
            };
            let next = if holds { step.yes } else { step.no };
            if next >= REJECT {
                return next == ACCEPT;
            }
            at = start + next as usize;
        }
    }

    #[inline(always)]
    fn passes(&self, step: &Step, slot: i32, board: &Board) -> bool {
        if slot == MISSING {
            return false;
        }
        let set = || &self.tables.sets[step.a as usize..][..step.b as usize];
        let passes = match step.test {
            Test::Range | Test::Outside => return (slot as u32).wrapping_sub(step.a) > step.b,
            Test::Set if step.b <= 16 => set().contains(&slot),
            Test::Set => set().binary_search(&slot).is_ok(),
            Test::Member => board.has(step.a),
            Test::Any => set().iter().any(|&id| board.has(id as u32)),
            Test::All => set().iter().all(|&id| board.has(id as u32)),
            Test::Wide => {
                let (low, high) = self.tables.wides[step.a as usize];
                (low..=high).contains(&board.wides[step.attribute as usize])
            }
            Test::Pattern => {
                let text = &*board.texts[step.attribute as usize];
                self.tables.patterns[step.a as usize].passes(text)
            }
        };
        passes != step.negated
    }
}

impl Board {
    /// Elements that expressions mention only after the board was made are not in it.
    fn has(&self, id: u32) -> bool {
        self.members
            .get(id as usize / 64)
            .is_some_and(|word| word >> (id % 64) & 1 == 1)
    }
}

impl Pattern {
    fn passes(&self, text: &str) -> bool {
        let first = &*self.operands[0];
        match self.op {
            Op::StartsWith => text.starts_with(first),
            Op::EndsWith => text.ends_with(first),
            Op::Contains => text.contains(first),
            Op::Lt => text < first,
            Op::Le => text <= first,
            Op::Gt => text > first,
            Op::Ge => text >= first,
            Op::Between => first <= text && text <= &*self.operands[1],
            _ => false,
        }
    }
}
