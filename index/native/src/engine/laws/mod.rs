//! Through any history, however it is tuned, the index gives the answers of a naive evaluation
//! (`model.rs`). `PROPTEST_CASES=100000 cargo test --release laws` looks for longer.

mod model;

use crate::engine::ids::slots::Properties;
use crate::engine::index::Index;
use crate::engine::matching::filter::Filter;
use crate::engine::planning::tuning::Tuning;
use crate::engine::tests::{best, matches};
use crate::language::{Limits, Schema};
use model::{Event, Kinds, Tree, events, kinds, trees};
use proptest::prelude::*;
use proptest::sample::Index as Any;
use std::collections::BTreeMap;

const CASES: u32 = 200;
const IDS: [u64; 8] = [0, 1, 63, 64, 65, 4096, 1 << 32, (1 << 63) - 1];

#[derive(Clone, Debug)]
enum Step {
    /// Insert, or replace, with this score.
    Put(usize, Tree, i64),
    /// Give an id the expression of another.
    Copy(usize, Any),
    Remove(usize),
    /// Statistics with these shares of values, or none.
    Statistics(Option<Vec<f32>>),
    Replan,
}

fn steps() -> impl Strategy<Value = Step> {
    let id = 0..IDS.len();
    prop_oneof![
        8 => (id.clone(), trees(), -2i64..3)
            .prop_map(|(id, tree, score)| Step::Put(id, tree, score)),
        2 => (id.clone(), any::<Any>()).prop_map(|(id, other)| Step::Copy(id, other)),
        3 => id.prop_map(Step::Remove),
        1 => prop::option::of(prop::collection::vec(0f32..=1.0, 8)).prop_map(Step::Statistics),
        1 => Just(Step::Replan),
    ]
}

/// Names of choices, and values for them.
fn tunings() -> impl Strategy<Value = Vec<(&'static str, u32)>> {
    let choice = prop::sample::select(Tuning::NAMES.to_vec())
        .prop_flat_map(|(name, most)| (0..=most).prop_map(move |value| (name, value)));
    prop::collection::vec(choice, 0..4)
}

/// Statistics right in form, and otherwise nonsense.
fn statistics(shares: &[f32], kinds: &Kinds) -> String {
    let share = |place: usize| shares[place % shares.len()];
    let value = |attribute: usize| match kinds[attribute].element().name() {
        "bool" => "true",
        "string" => "\"ab\"",
        "float" => "0.5",
        _ => "3",
    };
    let attributes = (0..kinds.len()).map(|a| {
        let told = if kinds[a].is_list() {
            "elements"
        } else {
            "values"
        };
        let (presence, part) = (share(a), share(a + 1));
        format!(
            "\"a{a}\":{{\"presence\":{presence},\"{told}\":[[{},{part}]]}}",
            value(a)
        )
    });
    format!(
        "{{\"version\":1,\"attributes\":{{{}}}}}",
        attributes.collect::<Vec<_>>().join(",")
    )
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { default.cases } else { CASES },
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_history_gives_the_answers_of_a_naive_evaluation(
        kinds in kinds(),
        tuning in tunings(),
        steps in prop::collection::vec(steps(), 1..16),
        drawn in prop::collection::vec(events(), 1..5),
    ) {
        let names: Vec<String> = (0..kinds.len()).map(|a| format!("a{a}")).collect();
        let declared = names.iter().map(String::as_str).zip(kinds.iter().copied());
        let schema = Schema::new(declared).expect("names differ");
        let index = Index::new(schema, Limits::default(), true);
        for (name, value) in tuning {
            index.tune(name, value).expect("a choice");
        }
        let events: Vec<Event> = drawn.iter().map(|drawn| Event::new(drawn, &kinds)).collect();
        let mut model: BTreeMap<u64, (Tree, i64)> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(id, tree, score) => {
                    put(&index, &mut model, IDS[id], (tree, score), &kinds);
                }
                Step::Copy(id, other) => {
                    if !model.is_empty() {
                        let known = other.get(&Vec::from_iter(model.values())).to_owned().clone();
                        put(&index, &mut model, IDS[id], known, &kinds);
                    }
                }
                Step::Remove(id) => {
                    let was_there = model.remove(&IDS[id]).is_some();
                    prop_assert_eq!(index.remove(IDS[id]), was_there);
                }
                Step::Statistics(shares) => {
                    let json = shares.map(|shares| statistics(&shares, &kinds));
                    index.use_statistics(json.as_ref().map(String::as_bytes)).expect("statistics");
                }
                Step::Replan => index.replan(|_, _| true),
            }
            let held = index.read(|core| core.check_invariants());
            prop_assert_eq!(held, Ok(()));
            for event in &events {
                let mut expected: Vec<(i64, u64)> = model
                    .iter()
                    .filter(|(_, (tree, _))| tree.value(event, &kinds) == Some(true))
                    .map(|(&id, &(_, score))| (score, id))
                    .collect();
                let json = event.json(&kinds);
                let ids: Vec<u64> = expected.iter().map(|&(_, id)| id).collect();
                prop_assert_eq!(matches(&index, &json), ids, "{}", json);
                expected.sort_by_key(|&(score, id)| (-score, id));
                expected.truncate(2);
                let found = best(&index, &Filter::default(), 2, &json);
                prop_assert_eq!(found, expected, "the best of {}", json);
            }
        }
    }
}

fn put(
    index: &Index,
    model: &mut BTreeMap<u64, (Tree, i64)>,
    id: u64,
    (tree, score): (Tree, i64),
    kinds: &Kinds,
) {
    let json = format!("[1,{}]", tree.json(kinds));
    let properties = Properties {
        score,
        ..Properties::default()
    };
    index
        .insert(id, json.as_bytes(), properties)
        .unwrap_or_else(|error| panic!("{json}: {error}"));
    model.insert(id, (tree, score));
}
