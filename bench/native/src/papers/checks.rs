//! Conjunctions as a program in C holds them: the predicates of one lie together, so that verifying
//! a candidate reads one place of memory.
//!
//! ```text
//!   slot 7 ─► │ a3 in [18, 24] │ a9 = 5 │ a12: literal 41 │     sets and lists are looked up
//! ```

use super::literal::{Event, HIGH, LOW, Literal, MISSING, Test};
use super::store::Literals;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Within,
    Outside,
    /// A set or a list: the number of its literal is in `low`.
    Literal,
    Null,
}

#[derive(Clone, Copy, Debug)]
pub struct Check {
    pub attribute: u32,
    kind: Kind,
    low: i64,
    high: i64,
}

impl Check {
    fn new(number: u32, literal: &Literal) -> Self {
        let (kind, low, high) = match literal.test {
            Test::Range(low, high) if literal.negated => (Kind::Outside, low, high),
            Test::Range(low, high) => (Kind::Within, low, high),
            Test::Present if !literal.negated => (Kind::Within, LOW, HIGH),
            Test::Null => (Kind::Null, 0, 0),
            _ => (Kind::Literal, i64::from(number), 0),
        };
        Check {
            attribute: literal.attribute,
            kind,
            low,
            high,
        }
    }

    /// Whether it holds where the attribute is missing.
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    #[inline]
    pub fn holds(&self, event: &Event, literals: &Literals) -> bool {
        let value = event.value(self.attribute);
        match self.kind {
            Kind::Within => self.low <= value && value <= self.high,
            Kind::Outside => value != MISSING && !(self.low <= value && value <= self.high),
            Kind::Literal => literals.get(self.low as u32).holds(event),
            Kind::Null => value == MISSING,
        }
    }
}

/// The checks of each slot.
#[derive(Default)]
pub struct Checks(Vec<Box<[Check]>>);

impl Checks {
    /// The slot is verified by these literals.
    pub fn fill(&mut self, slot: u32, numbers: impl Iterator<Item = u32>, literals: &Literals) {
        let place = slot as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Box::default);
        }
        self.0[place] = numbers.map(|n| Check::new(n, literals.get(n))).collect();
    }

    pub fn empty(&mut self, slot: u32) {
        self.0[slot as usize] = Box::default();
    }

    #[inline]
    pub fn of(&self, slot: u32) -> &[Check] {
        &self.0[slot as usize]
    }

    #[inline]
    pub fn hold(&self, slot: u32, event: &Event, literals: &Literals) -> bool {
        let mut checks = self.of(slot).iter();
        checks.all(|check| check.holds(event, literals))
    }
}

const _: () = assert!(MISSING < LOW, "a missing value is within no range");

#[cfg(test)]
mod tests {
    use super::super::store::Store;
    use super::*;
    use crate::papers::histories;

    #[test]
    fn a_check_says_what_its_literal_says() {
        let mut store = Store::new(histories::schema());
        let texts = [
            r#"["between","a",1,5]"#,
            r#"["not between","a",1,5]"#,
            r#"["in","a",1,5]"#,
            r#"["not in","a",1,5]"#,
            r#"["is null","a"]"#,
            r#"["is not null","a"]"#,
            r#"["=","s","s1"]"#,
            r#"["!=","s","s1"]"#,
            r#"["any of","l",1,2]"#,
            r#"["<=","x",0.5]"#,
        ];
        let events = [
            r#"{}"#,
            r#"{"a":0,"s":"s1","l":[1],"x":0.5}"#,
            r#"{"a":3,"s":"s2","l":[],"x":0.75}"#,
            r#"{"a":5,"l":[3]}"#,
        ];
        let mut checks = Checks::default();
        for (id, text) in texts.iter().enumerate() {
            let literals = store.read(&format!("[1,{text}]")).unwrap();
            let slot = store.add(id as u64, literals);
            checks.fill(slot, store.body(slot).iter().copied(), &store.literals);
            for event in events {
                let event = Event::read(event, &store.schema, &store.names).unwrap();
                let wanted = store.literals_of(slot).all(|l| l.holds(&event));
                assert_eq!(checks.hold(slot, &event, &store.literals), wanted, "{text}");
            }
        }
    }
}
