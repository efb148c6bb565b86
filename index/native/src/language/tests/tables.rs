//! The tables of `test_normal_form.py` and `test_json_form.py`, texts parsed to their JSON form.

use super::{limits, nodes, refusal};

/// A tree, and the nodes of its normal form, as Python gives them.
const ONE_FORM: &[(&str, &str)] = &[
    // age < 18 → age <= 17
    (r#"["<","age",18]"#, r#"[["<=","age",17]]"#),
    // not (age >= 18) → age <= 17
    (r#"["not",[">=","age",18]]"#, r#"[["<=","age",17]]"#),
    // age > 17 → age >= 18
    (r#"[">","age",17]"#, r#"[[">=","age",18]]"#),
    // age between 5 and 5 → age = 5
    (r#"["between","age",5,5]"#, r#"[["in","age",5]]"#),
    // age in (5) → age = 5
    (r#"["in","age",5]"#, r#"[["in","age",5]]"#),
    // not (age in (5, 4)) → age not in (4, 5)
    (
        r#"["not",["in","age",5,4]]"#,
        r#"[["not",["in","age",4,5]]]"#,
    ),
    // age >= -9223372036854775808 → age is not null
    (
        r#"[">=","age",-9223372036854775808]"#,
        r#"[["not",["is null","age"]]]"#,
    ),
    // age > 9223372036854775807 → false
    (r#"[">","age",9223372036854775807]"#, "[false]"),
    // age between -9223372036854775808 and 3 → age <= 3
    (
        r#"["between","age",-9223372036854775808,3]"#,
        r#"[["<=","age",3]]"#,
    ),
    // not (age between -9223372036854775808 and 3) → age >= 4
    (
        r#"["not",["between","age",-9223372036854775808,3]]"#,
        r#"[[">=","age",4]]"#,
    ),
    // not (age between 3 and 5) → not (age between 3 and 5)
    (
        r#"["not",["between","age",3,5]]"#,
        r#"[["not",["between","age",3,5]]]"#,
    ),
    // price < 1 → price < 1.0
    (r#"["<","price",1.0]"#, r#"[["<","price",1.0]]"#),
    // not (price < 1) → price >= 1.0
    (r#"["not",["<","price",1.0]]"#, r#"[[">=","price",1.0]]"#),
    // price between 1 and 1 → price = 1.0
    (r#"["between","price",1.0,1.0]"#, r#"[["in","price",1.0]]"#),
    // vip → vip = true
    (r#"["holds","vip"]"#, r#"[["in","vip",true]]"#),
    // not vip → vip = false
    (r#"["not",["holds","vip"]]"#, r#"[["in","vip",false]]"#),
    // vip != false → vip = true
    (r#"["!=","vip",false]"#, r#"[["in","vip",true]]"#),
    // vip in (true, false) → vip is not null
    (
        r#"["in","vip",true,false]"#,
        r#"[["not",["is null","vip"]]]"#,
    ),
    // vip not in (true, false) → false
    (r#"["not in","vip",true,false]"#, "[false]"),
    // country >= '' → country is not null
    (
        r#"[">=","country",""]"#,
        r#"[["not",["is null","country"]]]"#,
    ),
    // country < '' → false
    (r#"["<","country",""]"#, "[false]"),
    // not (country starts with 'a') → not (country starts with 'a')
    (
        r#"["not",["starts with","country","a"]]"#,
        r#"[["not",["starts with","country","a"]]]"#,
    ),
    // not (segments all of (1, 2)) → not (segments all of (1, 2))
    (
        r#"["not",["all of","segments",1,2]]"#,
        r#"[["not",["all of","segments",1,2]]]"#,
    ),
    // segments all of (2) → segments any of (2)
    (r#"["all of","segments",2]"#, r#"[["any of","segments",2]]"#),
    // not (segments any of (2)) → segments none of (2)
    (
        r#"["not",["any of","segments",2]]"#,
        r#"[["not",["any of","segments",2]]]"#,
    ),
    // not (segments is empty) → segments is not empty
    (
        r#"["not",["is empty","segments"]]"#,
        r#"[["not",["is empty","segments"]]]"#,
    ),
    // not (age is null) → age is not null
    (
        r#"["not",["is null","age"]]"#,
        r#"[["not",["is null","age"]]]"#,
    ),
    // not (age = 1 and vip) → age != 1 or vip = false
    (
        r#"["not",["and",["=","age",1],["holds","vip"]]]"#,
        r#"[["not",["in","age",1]],["in","vip",false],["or",0,1]]"#,
    ),
    // not (age = 1 or vip) → age != 1 and vip = false
    (
        r#"["not",["or",["=","age",1],["holds","vip"]]]"#,
        r#"[["not",["in","age",1]],["in","vip",false],["and",0,1]]"#,
    ),
    // age = 1 and (vip and (country = 'a' and age = 1)) → age = 1 and country = 'a' and vip = true
    (
        r#"["and",["=","age",1],["and",["holds","vip"],["and",["=","country","a"],["=","age",1]]]]"#,
        r#"[["in","age",1],["in","country","a"],["in","vip",true],["and",0,1,2]]"#,
    ),
    // vip xor age = 1 → (age = 1 and vip = false) or (age != 1 and vip = true)
    (
        r#"["xor","x",["holds","vip"],["=","age",1]]"#,
        r#"[["in","age",1],["not",["in","age",1]],["in","vip",false],["in","vip",true],["and",0,2],["and",1,3],["or",4,5]]"#,
    ),
    // vip xnor age = 1 → (age = 1 and vip = true) or (age != 1 and vip = false)
    (
        r#"["xor","n",["holds","vip"],["=","age",1]]"#,
        r#"[["in","age",1],["not",["in","age",1]],["in","vip",false],["in","vip",true],["and",0,3],["and",1,2],["or",4,5]]"#,
    ),
    // true and vip → vip = true
    (r#"["and",true,["holds","vip"]]"#, r#"[["in","vip",true]]"#),
    // false or vip → vip = true
    (r#"["or",false,["holds","vip"]]"#, r#"[["in","vip",true]]"#),
    // false and vip → false
    (r#"["and",false,["holds","vip"]]"#, "[false]"),
    // true or vip → true
    (r#"["or",true,["holds","vip"]]"#, "[true]"),
    // age = 1 and age = 2 → false
    (r#"["and",["=","age",1],["=","age",2]]"#, "[false]"),
    // not (age = 1 and age = 2) → age != 1 or age != 2
    (
        r#"["not",["and",["=","age",1],["=","age",2]]]"#,
        r#"[["not",["in","age",1]],["not",["in","age",2]],["or",0,1]]"#,
    ),
    // age = 1 or age != 1 → age = 1 or age != 1
    (
        r#"["or",["=","age",1],["!=","age",1]]"#,
        r#"[["in","age",1],["not",["in","age",1]],["or",0,1]]"#,
    ),
    // not (age = 1 or age != 1) → false
    (r#"["not",["or",["=","age",1],["!=","age",1]]]"#, "[false]"),
    // age is null or age is not null → true
    (
        r#"["or",["is null","age"],["is not null","age"]]"#,
        "[true]",
    ),
    // not (age is null and age is not null) → true
    (
        r#"["not",["and",["is null","age"],["is not null","age"]]]"#,
        "[true]",
    ),
    // vip xor vip → false
    (r#"["xor","x",["holds","vip"],["holds","vip"]]"#, "[false]"),
    // vip xnor vip → vip = false or vip = true
    (
        r#"["xor","n",["holds","vip"],["holds","vip"]]"#,
        r#"[["in","vip",false],["in","vip",true],["or",0,1]]"#,
    ),
];

/// What can never be true is false.
const NEVER_TRUE: &[&str] = &[
    r#"["and",["=","age",1],["!=","age",1]]"#,
    r#"["and",["=","age",1],[">","age",5]]"#,
    r#"["and",["in","age",1,2],["in","age",3,4]]"#,
    r#"["and",[">","age",30],["<","age",20]]"#,
    r#"["and",[">","age",4],["<","age",5]]"#,
    r#"["and",["between","age",1,2],["not in","age",1,2]]"#,
    r#"["and",["is null","age"],["=","age",1]]"#,
    r#"["and",["is null","age"],["is not null","age"]]"#,
    r#"["and",[">","price",1.0],["<=","price",1.0]]"#,
    r#"["and",[">=","price",1.0],["<=","price",1.0],["!=","price",1.0]]"#,
    r#"["and",["between","price",1.0,2.0],[">","price",2.0]]"#,
    r#"["and",[">","country","b"],["<","country","a"]]"#,
    r#"["and",["=","country","abc"],["starts with","country","b"]]"#,
    r#"["and",["in","country","ab","ac"],["not",["contains","country","a"]]]"#,
    r#"["and",["starts with","country","a"],["starts with","country","b"]]"#,
    r#"["and",["starts with","country","a"],[">","country","b"]]"#,
    r#"["and",["starts with","country","b"],["<","country","b"]]"#,
    r#"["and",["ends with","country","xa"],["ends with","country","ya"]]"#,
    r#"["and",["holds","vip"],["not",["holds","vip"]]]"#,
    r#"["and",["is empty","segments"],["any of","segments",1]]"#,
    r#"["and",["is empty","segments"],["all of","segments",1,2]]"#,
    r#"["and",["any of","segments",1,2],["none of","segments",1,2,3]]"#,
    r#"["and",["any of","segments",1,2],["none of","segments",1],["none of","segments",2]]"#,
    r#"["and",["all of","segments",1,2],["none of","segments",2]]"#,
    r#"["and",["all of","segments",1,2,3],["not",["all of","segments",1,2]]]"#,
    r#"["and",["contains","country","a"],["not",["contains","country","a"]]]"#,
];

/// What can be true is not folded.
const POSSIBLE: &[&str] = &[
    r#"["and",[">","age",4],["<","age",6]]"#,
    r#"["and",[">=","age",1],["not in","age",1,2]]"#,
    r#"["and",[">","price",1.0],["<","price",2.0]]"#,
    r#"["and",["starts with","country","a"],["starts with","country","ab"]]"#,
    r#"["and",["starts with","country","b"],["<=","country","b"]]"#,
    r#"["and",["starts with","country","a"],[">","country","ab"]]"#,
    r#"["and",["ends with","country","a"],["ends with","country","xa"]]"#,
    r#"["and",["is empty","segments"],["none of","segments",1]]"#,
    r#"["and",["is empty","segments"],["not",["all of","segments",1,2]]]"#,
    r#"["and",["any of","segments",1,2],["none of","segments",1]]"#,
    r#"["and",["not",["all of","segments",1,2]],["all of","segments",1,3]]"#,
];

/// What is not a tree, its code and its place.
const REFUSED: &[(&str, &str, &str)] = &[
    ("", "tree.json", ""),
    ("[1,", "tree.json", ""),
    ("{}", "tree.shape", ""),
    ("[1]", "tree.shape", ""),
    ("[2,true]", "tree.version", "/0"),
    ("[true,true]", "tree.version", "/0"),
    ("[1,null]", "tree.shape", "/1"),
    ("[1,1]", "tree.shape", "/1"),
    ("[1,[]]", "tree.shape", "/1"),
    (r#"[1,["nand",true,true]]"#, "tree.shape", "/1/0"),
    (r#"[1,["and",true]]"#, "tree.shape", "/1"),
    (r#"[1,["not",true,true]]"#, "tree.shape", "/1"),
    (r#"[1,["xor","x",true]]"#, "tree.shape", "/1"),
    (r#"[1,["xor","y",true,true]]"#, "tree.shape", "/1"),
    (r#"[1,["xor",[],true,true]]"#, "tree.shape", "/1"),
    (
        r#"[1,["or",true,["=","aeg",1]]]"#,
        "attribute.unknown",
        "/1/2/1",
    ),
    (r#"[1,["=","age"]]"#, "tree.shape", "/1"),
    (r#"[1,["=","age",1,2]]"#, "tree.shape", "/1"),
    (r#"[1,["between","age",1]]"#, "tree.shape", "/1"),
    (r#"[1,["is null","age",1]]"#, "tree.shape", "/1"),
    (r#"[1,["="]]"#, "tree.shape", "/1"),
    (r#"[1,["=","age",1.0]]"#, "type.mismatch", "/1/2"),
    (r#"[1,["=","age",true]]"#, "type.mismatch", "/1/2"),
    (r#"[1,["=","age",null]]"#, "type.mismatch", "/1/2"),
    (
        r#"[1,["=","age",9223372036854775808]]"#,
        "value.int_range",
        "/1/2",
    ),
    (
        r#"[1,["=","price",9007199254740993]]"#,
        "value.inexact",
        "/1/2",
    ),
    (r#"[1,["=","price",NaN]]"#, "value.not_finite", "/1/2"),
    (r#"[1,["=","price",1e999]]"#, "value.not_finite", "/1/2"),
    (r#"[1,["=","country","\u0000"]]"#, "value.nul", "/1/2"),
    (r#"[1,["=","country","\ud800"]]"#, "value.surrogate", "/1/2"),
    (r#"[1,["in","age"]]"#, "set.empty", "/1"),
    (r#"[1,["in","age",1,"2"]]"#, "type.mismatch", "/1/3"),
    (r#"[1,["between","age",2,1]]"#, "range.reversed", "/1"),
    (r#"[1,["contains","country",""]]"#, "pattern.empty", "/1/2"),
    (r#"[1,["any of","age",1]]"#, "type.operator", "/1"),
    (r#"[1,["in","age",1,2,3,4]]"#, "limit.set_values", "/1"),
    (
        r#"[1,["or",["holds","vip"],["holds","vip"],["holds","vip"]]]"#,
        "limit.predicates",
        "/1/3",
    ),
    (
        r#"[1,["not",["not",["not",["not",["not",["not",["not",["not",["not",["not",true]]]]]]]]]]]"#,
        "limit.depth",
        "/1/1/1/1/1/1/1/1/1/1/1",
    ),
];

#[test]
fn one_form_for_one_meaning() {
    for (tree, normal) in ONE_FORM {
        assert_eq!(nodes(tree), *normal, "{tree}");
    }
}

#[test]
fn what_can_never_be_true_is_false() {
    for tree in NEVER_TRUE {
        assert_eq!(nodes(tree), "[false]", "{tree}");
    }
}

#[test]
fn what_can_be_true_is_not_folded() {
    for tree in POSSIBLE {
        assert!(nodes(tree).ends_with("[\"and\",0,1]]"), "{tree}");
    }
}

#[test]
fn what_is_not_a_tree_is_refused_with_its_place() {
    for (json, code, pointer) in REFUSED {
        let refused = refusal(json.as_bytes(), &limits(2, 2, 3));
        assert_eq!(refused, (*code, (*pointer).to_owned()), "{json}");
    }
}
