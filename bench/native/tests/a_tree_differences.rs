//! Where the crate `a-tree` answers otherwise than Copse's language, as facts that run.
//!
//! `peer.rs` rewrites every expression around them, and refuses what cannot be rewritten. After
//! that its answers are right on all our workloads and on small, heavily shared random expressions
//! of every logical operator (`tests/bench/index/test_peers.py`).

use a_tree::{ATree, AttributeDefinition};

fn tree(expression: &str) -> ATree<u64> {
    let mut tree = ATree::new(&[
        AttributeDefinition::string("s"),
        AttributeDefinition::integer("i"),
        AttributeDefinition::boolean("b"),
        AttributeDefinition::integer_list("l"),
    ])
    .unwrap();
    tree.insert(&1, expression).unwrap();
    tree
}

fn matches_list(expression: &str, list: &[i64]) -> bool {
    let tree = tree(expression);
    let mut event = tree.make_event();
    event.with_integer_list("l", list).unwrap();
    !tree
        .search(&event.build().unwrap())
        .unwrap()
        .matches()
        .is_empty()
}

fn matches_string(expression: &str, text: &str) -> bool {
    let tree = tree(expression);
    let mut event = tree.make_event();
    event.with_string("s", text).unwrap();
    !tree
        .search(&event.build().unwrap())
        .unwrap()
        .matches()
        .is_empty()
}

fn is_refused(expression: &str) -> bool {
    let mut tree = tree("i = 1");
    tree.insert(&2, expression).is_err()
}

#[test]
fn all_of_asks_whether_the_events_list_is_within_the_operand() {
    assert!(!matches_list("l all of [1, 2]", &[1, 2, 3])); // ours: true
    assert!(matches_list("l all of [1, 2]", &[1])); // ours: false
    assert!(matches_list("l all of [1, 2]", &[])); // ours: false
}

#[test]
fn quotes_at_the_ends_of_a_string_are_lost() {
    assert!(matches_string(r#"s = "'US'""#, "US")); // ours: false
    assert!(!matches_string(r#"s = "'US'""#, "'US'")); // ours: true
}

#[test]
fn escapes_are_read_but_kept_as_written() {
    assert!(!matches_string(r#"s = "a\"b""#, r#"a"b"#));
}

#[test]
fn missing_attributes_are_unknown_as_they_are_for_us() {
    for expression in [
        "i <> 1",
        "not (i = 1)",
        "i not in [1]",
        "not (i = 1 and s = \"x\")",
    ] {
        assert!(!matches_list(expression, &[]), "{expression}");
    }
    assert!(matches_list("i is null", &[]));
}

#[test]
fn some_of_our_language_is_refused() {
    let refused = [
        "l is null",
        "b = true",
        "true",
        "s < \"x\"",
        "i between 1 and 2",
        "device.type = \"x\"",
        "i = 1 xor i = 2",
        "i in []",
        "i = 1.0",
    ];
    for expression in refused {
        assert!(is_refused(expression), "{expression}");
    }
}
