//! What an expression enters by, and what guards each entry.
//!
//! An expression that is true has at least one of its *entries* true: an `and` enters by its
//! cheapest child, an `or` by all of its children, a literal by itself. On the way from the root to
//! an entry, the other children of every `and` must be true as well; the two least likely literals
//! among them are the guards of the posting. An entry is *direct* when nothing else is required:
//! then its guards decide, and the program is never read.
//!
//! ```text
//!   and(a, b, or(c, and(d, e, f)))     a rare      entry a, guards b — then the program
//!                                      a common    entry c, guards a, b, direct
//!                                                  entry d, guards e, f — then the program
//! ```
//!
//! Below a node with several parents the path is not unique, so no requirement from above it can be
//! a guard. The cost of an entry is the probability of its key; a negative literal enters whenever
//! its attribute is present, however unlikely it is itself.

use crate::engine::expression::formula::{Formula, Node, mix};
use crate::engine::expression::literal_ids::{LiteralId, Numbered};
use crate::engine::expression::literal_word::{self, ALWAYS, LiteralWord};
use crate::engine::expression::long_literals::{LongLiterals, Test};
use crate::engine::expression::truth::{ALWAYS_TRUE, Guard};
use crate::engine::ids::bands::ALL;
use crate::engine::matching::event::order_of_int;
use crate::engine::planning::pairs::{Half, Pairs, keys_of_pair};
use crate::engine::planning::selectivity::{Selectivity, point_of, prior};
use crate::engine::planning::tuning::{Access, Tuning};
use crate::engine::postings::grams::{gram_length, gram_of};
use crate::engine::postings::keys::{Key, KeyVec, Keys, LINKED_SET, POSTED_SET};
use crate::engine::postings::lists::Lists;
use crate::engine::postings::ranges::{bucket_of, exact_bound, pieces};
use crate::language::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The maximum number of required literals on a path; with more, the program decides.
const MAX_REQUIRED: usize = 64;
/// The cost of an entry that is never true.
const POSTING_COST: f32 = 1e-6;

/// The maximum number of guards of a posting.
pub const MOST_GUARDS: usize = 2;

/// One way into an expression.
pub struct Entry {
    access: Numbered,
    /// The other literal of a pair; otherwise TRUE.
    second: Numbered,
    pub keys: KeyVec,
    /// The literals that guard it, and after `Core::compile` their guards.
    pub guards: [LiteralId; MOST_GUARDS],
    pub numbers: [Guard; MOST_GUARDS],
    pub direct: bool,
    /// Whether the access literal is true for every event that has one of the keys.
    exact: bool,
}

/// The plan of an expression.
#[derive(Default)]
pub struct Plan {
    pub entries: Vec<Entry>,
    /// The literals of a conjunction; those that the program must still check come first.
    pub conjunction: Vec<LiteralId>,
    /// The number of literals that the program must check.
    pub to_check: usize,
    probability: Vec<f32>,
    cover: Vec<f32>,
    cost: Vec<f32>,
    parents: Vec<u32>,
    /// The pairs of literals that an `and` is entered by, by node.
    paired: Vec<(usize, Numbered, Numbered)>,
    pub pairs: Pairs,
    /// Known probabilities. One may belong to a removed literal whose number was reused: that makes
    /// a choice worse, but no answer wrong.
    known: FxHashMap<LiteralWord, f32>,
}

/// The knowledge that planning uses.
pub struct Knowledge<'a> {
    pub types: &'a [Type],
    pub long: &'a LongLiterals,
    pub selectivity: &'a Selectivity,
    pub tuning: Tuning,
    /// The lists of the index, if nothing is known about the traffic: what many expressions name is
    /// common there as well.
    pub lists: Option<(&'a Keys, &'a Lists)>,
    /// The lists of the index, to choose grams that lead to few expressions.
    pub grams: (&'a Keys, &'a Lists),
    /// The keys of the index, if an `and` may be entered by two literals.
    pub pairs: Option<&'a Keys>,
    /// The number of distinct expressions.
    pub expressions: usize,
    /// Whether the plan is for a band, which has only guards with rows.
    pub in_band: bool,
}

