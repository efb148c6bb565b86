//! How long it takes, step by step.

use super::super::{FrontEnd, Limits, Schema, Type};

/// `cargo test --release --lib -- --ignored --nocapture how_long`
#[test]
#[ignore = "prints times, says nothing"]
fn how_long_it_takes() {
    let schema = Schema::new([
        ("country", Type::Str),
        ("device.type", Type::Str),
        ("age", Type::Int),
        ("price", Type::Float),
        ("vip", Type::Bool),
        ("segments", Type::IntList),
        ("tags", Type::StrList),
        ("site.domain", Type::Str),
        ("now.hour", Type::Int),
        ("os", Type::Str),
    ])
    .unwrap();
    let eight = r#"[1,["and",["in","country","US","CA"],["=","device.type","phone"],[">=","age",18],["<","price",2.5],["holds","vip"],["any of","segments",12,99],["ends with","site.domain",".news"],["between","now.hour",8,20]]]"#;
    let sixteen = r#"[1,["and",["in","country","US","CA"],["or",["=","device.type","phone"],["and",["=","os","ios"],[">=","age",18]],["<","price",2.5]],["not",["or",["holds","vip"],["any of","segments",12,99],["and",["ends with","site.domain",".news"],["between","now.hour",8,20]]]],["or",["and",["=","os","android"],["<","age",35]],["and",["!=","country","US"],["any of","tags","sports","news"]],["is null","price"]],["or",["none of","tags","adult"],["starts with","site.domain","m."]]]]"#;
    let mut front_end = FrontEnd::default();
    let limits = Limits::default();
    let mut chain = String::from("[1,[\"xor\",\"");
    chain.push_str(&"x".repeat(999));
    chain.push('"');
    (0..1000).for_each(|i| chain.push_str(&format!(",[\"=\",\"age\",{i}]")));
    chain.push_str("]]");
    let mut set = String::from("[1,[\"in\",\"age\"");
    (0..100_000u64).for_each(|i| set.push_str(&format!(",{}", i * 7_919 % 100_003)));
    set.push_str("]]");
    for (name, json, rounds) in [
        ("8 and", eight, 20_000),
        ("16 nested", sixteen, 10_000),
        ("xor 1000", &chain, 20),
        ("set 100000", &set, 5),
    ] {
        let (mut parse, mut check, mut build, mut best) =
            (u128::MAX, u128::MAX, u128::MAX, u128::MAX);
        for _ in 0..21 {
            let time = |work: &mut dyn FnMut()| {
                let started = std::time::Instant::now();
                (0..rounds).for_each(|_| work());
                started.elapsed().as_nanos() / rounds
            };
            parse = parse.min(time(&mut || front_end.tape.read(json.as_bytes()).unwrap()));
            check = check.min(time(&mut || {
                front_end
                    .tree
                    .read(&front_end.tape, &schema, &limits)
                    .unwrap();
            }));
            build = build.min(time(&mut || {
                front_end
                    .tree
                    .read(&front_end.tape, &schema, &limits)
                    .unwrap();
                front_end
                    .graph
                    .build(&mut front_end.tree, &schema, &front_end.tape.text);
            }));
            best = best.min(time(&mut || {
                let form = front_end.normalize(json.as_bytes(), &schema, &limits);
                std::hint::black_box(form.unwrap().nodes().len());
            }));
        }
        println!(
            "{name}: {best} ns for {} bytes (tape {parse}, tree {check}, tree and graph {build})",
            json.len()
        );
    }
}
