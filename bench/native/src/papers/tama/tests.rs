//! The example of section III-D and the theorems.

use _native::language::{Schema, Type};

use super::cells::{bound, cells, located};
use super::*;
use crate::papers::engine::{Conjunctive, Engine};

fn engine(separation: Separation, last: u32, seen: &[String]) -> Conjunctive<Tama> {
    let names = ["temperature", "distance", "height"];
    let schema = Schema::new(names.map(|name| (name, Type::Float))).unwrap();
    let tama = Tama::new(last, separation, vec![true; names.len()]);
    let mut engine = Conjunctive::new(Store::new(schema), tama);
    engine.learn(seen).unwrap();
    engine
}

fn example() -> Conjunctive<Tama> {
    let ends = ["0.0", "1.0"]
        .map(|end| format!(r#"{{"temperature":{end},"distance":{end},"height":{end}}}"#));
    let mut tama = engine(Separation::Uniform, 4, &ends);
    for (id, text) in [
        (
            1,
            r#"["between","temperature",0.1,0.7],["between","distance",0.1,0.6]"#,
        ),
        (
            2,
            r#"["between","temperature",0.0,0.05],["between","height",0.05,1.0]"#,
        ),
    ] {
        tama.insert(id, &format!("[1,[\"and\",{text}]]")).unwrap();
    }
    tama
}

const EVENT: &str = r#"{"temperature":0.4,"distance":0.2,"height":0.7}"#;

#[test]
fn the_example_matches_the_first_subscription_only() {
    let mut tama = example();
    let event = tama.event(EVENT).unwrap();
    let mut found = Vec::new();
    tama.search(&event, &mut found);
    assert_eq!(found, [1]);
}

#[test]
fn the_example_retrieves_1_1_2() {
    let tama = example();
    let event = tama.event(EVENT).unwrap();
    let mut retrieved = Vec::new();
    tama.index.retrieve(&event, |slots| {
        retrieved.extend(slots.iter().map(|slot| slot + 1))
    });
    retrieved.sort_unstable();
    assert_eq!(retrieved, [1, 1, 2]);
}

#[test]
fn a_range_of_the_example_takes_the_widest_cells_inside_it() {
    let wanted = [(2, 1), (3, 1), (3, 4), (4, 1), (4, 10), (4, 11)];
    assert_eq!(cells([0.1, 0.7], 4), wanted);
}

#[test]
fn a_value_of_the_example_is_in_one_cell_of_each_level() {
    let of = |value: f64| located(value, 4).map(|(_, cell)| cell).collect::<Vec<_>>();
    assert_eq!(of(0.4), [0, 0, 1, 3, 6]);
    assert_eq!(of(0.2), [0, 0, 0, 1, 3]);
    assert_eq!(of(0.7), [0, 1, 2, 5, 11]);
}

#[test]
fn a_range_takes_at_most_two_cells_a_level_and_four_at_the_last() {
    for (low, high) in [
        (0.1, 0.7),
        (0.05, 1.0),
        (0.3, 0.30001),
        (0.24, 0.26),
        (0.0, 1.0),
    ] {
        let all = cells([low, high], 6);
        for level in 0..=6 {
            let count = all.iter().filter(|cell| cell.0 == level).count();
            let most = if level == 6 { 4 } else { 2 };
            assert!(count <= most, "{low} {high} {all:?}");
        }
    }
}

#[test]
fn false_positives_stay_below_the_bound_of_theorem_1() {
    assert!((bound(10, 3) - 1.0 / 65.0).abs() < 1e-9);
    for last in 5..10 {
        let (low, high) = (0.103, 0.617);
        let all = cells([low, high], last);
        let covered: f64 = all.iter().map(|cell| 1.0 / (1u64 << cell.0) as f64).sum();
        let start = all.iter().map(|cell| cell.0).min().unwrap();
        assert!(covered >= high - low);
        let share = (covered - (high - low)) / covered;
        assert!(share <= bound(last, start), "{last}: {share}");
    }
}

/// Three of four values are below 0.1.
fn skewed(count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |place| (f64::from(place) / f64::from(count)).powi(8))
}

#[test]
fn algorithm_3_cuts_so_that_as_many_events_fall_into_each_cell() {
    let bits = |value: f64| value.to_bits() as i64;
    for (separation, fullest) in [(Separation::Uniform, 771), (Separation::Optimal, 125)] {
        let mut scale = Scale::new(separation, true);
        scale.learn(skewed(1000).map(bits));
        let mut counts = [0; 8];
        for value in skewed(1000) {
            counts[(scale.normal(bits(value)) * 8.0) as usize] += 1;
        }
        let most = *counts.iter().max().unwrap();
        assert!(i32::abs(most - fullest) <= 1, "{separation:?} {counts:?}");
    }
}

#[test]
fn the_optimal_separation_has_fewer_false_positives_where_values_are_skewed() {
    let event = |value: f64| format!(r#"{{"height":{value:?}}}"#);
    let seen: Vec<String> = skewed(1000).map(event).collect();
    let mut counts = Vec::new();
    for separation in [Separation::Uniform, Separation::Optimal] {
        let mut tama = engine(separation, 8, &seen);
        tama.insert(1, r#"[1,["between","height",0.001,0.002]]"#)
            .unwrap();
        let mut matches = 0;
        for value in skewed(1000) {
            let event = tama.event(&event(value)).unwrap();
            let mut found = Vec::new();
            tama.search(&event, &mut found);
            let is_true = (0.001..=0.002).contains(&value);
            assert!(!is_true || found == [1], "no false negative at {value}");
            matches += found.len();
        }
        counts.push(matches);
    }
    let exact = skewed(1000).filter(|v| (0.001..=0.002).contains(v)).count();
    assert!(counts[1] - exact <= 8, "two cells of 256: {counts:?}");
    assert!(
        counts[0] - exact > 10 * (counts[1] - exact),
        "{counts:?} {exact}"
    );
}
