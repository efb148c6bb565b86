//! The attributes that the index uses together, whose joint shares are worth knowing.
//!
//! A posting is found by a key of one attribute and guarded by literals of others. How well its
//! guards filter depends on their correlation with the key, which only pairs in the statistics show
//! (`pairs.rs`). So the statistics job asks here which pairs to count.

use crate::engine::core::Core;
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::index::Index;
use crate::engine::matching::scan::POSTING;
use crate::engine::postings::keys::Key;
use crate::engine::postings::lists::{ListId, NARROW};
use rustc_hash::FxHashMap;

/// The number of postings that are read before the lock is released.
const PORTION: usize = 10_000;

/// The attributes of a key and of a guard, with the number of postings that have both: most first,
/// then by name, at most `limit`. What is inserted meanwhile may or may not count.
pub fn used_pairs(index: &Index, limit: usize) -> Vec<(String, String, u64)> {
    let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    let mut next = 0;
    while let Some(list) = next_portion(index, next, &mut counts) {
        next = list;
    }
    index.read(|core| {
        let name = |attribute| core.schema.name(attribute).to_owned();
        let mut pairs: Vec<(String, String, u64)> = counts
            .into_iter()
            .map(|((access, guard), count)| (name(access), name(guard), count))
            .collect();
        pairs.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| a.cmp(b)));
        pairs.truncate(limit);
        pairs
    })
}

/// Count from a list on. Returns where to continue, or `None` at the end.
fn next_portion(
    index: &Index,
    from: ListId,
    counts: &mut FxHashMap<(u32, u32), u64>,
) -> Option<ListId> {
    index.read(|core| {
        let mut looked_at = 0;
        for list in from..core.keys.reach() {
            if looked_at >= PORTION {
                return Some(list);
            }
            looked_at += 1 + count(core, list, counts);
        }
        None
    })
}

fn count(core: &Core, list: ListId, counts: &mut FxHashMap<(u32, u32), u64>) -> usize {
    let key = core.keys.key_of(list);
    let Some(access) = key.attribute() else {
        return 0;
    };
    if matches!(key, Key::Link(..)) {
        return 0; // its items are not postings
    }
    let mut count = |guard: LiteralWord| {
        let attribute = literal_word::attribute_of(guard);
        if guard != literal_word::ALWAYS && attribute != access {
            *counts.entry((access, attribute)).or_insert(0) += 1;
        }
    };
    core.lists.blocks::<0>(list, |block| {
        for posting in block.chunks_exact(POSTING) {
            posting[..POSTING - 1]
                .iter()
                .for_each(|&guard| count(guard));
        }
    });
    core.lists.blocks::<1>(list, |block| {
        block.iter().step_by(NARROW).for_each(|&guard| count(guard));
    });
    core.lists.len(list) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ids::slots::Properties;
    use crate::language::{Limits, Schema, Type};

    #[test]
    fn pairs_are_counted_by_posting_the_most_used_first() {
        let attributes = [
            ("a", Type::Int),
            ("b", Type::Int),
            ("c", Type::Int),
            ("d", Type::Int),
        ];
        let schema = Schema::new(attributes).expect("names differ");
        let index = Index::new(schema, Limits::default(), false);
        let statistics = br#"{"version": 1, "attributes": {"a": {"values": [[1, 0.001]]},
            "b": {"values": [[1, 0.01]]}, "c": {"values": [[1, 0.1]]}, "d": {"values": [[1, 0.2]]}}}"#;
        index.use_statistics(Some(statistics)).expect("statistics");
        let insert = |id: u64, tree: &str| {
            let json = format!("[1,{tree}]");
            let inserted = index.insert(id, json.as_bytes(), Properties::default());
            inserted.expect("a tree");
        };
        insert(1, r#"["and",["=","a",1],["=","b",1]]"#);
        insert(
            2,
            r#"["and",["=","a",1],["=","b",1],["=","c",1],["=","d",1]]"#,
        );
        insert(3, r#"["or",["=","a",1],["and",["=","b",1],["=","d",1]]]"#);
        insert(4, "true");
        let pair = |access: &str, guard: &str, count| (access.to_owned(), guard.to_owned(), count);
        let expected = [pair("a", "b", 2), pair("a", "c", 1), pair("b", "d", 1)];
        assert_eq!(used_pairs(&index, 50), expected);
        assert_eq!(used_pairs(&index, 1), expected[..1]);
        // More lists than are read in one go.
        for id in 0..2 * PORTION as u64 {
            let value = 2 + id / 2;
            insert(
                10 + id,
                &format!(r#"["and",["=","a",{value}],["=","c",{}]]"#, id % 2),
            );
        }
        let counted = used_pairs(&index, 1).remove(0);
        assert_eq!((counted.0.as_str(), counted.1.as_str()), ("a", "c"));
        for id in 1..10 + 2 * PORTION as u64 {
            index.remove(id);
        }
        assert_eq!(used_pairs(&index, 50), []);
    }
}
