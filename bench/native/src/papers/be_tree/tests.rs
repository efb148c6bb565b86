//! The paper's examples.

use _native::language::{Schema, Type};

use super::insert::capacity;
use super::*;
use crate::papers::engine::{Conjunctive, Engine};

#[test]
fn the_capacity_of_a_leaf_follows_equation_9() {
    assert_eq!(capacity(7, 5), 10);
    assert_eq!(capacity(0, 5), 5);
    assert_eq!(capacity(10, 5), 10);
}

#[test]
fn beta_favours_subsumed_predicates_when_covered_ones_fail() {
    assert!((beta(0.8) - 0.1).abs() < 1e-9);
    assert!((beta(0.0) - 0.5).abs() < 1e-9);
}

/// The tree of the example: domain 0 to 7, three conjunctions a leaf, no chance.
fn example() -> Conjunctive<BeTree> {
    let names = ["a", "b", "c", "d"];
    let schema = Schema::new(names.map(|name| (name, Type::Int))).unwrap();
    let parameters = Parameters {
        max_cap: 3,
        min_size: 2,
        hybrid: false,
        equalities_first: false,
        ..Parameters::default()
    };
    let tree = BeTree::new(Variant::Plain, parameters, names.len());
    let mut tree = Conjunctive::new(Store::new(schema), tree);
    let ends = [0, 7].map(|v| format!("{{\"a\":{v},\"b\":{v},\"c\":{v},\"d\":{v}}}"));
    tree.learn(&ends).unwrap();
    tree
}

const EXPRESSIONS: [&str; 9] = [
    r#"["and",["between","a",1,6],["=","b",1]]"#,
    r#"["=","c",1]"#,
    r#"["=","d",1]"#,
    r#"["and",["between","a",2,5],["=","b",2]]"#,
    r#"["=","d",2]"#,
    r#"["=","d",3]"#,
    r#"["and",["between","a",3,4],["=","b",3]]"#,
    r#"["=","a",7]"#,
    r#"["and",["between","a",0,6],["=","b",4]]"#,
];

/// The ids in the leaf that a chain of (attribute, bucket) leads to.
fn leaf(tree: &Conjunctive<BeTree>, path: &[(&str, (i64, i64))]) -> Vec<u32> {
    let nodes = &tree.index.nodes;
    let mut node = ROOT;
    for (name, range) in path {
        let attribute = tree.store.schema.attr(name).unwrap();
        let partition = nodes.c[node].partitions[&attribute];
        let below = nodes.below(partition).into_iter();
        let is = |&node: &u32| {
            let bucket = &nodes.buckets[nodes.c[node].bucket];
            (bucket.low, bucket.high) == *range
        };
        node = below.into_iter().find(is).expect("the bucket exists");
    }
    let mut slots: Vec<u32> = nodes.c[node]
        .leaf
        .slots
        .iter()
        .map(|slot| slot + 1)
        .collect();
    slots.sort_unstable();
    slots
}

