//! The normal forms and errors that Python gives, for a file of expressions.

use super::super::{FrontEnd, Limits, Schema, Type};

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    let pairs = text.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| digit(pair[0]) * 16 + digit(pair[1]))
        .collect()
}

/// Compares with a file of what Python gives, one expression a line, made by a script:
///
/// ```text
/// name:type,… TAB predicates,depth,set_values TAB tree in hex TAB normal form or !code pointer
/// ```
#[test]
#[ignore = "needs a file, named by COPSE_LANGUAGE_DIFF"]
fn python_gives_the_same() {
    let path = std::env::var("COPSE_LANGUAGE_DIFF").expect("COPSE_LANGUAGE_DIFF names a file");
    let lines = std::fs::read_to_string(path).unwrap();
    let mut front_end = FrontEnd::default();
    let (mut forms, mut errors, mut wrong) = (0, 0, 0);
    for line in lines.lines() {
        let [attributes, limits, tree, expected] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let attributes = attributes.split(',').map(|attribute| {
            let (name, kind) = attribute.split_once(':').unwrap();
            (name, Type::from_name(kind).unwrap())
        });
        let schema = Schema::new(attributes).unwrap();
        let limits: Vec<usize> = limits.split(',').map(|n| n.parse().unwrap()).collect();
        let limits = Limits {
            predicates: limits[0],
            depth: limits[1],
            set_values: limits[2],
        };
        let tree = unhex(tree);
        let got = match front_end.normalize(&tree, &schema, &limits) {
            Ok(form) => {
                forms += 1;
                form.to_json(&schema)
            }
            Err(error) => {
                errors += 1;
                format!("!{} {} {}", error.code, error.pointer, error.message)
            }
        };
        let expected = match expected.strip_prefix('!') {
            Some(hex) => format!("!{}", String::from_utf8_lossy(&unhex(hex))),
            None => expected.to_owned(),
        };
        // Where a message quotes something in Python's way, the file leaves it out.
        if got != expected && !got.starts_with(&(expected.clone() + " ")) {
            wrong += 1;
            println!("{}", String::from_utf8_lossy(&tree));
            println!("  got      {got}\n  expected {expected}");
        }
    }
    println!("{forms} normal forms and {errors} errors compared");
    assert_eq!(wrong, 0);
}
