//! The index as a whole, against answers worked out by hand or by a model.

use crate::engine::ids::bands::ALL;
use crate::engine::ids::slots::Properties;
use crate::engine::index::Index;
use crate::engine::matching::filter::Filter;
use crate::engine::report::plan;
use crate::language::{Limits, Schema, Type};

fn schema() -> Schema {
    Schema::new([
        ("a", Type::Int),
        ("s", Type::Str),
        ("l", Type::IntList),
        ("f", Type::Float),
        ("b", Type::Bool),
    ])
    .expect("names differ")
}

fn index() -> Index {
    Index::new(schema(), Limits::default(), true)
}

fn insert(index: &Index, id: u64, tree: &str) {
    index
        .insert(id, format!("[1,{tree}]").as_bytes(), Properties::default())
        .expect("a tree");
}

pub(super) fn matches(index: &Index, event: &str) -> Vec<u64> {
    let mut out = Vec::new();
    index
        .ask(
            |core, scratch| index.fill_json(core, scratch, event.as_bytes()),
            |core, scratch| core.matches(scratch, &Filter::default(), &mut out),
        )
        .expect("an event");
    out
}

/// The best matches of an event, without their total.
pub(super) fn best(index: &Index, filter: &Filter, limit: usize, event: &str) -> Vec<(i64, u64)> {
    let mut out = Vec::new();
    index
        .ask(
            |core, scratch| index.fill_json(core, scratch, event.as_bytes()),
            |core, scratch| core.best(scratch, filter, limit, &mut out),
        )
        .expect("an event");
    out
}

fn check(index: &Index) {
    index
        .read(|core| core.check_invariants())
        .expect("invariants");
}