/// The number of probabilities that are remembered.
const REMEMBERED: usize = 1 << 16;

/// The literal that is always true.
const TRUE: Numbered = (ALWAYS, ALWAYS_TRUE);

type Required = SmallVec<[Numbered; 8]>;

/// In place of the number of parents of a shared node: it was entered already.
const ENTERED: u32 = u32::MAX;

impl Plan {
    /// Plan an expression.
    pub fn make(&mut self, formula: &Formula, know: &Knowledge) {
        self.weigh(formula, know);
        self.entries.clear();
        self.conjunction.clear();
        let root = formula.nodes.len() - 1;
        let mut pending: SmallVec<[(usize, Required, bool); 8]> = SmallVec::new();
        pending.push((root, Required::new(), false));
        while let Some((node, mut required, mut deep)) = pending.pop() {
            if self.parents[node] > 1 {
                if self.parents[node] == ENTERED {
                    continue;
                }
                self.parents[node] = ENTERED;
                required.clear();
                deep = true;
            }
            match formula.nodes[node] {
                Node::Literal(word, id) => self.enter((word, id), TRUE, required, deep, know),
                Node::Or(..) => {
                    for &child in formula.children_of(node) {
                        pending.push((child as usize, required.clone(), deep));
                    }
                }
                Node::And(..) => {
                    let children = formula.children_of(node);
                    let Some(chosen) = self.choose(formula, node, children, know) else {
                        continue;
                    };
                    let pair = self.paired.iter().find(|pair| pair.0 == node).copied();
                    for &other in children {
                        match formula.nodes[other as usize] {
                            Node::Literal(_, id)
                                if pair.is_some_and(|(_, one, two)| id == one.1 || id == two.1) => {
                            }
                            _ if pair.is_none() && other == chosen => {}
                            Node::Literal(word, id) if required.len() < MAX_REQUIRED => {
                                required.push((word, id));
                            }
                            _ => deep = true,
                        }
                    }
                    match pair {
                        Some((_, one, two)) => self.enter(one, two, required, deep, know),
                        None => pending.push((chosen as usize, required, deep)),
                    }
                }
            }
        }
    }

    /// The number of postings.
    pub fn entry_count(&self) -> usize {
        self.entries.iter().map(|entry| entry.keys.len()).sum()
    }

    /// The child that an `and` is entered by.
    fn choose(
        &self,
        formula: &Formula,
        node: usize,
        children: &[u32],
        know: &Knowledge,
    ) -> Option<u32> {
        if know.tuning.access == Access::Random && !children.is_empty() {
            let drawn = mix(formula.hash() ^ node as u64);
            return Some(children[drawn as usize % children.len()]);
        }
        let cover = |child: &u32| self.cover[*child as usize];
        children
            .iter()
            .copied()
            .min_by(|a, b| cover(a).total_cmp(&cover(b)))
    }

    /// Forget all probabilities, because there are new statistics.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    fn chance(&mut self, check: LiteralWord, know: &Knowledge) -> f32 {
        if let Some(&chance) = self.known.get(&check) {
            return chance;
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let chance = know.selectivity.probability(check, know.types, know.long);
        self.known.insert(check, chance);
        chance
    }

    fn enter(
        &mut self,
        access: Numbered,
        second: Numbered,
        mut required: Required,
        mut deep: bool,
        know: &Knowledge,
    ) {
        let (mut keys, mut exact) = if second == TRUE {
            keys_of(access.0, know)
        } else {
            (keys_of_pair(access.0, second.0, know), true)
        };
        // Nothing else is to be checked: with exact keys the posting needs no guard.
        if !exact
            && !deep
            && required.is_empty()
            && let Some(more) = exact_keys_of(access.0, know)
        {
            (keys, exact) = (more, true);
        }
        if !exact {
            required.push(access);
        }
        let mut ranked: SmallVec<[(LiteralId, f32); 8]> = SmallVec::new();
        for &(word, id) in &required {
            // A literal of the same attribute is rarely independent of the access.
            let same = literal_word::attribute_of(word) == literal_word::attribute_of(access.0);
            ranked.push((id, self.chance(word, know) + f32::from(same) * 0.5));
        }
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let can_guard = |id: LiteralId| know.long.can_guard(id, know.types, know.in_band);
        let mut guards = [ALWAYS_TRUE; MOST_GUARDS];
        let able = ranked.iter().filter(|&&(id, _)| can_guard(id));
        let chosen = guards.iter_mut().zip(able.take(know.tuning.guards));
        let decided = chosen.map(|(guard, &(id, _))| *guard = id).count();
        deep |= decided < required.len();
        self.entries.push(Entry {
            access,
            second,
            keys,
            guards,
            numbers: [ALWAYS_TRUE; MOST_GUARDS],
            direct: !deep,
            exact,
        });
    }

