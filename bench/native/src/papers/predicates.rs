//! Which literals does an event satisfy? The first phase of Propagation (section 2.2 of its paper)
//! and of the A-Tree (section 9.3.1 of the thesis).
//!
//! ```text
//!   attribute ─ equal    value ─► literals         =, in
//!             ├ above    bounds, ascending         >= 3, >= 7, >= 9: a prefix is satisfied
//!             ├ below    bounds, ascending         <= 2, <= 5:       a suffix
//!             ├ between  space ─► literals         PS-Tree's spaces
//!             └ others   each evaluated            negations, lists: most of them hold
//! ```

use rustc_hash::FxHashMap;

use super::literal::{Event, HIGH, LOW, Literal, MISSING, Test};
use super::spaces::Spaces;
use super::store::Literals;

#[derive(Default)]
pub struct Predicates {
    attributes: FxHashMap<u32, Attribute>,
    /// The `is null` literals by attribute.
    nulls: FxHashMap<u32, u32>,
}

#[derive(Default)]
struct Attribute {
    equal: FxHashMap<i64, Vec<u32>>,
    above: Vec<(i64, u32)>,
    below: Vec<(i64, u32)>,
    spaces: Spaces,
    between: Vec<Vec<u32>>,
    others: Vec<u32>,
    count: usize,
}

impl Predicates {
    pub fn add(&mut self, number: u32, literal: &Literal) {
        if literal.test == Test::Null {
            self.nulls.insert(literal.attribute, number);
            return;
        }
        let attribute = self.attributes.entry(literal.attribute).or_default();
        attribute.count += 1;
        match literal.test {
            _ if literal.negated => attribute.others.push(number),
            Test::Range(low, high) if low == high => attribute.list(low).push(number),
            Test::In(ref values) => {
                for &value in values {
                    attribute.list(value).push(number);
                }
            }
            Test::Range(low, HIGH) => insert(&mut attribute.above, (low, number)),
            Test::Range(LOW, high) => insert(&mut attribute.below, (high, number)),
            Test::Range(low, high) => {
                let lists = &mut attribute.between;
                attribute.spaces.cut((low, high), |old, new| {
                    lists.resize_with(lists.len().max(old.max(new) as usize + 1), Vec::new);
                    lists[new as usize] = lists[old as usize].clone();
                });
                for space in attribute.spaces.within((low, high)) {
                    lists[space as usize].push(number);
                }
            }
            _ => attribute.others.push(number),
        }
    }

    pub fn remove(&mut self, number: u32, literal: &Literal) {
        if literal.test == Test::Null {
            self.nulls.remove(&literal.attribute);
            return;
        }
        let of = literal.attribute;
        let attribute = self.attributes.get_mut(&of).expect("it was added");
        match literal.test {
            _ if literal.negated => drop_from(&mut attribute.others, &number),
            Test::Range(low, high) if low == high => attribute.unlist(low, number),
            Test::In(ref values) => {
                for &value in values {
                    attribute.unlist(value, number);
                }
            }
            Test::Range(low, HIGH) => drop_from(&mut attribute.above, &(low, number)),
            Test::Range(LOW, high) => drop_from(&mut attribute.below, &(high, number)),
            Test::Range(low, high) => {
                for space in attribute.spaces.within((low, high)) {
                    drop_from(&mut attribute.between[space as usize], &number);
                }
                let lists = &mut attribute.between;
                attribute
                    .spaces
                    .release((low, high), |_, gone| lists[gone as usize].clear());
            }
            _ => drop_from(&mut attribute.others, &number),
        }
        attribute.count -= 1;
        if attribute.count == 0 {
            self.attributes.remove(&of);
        }
    }

    /// Call `found` with each satisfied literal, once.
    pub fn satisfied(&self, event: &Event, literals: &Literals, mut found: impl FnMut(u32)) {
        for &(attribute, value) in &event.pairs {
            let Some(attribute) = self.attributes.get(&attribute) else {
                continue;
            };
            let mut all = |numbers: &[u32]| numbers.iter().for_each(|&number| found(number));
            if let Some(equal) = attribute.equal.get(&value) {
                all(equal);
            }
            if !attribute.between.is_empty() {
                all(&attribute.between[attribute.spaces.locate(value) as usize]);
            }
            let above = attribute
                .above
                .partition_point(|&(bound, _)| bound <= value);
            attribute.above[..above]
                .iter()
                .for_each(|&(_, number)| found(number));
            let below = attribute.below.partition_point(|&(bound, _)| bound < value);
            attribute.below[below..]
                .iter()
                .for_each(|&(_, number)| found(number));
            for &number in &attribute.others {
                if literals.get(number).holds(event) {
                    found(number);
                }
            }
        }
        for (&attribute, &number) in &self.nulls {
            if event.value(attribute) == MISSING {
                found(number);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.nulls.is_empty()
    }
}

impl Attribute {
    fn list(&mut self, value: i64) -> &mut Vec<u32> {
        self.equal.entry(value).or_default()
    }

    fn unlist(&mut self, value: i64, number: u32) {
        drop_from(self.list(value), &number);
        if self.list(value).is_empty() {
            self.equal.remove(&value);
        }
    }
}

fn insert(all: &mut Vec<(i64, u32)>, new: (i64, u32)) {
    let place = all.partition_point(|old| *old < new);
    all.insert(place, new);
}

/// Remove one element; the others keep their order.
fn drop_from<T: PartialEq>(all: &mut Vec<T>, one: &T) {
    let place = all.iter().position(|other| other == one);
    all.remove(place.expect("it was added"));
}
