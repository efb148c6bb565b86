//! From the language to the engine: literals to words, normal forms to formulas.

use crate::engine::core::{Core, Expression};
use crate::engine::expression::areas::area_of;
use crate::engine::expression::formula::{Formula, Node};
use crate::engine::expression::literal_ids::Numbered;
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::{LongLiteral, LongLiterals, Matcher, Test};
use crate::engine::matching::event::{order_of_float, order_of_int};
use crate::language::bucket::BUCKETS;
use crate::language::pattern::Pattern;
use crate::language::{self, Literal, NormalForm, Op, TreeError, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A literal with its number, counting one use. `known` are the numbers of its strings, if they are
/// acquired already.
pub fn encode(
    literal: &Literal,
    kind: Type,
    known: Option<Vec<u32>>,
    long: &mut LongLiterals,
) -> Numbered {
    let attribute = literal.attr;
    if literal.op == Op::IsNull {
        let op = if literal.positive {
            literal_word::MISSING
        } else {
            literal_word::PRESENT
        };
        return long.take(literal_word::pack(op, attribute, 0), kind);
    }
    if let Some(salt) = literal.salt {
        let ranges = bucket_ranges(literal);
        let test = Test::Bucket(salt, &ranges);
        return long.acquire(long_literal(literal, false, test), kind);
    }
    if let (Op::Like | Op::Matches, Some(Value::Str(text))) = (literal.op, literal.values.get(0)) {
        let is_like = literal.op == Op::Like;
        // It was read before, when the tree was checked.
        if let Ok(pattern) = Pattern::read(text, is_like, literal.folds) {
            let test = Test::Pattern(Matcher {
                is_like,
                text,
                required: &pattern.required,
                program: &pattern.program,
            });
            return long.acquire(long_literal(literal, false, test), kind);
        }
    }
    if let Some((area, words)) = area_of(literal) {
        let test = Test::Area(area, &words);
        return long.acquire(long_literal(literal, false, test), kind);
    }
    if let Some(word) = short(literal, kind, long) {
        return long.take(word, kind);
    }
    let texts = kind.element() == Type::Str && literal.op.takes_set();
    let mut values: SmallVec<[u64; 16]> = SmallVec::new();
    if let Some(numbers) = known {
        values.extend(numbers.into_iter().map(u64::from));
    } else if texts && known_strings(literal, long, &mut values) {
        // Most sets exist already: then nothing need be acquired and released again.
        values.sort_unstable();
        let test = test_of(literal, kind, &values, long);
        if let Some(place) = long.find(&long_literal(literal, texts, test)) {
            return long.acquire_known(place, kind);
        }
        for &string in &values {
            long.strings_mut().retain(string as u32);
        }
    } else if literal.op.takes_set() {
        values.clear();
        values.extend(literal.values.iter().map(|value| order_of(value, long)));
    }
    values.sort_unstable();
    let test = test_of(literal, kind, &values, long);
    long.acquire(long_literal(literal, texts, test), kind)
}

/// The buckets that a literal names, as first and last ones, ascending.
fn bucket_ranges(literal: &Literal) -> SmallVec<[u64; 4]> {
    let ints = literal.values.iter().filter_map(|value| match value {
        Value::Int(value) => u64::try_from(value).ok(),
        _ => None,
    });
    let most = BUCKETS as u64 - 1;
    match literal.op {
        Op::Le => SmallVec::from_iter([0].into_iter().chain(ints)),
        Op::Ge => SmallVec::from_iter(ints.chain([most])),
        Op::Between => ints.collect(),
        _ => ints.flat_map(|bucket| [bucket, bucket]).collect(),
    }
}

fn long_literal<'a>(literal: &Literal, texts: bool, test: Test<'a>) -> LongLiteral<'a> {
    LongLiteral {
        attribute: literal.attr,
        positive: literal.positive,
        texts,
        test,
    }
}

/// The numbers of a set's strings, without acquiring them. Returns whether all have one.
fn known_strings(literal: &Literal, long: &LongLiterals, out: &mut SmallVec<[u64; 16]>) -> bool {
    literal.values.iter().all(|value| match value {
        Value::Str(text) => {
            let number = long.strings().find(text);
            out.extend(number.map(u64::from));
            number.is_some()
        }
        _ => false,
    })
}

fn short(literal: &Literal, kind: Type, long: &mut LongLiterals) -> Option<LiteralWord> {
    let attribute = literal.attr;
    let first = literal.values.get(0)?;
    match (literal.op, kind) {
        (Op::In, Type::Bool | Type::Int | Type::Str) if literal.values.len() == 1 => {
            let key = match first {
                Value::Bool(value) => u32::from(value),
                Value::Int(value) => literal_word::int_key(value)?,
                Value::Str(text) => long.strings_mut().acquire(text),
                Value::Float(_) => return None,
            };
            let op = if literal.positive {
                literal_word::EQ
            } else {
                literal_word::NE
            };
            Some(literal_word::pack(op, attribute, u64::from(key)))
        }
        (Op::In, Type::Int) if long.has_tiny_sets => {
            let mut values: SmallVec<[i64; 8]> = SmallVec::new();
            for value in literal.values.iter().take(8) {
                if let Value::Int(value) = value {
                    values.push(value);
                }
            }
            values.sort_unstable();
            if values.len() < literal.values.len() {
                return None;
            }
            literal_word::tiny(attribute, &values, literal.positive)
        }
        (Op::Le | Op::Ge | Op::Between, Type::Int) => {
            let op = if literal.positive {
                literal_word::RANGE
            } else {
                literal_word::OUTSIDE
            };
            let (low, high) = int_bounds(literal)?;
            literal_word::range(op, attribute, low, high)
        }
        _ => None,
    }
}

