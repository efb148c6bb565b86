//! Switches of the core's optimisations. All are on; benchmarks switch one off to measure its
//! effect.
//!
//! Switches change time and memory, never the answers. They are set before the first expression,
//! because some decide how words are written.

use crate::engine::core::Core;
use crate::engine::ids::bands::FIRST;
use crate::engine::planning::plan::MOST_GUARDS;
use std::fmt;

/// How the access child of an `and` is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The cheapest one by everything that is known about the traffic.
    #[default]
    Known,
    /// By the ranking of operators only.
    Ranking,
    /// At random, but always the same one.
    Random,
}

/// The switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// The maximum number of guards of a posting.
    pub guards: usize,
    /// Whether a set of a few small integers fits a word.
    pub tiny_sets: bool,
    /// Whether memory is prefetched.
    pub prefetch: bool,
    /// Whether memory is in huge pages, if the system has them.
    pub huge_pages: bool,
    /// Whether sampled events are used where there are no statistics, or only the ranking.
    pub counting: bool,
    /// The size of the first band of the best entries as a power of two; 0 means no bands.
    pub bands: u32,
    /// Whether a conjunction may be entered by two literals (`pairs.rs`).
    pub pairs: bool,
    pub access: Access,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            guards: MOST_GUARDS,
            tiny_sets: true,
            prefetch: true,
            huge_pages: true,
            counting: true,
            bands: FIRST,
            pairs: true,
            access: Access::Known,
        }
    }
}

/// Why a switch cannot be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TuningError {
    /// There is no switch of this name.
    Name(String),
    /// The switch has no such value.
    Value {
        name: &'static str,
        most: u32,
        got: u32,
    },
    /// The index already has expressions.
    NotEmpty,
}

impl fmt::Display for TuningError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TuningError::Name(name) => write!(f, "there is no switch named {name}"),
            TuningError::Value { name, most, got } => {
                write!(f, "{name} is at most {most}, not {got}")
            }
            TuningError::NotEmpty => f.write_str("switches are set before the first expression"),
        }
    }
}

impl Tuning {
    /// The names of the switches, with the greatest value of each; 0 is off, or the least.
    pub const NAMES: [(&'static str, u32); 8] = [
        ("guards", MOST_GUARDS as u32),
        ("tiny_sets", 1),
        ("prefetch", 1),
        ("huge_pages", 1),
        ("counting", 1),
        ("bands", FIRST),
        ("pairs", 1),
        ("access", 2),
    ];

    /// The value of a switch, as for `set`; 0 if there is no such switch.
    pub fn get(&self, name: &str) -> u32 {
        match name {
            "guards" => self.guards as u32,
            "tiny_sets" => u32::from(self.tiny_sets),
            "prefetch" => u32::from(self.prefetch),
            "huge_pages" => u32::from(self.huge_pages),
            "counting" => u32::from(self.counting),
            "bands" => self.bands,
            "pairs" => u32::from(self.pairs),
            "access" => match self.access {
                Access::Random => 0,
                Access::Ranking => 1,
                Access::Known => 2,
            },
            _ => 0,
        }
    }

    /// Set a switch. `access` is 2 for all knowledge, 1 for the ranking, 0 for random.
    ///
    /// # Errors
    /// If there is no such switch, or it has no such value.
    pub fn set(&mut self, name: &str, value: u32) -> Result<(), TuningError> {
        let Some(&(name, most)) = Self::NAMES.iter().find(|(known, _)| *known == name) else {
            return Err(TuningError::Name(name.to_owned()));
        };
        if value > most {
            return Err(TuningError::Value {
                name,
                most,
                got: value,
            });
        }
        let on = value == 1;
        match name {
            "guards" => self.guards = value as usize,
            "tiny_sets" => self.tiny_sets = on,
            "prefetch" => self.prefetch = on,
            "huge_pages" => self.huge_pages = on,
            "counting" => self.counting = on,
            "bands" => self.bands = value,
            "pairs" => self.pairs = on,
            _ => self.access = [Access::Random, Access::Ranking, Access::Known][value as usize],
        }
        Ok(())
    }
}

impl Core {
    /// Use these switches.
    ///
    /// # Errors
    /// If the index has expressions.
    pub fn tune(&mut self, tuning: Tuning) -> Result<(), TuningError> {
        if !self.slots.is_empty() {
            return Err(TuningError::NotEmpty);
        }
        self.long.has_tiny_sets = tuning.tiny_sets;
        self.selectivity.use_samples(tuning.counting);
        self.bands.use_first(tuning.bands);
        for arena in self.arenas() {
            arena.use_huge_pages(tuning.huge_pages);
        }
        self.forget_probabilities();
        self.tuning = tuning;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_set_and_set_back() {
        for (name, most) in Tuning::NAMES {
            let mut tuning = Tuning::default();
            tuning.set(name, 0).unwrap();
            assert_eq!(tuning.get(name), 0);
            assert_ne!(tuning, Tuning::default(), "{name}");
            tuning.set(name, most).unwrap();
            assert_eq!(tuning.get(name), most);
            assert_eq!(tuning, Tuning::default(), "{name}");
            let refused = tuning.set(name, most + 1);
            assert!(matches!(refused, Err(TuningError::Value { .. })), "{name}");
        }
        let refused = Tuning::default().set("luck", 1);
        assert_eq!(refused, Err(TuningError::Name("luck".to_owned())));
    }
}