    /// Probabilities, costs of evaluation and costs of entering, bottom-up.
    fn weigh(&mut self, formula: &Formula, know: &Knowledge) {
        self.probability.clear();
        self.cover.clear();
        self.cost.clear();
        self.paired.clear();
        self.pairs.count(know.expressions);
        self.parents.clear();
        self.parents.resize(formula.nodes.len(), 0);
        for node in 0..formula.nodes.len() {
            let children = formula.children_of(node);
            for &child in children {
                self.parents[child as usize] += 1;
            }
            let of = |values: &[f32], c: &u32| values[*c as usize];
            let (probability, cover, cost) = match formula.nodes[node] {
                Node::Literal(check, _) => {
                    let chance = self.chance(check, know);
                    let long = check & 15 == literal_word::LITERAL;
                    let entering = match know.tuning.access {
                        Access::Ranking => ranked(check, know),
                        _ => self.entering(check, chance, know) * popularity(check, know),
                    };
                    (
                        chance,
                        entering + POSTING_COST,
                        if long { 4.0 } else { 1.0 },
                    )
                }
                Node::And(..) => (
                    children.iter().map(|c| of(&self.probability, c)).product(),
                    children
                        .iter()
                        .map(|c| of(&self.cover, c))
                        .fold(f32::MAX, f32::min),
                    children.iter().map(|c| of(&self.cost, c)).sum(),
                ),
                Node::Or(..) => (
                    1.0 - children
                        .iter()
                        .map(|c| 1.0 - of(&self.probability, c))
                        .product::<f32>(),
                    children.iter().map(|c| of(&self.cover, c)).sum(),
                    children.iter().map(|c| of(&self.cost, c)).sum(),
                ),
            };
            let cover = match formula.nodes[node] {
                Node::And(..) => self.pair(formula, node, cover, know),
                _ => cover,
            };
            self.probability.push(probability);
            self.cover.push(cover);
            self.cost.push(cost);
        }
    }

    /// Look for a pair of literals to enter an `and` by. Returns the cost of entering it.
    fn pair(&mut self, formula: &Formula, node: usize, cover: f32, know: &Knowledge) -> f32 {
        let mut halves: SmallVec<[Half; 8]> = SmallVec::new();
        for &child in formula.children_of(node) {
            if let Node::Literal(check, id) = formula.nodes[child as usize] {
                let can_pair = match literal_word::op_of(check) {
                    literal_word::EQ | literal_word::TINY | literal_word::LITERAL => {
                        !know.types[literal_word::attribute_of(check) as usize].is_list()
                    }
                    _ => false,
                };
                if can_pair {
                    halves.push(((check, id), self.probability[child as usize]));
                }
            }
        }
        match self.pairs.best(&mut halves, cover, know) {
            Some((one, other, cost)) => {
                self.paired.push((node, one.0, other.0));
                cost + POSTING_COST
            }
            None => cover,
        }
    }

    /// The probability that an event finds the entry of a literal, which may be higher than that of
    /// the literal itself.
    fn entering(&mut self, access: LiteralWord, chance: f32, know: &Knowledge) -> f32 {
        if let literal_word::EQ
        | literal_word::TINY
        | literal_word::PRESENT
        | literal_word::MISSING = literal_word::op_of(access)
        {
            return chance; // exact, and there are many of them
        }
        let (keys, exact) = keys_of(access, know);
        if exact {
            return chance;
        }
        match keys.first() {
            Some(Key::Present(attribute)) => {
                let present = literal_word::pack(literal_word::PRESENT, *attribute, 0);
                self.chance(present, know).max(chance)
            }
            _ => chance * 1.2,
        }
    }