fn int_bounds(literal: &Literal) -> Option<(Option<i64>, Option<i64>)> {
    let int = |place| match literal.values.get(place) {
        Some(Value::Int(value)) => Some(value),
        _ => None,
    };
    match literal.op {
        Op::Le => Some((None, Some(int(0)?))),
        Op::Ge => Some((Some(int(0)?), None)),
        _ => Some((Some(int(0)?), Some(int(1)?))),
    }
}

fn test_of<'a>(
    literal: &Literal<'a>,
    kind: Type,
    values: &'a [u64],
    long: &mut LongLiterals,
) -> Test<'a> {
    let first = literal.values.get(0).unwrap_or(Value::Bool(false));
    let text = match first {
        Value::Str(text) => text,
        _ => "",
    };
    match (literal.op, values) {
        (Op::In, &[value]) if kind != Type::Str => return Test::Order(value, value),
        (Op::In, values) => return Test::Among(values),
        (Op::AnyOf, values) => return Test::AnyOf(values),
        (Op::AllOf, values) => return Test::AllOf(values),
        _ => {}
    }
    match literal.op {
        Op::StartsWith => Test::Prefix(long.strings_mut().acquire(text)),
        Op::EndsWith => Test::Suffix(long.strings_mut().acquire(text)),
        Op::Contains => Test::Contains(text),
        Op::IsEmpty => Test::Empty,
        _ if kind == Type::Str => {
            let bound = |place: usize, open: bool| match literal.values.get(place) {
                Some(Value::Str(text)) => Some((text, open)),
                _ => None,
            };
            match literal.op {
                Op::Lt => Test::Text(None, bound(0, true)),
                Op::Le => Test::Text(None, bound(0, false)),
                Op::Gt => Test::Text(bound(0, true), None),
                Op::Ge => Test::Text(bound(0, false), None),
                _ => Test::Text(bound(0, false), bound(1, false)),
            }
        }
        _ => {
            let low = order_of(first, long);
            let high = literal
                .values
                .get(1)
                .map_or(low, |value| order_of(value, long));
            match literal.op {
                // An open bound is the next closed one, since orders are integers.
                Op::Lt => Test::Order(0, low.saturating_sub(1)),
                Op::Le => Test::Order(0, low),
                Op::Gt => Test::Order(low.saturating_add(1), u64::MAX),
                Op::Ge => Test::Order(low, u64::MAX),
                _ => Test::Order(low, high),
            }
        }
    }
}

fn order_of(value: Value, long: &mut LongLiterals) -> u64 {
    match value {
        Value::Bool(value) => u64::from(value),
        Value::Int(value) => order_of_int(value),
        Value::Float(value) => order_of_float(value),
        Value::Str(text) => u64::from(long.strings_mut().acquire(text)),
    }
}

/// The maximum number of nodes and edges of an expression, or of values in a set.
const LARGEST: usize = 120_000;

/// A program must fit into a chunk of the arena, with room to spare for its entries.
pub fn check_size(form: &NormalForm) -> Result<(), TreeError> {
    let edges: usize = form
        .nodes()
        .iter()
        .map(|node| match node {
            language::Node::And(span) | language::Node::Or(span) => span.len(),
            _ => 0,
        })
        .sum();
    let values = form.literals().map(|literal| literal.values.len()).max();
    if form.nodes().len() + edges > LARGEST || values.unwrap_or(0) > LARGEST {
        return Err(TreeError {
            code: "limit.predicates",
            message: "the expression is too large for the index".to_owned(),
            pointer: "/1".to_owned(),
        });
    }
    Ok(())
}

/// The normal form as a formula, with its literals acquired.
pub fn write_formula<'a>(
    form: &NormalForm,
    formula: &'a mut Formula,
    mut known: FxHashMap<u32, Vec<u32>>,
    core: &mut Core,
) -> Expression<'a> {
    formula.clear();
    for node in form.nodes() {
        let written = match *node {
            language::Node::Const(true) => return Expression::Always,
            language::Node::Const(false) => return Expression::Never,
            language::Node::Literal(place) => {
                let literal = form.literal(place);
                let kind = core.types[literal.attr as usize];
                core.schema.use_fold(literal.attr);
                let (word, id) = encode(&literal, kind, known.remove(&place), &mut core.long);
                Node::Literal(word, id)
            }
            language::Node::And(span) => {
                let (start, end) = copy_children(form.children(span), formula);
                Node::And(start, end)
            }
            language::Node::Or(span) => {
                let (start, end) = copy_children(form.children(span), formula);
                Node::Or(start, end)
            }
        };
        formula.nodes.push(written);
    }
    Expression::Formula(formula)
}

fn copy_children(children: &[u32], formula: &mut Formula) -> (u32, u32) {
    let start = formula.children.len() as u32;
    formula.children.extend_from_slice(children);
    (start, formula.children.len() as u32)
}
