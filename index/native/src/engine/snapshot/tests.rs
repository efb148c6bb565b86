//! Valid, damaged and forged files.

use super::layout::LAYOUT;
use super::layout::tests::with_one_source_changed;
use super::*;
use crate::engine::ids::slots::Properties;
use crate::engine::matching::filter::Filter;
use crate::language::{Limits, Schema, Type};
use xxhash_rust::xxh3::xxh3_64;

const EVENTS: [&[u8]; 5] = [
    b"{}",
    br#"{"country":"US","age":30,"tags":["a","b"],"url":"http://x.example/a"}"#,
    br#"{"country":"DE","age":7,"price":2.5,"tags":[]}"#,
    br#"{"country":"FR","age":-5,"tags":["c","d","e"],"url":"abc"}"#,
    br#"{"age":1000000,"price":-1.5,"url":"xyz.news"}"#,
];

fn empty(keeps_trees: bool) -> Index {
    let schema = Schema::new([
        ("country", Type::Str),
        ("age", Type::Int),
        ("price", Type::Float),
        ("tags", Type::StrList),
        ("url", Type::Str),
    ]);
    Index::new(schema.unwrap(), Limits::default(), keeps_trees)
}

/// Every kind of key, literal, list and program, and a few that are gone again.
fn filled(keeps_trees: bool) -> Index {
    let index = empty(keeps_trees);
    let mut trees: Vec<String> = [
        "true",
        "false",
        r#"["in","country","US"]"#,
        r#"["in","country","US"]"#,
        r#"["in","country","US","DE","FR","IT","ES"]"#,
        r#"["not",["in","country","US","DE","FR","IT","ES"]]"#,
        r#"["between","age",18,34]"#,
        r#"["between","age",3,99999]"#,
        r#"[">=","age",5000000000]"#,
        r#"["<","price",2.75]"#,
        r#"["is null","price"]"#,
        r#"["is empty","tags"]"#,
        r#"["any of","tags","a","b","c","d","e","f"]"#,
        r#"["all of","tags","a","b"]"#,
        r#"["starts with","url","http://"]"#,
        r#"["ends with","url",".news"]"#,
        r#"["contains","url","bc"]"#,
        r#"["<","url","b"]"#,
        r#"["not",["is null","url"]]"#,
    ]
    .map(str::to_owned)
    .to_vec();
    for n in 0..40 {
        trees.push(format!(
            r#"["and",["in","country","US","C{n}"],["or",[">=","age",{n}],["any of","tags","a","t{n}"]]]"#
        ));
        trees.push(format!(
            r#"["xor","xnxnx",["in","country","DE"],["in","age",{n}],["<=","age",9],["in","age",1,2,{n}],["is null","tags"],["in","url","u{n}"]]"#
        ));
    }
    let large: Vec<String> = (0..80).map(|n| format!("\"L{n}\"")).collect();
    trees.push(format!(r#"["in","country",{}]"#, large.join(",")));
    // A few that share an expression, and more than a few.
    trees.extend(std::iter::repeat_n(r#"["in","age",7]"#.to_owned(), 9));
    trees.extend(std::iter::repeat_n(r#"["in","age",8]"#.to_owned(), 300));
    for (id, tree) in trees.iter().enumerate() {
        let properties = Properties {
            score: id as i64 % 7,
            window: (id % 5 == 0).then_some((1.0, 2.0 + id as f64)),
            group: id as u64 % 4,
            version: id as u32,
            labels: ["", "a/b", "a\nb", "c"][id % 4],
        };
        let inserted = index.insert(3 * id as u64, format!("[1,{tree}]").as_bytes(), properties);
        inserted.unwrap_or_else(|error| panic!("{tree}: {error}"));
    }
    for id in (0..trees.len() as u64).step_by(9) {
        index.remove(3 * id);
    }
    index.mute(2);
    index
}

fn answers(index: &Index) -> Vec<Vec<u64>> {
    let filter = Filter {
        at: Some(1.5),
        labels: vec!["b".to_owned(), "a/b".to_owned()],
        ..Filter::default()
    };
    let answer = |event: &&[u8]| {
        index.ask(
            |core, scratch| index.fill_json(core, scratch, event),
            |core, scratch| {
                let mut ids = Vec::new();
                core.matches(scratch, &filter, &mut ids);
                ids
            },
        )
    };
    EVENTS
        .iter()
        .map(|event| answer(event).unwrap_or_default())
        .collect()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("copse-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("index")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn save_then_load_is_identity() {
    let folder = Folder::new("identity");
    for keeps_trees in [true, false] {
        let (index, loaded) = (filled(keeps_trees), empty(keeps_trees));
        save(&index, &folder.file()).unwrap();
        load(&loaded, &folder.file()).unwrap();
        loaded.read(|core| core.check_invariants()).unwrap();
        assert_eq!(answers(&loaded), answers(&index));
        assert_eq!(
            loaded.read(|core| core.slots.digest()),
            index.read(|core| core.slots.digest())
        );
        // And once more, which finds the same memory.
        let first = std::fs::read(folder.file()).unwrap();
        save(&loaded, &folder.file()).unwrap();
        assert_eq!(std::fs::read(folder.file()).unwrap().len(), first.len());
        for id in 0..2000 {
            loaded.remove(id);
        }
        loaded.read(|core| core.check_invariants()).unwrap();
        assert!(loaded.read(|core| core.slots.is_empty() && core.long.is_empty()));
    }
}

#[test]
fn an_index_that_keeps_trees_wants_them() {
    let folder = Folder::new("trees");
    save(&filled(false), &folder.file()).unwrap();
    let refused = load(&empty(true), &folder.file());
    assert!(matches!(refused, Err(SnapshotError::NoTrees)));
    save(&filled(true), &folder.file()).unwrap();
    let loaded = empty(false);
    load(&loaded, &folder.file()).unwrap();
    assert_eq!((loaded.tree(6), loaded.tree_bytes()), (None, 0));
}

/// Give a file that was changed the checksum that it should have.
fn seal(file: &mut [u8]) {
    let sum = xxh3_64(&file[HEADER as usize..]);
    file[20..28].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_snapshot_of_a_build_with_any_source_changed_is_refused() {
    let folder = Folder::new("layout");
    save(&filled(true), &folder.file()).unwrap();
    let mut file = std::fs::read(folder.file()).unwrap();
    let at = HEADER as usize + 8;
    assert_eq!(file[at..at + 8], LAYOUT.to_le_bytes());
    let layouts = with_one_source_changed();
    assert!(layouts.len() > 50, "{}", layouts.len());
    for layout in layouts {
        file[at..at + 8].copy_from_slice(&layout.to_le_bytes());
        seal(&mut file);
        std::fs::write(folder.file(), &file).unwrap();
        let refused = load(&empty(true), &folder.file()).unwrap_err();
        assert!(refused.to_string().contains("made by another build"));
    }
}

/// Whatever stands in a file with a right checksum: an error, or an index that can be asked.
#[test]
fn a_file_that_was_made_up_leads_nowhere_else() {
    let folder = Folder::new("made-up");
    save(&filled(true), &folder.file()).unwrap();
    let whole = std::fs::read(folder.file()).unwrap();
    let mut seed = 11u64;
    let mut draw = |below: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let mut refused = 0;
    for round in 0..400 {
        let mut file = whole.clone();
        for _ in 0..1 + round % 3 {
            let at = HEADER as usize + 16 + draw(whole.len() - HEADER as usize - 32);
            match draw(4) {
                0 => file[at] = draw(256) as u8,
                1 => file[at] ^= 1 << draw(8),
                2 => file[at..at + 4].copy_from_slice(&(draw(600) as u32).to_le_bytes()),
                _ => file[at..at + 4].copy_from_slice(&[255; 4]),
            }
        }
        seal(&mut file);
        std::fs::write(folder.file(), &file).unwrap();
        let index = empty(true);
        match load(&index, &folder.file()) {
            Ok(()) => drop(answers(&index)),
            Err(_) => {
                refused += 1;
                assert!(index.read(|core| core.slots.is_empty()));
            }
        }
    }
    assert!(refused > 200, "{refused}");
}
