//! Labels of ids, such as the categories of a campaign, and which of them a query excludes.
//!
//! ```text
//!   "IAB1\nIAB7/IAB7-39" ──sets──▶ 3 ──▶ IAB1 (last), IAB7, IAB7/IAB7-39 (last)
//! ```
//!
//! A label is a path: `IAB7/IAB7-39` lies below `IAB7`. A slot holds the number of its set of
//! labels; 0 means none, which costs nothing. A set knows the numbers of its labels, each after
//! those that it lies below. So a query looks up its own labels once, and then reads a few bits for
//! an id that matches. The number of different sets does not matter.

mod snapshot;

use crate::engine::expression::strings::Strings;
use crate::engine::ids::groups::Numbers;
use crate::engine::memory::chunked::Chunked;
use rustc_hash::FxHashMap;

/// The number of a set of labels in this index; 0 for none.
pub type LabelSet = u32;

/// Marks the number of a label that an id has, in contrast to one that such a label lies below.
const LAST: u32 = 1 << 31;

/// All sets of labels in use.
pub struct Labels {
    /// The sets by their text; their numbers are one lower than a `LabelSet`.
    sets: Strings,
    /// The labels of each set.
    members: Chunked<Box<[u32]>>,
    names: Strings,
}

impl Default for Labels {
    fn default() -> Self {
        Labels {
            sets: Strings::new(),
            members: Chunked::default(),
            names: Strings::new(),
        }
    }
}

/// The text of a set: its labels in order, each once. A label has at least one character and no
/// line break.
pub fn text_of<T: AsRef<str>>(labels: &[T]) -> String {
    let mut labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.join("\n")
}

/// The labels that a label lies below, then the label itself.
fn path(label: &str) -> impl Iterator<Item = (&str, u32)> {
    let above = label
        .match_indices('/')
        .filter(|&(end, _)| end > 0)
        .map(|(end, _)| (&label[..end], 0));
    above.chain(std::iter::once((label, LAST)))
}

/// What a query says about labels, in the numbers of an index.
pub struct LabelFilter {
    excluded: Numbers,
    within: Option<Numbers>,
}

impl Labels {
    /// The text of a set.
    pub fn text(&self, set: LabelSet) -> &str {
        match set.checked_sub(1) {
            Some(number) => self.sets.text(number),
            None => "",
        }
    }

    /// The number of a set, given as its text, counting one more use.
    pub fn acquire(&mut self, text: &str) -> LabelSet {
        if text.is_empty() {
            return 0;
        }
        let number = self.sets.acquire(text);
        if self.sets.uses(number) == 1 {
            self.fill(number);
        }
        number + 1
    }

    /// Find the labels of a new set.
    fn fill(&mut self, number: u32) {
        let Labels {
            sets,
            members,
            names,
        } = self;
        let labels = sets.text(number).split('\n').flat_map(path);
        let numbers = labels.map(|(name, last)| names.acquire(name) | last);
        members.grow_to(number as usize + 1);
        *members.get_mut(number) = numbers.collect();
    }

    /// Count one use less of a set.
    pub fn release(&mut self, set: LabelSet) {
        let Some(number) = set.checked_sub(1) else {
            return;
        };
        self.sets.release(number);
        if self.sets.uses(number) == 0 {
            for label in std::mem::take(self.members.get_mut(number)) {
                self.names.release(label & !LAST);
            }
        }
    }

    /// The filter that excludes sets with one of the labels, or with one below; and with `within`
    /// also sets without labels, and those with a label that is neither there nor below one that
    /// is. `None` if no set is excluded.
    pub fn filter(&self, excluded: &[String], within: Option<&[String]>) -> Option<LabelFilter> {
        if excluded.is_empty() && within.is_none() {
            return None;
        }
        let numbers = |labels: &[String]| {
            let mut numbers = Numbers::default();
            let known = labels.iter().filter_map(|label| self.names.find(label));
            known.for_each(|number| numbers.insert(number));
            numbers
        };
        let filter = LabelFilter {
            excluded: numbers(excluded),
            within: within.map(numbers),
        };
        (!filter.excluded.is_empty() || filter.within.is_some()).then_some(filter)
    }