    /// Put the children of a gate in the order that decides it soonest.
    pub fn order(&self, formula: &Formula, node: usize, children: &mut [u32]) {
        let and = matches!(formula.nodes[node], Node::And(..));
        let rank = |c: &u32| {
            let p = self.probability[*c as usize];
            let decides = if and { 1.0 - p } else { p };
            self.cost[*c as usize] / decides.max(1e-6)
        };
        children.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    }

    /// Put the literals of a conjunction in order: first those that its entry does not decide.
    pub fn lay_out_conjunction(&mut self, formula: &Formula) {
        let Some(entry) = self.entries.first() else {
            return;
        };
        let (access, second, exact, guards) =
            (entry.access, entry.second, entry.exact, entry.guards);
        let is_done =
            |id: LiteralId| (exact && id == access.1) || id == second.1 || guards.contains(&id);
        let mut order: SmallVec<[u32; 16]> = (0..formula.nodes.len() as u32).collect();
        if formula.nodes.len() > 1 {
            order.pop(); // the gate itself
            let root = formula.nodes.len() - 1;
            self.order(formula, root, &mut order);
        }
        let mut done: SmallVec<[LiteralId; 8]> = SmallVec::new();
        for node in order {
            match formula.nodes[node as usize] {
                Node::Literal(_, id) if is_done(id) => done.push(id),
                Node::Literal(_, id) => self.conjunction.push(id),
                _ => {}
            }
        }
        self.to_check = self.conjunction.len();
        self.conjunction.extend(done);
    }
}

/// A factor from 1 to 2 that grows with the number of expressions that a literal leads to. It decides
/// between literals that are otherwise alike.
fn popularity(check: LiteralWord, know: &Knowledge) -> f32 {
    let Some((keys, lists)) = know.lists else {
        return 1.0;
    };
    let (own, _) = keys_of(check, know);
    let postings = own.iter().filter_map(|key| keys.find(key));
    let postings: u32 = postings.map(|list| lists.len(list)).sum();
    1.0 + (u32::BITS - postings.leading_zeros()) as f32 / u32::BITS as f32
}

/// The literal that is true for every event that finds an entry by its keys.
fn found_by(access: LiteralWord, keys: &KeyVec, exact: bool) -> LiteralWord {
    match keys.first() {
        Some(Key::Present(attribute)) if !exact => {
            literal_word::pack(literal_word::PRESENT, *attribute, 0)
        }
        _ => access,
    }
}

/// The probability that a literal is entered, by the ranking of operators.
fn ranked(access: LiteralWord, know: &Knowledge) -> f32 {
    let (keys, exact) = keys_of(access, know);
    prior(found_by(access, &keys, exact), know.long)
}

/// The keys of a literal, and whether having one of them makes it true.
pub fn keys_of(access: LiteralWord, know: &Knowledge) -> (KeyVec, bool) {
    let attribute = literal_word::attribute_of(access);
    let one = |key: Key| -> KeyVec { SmallVec::from_elem(key, 1) };
    match literal_word::op_of(access) {
        literal_word::TRUE => (one(Key::Always(ALL)), true),
        literal_word::EQ => {
            let point = point_of(access, know.types[attribute as usize]);
            (one(Key::Node(attribute, 0, point)), true)
        }
        literal_word::RANGE => {
            let (low, high) = literal_word::int_bounds(access);
            let kind = know.types[attribute as usize];
            range_keys(
                attribute,
                kind,
                low.map(order_of_int),
                high.map(order_of_int),
            )
        }
        literal_word::TINY => {
            let node = |value: &i64| Key::Node(attribute, 0, order_of_int(*value));
            (
                literal_word::tiny_values(access).iter().map(node).collect(),
                true,
            )
        }
        literal_word::PRESENT => (one(Key::Present(attribute)), true),
        literal_word::MISSING => (one(Key::Missing(attribute)), true),
        literal_word::LITERAL => long_keys(access, attribute, know),
        _ => (one(Key::Present(attribute)), false),
    }
}