#[test]
fn pairs_of_values_lead_to_conjunctions() {
    let index = index();
    for id in 0..60 {
        let (a, s, f) = (id % 5, id % 4, id % 3);
        let set = format!(r#"["in","s","s{s}","t{s}"]"#);
        let tree = format!(r#"["and",["=","a",{a}],{set},[">=","f",{f}]]"#);
        insert(&index, id, &tree);
        check(&index);
    }
    assert_eq!(index.read(|core| core.keys.pair_count()), 1);
    let text = index.read(|core| plan(core, 59)).expect("it exists");
    assert!(text.contains("a = 4 and s = 't3'"), "{text}");
    let expected = |a: u64, s: u64, f: u64| -> Vec<u64> {
        let holds = |id: &u64| id % 5 == a && id % 4 == s && id % 3 <= f;
        (0..60).filter(holds).collect()
    };
    for (a, s, f) in [(4, 3, 2), (0, 0, 0), (3, 1, 1), (7, 1, 1)] {
        let event = format!(r#"{{"a": {a}, "s": "t{s}", "f": {f}.5}}"#);
        assert_eq!(matches(&index, &event), expected(a, s, f), "{event}");
    }
    assert!(matches(&index, r#"{"a": 4, "f": 2}"#).is_empty());
    index.replan(|_, _| true);
    check(&index);
    for id in 0..60 {
        index.remove(id);
        check(&index);
    }
    assert_eq!(index.read(|core| core.keys.pair_count()), 0);
}

#[test]
fn every_way_in_finds_its_expression() {
    let index = index();
    let trees = [
        r#"["=","a",5]"#,
        r#"["and",["in","a",1,2,3,4,5,6,7],["=","s","x"]]"#,
        r#"["between","a",-100,100]"#,
        r#"[">","a",4]"#,
        r#"["<","f",2.5]"#,
        r#"["starts with","s","x"]"#,
        r#"["ends with","s","x"]"#,
        r#"["contains","s","x"]"#,
        r#"["any of","l",1,2]"#,
        r#"["all of","l",1,3]"#,
        r#"["none of","l",9]"#,
        r#"["not",["all of","l",1,9]]"#,
        r#"["!=","s","y"]"#,
        r#"["is null","b"]"#,
        r#"["is not null","a"]"#,
        r#"["xor","x",["=","a",5],["=","a",6]]"#,
        "true",
    ];
    for (id, tree) in trees.iter().enumerate() {
        insert(&index, id as u64, tree);
        check(&index);
    }
    insert(&index, 100, "false");
    let event = r#"{"a": 5, "s": "x", "l": [1, 3], "f": 0.5}"#;
    let all: Vec<u64> = (0..trees.len() as u64).collect();
    assert_eq!(matches(&index, event), all);
    assert_eq!(matches(&index, "{}"), [13, 16]);
    for id in all {
        assert!(index.remove(id));
        check(&index);
    }
    assert!(index.remove(100));
    let empty =
        index.read(|core| core.programs.is_empty() && core.keys.is_empty() && core.long.is_empty());
    assert!(empty, "an emptied index holds nothing");
}

#[test]
fn expressions_whose_hashes_collide_stay_apart() {
    let index = index();
    index.weaken_hashes();
    for i in 0..200u64 {
        insert(
            &index,
            i,
            &format!(r#"["and",["=","a",{i}],["in","f",{i}.5,{i}.75]]"#),
        );
        insert(
            &index,
            1000 + i,
            &format!(
                r#"["or",["=","a",{i}],["and",["any of","l",{i},{}],["=","s","v{i}"]]]"#,
                i + 1
            ),
        );
    }
    check(&index);
    for i in [0u64, 7, 199] {
        let event = format!(r#"{{"a": {i}, "f": {i}.5}}"#);
        assert_eq!(matches(&index, &event), [i, 1000 + i]);
        let event = format!(r#"{{"l": [{i}], "s": "v{i}"}}"#);
        assert_eq!(matches(&index, &event), [1000 + i]);
    }
    for i in 0..200u64 {
        assert!(index.remove(i));
        assert!(index.remove(1000 + i));
    }
    check(&index);
    assert!(index.read(|core| core.programs.is_empty() && core.long.is_empty()));
}

#[test]
fn one_expression_of_many_ids_is_one_program() {
    let index = index();
    for id in 0..2000u64 {
        insert(
            &index,
            id * 37,
            r#"["and",["=","a",1],["=","s","x"],["any of","l",4,5],["holds","b"]]"#,
        );
    }
    assert_eq!(index.read(|core| core.programs.count(ALL)), 1);
    let event = r#"{"a": 1, "s": "x", "l": [5], "b": true}"#;
    let expected: Vec<u64> = (0..2000).map(|id| id * 37).collect();
    assert_eq!(matches(&index, event), expected);
    for id in 0..1999u64 {
        assert!(index.remove(id * 37));
    }
    check(&index);
    assert_eq!(matches(&index, event), [1999 * 37]);
}

#[test]
fn a_set_of_many_strings_is_let_go_of_in_portions() {
    let index = index();
    let values: Vec<String> = (0..5000).map(|i| format!("\"s{i}\"")).collect();
    insert(&index, 1, &format!(r#"["in","s",{}]"#, values.join(",")));
    assert_eq!(matches(&index, r#"{"s": "s4999"}"#), [1]);
    assert_eq!(index.read(|core| core.long.strings().len()), 5000);
    check(&index);
    assert!(index.remove(1));
    assert_eq!(index.read(|core| core.long.strings().len()), 0);
}

#[test]
fn statistics_and_planning_anew_change_no_answer() {
    let index = index();
    for i in 0..300u64 {
        insert(
            &index,
            i,
            &format!(
                r#"["and",["=","a",{}],["or",["=","s","v{}"],[">=","f",{}.5]]]"#,
                i % 7,
                i % 5,
                i % 3
            ),
        );
    }
    let events = [
        r#"{"a": 1, "s": "v1", "f": 0.0}"#,
        r#"{"a": 2, "s": "zzz", "f": 9.0}"#,
        r#"{"a": 3}"#,
        "{}",
    ];
    let before: Vec<Vec<u64>> = events.iter().map(|event| matches(&index, event)).collect();
    let statistics = br#"{"version": 1, "attributes": {
        "a": {"presence": 1.0, "values": [[1, 0.9]]},
        "s": {"presence": 0.5, "values": [["v1", 0.01]]},
        "f": {"presence": 0.9, "histogram": [[0.0, 10.0, 0.9]]}}}"#;
    index.use_statistics(Some(statistics)).expect("statistics");
    check(&index);
    let after: Vec<Vec<u64>> = events.iter().map(|event| matches(&index, event)).collect();
    assert_eq!(before, after);
    index.use_statistics(None).expect("none");
    index.replan(|_, _| true);
    check(&index);
    let again: Vec<Vec<u64>> = events.iter().map(|event| matches(&index, event)).collect();
    assert_eq!(before, again);
    assert!(index.use_statistics(Some(b"{}")).is_err());
    assert!(
        index
            .use_statistics(Some(
                br#"{"version": 1, "attributes": {"a": {"presence": 2}}}"#
            ))
            .is_err()
    );
}

#[test]
fn the_least_likely_literals_guard_and_pairs_are_ignored() {
    let index = index();
    let tree = r#"["and",["=","a",1],["=","f",2.5],["=","b",true],["=","s","x"]]"#;
    insert(&index, 1, tree);
    let pairs = r#", "pairs": [{"attributes": ["s", "a"], "values": [["x", 1, 0.01]]}]"#;
    for more in ["", pairs] {
        let statistics = format!(
            r#"{{"version": 1, "attributes": {{
                "a": {{"values": [[1, 0.01]]}}, "f": {{"values": [[2.5, 0.4]]}},
                "b": {{"values": [[true, 0.3]]}}, "s": {{"values": [["x", 0.05]]}}}}{more}}}"#
        );
        let used = index.use_statistics(Some(statistics.as_bytes()));
        used.expect("statistics");
        let plan = index.read(|core| plan(core, 1)).expect("it is there");
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
        let entry = &plan["entries"][0];
        assert_eq!(entry["access"], "a = 1");
        assert_eq!(entry["guards"], serde_json::json!(["s = 'x'", "b = true"]));
    }
}

/// Different expressions of every kind, pairwise near each other: the same literals with another
/// gate, another sign, another attribute, another set, a chain with one operator changed.
fn neighbours(i: u64) -> [String; 10] {
    let (j, k) = (i + 1, i + 2);
    let chain = |letter: char| {
        let letters: String = (0..29)
            .map(|place| if place == 7 { letter } else { 'x' })
            .collect();
        let children: Vec<String> = (0..30)
            .map(|n| format!(r#"[">=","a",{}]"#, 40 * i + n))
            .collect();
        format!(r#"["xor","{letters}",{}]"#, children.join(","))
    };
    [
        format!(r#"["and",["=","a",{i}],["=","s","v{i}"]]"#),
        format!(r#"["or",["=","a",{i}],["=","s","v{i}"]]"#),
        format!(r#"["and",["=","a",{i}],["!=","s","v{i}"]]"#),
        format!(r#"["in","f",{i}.25,{j}.25]"#),
        format!(r#"["not in","f",{i}.25,{j}.25]"#),
        format!(r#"["any of","l",{i},{j},{k}]"#),
        format!(r#"["all of","l",{i},{j},{k}]"#),
        format!(
            r#"["and",["starts with","s","v{i}"],["or",["=","a",{i}],["any of","l",{i},{k}]]]"#
        ),
        chain('x'),
        chain('n'),
    ]
}

/// Which of the neighbours of `i` are true of `{"a": a, "s": "v{a}", "f": a.25, "l": [a]}`.
fn neighbours_of_event(i: u64, a: u64) -> [bool; 10] {
    let text = format!("v{a}").starts_with(&format!("v{i}"));
    let odd = (a + 1).saturating_sub(40 * i).min(30) % 2 == 1;
    [
        a == i,
        a == i,
        false,
        a == i || a == i + 1,
        a != i && a != i + 1,
        (i..=i + 2).contains(&a),
        false,
        text && (a == i || a == i + 2),
        odd,
        !odd,
    ]
}

#[test]
fn expressions_of_every_kind_that_collide_stay_apart() {
    const GROUPS: u64 = 40;
    let index = index();
    index.weaken_hashes();
    for i in 0..GROUPS {
        for (place, tree) in neighbours(i).iter().enumerate() {
            // Twice: under collisions equal expressions are still one.
            insert(&index, 10 * i + place as u64, tree);
            insert(&index, 100_000 + 10 * i + place as u64, tree);
        }
    }
    check(&index);
    assert_eq!(
        index.read(|core| core.programs.count(ALL)),
        10 * GROUPS as usize
    );
    let ask = |without: &dyn Fn(u64) -> bool| {
        for a in [0, 1, 2, 17, GROUPS - 1, GROUPS + 1, 45, 700] {
            let event = format!(r#"{{"a": {a}, "s": "v{a}", "f": {a}.25, "l": [{a}]}}"#);
            let once: Vec<u64> = (0..10 * GROUPS)
                .filter(|id| neighbours_of_event(id / 10, a)[(id % 10) as usize])
                .collect();
            let twice = once.iter().map(|id| id + 100_000);
            let expected: Vec<u64> = once
                .iter()
                .copied()
                .chain(twice)
                .filter(|&id| !without(id))
                .collect();
            assert_eq!(matches(&index, &event), expected, "{event}");
        }
    };
    ask(&|_| false);
    index.replan(|_, _| true);
    check(&index);
    ask(&|_| false);
    for id in (0..10 * GROUPS).filter(|id| id % 3 == 0) {
        assert!(index.remove(id));
    }
    for id in (0..10 * GROUPS).filter(|id| id % 4 == 0) {
        assert!(index.remove(100_000 + id));
    }
    check(&index);
    ask(&|id| {
        if id < 100_000 {
            id % 3 == 0
        } else {
            id % 4 == 0
        }
    });
    for id in (0..10 * GROUPS).chain(100_000..100_000 + 10 * GROUPS) {
        index.remove(id);
    }
    check(&index);
    let empty =
        index.read(|core| core.programs.is_empty() && core.keys.is_empty() && core.long.is_empty());
    assert!(empty, "an emptied index holds nothing");
}

#[test]
fn graphs_are_matched_where_there_are_no_long_literals() {
    // The words of a graph include numbers of nodes, which must not be taken for literals: chains
    // of all lengths, so that the numbers have all endings.
    let index = index();
    let length = |id: u64| 30 + id % 32;
    for id in 0..96u64 {
        let operands: Vec<String> = (0..length(id))
            .map(|n| format!(r#"[">=","a",{}]"#, n + id))
            .collect();
        let letters = "x".repeat(operands.len() - 1);
        insert(
            &index,
            id,
            &format!(r#"["xor","{letters}",{}]"#, operands.join(",")),
        );
    }
    assert!(index.read(|core| core.long.is_empty()));
    // Of the bounds id, id + 1, … so many lie at or below 50; the chain is true if that is odd.
    let odd = |id: &u64| 51u64.saturating_sub(*id).min(length(*id)) % 2 == 1;
    let expected: Vec<u64> = (0..96).filter(odd).collect();
    assert_eq!(matches(&index, r#"{"a": 50}"#), expected);
}

#[test]
fn more_values_than_a_table_holds_are_found_while_others_go() {
    let index = index();
    let ids = 33_500;
    for id in 0..ids {
        insert(&index, id, &format!(r#"["=","a",{id}]"#));
    }
    for id in 0..1000 {
        assert!(index.remove(id));
    }
    for id in [1000, 32_767, 32_768, 33_000, ids - 1] {
        assert_eq!(matches(&index, &format!(r#"{{"a": {id}}}"#)), [id]);
        insert(&index, id, &format!(r#"["=","a",{}]"#, id + 1));
        insert(&index, id, &format!(r#"["=","a",{id}]"#));
    }
    check(&index);
}

/// A balanced tree of `xor`, entered by each of its elements.
fn xor_of_elements(from: u32, count: u32) -> String {
    if count == 1 {
        return format!(r#"["any of","l",{from}]"#);
    }
    let half = count / 2;
    let (left, right) = (
        xor_of_elements(from, half),
        xor_of_elements(from + half, half),
    );
    format!(r#"["xor","x",{left},{right}]"#)
}

#[test]
fn a_large_expression_is_evaluated_once_an_event_however_many_entries_hold() {
    let index = index();
    insert(&index, 1, &xor_of_elements(0, 256));
    insert(&index, 2, &xor_of_elements(100, 256));
    let asked = |elements: std::ops::Range<u32>| {
        let list: Vec<String> = elements.map(|element| element.to_string()).collect();
        let event = format!(r#"{{"l": [{}]}}"#, list.join(","));
        let (mut found, mut evaluated) = (Vec::new(), 0);
        index
            .ask(
                |core, scratch| index.fill_json(core, scratch, event.as_bytes()),
                |core, scratch| {
                    core.matches(scratch, &Filter::default(), &mut found);
                    evaluated = scratch.evaluated;
                },
            )
            .expect("an event");
        (found, evaluated)
    };
    // An odd number of elements makes it true, an even one false.
    assert_eq!(asked(0..256), (vec![], 2));
    assert_eq!(asked(0..255), (vec![1, 2], 2));
    assert_eq!(asked(300..355), (vec![2], 1));
    assert_eq!(asked(0..0), (vec![], 0));
}

/// The best of all ids, and how many are open, by looking at every one.
fn best_of(ids: &[(u64, Properties)], at: f64, limit: usize) -> (Vec<(i64, u64)>, usize) {
    let is_open =
        |properties: &Properties| properties.window.is_none_or(|(s, e)| s <= at && at < e);
    let open = ids.iter().filter(|(_, properties)| is_open(properties));
    let mut all: Vec<(i64, u64)> = open
        .map(|(id, properties)| (properties.score, *id))
        .collect();
    let total = all.len();
    all.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    all.truncate(limit);
    (all, total)
}

/// Ids that come in order, or not, with few or many different scores; then worse ones for some.
#[test]
fn the_best_of_many_are_those_of_all() {
    let mut seed = 11u64;
    let mut draw = move |below: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for (in_order, scores, bands) in [
        (true, 1_000_000, 3),
        (true, 5, 6),
        (false, 1_000_000, 12),
        (false, 5, 1),
        (false, 1, 8),
        (true, 2, 0),
    ] {
        let index = index();
        index.tune("bands", bands).expect("a switch");
        let mut ids: Vec<(u64, Properties)> = Vec::new();
        for place in 0..3000u64 {
            let id = if in_order {
                place * 3
            } else {
                place.wrapping_mul(0x9e37_79b9) % 100_003
            };
            let properties = Properties {
                score: draw(scores) as i64 - scores as i64 / 2,
                window: (draw(4) == 0).then(|| (draw(10) as f64, f64::INFINITY)),
                ..Properties::default()
            };
            index.insert(id, b"[1,true]", properties).expect("a tree");
            ids.push((id, properties));
        }
        for round in 0..3 {
            for limit in [0, 1, 10, 64, 1000, 5000] {
                let at = draw(10) as f64;
                let filter = Filter {
                    at: Some(at),
                    ..Filter::default()
                };
                let mut out = Vec::new();
                let total = index
                    .ask(
                        |core, scratch| index.fill_json(core, scratch, b"{}"),
                        |core, scratch| core.top(scratch, &filter, limit, &mut out),
                    )
                    .expect("an event");
                let expected = best_of(&ids, at, limit);
                let case = format!("{in_order} {scores} {bands} {round} {limit}");
                assert_eq!((&out, total), (&expected.0, expected.1), "{case}");
                assert_eq!(best(&index, &filter, limit, "{}"), expected.0, "{case}");
            }
            ids.sort_by_key(|(_, properties)| -properties.score);
            for (id, properties) in ids.iter_mut().take(1000) {
                properties.score -= draw(scores) as i64;
                properties.window = None;
                index.insert(*id, b"[1,true]", *properties).expect("a tree");
            }
            for (id, _) in ids.drain(..100) {
                assert!(index.remove(id));
            }
            check(&index);
        }
    }
}

/// An index with small bands and a score for each id, and what it should answer.
struct Scored {
    index: Index,
    scores: std::collections::BTreeMap<u64, i64>,
}

impl Scored {
    fn new(bands: u32) -> Self {
        let index = index();
        index.tune("bands", bands).expect("a switch");
        Scored {
            index,
            scores: Default::default(),
        }
    }

    /// Insert an id that matches `a` = `id % 3`, or change its score.
    fn put(&mut self, id: u64, score: i64) {
        let tree = format!("[1,[\"=\",\"a\",{}]]", id % 3);
        let properties = Properties {
            score,
            group: id % 5,
            ..Properties::default()
        };
        self.index
            .insert(id, tree.as_bytes(), properties)
            .expect("a tree");
        self.scores.insert(id, score);
    }

    fn remove(&mut self, id: u64) {
        assert!(self.index.remove(id));
        self.scores.remove(&id);
    }

    /// Compare the best with the model, with and without filters.
    fn check(&self) {
        check(&self.index);
        for limit in [1, 3, 40, 1000] {
            for filter in [
                Filter::default(),
                Filter {
                    groups: vec![1, 2],
                    ids: vec![0, 3, 4, 9],
                    ..Filter::default()
                },
            ] {
                let mut expected: Vec<(i64, u64)> = self
                    .scores
                    .iter()
                    .map(|(&id, &score)| (score, id))
                    .filter(|(_, id)| id % 3 == 1 && !filter.groups.contains(&(id % 5)))
                    .filter(|(_, id)| !filter.ids.contains(id))
                    .collect();
                expected.sort_by_key(|&(score, id)| (-score, id));
                expected.truncate(limit);
                let found = best(&self.index, &filter, limit, r#"{"a":1}"#);
                assert_eq!(found, expected, "limit {limit}");
            }
        }
    }

    fn sizes(&self) -> Vec<usize> {
        self.index
            .read(|core| (1..=3).map(|band| core.bands.count(band)).collect())
    }
}

#[test]
fn the_bands_follow_any_distribution_of_scores() {
    for scores in [
        |_: u64| 7,
        |id: u64| (id % 2) as i64,
        |id: u64| id as i64,
        |id: u64| -(id as i64),
        |id: u64| {
            if id.is_multiple_of(50) {
                id as i64 * 1000
            } else {
                0
            }
        },
        |id: u64| (id.wrapping_mul(0x9e37_79b9) % 1000) as i64,
    ] {
        let mut scored = Scored::new(2);
        for id in 0..400 {
            scored.put(id, scores(id));
            if id % 40 == 0 {
                scored.check();
            }
        }
        scored.check();
        assert_eq!(scored.sizes()[0], 4);
        assert!((14..=18).contains(&scored.sizes()[1]));
        assert!((56..=72).contains(&scored.sizes()[2]));
        for id in 0..300 {
            if id % 3 != 0 {
                scored.remove(id);
            } else {
                scored.put(id, scores(399 - id));
            }
            if id % 50 == 0 {
                scored.check();
            }
        }
        scored.check();
        for id in (0..400).filter(|id| *id >= 300 || id % 3 == 0) {
            scored.remove(id);
        }
        scored.check();
        assert_eq!(scored.sizes(), [0, 0, 0]);
        assert!(scored.index.read(|core| core.programs.is_empty()));
        assert_eq!(scored.index.read(|core| core.keys.len()), 0);
    }
}