    /// Whether a filter lets a set pass.
    #[inline]
    pub fn passes(&self, set: LabelSet, filter: &LabelFilter) -> bool {
        let Some(number) = set.checked_sub(1) else {
            return filter.within.is_none();
        };
        let members = self.members.get(number);
        let has = |numbers: &Numbers, label: u32| numbers.contains(label & !LAST);
        if members.iter().any(|&label| has(&filter.excluded, label)) {
            return false;
        }
        let Some(within) = &filter.within else {
            return true;
        };
        let mut inside = false;
        members.iter().all(|&label| {
            inside |= has(within, label);
            let passes = inside || label & LAST == 0;
            inside &= label & LAST == 0;
            passes
        })
    }

    /// The number of different sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether no id has labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in bytes; nothing for an index without labels.
    pub fn total_bytes(&self) -> usize {
        if self.members.is_empty() {
            return 0;
        }
        let lists: usize = self.members.iter().map(|labels| labels.len() * 4).sum();
        self.sets.total_bytes() + self.names.total_bytes() + self.members.total_bytes() + lists
    }

    /// Check the use counts of sets and labels.
    ///
    /// # Errors
    /// With the first invariant that does not hold.
    pub fn check_invariants(&self, uses: &FxHashMap<LabelSet, u32>) -> Result<(), String> {
        let mut names: FxHashMap<u32, u32> = FxHashMap::default();
        for number in 0..self.members.len() as u32 {
            let counted = uses.get(&(number + 1)).copied().unwrap_or(0);
            if self.sets.uses(number) != counted {
                return Err(format!("label set {number} does not have {counted} uses"));
            }
            let members = self.members.get(number);
            if (counted == 0) != members.is_empty() {
                return Err(format!(
                    "label set {number} is in use and empty, or neither"
                ));
            }
            for &label in members {
                *names.entry(label & !LAST).or_insert(0) += 1;
            }
        }
        let wrong = names.iter().find(|&(&n, &u)| self.names.uses(n) != u);
        match wrong {
            Some((label, uses)) => Err(format!("label {label} does not have {uses} uses")),
            None if names.len() != self.names.len() => Err("a label is in no set".to_owned()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LabelSet, Labels, text_of};
    use rustc_hash::FxHashMap;

    fn set(labels: &mut Labels, text: &str) -> LabelSet {
        labels.acquire(&text_of(&text.split(' ').collect::<Vec<_>>()))
    }

    #[test]
    fn a_label_excludes_what_lies_below_it() {
        let mut labels = Labels::default();
        let sets = ["a", "a/b", "ab", "c a/b/d", "c"].map(|text| set(&mut labels, text));
        let pass = |excluded: &[&str], within: Option<&[&str]>| {
            let owned = |some: &[&str]| some.iter().map(|&label| label.to_owned()).collect();
            let (excluded, within): (Vec<String>, Option<Vec<String>>) =
                (owned(excluded), within.map(owned));
            let filter = labels.filter(&excluded, within.as_deref());
            let pass = |set| {
                filter
                    .as_ref()
                    .is_none_or(|filter| labels.passes(set, filter))
            };
            (sets.map(pass), pass(0))
        };
        assert_eq!(pass(&[], None), ([true; 5], true));
        assert_eq!(pass(&["x"], None), ([true; 5], true));
        assert_eq!(
            pass(&["a"], None),
            ([false, false, true, false, true], true)
        );
        assert_eq!(
            pass(&["a/b"], None),
            ([true, false, true, false, true], true)
        );
        let within = |some: &[&str]| pass(&[], Some(some));
        assert_eq!(within(&[]), ([false; 5], false));
        assert_eq!(within(&["a"]), ([true, true, false, false, false], false));
        assert_eq!(
            within(&["a/b", "c"]),
            ([false, true, false, true, true], false)
        );
        assert_eq!(
            pass(&["c"], Some(&["a", "c"])),
            ([true, true, false, false, false], false)
        );
    }

    #[test]
    fn acquire_then_release_is_identity() {
        let mut labels = Labels::default();
        assert_eq!((labels.acquire(""), labels.text(0)), (0, ""));
        let some = set(&mut labels, "a/b c a/b");
        assert_eq!(labels.text(some), "a/b\nc");
        assert_eq!(set(&mut labels, "c a/b"), some, "the order does not matter");
        let other = set(&mut labels, "a");
        let mut uses = FxHashMap::from_iter([(some, 2), (other, 1)]);
        labels.check_invariants(&uses).expect("two uses and one");
        labels.release(some);
        labels.release(other);
        uses = FxHashMap::from_iter([(some, 1)]);
        labels.check_invariants(&uses).expect("one use");
        assert_eq!(set(&mut labels, "x"), other, "numbers are given back");
        labels.release(other);
        labels.release(some);
        assert!(labels.is_empty() && labels.names.is_empty());
    }
}
