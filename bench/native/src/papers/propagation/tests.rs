//! The paper's examples and the figures that follow from its cost model.

use super::greedy::{Group, checks, greedy};
use super::*;
use crate::papers::engine::Conjunctive;
use crate::papers::histories;

/// W0: five equalities on 32 attributes with 35 values, two of them on fixed attributes.
fn w0(count: f64) -> Vec<Group> {
    let mut groups = Vec::new();
    for one in 2..32 {
        for two in one + 1..32 {
            for three in two + 1..32 {
                let mut group = Group::new(vec![0, 1, one, two, three]);
                group.add_many(count / 4060.0, 1.0 / 35.0);
                groups.push(group);
            }
        }
    }
    groups
}

#[test]
fn the_greedy_finds_the_tables_of_w0() {
    for (count, triples, wanted, single) in [
        (1e5, 0, 82.0, 2857.0),
        (1e6, 19, 56.0, 28_571.0),
        (6e6, 25, 152.0, 171_429.0),
    ] {
        let groups = w0(count);
        assert_eq!(checks(&groups, &[]).round(), single);
        let chosen = greedy(&groups, greedy::TABLE_CHECKS);
        assert_eq!(chosen[0], [0, 1]);
        assert!(chosen[1..].iter().all(|s| s.len() == 3 && s[..2] == [0, 1]));
        assert_eq!(chosen.len() - 1, triples);
        assert_eq!(checks(&groups, &chosen).round(), wanted);
    }
}

#[test]
fn example_3_1_costs_46_667_checks_by_single_attributes_and_25_150_with_pairs() {
    // A, B, C have 100 values; a million conjunctions for each subset; the event lacks C.
    let checks = |attributes: &[u32], count: f64, schema: &[u32]| {
        let mut group = Group::new(attributes.to_vec());
        group.add_many(count, 0.01);
        group.checks(schema).unwrap()
    };
    let (a, b, c) = (0, 1, 2);
    let single = |one: u32| {
        checks(&[one], 1e6, &[one])
            + checks(&[a, b], 0.5e6, &[one])
            + checks(&[one.min(c), c], 0.5e6, &[one])
            + checks(&[a, b, c], 1e6 / 3.0, &[one])
    };
    assert_eq!((single(a) + single(b)).round(), 46_667.0);
    let pairs = checks(&[a], 1e6, &[a])
        + checks(&[a, c], 0.5e6, &[a])
        + checks(&[b], 1e6, &[b])
        + checks(&[a, b], 1e6, &[a, b])
        + checks(&[a, b, c], 0.5e6, &[a, b]);
    assert_eq!(pairs.round(), 25_150.0);
}

#[test]
fn histories_with_thresholds_that_make_and_drop_tables_equal_the_flat_scan() {
    let thresholds = Thresholds {
        margin: 0.01,
        power: 0.05,
        fewest: 2,
    };
    for seed in 100..124 {
        let index = Propagation::new(Clustering::Dynamic(thresholds), true);
        let store = Store::new(histories::schema());
        let engine = Conjunctive::new(store, index);
        histories::history("propagation-dynamic", seed, Box::new(engine));
    }
}
