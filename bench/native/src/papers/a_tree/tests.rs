//! The thesis's examples: predicates a to h are equalities with 1 on attributes of that name.

use _native::language::{Schema, Type};

use super::*;

fn engine() -> ATree {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    ATree::new(Schema::new(names.map(|name| (name, Type::Int))).unwrap())
}

/// `and(or(a,b),c)` as JSON.
fn json(text: &str) -> String {
    let mut written = String::new();
    let mut word = String::new();
    for letter in text.chars() {
        match letter {
            '(' => written += &format!("[\"{}\",", std::mem::take(&mut word)),
            ',' | ')' => {
                if !word.is_empty() {
                    written += &format!("[\"=\",\"{}\",1]", std::mem::take(&mut word));
                }
                written.push(if letter == ')' { ']' } else { ',' });
            }
            letter => word.push(letter),
        }
    }
    format!("[1,{written}]")
}

const S: [&str; 6] = [
    "and(or(a,b,c),d,or(e,f))",
    "and(or(e,f),or(g,h))",
    "or(a,b,c,d)",
    "and(or(a,b,c),d)",
    "and(or(e,f),or(g,h))",
    "not(or(g,h))",
];

#[test]
fn figure_9_1_1_costs_25_and_reuse_adds_3() {
    let mut tree = engine();
    tree.insert(1, &json(S[0])).unwrap();
    tree.insert(2, &json(S[1])).unwrap();
    assert_eq!(tree.cost(), 25);
    // Section 9.2.2: one node and two edges, since the `or` of three is there.
    tree.insert(3, &json(S[2])).unwrap();
    assert_eq!(tree.cost(), 28);
    // Section 9.2.3: the new node replaces two children of the first expression.
    tree.insert(4, &json(S[3])).unwrap();
    assert_eq!(tree.cost(), 28 + 3 - 1);
    tree.check_invariants();
    // The same expression is the same node.
    tree.insert(5, &json(S[4])).unwrap();
    assert_eq!(tree.cost(), 30);
}

#[test]
fn the_order_of_arrival_does_not_change_the_cost() {
    let costs = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]].map(|order| {
        let mut tree = engine();
        for number in order {
            tree.insert(number as u64, &json(S[number])).unwrap();
            tree.check_invariants();
        }
        tree.cost()
    });
    assert_eq!(costs, [30, 30, 30]);
}

#[test]
fn the_example_of_section_9_2_2_reuses_the_largest_part() {
    let mut tree = engine();
    for (id, text) in [(1, "and(a,b,c)"), (2, "and(c,d)")] {
        tree.insert(id, &json(text)).unwrap();
    }
    let before = tree.cost();
    tree.insert(3, &json("and(a,b,c,d)")).unwrap();
    // A node and two edges, as in the thesis, which goes to (and c d) where this one goes to d.
    assert_eq!(tree.cost() - before, 3);
    tree.check_invariants();
}

#[test]
fn a_level_is_the_distance_from_the_farthest_leaf() {
    let mut tree = engine();
    for (id, text) in S.iter().enumerate() {
        tree.insert(id as u64, &json(text)).unwrap();
    }
    let level = |id: u64| match tree.roots[tree.ids.slot(id).unwrap() as usize] {
        Built::Node(node) => tree.nodes[node].level,
        _ => 0,
    };
    // Figure 9.3.2: S1 is over S4, which is over (or a b c); S6 is over two leaves.
    assert_eq!([0, 1, 2, 3, 4, 5].map(level), [4, 3, 3, 3, 3, 2]);
}

/// Section 9.3.4: only satisfied nodes are queued, and an `and` only by its access child.
#[test]
fn the_optimised_example_evaluates_six_nodes() {
    let mut tree = engine();
    for (id, text) in S.iter().enumerate() {
        tree.insert(id as u64 + 1, &json(text)).unwrap();
    }
    // Eight predicates and the two negations of S6; with 8 gates, figure 9.3.2 has 18 nodes.
    assert_eq!(tree.nodes.len(), 18);
    let event = tree.event(r#"{"a":1,"e":0,"g":0,"h":0}"#).unwrap();
    let mut found = Vec::new();
    tree.search(&event, &mut found);
    // a, not g, not h; (or a b c) and S6; S3.
    assert_eq!(tree.search.satisfied(), 6);
    assert_eq!(found, [3, 6]);
}

#[test]
fn the_example_of_section_9_3_matches_s3_and_s6() {
    let mut tree = engine();
    for (place, text) in S.iter().enumerate() {
        tree.insert(place as u64 + 1, &json(text)).unwrap();
    }
    let event = tree.event(r#"{"a":1,"e":0,"g":0,"h":0}"#).unwrap();
    let mut found = Vec::new();
    tree.search(&event, &mut found);
    assert_eq!(found, [3, 6]);
    for id in 1..=6 {
        assert!(tree.remove(id));
        tree.check_invariants();
    }
    tree.check_empty();
}
