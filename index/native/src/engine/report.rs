//! Reports on the index: `stats`, `plan` and a Graphviz graph.

use crate::engine::core::{Core, DEEP, guards_of, target_of};
use crate::engine::expression::formula::{Formula, Kind, Node};
use crate::engine::expression::literal_ids::LiteralId;
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::Test;
use crate::engine::expression::truth::ALWAYS_TRUE;
use crate::engine::ids::bands::{ALL, BANDS, Band, Rank};
use crate::engine::index::Index;
use crate::engine::memory::arena::NOWHERE;
use crate::engine::memory::resident::resident;
use crate::engine::planning::selectivity::point_of;
use crate::engine::postings::keys::Key;
use crate::engine::postings::lists::ListId;
use crate::language::address::Network;
use crate::language::{Op, Type, version};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use std::fmt::Write;

/// The number of longest lists in `stats`.
const COSTLIEST: usize = 10;

/// The number of programs or lists that are read before the lock is released: a waiting writer
/// blocks every match behind it.
const PROGRAMS: u32 = 1000;
const LISTS: u32 = 20_000;

/// What the index holds, as JSON. What is inserted meanwhile may or may not count.
pub fn stats(index: &Index) -> String {
    let mut totals = Totals::default();
    let mut next = 0;
    while let Some(program) = index.read(|core| totals.add_programs(core, next)) {
        next = program;
    }
    next = 0;
    while let Some(list) = index.read(|core| totals.add_lists(core, next)) {
        next = list;
    }
    let mut stats = index.read(|core| totals.to_json(core));
    add_usage(index, &mut stats);
    stats["longest_update_ns"] = index.longest_update_ns().into();
    stats.to_string()
}

/// The part of `stats` that reads no expression: memory, and the undeclared attributes of events.
pub fn usage(index: &Index) -> String {
    let mut usage = json!({"bytes": index.read(bytes)});
    add_usage(index, &mut usage);
    usage.to_string()
}

