//! From a tree to a program: 16 bytes a literal, in the order in which they are tried, each with
//! the place to go on at when it holds and when it does not.
//!
//! ```text
//!   country = 'US' and (age >= 18 or not vip)
//!
//!   0  range     country [7, 7]     yes: 1       no: reject
//!   1  range     age [18, max]      yes: accept  no: 2
//!   2  not-range vip [1, 1]         yes: accept  no: reject
//! ```
//!
//! Three values take no third way: "is it true" and "is it false" are asked apart. To be true, an
//! `and` asks every child whether it is true; to be false, it asks whether any is false; a `not`
//! turns the question around; and no literal, of either sign, holds when its attribute is missing.

use _native::language::{Op, Type};
use serde_json::Value;

use crate::flat::Tables;
use crate::tree::{Predicate, Tree};

/// The slot of an attribute that the event does not have.
pub const MISSING: i32 = i32::MIN;
/// The lowest and the highest slot of an attribute that it has. Every constant in a program is
/// strictly between them, so that clamping an event's value to them changes no comparison.
pub const LOW: i32 = i32::MIN + 1;
pub const HIGH: i32 = i32::MAX;

pub const ACCEPT: u16 = u16::MAX;
pub const REJECT: u16 = u16::MAX - 1;

/// One literal. `a` and `b` are the operand, by kind. In a program, `yes` and `no` are places; while
/// it is compiled, they are labels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Step {
    pub test: Test,
    pub negated: bool,
    pub attribute: u16,
    pub yes: u16,
    pub no: u16,
    pub a: u32,
    pub b: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Test {
    /// The slot is one of the `b + 1` integers from `a` on. Never negated.
    Range,
    /// There is a value and its slot is none of them.
    Outside,
    /// The slot is one of the `b` values at `sets[a]`.
    Set,
    /// The event's list has the element `a`.
    Member,
    /// The event's list has one of the `b` elements at `sets[a]`.
    Any,
    /// The event's list has all of them.
    All,
    /// The 64-bit value is in the range `wides[a]`.
    Wide,
    /// The text passes `patterns[a]`.
    Pattern,
}

/// A test on a string that its id cannot answer.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub op: Op,
    pub operands: Box<[Box<str>]>,
}

pub struct Compiler<'t> {
    tables: &'t mut Tables,
    steps: Vec<Step>,
    /// The place of each label; `ACCEPT` and `REJECT` are no labels.
    labels: Vec<u16>,
}

/// The program of a tree, the children that decide cheapest first.
pub fn compile(tree: &Tree, tables: &mut Tables) -> Result<Vec<Step>, String> {
    let mut compiler = Compiler {
        tables,
        steps: Vec::new(),
        labels: Vec::new(),
    };
    compiler.ask(tree, true, ACCEPT, REJECT)?;
    let Compiler {
        mut steps, labels, ..
    } = compiler;
    if steps.len().max(labels.len()) >= REJECT.into() {
        return Err("the expression is too long for the flat scan".to_owned());
    }
    let place = |label: u16| labels.get(usize::from(label)).copied().unwrap_or(label);
    for step in &mut steps {
        (step.yes, step.no) = (place(step.yes), place(step.no));
    }
    Ok(steps)
}

