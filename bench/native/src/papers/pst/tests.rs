//! The thesis's examples.

use _native::language::{Schema, Type};

use super::bloom::PstBloom;
use super::hash::PstHash;
use crate::papers::engine::{Conjunctive, Engine, Index};
use crate::papers::store::Store;

fn engine<I: Index>(index: I, expressions: &[&str]) -> Conjunctive<I> {
    let schema = Schema::new(["a1", "a2", "a3"].map(|name| (name, Type::Int))).unwrap();
    let mut engine = Conjunctive::new(Store::new(schema), index);
    for (place, text) in expressions.iter().enumerate() {
        engine
            .insert(place as u64 + 1, &format!("[1,[\"and\",{text}]]"))
            .unwrap();
        engine.check_invariants();
    }
    engine
}

fn matching(engine: &mut dyn Engine, event: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let event = engine.event(event).unwrap();
    engine.search(&event, &mut found);
    found
}

#[test]
fn the_example_of_section_7_1() {
    let mut bloom = engine(
        PstBloom::new(3),
        &[
            r#"["<","a1",-5],["between","a2",1,5]"#,
            r#"["between","a1",-5,-1],["<","a2",1]"#,
            r#"["between","a1",-5,-1],[">","a2",5]"#,
        ],
    );
    assert_eq!(matching(&mut bloom, r#"{"a1":-6,"a2":3}"#), [1]);
    assert_eq!(matching(&mut bloom, r#"{"a1":-5,"a2":0}"#), [2]);
    assert_eq!(matching(&mut bloom, r#"{"a1":-1,"a2":6}"#), [3]);
    assert!(
        matching(&mut bloom, r#"{"a1":-3}"#).is_empty(),
        "an absent attribute rejects"
    );
    assert!(bloom.remove(2));
    bloom.check_invariants();
    assert!(matching(&mut bloom, r#"{"a1":-5,"a2":0}"#).is_empty());
}

#[test]
fn the_example_of_section_8_1() {
    let mut hash = engine(
        PstHash::default(),
        &[
            r#"["=","a1",1],["=","a2",-1],["<","a3",0]"#,
            r#"["=","a1",1],["=","a2",-1],[">","a3",0]"#,
            r#"["=","a1",1],["<","a2",-1],["=","a3",0]"#,
            r#"["<","a1",1],["=","a2",-1],["=","a3",0]"#,
        ],
    );
    // Three pairs of spaces, two conjunctions under the first.
    assert_eq!(hash.index.sizes(), [1, 1, 2]);
    assert_eq!(matching(&mut hash, r#"{"a1":1,"a2":-1,"a3":2}"#), [2]);
    assert_eq!(matching(&mut hash, r#"{"a1":0,"a2":-1,"a3":0}"#), [4]);
}
