//! How often do events have a value? ν of section 3.1, from a sample of events.

use rustc_hash::FxHashMap;

use super::Event;

#[derive(Default)]
pub struct Frequencies {
    events: f64,
    counts: FxHashMap<(u32, i64), u32>,
    /// Different values of each attribute.
    different: FxHashMap<u32, u32>,
}

/// The probability of a value of which nothing is known.
const UNKNOWN: f64 = 0.01;

impl Frequencies {
    pub fn new(events: &[Event]) -> Self {
        let mut made = Frequencies {
            events: events.len() as f64,
            ..Frequencies::default()
        };
        for &(attribute, value) in events.iter().flat_map(|event| &event.pairs) {
            let count = made.counts.entry((attribute, value)).or_default();
            *count += 1;
            *made.different.entry(attribute).or_default() += u32::from(*count == 1);
        }
        made
    }

    /// The probability that an event has the value. One that the sample lacks is as likely as one
    /// more occurrence, shared by the values that there are.
    pub fn of(&self, attribute: u32, value: i64) -> f64 {
        let Some(&different) = self.different.get(&attribute) else {
            return UNKNOWN / (self.events + 1.0);
        };
        let count = self.counts.get(&(attribute, value)).copied().unwrap_or(0);
        (f64::from(count) + 1.0 / f64::from(different)) / (self.events + 1.0)
    }
}
