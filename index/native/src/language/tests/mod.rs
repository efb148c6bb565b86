//! From JSON to the normal form, and what is refused on the way. The tables of
//! `tests/index/language/` are held against this front end, too.

use super::{FrontEnd, Limits, Node, Schema, Type, Value};

fn schema() -> Schema {
    let attributes = [
        ("country", Type::Str),
        ("device.type", Type::Str),
        ("age", Type::Int),
        ("Age", Type::Int),
        ("price", Type::Float),
        ("vip", Type::Bool),
        ("segments", Type::IntList),
        ("tags", Type::StrList),
    ];
    Schema::new(attributes).unwrap()
}

fn limits(predicates: usize, depth: usize, set_values: usize) -> Limits {
    Limits {
        predicates,
        depth,
        set_values,
    }
}

fn refusal(json: &[u8], limits: &Limits) -> (&'static str, String) {
    let mut front_end = FrontEnd::default();
    let error = front_end.normalize(json, &schema(), limits).unwrap_err();
    (error.code, error.pointer)
}

/// How many nodes and children the normal form of a tree has.
fn size(json: &str) -> usize {
    let (mut front_end, limits) = (FrontEnd::default(), Limits::default());
    let schema = schema();
    let form = front_end.normalize(json.as_bytes(), &schema, &limits);
    let form = form.unwrap();
    let of = |node: &Node| match node {
        Node::And(children) | Node::Or(children) => form.children(*children).len(),
        _ => 1,
    };
    form.nodes().iter().map(of).sum()
}

fn chain(letter: &str, n: usize) -> String {
    let ages: String = (0..n).map(|i| format!(",[\"=\",\"age\",{i}]")).collect();
    format!("[1,[\"xor\",\"{}\"{ages}]]", letter.repeat(n - 1))
}

#[test]
fn a_long_chain_of_xor_is_linear() {
    for letter in ["x", "n"] {
        assert!(size(&chain(letter, 1000)) * 10 < size(&chain(letter, 500)) * 21);
    }
}

#[test]
fn a_chain_of_xor_nested_to_the_limit_is_linear() {
    let mut tree = String::from("[\"=\",\"age\",0]");
    for i in 1..190 {
        tree = format!("[\"xor\",\"x\",[\"=\",\"age\",{i}],{tree}]");
    }
    assert!(size(&format!("[1,{tree}]")) < 190 * 20);
}

#[test]
fn depth_is_limited_and_nesting_in_json_too() {
    let deep = |n: usize| format!("[1,{}true{}]", "[\"not\",".repeat(n), "]".repeat(n));
    let json = deep(10);
    let pointer = "/1".repeat(11);
    let refused = refusal(json.as_bytes(), &limits(2, 2, 3));
    assert_eq!(refused, ("limit.depth", pointer));
    let normalize = |n| {
        let mut front_end = FrontEnd::default();
        let form = front_end.normalize(deep(n).as_bytes(), &schema(), &limits(9, 9999, 9));
        form.map(|form| form.root()).map_err(|error| error.code)
    };
    assert_eq!(normalize(195), Ok(Node::Const(false)));
    assert_eq!(normalize(196), Err("limit.depth"));
    assert_eq!(normalize(100_000), Err("tree.json"));
}

#[test]
fn a_large_set_is_read_and_its_repeats_collapse() {
    let values: String = (0..100_000)
        .map(|i| format!(",\"v{}\"", i % 50_000))
        .collect();
    let json = format!("[1,[\"any of\",\"tags\"{values}]]");
    let (mut front_end, schema) = (FrontEnd::default(), schema());
    let form = front_end.normalize(json.as_bytes(), &schema, &Limits::default());
    let literal = form.unwrap().literal(0);
    assert_eq!(literal.values.len(), 50_000);
    assert_eq!(literal.values.get(1), Some(Value::Str("v1")));
    assert!(literal.values.iter().is_sorted());
    let refused = refusal(json.as_bytes(), &limits(1, 1, 99_999));
    assert_eq!(refused, ("limit.set_values", "/1".to_owned()));
}

#[test]
fn a_front_end_remembers_nothing() {
    let schema = schema();
    let mut used = FrontEnd::default();
    let trees = [
        chain("x", 300).into_bytes(),
        br#"[1,["=","country","\u00e9"]]"#.to_vec(),
        br#"[1,["and",["=","age",1],"#.to_vec(),
        br#"[1,["and",["=","age",1],["=","age",1.5]]]"#.to_vec(),
        br#"[1,["and",["=","age",1],["holds","vip"],["=","tags",2]]]"#.to_vec(),
        br#"[1,["or",["=","age",1],["holds","vip"]]]"#.to_vec(),
        format!("[1,[\"=\",\"country\",\"{}\"]]", "a".repeat(2 << 20)).into_bytes(),
        b"[1,true]".to_vec(),
    ];
    for json in trees.iter().chain(trees.iter().rev()) {
        let mut fresh = FrontEnd::default();
        let limits = Limits::default();
        let expected = fresh.normalize(json, &schema, &limits);
        let got = used.normalize(json, &schema, &limits);
        assert_eq!(
            got.map(|form| form.to_json(&schema)),
            expected.map(|form| form.to_json(&schema))
        );
    }
}

/// Whatever the bytes, an answer: each tree cut anywhere, and with any byte replaced by any of
/// those that mean something.
#[test]
fn broken_bytes_never_panic() {
    let tree = br#"[1,["and",["in","country","US","\ud83d\ude00\n"],["not",["xor","xn",["between","age",-1,3],["<","price",1.5e3],{"a":[null]}]]]]"#;
    let (mut front_end, schema) = (FrontEnd::default(), schema());
    let limits = Limits::default();
    let mut refused = 0;
    for place in 0..tree.len() {
        refused += usize::from(
            front_end
                .normalize(&tree[..place], &schema, &limits)
                .is_err(),
        );
        for byte in *b"\"\\[]{},:-+.e019aunI tfN\0\x1f\x7f\x80\xed\xff" {
            let mut broken = tree.to_vec();
            broken[place] = byte;
            let _ = front_end.normalize(&broken, &schema, &limits);
        }
    }
    assert_eq!(refused, tree.len());
}

#[test]
fn conjunctions_are_recognised() {
    let conjunction = |tree: &str| {
        let (mut front_end, schema) = (FrontEnd::default(), schema());
        let json = format!("[1,{tree}]");
        let form = front_end.normalize(json.as_bytes(), &schema, &Limits::default());
        form.unwrap().is_conjunction()
    };
    assert!(conjunction(r#"["=","age",1]"#));
    assert!(conjunction(
        r#"["not",["or",["holds","vip"],["!=","age",1]]]"#
    ));
    assert!(!conjunction(r#"["or",["holds","vip"],["=","age",1]]"#));
    assert!(!conjunction(
        r#"["and",["is null","country"],["or",["holds","vip"],["=","age",1]]]"#
    ));
    assert!(!conjunction("true"));
}
