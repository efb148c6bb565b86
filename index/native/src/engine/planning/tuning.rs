//! Which of the core's choices are on. All are; benchmarks take one away to see what it brings.
//!
//! Whatever is off, the answers are the same, and so is everything but time and memory. An index
//! is tuned before its first expression: some choices are written into every word.

use crate::engine::core::Core;
use crate::engine::matching::scan::is_wide;
use std::fmt;

/// How the child that an `and` is entered by is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The one that is cheapest by all that is known of the traffic.
    #[default]
    Known,
    /// By the ranking of operators, whatever else is known.
    Ranking,
    /// Any, though always the same.
    Random,
}

/// The choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// How many guards a posting has, two at the most.
    pub guards: usize,
    /// Whether four postings are checked at once, where the processor can.
    pub wide: bool,
    /// Whether sets are marked by their values (`set_bits.rs`).
    pub set_bits: bool,
    /// Whether a set of few small integers is a word of its own.
    pub tiny_sets: bool,
    /// Whether memory is asked for before it is read.
    pub prefetch: bool,
    /// Whether memory comes in huge pages, where the system has them.
    pub huge_pages: bool,
    /// Whether sampled events count where there are no statistics, or the ranking alone.
    pub counting: bool,
    pub access: Access,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            guards: 2,
            wide: true,
            set_bits: true,
            tiny_sets: true,
            prefetch: true,
            huge_pages: true,
            counting: true,
            access: Access::Known,
        }
    }
}

/// Why an index cannot be tuned so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TuningError {
    /// There is no choice of this name.
    Name(String),
    /// The choice has no such value.
    Value {
        name: &'static str,
        most: u32,
        got: u32,
    },
    /// The index has expressions already.
    NotEmpty,
}

impl fmt::Display for TuningError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TuningError::Name(name) => write!(f, "there is no choice named {name}"),
            TuningError::Value { name, most, got } => {
                write!(f, "{name} is at most {most}, not {got}")
            }
            TuningError::NotEmpty => f.write_str("an index is tuned before its first expression"),
        }
    }
}

impl Tuning {
    /// The names that `set` takes, with the greatest value of each; 0 is off, or the least.
    pub const NAMES: [(&'static str, u32); 8] = [
        ("guards", 2),
        ("wide", 1),
        ("set_bits", 1),
        ("tiny_sets", 1),
        ("prefetch", 1),
        ("huge_pages", 1),
        ("counting", 1),
        ("access", 2),
    ];

    /// The value of a choice, as `set` takes it; 0 if there is no such choice.
    pub fn get(&self, name: &str) -> u32 {
        match name {
            "guards" => self.guards as u32,
            "wide" => u32::from(self.wide),
            "set_bits" => u32::from(self.set_bits),
            "tiny_sets" => u32::from(self.tiny_sets),
            "prefetch" => u32::from(self.prefetch),
            "huge_pages" => u32::from(self.huge_pages),
            "counting" => u32::from(self.counting),
            "access" => match self.access {
                Access::Random => 0,
                Access::Ranking => 1,
                Access::Known => 2,
            },
            _ => 0,
        }
    }

    /// Change one choice. `access` is 2 for all that is known, 1 for the ranking, 0 for any.
    ///
    /// # Errors
    /// If there is no such choice, or it has no such value.
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
            "wide" => self.wide = on,
            "set_bits" => self.set_bits = on,
            "tiny_sets" => self.tiny_sets = on,
            "prefetch" => self.prefetch = on,
            "huge_pages" => self.huge_pages = on,
            "counting" => self.counting = on,
            _ => self.access = [Access::Random, Access::Ranking, Access::Known][value as usize],
        }
        Ok(())
    }
}

impl Core {
    /// Make these choices from now on.
    ///
    /// # Errors
    /// If there are expressions.
    pub fn tune(&mut self, tuning: Tuning) -> Result<(), TuningError> {
        if !self.slots.is_empty() {
            return Err(TuningError::NotEmpty);
        }
        self.wide = tuning.wide && is_wide();
        self.long.use_shortcuts(tuning.tiny_sets, tuning.set_bits);
        self.selectivity.use_samples(tuning.counting);
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
