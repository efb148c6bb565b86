// Included by `build.rs`, and by the tests of `src/engine/snapshot/layout.rs`.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// A hash of every Rust source below a folder: names and contents.
pub fn layout_hash(folder: &Path) -> u64 {
    let mut paths = sources_below(folder);
    paths.sort();
    // Seeded with constants, so equal sources give equal hashes on every machine.
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    usize::BITS.hash(&mut hasher);
    for path in paths {
        let name = path.strip_prefix(folder).expect("below the folder");
        name.to_string_lossy().hash(&mut hasher);
        std::fs::read(&path).expect("a readable source").hash(&mut hasher);
    }
    hasher.finish()
}

fn sources_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    entries
        .map(|entry| entry.expect("a readable folder").path())
        .flat_map(|path| match path.is_dir() {
            true => sources_below(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