impl Compiler<'_> {
    /// Append the question whether `tree` is true (or false, if not `truth`).
    fn ask(&mut self, tree: &Tree, truth: bool, yes: u16, no: u16) -> Result<(), String> {
        match tree {
            Tree::Constant(value) => {
                let to = if *value == truth { yes } else { no };
                self.push(step(Test::Range, 0, u32::MAX), 0, to, to)
            }
            Tree::Not(child) => self.ask(child, !truth, yes, no),
            Tree::And(children) => self.sequence(children, truth, truth, yes, no),
            Tree::Or(children) => self.sequence(children, truth, !truth, yes, no),
            Tree::Xor(children, inverted) => self.parity(children, truth != *inverted, yes, no),
            Tree::Predicate(predicate) => self.predicate(predicate, truth, yes, no),
        }
    }

    /// Every child must answer yes (`all`), or one of them.
    fn sequence(
        &mut self,
        children: &[Tree],
        truth: bool,
        all: bool,
        yes: u16,
        no: u16,
    ) -> Result<(), String> {
        let mut order: Vec<&Tree> = children.iter().collect();
        order.sort_by(|x, y| rank(x, truth, all).total_cmp(&rank(y, truth, all)));
        for (place, child) in order.iter().enumerate() {
            if place + 1 == order.len() {
                return self.ask(child, truth, yes, no);
            }
            let next = self.label();
            let (yes, no) = if all { (next, no) } else { (yes, next) };
            self.ask(child, truth, yes, no)?;
            self.put(next);
        }
        Err("a node without children".to_owned())
    }

    /// All children are known, and an odd (or even) number of them is true.
    fn parity(&mut self, children: &[Tree], odd: bool, yes: u16, no: u16) -> Result<(), String> {
        let Some((first, rest)) = children.split_first() else {
            return Err("a node without children".to_owned());
        };
        if rest.is_empty() {
            return self.ask(first, odd, yes, no);
        }
        // At each child, one entry for an even and one for an odd number of trues so far.
        let mut entries = [Some(self.label()), None];
        for (place, child) in children.iter().enumerate() {
            let last = place + 1 == children.len();
            let mut next = [None, None];
            for (seen, entry) in entries.into_iter().enumerate() {
                let Some(entry) = entry else { continue };
                self.put(entry);
                if last {
                    self.ask(child, (seen == 1) != odd, yes, no)?;
                    continue;
                }
                let stay = *next[seen].get_or_insert_with(|| self.label());
                let flip = *next[1 - seen].get_or_insert_with(|| self.label());
                let or_false = self.label();
                self.ask(child, true, flip, or_false)?;
                self.put(or_false);
                self.ask(child, false, stay, no)?;
            }
            entries = next;
        }
        Ok(())
    }

    fn predicate(
        &mut self,
        predicate: &Predicate,
        truth: bool,
        yes: u16,
        no: u16,
    ) -> Result<(), String> {
        let kind = self.tables.schema.ty(predicate.attribute);
        let values = &predicate.values;
        let holds = truth != predicate.negated;
        let wide_set = predicate.op == Op::In
            && values.len() > 1
            && (kind == Type::Float || kind == Type::Int && !values.iter().all(is_narrow));
        if wide_set {
            let children: Vec<Tree> = values
                .iter()
                .map(|value| {
                    Tree::Predicate(Predicate {
                        negated: false,
                        values: vec![value.clone()],
                        ..*predicate
                    })
                })
                .collect();
            return self.sequence(&children, holds, !holds, yes, no);
        }
        let mut literal = self.literal(predicate, kind)?;
        literal.negated = !holds;
        if literal.test == Test::Range && literal.negated {
            // Absence is a range too, and `is null` is never unknown.
            literal = match predicate.op {
                Op::IsNull => range(LOW, HIGH),
                _ => step(Test::Outside, literal.a, literal.b),
            };
        }
        let attribute = u16::try_from(predicate.attribute).map_err(|_| "too many attributes")?;
        self.push(literal, attribute, yes, no)
    }

    /// What tests the predicate, without its sign.
    fn literal(&mut self, predicate: &Predicate, kind: Type) -> Result<Step, String> {
        let attribute = predicate.attribute;
        let values = &predicate.values;
        Ok(match predicate.op {
            Op::IsNull => range(MISSING, MISSING),
            Op::IsEmpty => range(0, 0),
            Op::AnyOf | Op::AllOf => {
                let ids = self.ids(attribute, values)?;
                match (ids.as_slice(), predicate.op) {
                    (&[id], _) => step(Test::Member, id as u32, 0),
                    (ids, Op::AnyOf) => self.set(Test::Any, ids)?,
                    (ids, _) => self.set(Test::All, ids)?,
                }
            }
            Op::In
                if kind != Type::Float && (kind == Type::Str || values.iter().all(is_narrow)) =>
            {
                let mut slots = match kind {
                    Type::Str => self.ids(attribute, values)?,
                    _ => values.iter().map(narrow).collect::<Result<_, _>>()?,
                };
                slots.sort_unstable();
                match slots[..] {
                    [slot] => range(slot, slot),
                    _ => self.set(Test::Set, &slots)?,
                }
            }
            _ if kind == Type::Str => {
                let operands = values
                    .iter()
                    .filter_map(Value::as_str)
                    .map(Box::from)
                    .collect();
                let a = self.tables.pattern(Pattern {
                    op: predicate.op,
                    operands,
                })?;
                step(Test::Pattern, a, 0)
            }
            op => {
                let (low, high) = bounds(op, values, kind)?;
                if kind == Type::Int && values.iter().all(is_narrow) {
                    let low = low.max(LOW.into()) as i32;
                    range(low, high.min(HIGH.into()) as i32)
                } else {
                    step(Test::Wide, self.tables.wide(low, high)?, 0)
                }
            }
        })
    }

    fn ids(&mut self, attribute: u32, values: &[Value]) -> Result<Vec<i32>, String> {
        values
            .iter()
            .map(|value| self.tables.names.id(attribute, value))
            .collect()
    }

    fn set(&mut self, test: Test, values: &[i32]) -> Result<Step, String> {
        let (start, count) = self.tables.set(values)?;
        Ok(step(test, start, count))
    }

    fn push(&mut self, literal: Step, attribute: u16, yes: u16, no: u16) -> Result<(), String> {
        self.steps.push(Step {
            attribute,
            yes,
            no,
            ..literal
        });
        Ok(())
    }

    /// A label to be put at a place. `compile` refuses a program that has more than a `u16` holds.
    fn label(&mut self) -> u16 {
        self.labels.push(0);
        (self.labels.len() - 1) as u16
    }

    /// The label stands for the next step.
    fn put(&mut self, label: u16) {
        self.labels[usize::from(label)] = self.steps.len() as u16;
    }
}

