//! Which predicate do the fewest events satisfy? (section 3.3 of the thesis)
//!
//! The share of a sample of events, counted once for each distinct literal. Without a sample, by
//! operator.

use crate::papers::literal::{Event, Literal, Test};

const SAMPLE: usize = 256;

#[derive(Default)]
pub struct Selectivity {
    sample: Vec<Event>,
    shares: Vec<f32>,
}

impl Selectivity {
    pub fn learn(&mut self, events: &[Event]) {
        self.sample = events[..events.len().min(SAMPLE)].to_vec();
    }

    /// A number stands for a literal from now on.
    pub fn add(&mut self, number: u32, literal: &Literal) {
        let place = number as usize;
        self.shares.resize(self.shares.len().max(place + 1), 0.0);
        let holds = self
            .sample
            .iter()
            .filter(|event| literal.holds(event))
            .count();
        let share = holds as f32 / self.sample.len().max(1) as f32;
        // Among literals that the sample never satisfies, the operator decides.
        self.shares[place] = share + by_operator(literal) / 1024.0;
    }

    /// Lower is more selective.
    pub fn of(&self, number: u32) -> f32 {
        self.shares[number as usize]
    }
}

fn by_operator(literal: &Literal) -> f32 {
    match literal.test {
        _ if literal.negated => 0.9,
        Test::Range(low, high) if low == high => 0.05,
        Test::In(_) | Test::All(_) => 0.1,
        Test::Any(_) => 0.2,
        Test::Range(..) | Test::Text(..) => 0.3,
        Test::Present | Test::Null => 1.0,
    }
}