fn add_usage(index: &Index, to: &mut Value) {
    to["unknown_attributes"] = index
        .unknown()
        .into_iter()
        .map(|(name, count)| (name, Value::from(count)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    to["bytes"]["trees_as_written"] = index.tree_bytes().into();
    to["memory"] = resident();
    to["postings_read"] = index.postings_read().into();
}

fn bytes(core: &Core) -> Value {
    let (programs, tables) = core.programs.total_bytes();
    let (postings, lists) = core.lists.total_bytes();
    json!({
        "programs": programs + tables,
        "postings": postings + lists,
        "keys": core.keys.total_bytes(),
        "ids": core.slots.total_bytes() + core.shared_ids.total_bytes(),
        "bands": core.bands.total_bytes(),
        "groups_and_versions": core.slots.origin_bytes(),
        "labels": core.slots.label_bytes(),
        "long_literals": core.long.total_bytes(),
        "strings": core.long.strings().total_bytes(),
    })
}

/// Counts over all expressions and lists.
#[derive(Default)]
struct Totals {
    ways: FxHashMap<&'static str, usize>,
    literals: FxHashSet<LiteralId>,
    gates: usize,
    edges: usize,
    levels: usize,
    entries: usize,
    ids: usize,
    shared: usize,
    direct: usize,
    costliest: Vec<(u32, ListId)>,
    formula: Formula,
    heights: Vec<usize>,
}

impl Totals {
    /// Count some programs from a number on. Returns where to continue, or `None` at the end.
    fn add_programs(&mut self, core: &Core, from: u32) -> Option<u32> {
        let all = core.programs.numbers();
        let end = all.min(from.saturating_add(PROGRAMS));
        for number in (from..end).filter(|&number| is_of_all(core, number)) {
            self.add_program(core, number);
        }
        (end < all).then_some(end)
    }

    fn add_program(&mut self, core: &Core, number: u32) {
        let program = core.programs.get(number);
        let ids = core.slot_count(program) as usize;
        self.ids += ids;
        self.shared += ids - 1;
        *self.ways.entry(way(core, number)).or_insert(0) += ids;
        self.entries += program.entry_count();
        self.direct += usize::from(program.kind() == Kind::Conjunction && program.to_check() == 0);
        self.formula
            .read(program.kind(), program.code(), |id| core.long.word(id));
        self.heights.clear();
        for (place, node) in self.formula.nodes.iter().enumerate() {
            let children = self.formula.children_of(place);
            self.edges += children.len();
            let below = children.iter().map(|&c| self.heights[c as usize]).max();
            self.heights.push(below.map_or(1, |h| h + 1));
            match node {
                Node::Literal(_, id) => {
                    self.literals.insert(*id);
                }
                _ => self.gates += 1,
            }
        }
        self.levels = self.levels.max(self.heights.last().copied().unwrap_or(0));
    }

    /// Find the longest lists from a number on. Returns where to continue, or `None` at the end.
    fn add_lists(&mut self, core: &Core, from: ListId) -> Option<ListId> {
        let all = core.keys.reach();
        let end = all.min(from.saturating_add(LISTS));
        let some = (from..end).filter(|&list| is_key_of_all(core, list));
        self.costliest
            .extend(some.map(|list| (core.lists.len(list), list)));
        self.costliest.sort_unstable_by(|a, b| b.cmp(a));
        self.costliest.truncate(COSTLIEST);
        (end < all).then_some(end)
    }

    fn to_json(&self, core: &Core) -> Value {
        let mut ways = self.ways.clone();
        ways.insert("never", core.slots.len().saturating_sub(self.ids));
        let nodes = self.literals.len() + self.gates;
        let is_key = |list: ListId| list < core.keys.reach() && is_key_of_all(core, list);
        json!({
            "expressions": core.slots.len(),
            "distinct_expressions": core.programs.count(ALL),
            "ways": ways,
            "nodes": {"literal": self.literals.len(), "gate": self.gates},
            "levels": self.levels,
            "edges": self.edges,
            "cost": nodes + self.edges,
            "sharing": {
                "ids_on_shared_expressions": self.shared,
                "decided_by_guards": self.direct,
            },
            "postings": self.entries,
            "groups": core.slots.groups().len(),
            "muted_groups": core.slots.groups().muted().len(),
            "label_sets": core.slots.labels().len(),
            "keys": core.keys.len(),
            "pairs": core.keys.pair_count(),
            "sampled_events": core.selectivity.samples(),
            "has_statistics": core.selectivity.statistics().is_some(),
            "costliest": self
                .costliest
                .iter()
                .filter(|&&(_, list)| is_key(list))
                .map(|&(len, list)| {
                    json!({"key": key_text(core, core.keys.key_of(list)), "postings": len})
                })
                .collect::<Vec<_>>(),
            "bands": bands(core),
            "bytes": bytes(core),
        })
    }
}

/// The bands of the best entries: how many they have, and where they end.
fn bands(core: &Core) -> Vec<Value> {
    let some = (1..=BANDS as Band).filter(|&band| core.bands.count(band) > 0);
    some.map(|band| {
        json!({
            "band": band,
            "entries": core.bands.count(band),
            "distinct_expressions": core.programs.count(band),
            "lowest_score": core.bands.border(band).map(Rank::score),
        })
    })
    .collect()
}

/// Whether there is a program of this number, and not one of a band.
fn is_of_all(core: &Core, number: u32) -> bool {
    core.programs.is_there(number) && core.programs.get(number).band() == ALL
}

/// Whether a list has a key, and not one of a band.
fn is_key_of_all(core: &Core, list: ListId) -> bool {
    let key = core.keys.key_of(list);
    key != Key::None && key.owner().0 == ALL
}

/// The way of an expression through the index.
fn way(core: &Core, number: u32) -> &'static str {
    let program = core.programs.get(number);
    match program.kind() {
        Kind::Conjunction if program.code() == [ALWAYS_TRUE] => "always",
        Kind::Conjunction => "conjunction",
        Kind::Tree => "tree",
        Kind::Graph => "graph",
    }
}

/// How the index looks for an expression, as JSON; `None` if it does not exist.
pub fn plan(core: &Core, id: u64) -> Option<String> {
    let slot = core.slots.find(id)?;
    let number = core.slots.owner(slot).program;
    let band = core.bands.band_of(core.rank(slot));
    if number == NOWHERE {
        return Some(json!({"way": "never", "band": band}).to_string());
    }
    let program = core.programs.get(number);
    let entries: Vec<Value> = program
        .entries()
        .map(|(list, position)| {
            let posting = core.lists.item(list, position);
            let target = target_of(posting);
            let guards: Vec<String> = guards_of(posting)
                .into_iter()
                .filter(|&guard| guard != ALWAYS_TRUE)
                .map(|guard| check_text(core, core.long.word(guard)))
                .collect();
            json!({
                "access": key_text(core, core.keys.key_of(list)),
                "guards": guards,
                "then": if target & DEEP == 0 { "done" } else { "program" },
            })
        })
        .collect();
    let shared_with = core.slot_count(program) - 1;
    let plan = json!({
        "way": way(core, number),
        "band": band,
        "entries": entries,
        "shared_with": shared_with,
    });
    Some(plan.to_string())
}

/// A key in words.
pub fn key_text(core: &Core, key: Key) -> String {
    let name = |attribute: u32| name_of(core, attribute);
    let text = |string: u32| core.long.strings().text(string);
    match key.in_band(ALL) {
        Key::None => "nothing".to_owned(),
        Key::Always(_) => "always".to_owned(),
        Key::Node(a, 0, value) => format!("{} = {}", name(a), value_text(core, a, value)),
        Key::Node(a, level, value) => {
            let low = value << level;
            let high = low + ((1 << level) - 1);
            let (low, high) = (value_text(core, a, low), value_text(core, a, high));
            format!("{} between {low} and {high}", name(a))
        }
        Key::AtLeast(a, bucket) => format!("{} >= … (bucket {bucket})", name(a)),
        Key::AtMost(a, bucket) => format!("{} <= … (bucket {bucket})", name(a)),
        Key::Set(a, number) => {
            format!("{} in set {number}", name(a))
        }
        Key::Link(a, value) => format!("{} = {} (sets)", name(a), value_text(core, a, value)),
        Key::Pair(a, b, values) => {
            let half = |attribute: u32, key: u64| {
                let word = literal_word::pack(literal_word::EQ, attribute, key);
                check_text(core, word)
            };
            let (first, second) = (values >> 32, values & 0xffff_ffff);
            format!("{} and {}", half(a, first), half(u32::from(b), second))
        }
        Key::Prefix(a, string) => format!("{} starts with '{}'", name(a), text(string)),
        Key::Suffix(a, string) => format!("{} ends with '{}'", name(a), text(string)),
        Key::Gram(a, length, gram) => {
            let bytes = &gram.to_le_bytes()[..usize::from(length)];
            format!("{} contains '{}'", name(a), String::from_utf8_lossy(bytes))
        }
        Key::Present(a) => format!("{} is not null", name(a)),
        Key::Missing(a) => format!("{} is null", name(a)),
        Key::Empty(a) => format!("{} is empty", name(a)),
    }
}

fn name_of(core: &Core, attribute: u32) -> String {
    let name = core.schema.name(attribute);
    match core.schema.is_fold(attribute) {
        true => format!("fold({name})"),
        false => name.to_owned(),
    }
}

fn value_text(core: &Core, attribute: u32, order: u64) -> String {
    match core.types[attribute as usize].element() {
        Type::Bool => (order == 1).to_string(),
        Type::Str => format!("'{}'", core.long.strings().text(order as u32)),
        Type::Float => {
            let bits = if order >> 63 == 1 {
                order & !(1 << 63)
            } else {
                !order
            };
            f64::from_bits(bits).to_string()
        }
        Type::Version => format!("'{}'", version::print(order)),
        Type::Ip => {
            let version = if order >> 63 == 1 { 6 } else { 4 };
            let address = Network::address(version, u128::from(order) << 65);
            format!("'{}'", address.print())
        }
        Type::Point => format!("cell {order:x}"),
        _ => ((order ^ (1 << 63)) as i64).to_string(),
    }
}

/// A literal in words.
pub fn check_text(core: &Core, check: LiteralWord) -> String {
    let attribute = literal_word::attribute_of(check);
    let name = &name_of(core, attribute);
    match literal_word::op_of(check) {
        literal_word::TRUE => "true".to_owned(),
        op @ (literal_word::EQ | literal_word::NE) => {
            let point = point_of(check, core.types[attribute as usize]);
            let sign = if op == literal_word::EQ { "=" } else { "!=" };
            format!("{name} {sign} {}", value_text(core, attribute, point))
        }
        op @ (literal_word::RANGE | literal_word::OUTSIDE) => {
            let positive = op == literal_word::RANGE;
            match literal_word::int_bounds(check) {
                (Some(low), None) => signed(name, Op::Ge, &low.to_string(), positive),
                (None, Some(high)) => signed(name, Op::Le, &high.to_string(), positive),
                (low, high) => {
                    let bound =
                        |bound: Option<i64>| bound.map_or("…".to_owned(), |b| b.to_string());
                    let bounds = format!("{} and {}", bound(low), bound(high));
                    signed(name, Op::Between, &bounds, positive)
                }
            }
        }
        op @ (literal_word::TINY | literal_word::NOT_TINY) => {
            let values = literal_word::tiny_values(check);
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            let set = format!("({})", values.join(", "));
            signed(name, Op::In, &set, op == literal_word::TINY)
        }
        literal_word::PRESENT => signed(name, Op::IsNull, "", false),
        literal_word::MISSING => signed(name, Op::IsNull, "", true),
        _ => long_text(core, check, attribute, name),
    }
}

/// A literal in the language's words for its operator and sign.
fn signed(name: &str, op: Op, operand: &str, positive: bool) -> String {
    let text = |word: &str| format!("{name} {word} {operand}").trim_end().to_owned();
    match op.signed_word(positive) {
        Some(word) => text(word),
        None => format!("not ({})", text(op.word())),
    }
}

fn long_text(core: &Core, check: LiteralWord, attribute: u32, name: &str) -> String {
    let literal = core.long.get(literal_word::number_of(check));
    let set = |values: &[u64]| {
        let mut shown: Vec<String> = values
            .iter()
            .take(8)
            .map(|&v| value_text(core, attribute, v))
            .collect();
        if values.len() > 8 {
            shown.push(format!("… {} in all", values.len()));
        }
        format!("({})", shown.join(", "))
    };
    let string = |string: u32| format!("'{}'", core.long.strings().text(string));
    let (op, operand) = match literal.test {
        Test::Order(low, high) => {
            let [low, high] = [low, high].map(|bound| value_text(core, attribute, bound));
            (Op::Between, format!("{low} and {high}"))
        }
        Test::Among(values) => (Op::In, set(values)),
        Test::AnyOf(values) => (Op::AnyOf, set(values)),
        Test::AllOf(values) => (Op::AllOf, set(values)),
        Test::Text(low, high) => {
            let bound = |b: Option<(&str, bool)>| {
                b.map_or("…".to_owned(), |(text, _)| format!("'{text}'"))
            };
            (Op::Between, format!("{} and {}", bound(low), bound(high)))
        }
        Test::Prefix(s) => (Op::StartsWith, string(s)),
        Test::Suffix(s) => (Op::EndsWith, string(s)),
        Test::Contains(part) => (Op::Contains, format!("'{part}'")),
        Test::Pattern(matcher) => {
            let op = if matcher.is_like {
                Op::Like
            } else {
                Op::Matches
            };
            (op, format!("'{}'", matcher.text))
        }
        Test::Empty => (Op::IsEmpty, String::new()),
        Test::Area(area, words) => area.text(words),
        Test::Bucket(salt, ranges) => {
            let shown = ranges.chunks_exact(2).take(8);
            let shown = shown.map(|range| match range[1] - range[0] {
                0 => range[0].to_string(),
                _ => format!("{} to {}", range[0], range[1]),
            });
            let shown: Vec<String> = shown.collect();
            let subject = format!("bucket({name}, '{salt}')");
            let set = format!("({})", shown.join(", "));
            return signed(&subject, Op::In, &set, literal.positive);
        }
    };
    signed(name, op, &operand, literal.positive)
}

/// The first expressions as a graph for Graphviz: literals once, expressions above them.
pub fn to_dot(core: &Core, limit: usize) -> String {
    let mut dot = String::from("digraph index {\n  rankdir=BT; node [fontname=\"sans-serif\"];\n");
    let mut literals: FxHashMap<LiteralId, usize> = FxHashMap::default();
    let mut formula = Formula::default();
    let of_all = core
        .programs
        .iter()
        .filter(|&number| is_of_all(core, number));
    for number in of_all.take(limit) {
        let program = core.programs.get(number);
        formula.read(program.kind(), program.code(), |id| core.long.word(id));
        let mut names: Vec<String> = Vec::new();
        for (place, node) in formula.nodes.iter().enumerate() {
            let name = match node {
                Node::Literal(check, id) => {
                    let next = literals.len();
                    let known = *literals.entry(*id).or_insert(next);
                    if known == next {
                        let label = check_text(core, *check)
                            .replace('\\', "\\\\")
                            .replace('"', "\\\"");
                        let _ = writeln!(dot, "  l{known} [shape=box, label=\"{label}\"];");
                    }
                    format!("l{known}")
                }
                gate => {
                    let word = if matches!(gate, Node::And(..)) {
                        "and"
                    } else {
                        "or"
                    };
                    let name = format!("p{number}_{place}");
                    let _ = writeln!(dot, "  {name} [label=\"{word}\"];");
                    for &child in formula.children_of(place) {
                        let _ = writeln!(dot, "  {} -> {name};", names[child as usize]);
                    }
                    name
                }
            };
            names.push(name);
        }
        if let Some(root) = names.last() {
            let ids = core.slot_count(program);
            let _ = writeln!(dot, "  e{number} [shape=plaintext, label=\"{ids} id(s)\"];");
            let _ = writeln!(dot, "  {root} -> e{number};");
        }
    }
    dot.push_str("}\n");
    dot
}