#[test]
fn the_example_of_section_7_3_grows_as_the_paper_says() {
    let mut tree = example();
    let insert = |tree: &mut Conjunctive<BeTree>, which: std::ops::RangeInclusive<usize>| {
        for number in which {
            let text = format!("[1,{}]", EXPRESSIONS[number - 1]);
            tree.insert(number as u64, &text).unwrap();
            tree.check_invariants();
        }
    };
    const A: (&str, (i64, i64)) = ("a", (0, 7));
    const D: (&str, (i64, i64)) = ("d", (0, 7));
    // The root overflows and is partitioned by a, which S1 and S4 have.
    insert(&mut tree, 1..=4);
    assert_eq!(leaf(&tree, &[]), [2, 3]);
    assert_eq!(leaf(&tree, &[A]), [1, 4]);
    // It overflows again, and d takes S3, S5 and S6.
    insert(&mut tree, 5..=6);
    assert_eq!(leaf(&tree, &[]), [2]);
    assert_eq!(leaf(&tree, &[D]), [3, 5, 6]);
    // S7 and S8 go below a, whose bucket is halved; only S8 is enclosed by a half.
    insert(&mut tree, 7..=8);
    assert_eq!(leaf(&tree, &[A]), [1, 4, 7]);
    assert!(leaf(&tree, &[("a", (0, 3))]).is_empty());
    assert_eq!(leaf(&tree, &[("a", (4, 7))]), [8]);
    // S9 makes the bucket of the whole domain overflow; it is split already, so b partitions it.
    insert(&mut tree, 9..=9);
    assert!(leaf(&tree, &[A]).is_empty());
    assert_eq!(leaf(&tree, &[A, ("b", (0, 3))]), [1, 4, 7]);
    let mut found = Vec::new();
    let event = tree.event(r#"{"a":3,"b":3,"d":2}"#).unwrap();
    tree.search(&event, &mut found);
    assert_eq!(found, [5, 7]);
}

#[test]
fn a_signature_has_a_bit_for_each_attribute_but_those_of_is_null() {
    let literal = |attribute, test| Literal {
        attribute,
        test,
        negated: false,
    };
    use crate::papers::literal::Test;
    let literals = [literal(3, Test::Present), literal(9, Test::Null)];
    assert_eq!(nodes::signature(literals.iter()), nodes::bit(3));
    assert_eq!(
        (0..400).map(nodes::bit).fold(0, |all, bit| all | bit),
        u32::MAX
    );
}

#[test]
fn recycling_dissolves_a_partition_that_discards_more_than_it_gains() {
    let names = ["a", "b"];
    let schema = Schema::new(names.map(|name| (name, Type::Int))).unwrap();
    let parameters = Parameters {
        max_cap: 2,
        min_size: 2,
        recycle: true,
        ..Parameters::default()
    };
    let tree = BeTree::new(Variant::Plain, parameters, names.len());
    let mut tree = Conjunctive::new(Store::new(schema), tree);
    tree.learn(&[r#"{"a":0,"b":0}"#.into(), r#"{"a":9,"b":9}"#.into()])
        .unwrap();
    for id in 0..30 {
        // Every event reaches all of them, and all fail at their second predicate.
        let text = format!(
            "[1,[\"and\",[\"!=\",\"a\",{}],[\"in\",\"b\",0,9]]]",
            70 + id
        );
        tree.insert(id, &text).unwrap();
    }
    let root = |tree: &Conjunctive<BeTree>| -> Vec<u32> {
        tree.index.nodes.c[ROOT]
            .partitions
            .keys()
            .copied()
            .collect()
    };
    assert_eq!(root(&tree), [0]);
    tree.maintain(&vec![r#"{"a":3}"#.to_owned(); 8]).unwrap();
    assert_eq!(root(&tree), [0], "nothing was discarded");
    tree.maintain(&vec![r#"{"a":3,"b":4}"#.to_owned(); 8])
        .unwrap();
    assert_eq!(
        root(&tree),
        [1],
        "the attribute is not chosen again at once"
    );
    tree.check_invariants();
}

#[test]
fn equalities_partition_before_a_predicate_that_is_as_popular() {
    let names = ["b", "a"];
    let schema = Schema::new(names.map(|name| (name, Type::Int))).unwrap();
    for (equalities_first, attribute, left) in [(true, 1, vec![3]), (false, 0, vec![])] {
        let parameters = Parameters {
            max_cap: 2,
            min_size: 2,
            equalities_first,
            ..Parameters::default()
        };
        let tree = BeTree::new(Variant::Plain, parameters, names.len());
        let mut tree = Conjunctive::new(Store::new(schema.clone()), tree);
        tree.learn(&[r#"{"a":0,"b":0}"#.into(), r#"{"a":9,"b":9}"#.into()])
            .unwrap();
        for (id, rest) in [r#"["=","a",1]"#, r#"["=","a",2]"#, r#"["<","a",3]"#]
            .iter()
            .enumerate()
        {
            // The third has no equality, so it may go by either.
            let low = if id < 2 { 0 } else { 1 };
            let text = format!("[1,[\"and\",[\"between\",\"b\",{low},5],{rest}]]");
            tree.insert(id as u64 + 1, &text).unwrap();
            tree.check_invariants();
        }
        let partitions = &tree.index.nodes.c[ROOT].partitions;
        assert_eq!(partitions.keys().copied().collect::<Vec<_>>(), [attribute]);
        let top = tree.index.nodes.p[partitions[&attribute]].top;
        let below = tree.index.nodes.buckets[top].node;
        let slots = tree.index.nodes.c[below].leaf.slots.iter();
        let held: Vec<u32> = slots.map(|slot| slot + 1).collect();
        // By a, each equality has a bucket of its own; by b, a half holds all of them.
        assert_eq!(held, left);
    }
}

/// Section 8.2.2: the 3-grams of a string as equalities, the first two letters with the third.
fn grams(text: &str) -> Vec<(String, String)> {
    let letters: Vec<char> = text.chars().collect();
    let gram = |three: &[char]| (three[..2].iter().collect(), three[2].to_string());
    letters.windows(3).map(gram).collect()
}

#[test]
fn a_string_becomes_the_equalities_of_its_3_grams() {
    let pairs = grams("string");
    let shown: Vec<String> = pairs.iter().map(|(a, v)| format!("{a}={v}")).collect();
    assert_eq!(shown, ["st=r", "tr=i", "ri=n", "in=g"]);
    let schema = Schema::new(pairs.iter().map(|(a, _)| (a.as_str(), Type::Str))).unwrap();
    for variant in [Variant::Plain, Variant::Lazy, Variant::BitmapBloom] {
        let tree = BeTree::new(variant, Parameters::default(), pairs.len());
        let mut tree = Conjunctive::new(Store::new(schema.clone()), tree);
        let parts: Vec<_> = pairs
            .iter()
            .map(|(a, v)| format!(r#"["=","{a}","{v}"]"#))
            .collect();
        tree.insert(1, &format!(r#"[1,["and",{}]]"#, parts.join(",")))
            .unwrap();
        tree.maintain(&[]).unwrap();
        for (text, wanted) in [("string", vec![1]), ("strings", vec![1]), ("strip", vec![])] {
            let known = grams(text).into_iter().filter(|pair| pairs.contains(pair));
            let event: Vec<_> = known.map(|(a, v)| format!(r#""{a}":"{v}""#)).collect();
            let event = tree.event(&format!("{{{}}}", event.join(","))).unwrap();
            let mut found = Vec::new();
            tree.search(&event, &mut found);
            assert_eq!(found, wanted, "{variant:?} {text}");
        }
    }
}