fn step(test: Test, a: u32, b: u32) -> Step {
    Step {
        test,
        negated: false,
        attribute: 0,
        yes: REJECT,
        no: REJECT,
        a,
        b,
    }
}

fn range(low: i32, high: i32) -> Step {
    step(Test::Range, low as u32, high.wrapping_sub(low) as u32)
}

/// Whether a value is a bool or an integer strictly between the extreme slots.
fn is_narrow(value: &Value) -> bool {
    let narrow = |v| i64::from(LOW) < v && v < i64::from(HIGH);
    value.is_boolean() || value.as_i64().is_some_and(narrow)
}

fn narrow(value: &Value) -> Result<i32, String> {
    match value {
        Value::Bool(value) => Ok((*value).into()),
        _ => value
            .as_i64()
            .and_then(|v| v.try_into().ok())
            .ok_or(format!("{value} is no integer")),
    }
}

/// A number as 64 bits in the same order: integers as they are, doubles by their bits.
pub fn wide(value: &Value, kind: Type) -> Result<i64, String> {
    if kind == Type::Int {
        return value.as_i64().ok_or(format!("{value} is no integer"));
    }
    let bits = (value.as_f64().ok_or(format!("{value} is no number"))? + 0.0).to_bits() as i64;
    Ok(if bits < 0 { i64::MIN - bits } else { bits })
}

/// The inclusive range of a comparison; an empty one where nothing can pass.
pub fn bounds(op: Op, values: &[Value], kind: Type) -> Result<(i64, i64), String> {
    let first = wide(values.first().ok_or("no operand")?, kind)?;
    Ok(match op {
        Op::In => (first, first),
        Op::Le => (i64::MIN, first),
        Op::Ge => (first, i64::MAX),
        Op::Lt => first.checked_sub(1).map_or((1, 0), |high| (i64::MIN, high)),
        Op::Gt => first.checked_add(1).map_or((1, 0), |low| (low, i64::MAX)),
        Op::Between => (first, wide(values.get(1).ok_or("no operand")?, kind)?),
        other => return Err(format!("{other:?} does not compare numbers")),
    })
}

/// Lower is earlier: the cost of asking over the chance that it decides.
fn rank(tree: &Tree, truth: bool, all: bool) -> f64 {
    let (cost, chance) = estimate(tree, truth);
    cost / if all { 1.0 - chance } else { chance }.max(0.001)
}

/// What asking costs, and the chance of a yes, by the operators alone.
fn estimate(tree: &Tree, truth: bool) -> (f64, f64) {
    let sequence = |children: &[Tree], all: bool| {
        let (mut cost, mut through) = (0.0, 1.0);
        for child in children {
            let (child_cost, chance) = estimate(child, truth);
            cost += through * child_cost;
            through *= if all { chance } else { 1.0 - chance };
        }
        (cost, if all { through } else { 1.0 - through })
    };
    match tree {
        Tree::Constant(value) => (0.1, if *value == truth { 1.0 } else { 0.0 }),
        Tree::Not(child) => estimate(child, !truth),
        Tree::And(children) => sequence(children, truth),
        Tree::Or(children) => sequence(children, !truth),
        Tree::Xor(children, _) => (
            children
                .iter()
                .map(|child| 1.5 * estimate(child, true).0)
                .sum(),
            0.2,
        ),
        Tree::Predicate(predicate) => {
            let count = predicate.values.len() as f64;
            let (cost, chance) = match (predicate.op, predicate.negated) {
                (Op::In, _) if predicate.values.first().is_some_and(Value::is_boolean) => {
                    (1.0, 0.4)
                }
                (Op::In, negated) if predicate.values.len() == 1 => {
                    (1.0, if negated { 0.8 } else { 0.03 })
                }
                (Op::In, false) => (1.0 + 0.2 * count, 0.3 * (count / (count + 6.0))),
                (Op::In, true) => (1.0 + 0.2 * count, 0.7),
                (Op::AnyOf, false) => (1.0 + 0.4 * count, 0.3 * (count / (count + 6.0))),
                (Op::AnyOf, true) => (1.0 + 0.4 * count, 0.7),
                (Op::AllOf, _) => (1.5, 0.01),
                (Op::Between, negated) => (1.0, if negated { 0.6 } else { 0.2 }),
                (Op::StartsWith | Op::EndsWith | Op::Contains, _) => (8.0, 0.05),
                (Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => (1.0, 0.4),
                (Op::IsNull | Op::IsEmpty, false) => (1.0, 0.3),
                (Op::IsNull | Op::IsEmpty, true) => (1.0, 0.6),
                // Not compiled: versions, addresses and points.
                _ => (1.0, 0.5),
            };
            (
                cost,
                if truth {
                    chance
                } else {
                    (0.8 - chance).max(0.05)
                },
            )
        }
    }
}