fn range_keys(attribute: u32, kind: Type, low: Option<u64>, high: Option<u64>) -> (KeyVec, bool) {
    let one = |key: Key| -> KeyVec { SmallVec::from_elem(key, 1) };
    match (low, high) {
        (Some(low), Some(high)) => pieces(attribute, low, high),
        (Some(low), None) => {
            // Exact where the bound is the first of its bucket.
            let bucket = bucket_of(low, kind);
            let exact = low == 0 || bucket_of(low - 1, kind) != bucket;
            (one(Key::AtLeast(attribute, bucket)), exact)
        }
        (None, Some(high)) => {
            let bucket = bucket_of(high, kind);
            let exact = high == u64::MAX || bucket_of(high + 1, kind) != bucket;
            (one(Key::AtMost(attribute, bucket)), exact)
        }
        (None, None) => (one(Key::Present(attribute)), true),
    }
}

/// Keys that decide a range with one bound, where `keys_of` has one that does not.
fn exact_keys_of(access: LiteralWord, know: &Knowledge) -> Option<KeyVec> {
    let attribute = literal_word::attribute_of(access);
    let kind = know.types[attribute as usize];
    let bounds = match literal_word::op_of(access) {
        literal_word::RANGE => literal_word::int_bounds(access),
        _ => return None,
    };
    match bounds {
        (Some(low), None) => exact_bound(attribute, order_of_int(low), true, kind),
        (None, Some(high)) => exact_bound(attribute, order_of_int(high), false, kind),
        _ => None,
    }
}

/// The key of a text that an event's text must contain: one gram of it, that of the fewest
/// expressions so far. A whole text that is one gram is exact, if it `decides`.
fn gram_keys(attribute: u32, part: &str, decides: bool, know: &Knowledge) -> (KeyVec, bool) {
    let one = |key: Key| -> KeyVec { SmallVec::from_elem(key, 1) };
    let Some(length) = gram_length(part.len()) else {
        return (one(Key::Present(attribute)), false);
    };
    let (keys, lists) = know.grams;
    let grams = part.as_bytes().windows(length).map(gram_of);
    let crowd = |gram: &u64| {
        let list = keys.find(&Key::Gram(attribute, length as u8, *gram));
        (list.map_or(0, |list| lists.len(list)), mix(*gram))
    };
    match grams.min_by_key(crowd) {
        Some(gram) => {
            let key = Key::Gram(attribute, length as u8, gram);
            (one(key), decides && part.len() == length)
        }
        None => (one(Key::Present(attribute)), false),
    }
}

fn long_keys(access: LiteralWord, attribute: u32, know: &Knowledge) -> (KeyVec, bool) {
    let one = |key: Key| -> KeyVec { SmallVec::from_elem(key, 1) };
    let number = literal_word::number_of(access);
    let literal = know.long.get(number);
    if !literal.positive {
        return (one(Key::Present(attribute)), false);
    }
    let node = |value: &u64| Key::Node(attribute, 0, *value);
    match literal.test {
        Test::Order(low, high) => range_keys(
            attribute,
            know.types[attribute as usize],
            (low > 0).then_some(low),
            (high < u64::MAX).then_some(high),
        ),
        Test::Among(values) | Test::AnyOf(values) if values.len() <= POSTED_SET => {
            (values.iter().map(node).collect(), true)
        }
        Test::Among(_) | Test::AnyOf(_) => (one(Key::Set(attribute, number)), true),
        // Any element will do: their frequencies are not known here.
        Test::AllOf(values) => (values.iter().take(1).map(node).collect(), false),
        Test::Prefix(string) => (one(Key::Prefix(attribute, string)), true),
        Test::Suffix(string) => (one(Key::Suffix(attribute, string)), true),
        Test::Empty => (one(Key::Empty(attribute)), true),
        Test::Area(area, words) => {
            let (keys, exact) = area.keys(words, attribute);
            if keys.len() <= LINKED_SET {
                (keys, exact)
            } else {
                (one(Key::Set(attribute, number)), true)
            }
        }
        Test::Contains(part) => gram_keys(attribute, part, true, know),
        Test::Pattern(matcher) => gram_keys(attribute, matcher.required, false, know),
        Test::Text(..) | Test::Bucket(..) => (one(Key::Present(attribute)), false),
    }
}
