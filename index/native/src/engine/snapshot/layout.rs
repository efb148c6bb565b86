//! The layout of a snapshot as one number, so that another build refuses what it would misread.
//!
//! Most of a snapshot is a copy of memory, and the code defines its meaning: how a literal is
//! packed, which keys a range has, how large a block is. If somebody forgot to raise a version
//! number, or to list a file, old snapshots would give wrong answers. So `build.rs` hashes every
//! source of this crate. A changed comment changes the hash too, which costs one cold start.

/// The layout of this build.
pub const LAYOUT: u64 = match u64::from_str_radix(env!("COPSE_LAYOUT"), 10) {
    Ok(hash) => hash,
    Err(_) => panic!("build.rs gives a number"),
};

#[cfg(test)]
pub mod tests {
    use super::LAYOUT;

    include!("../../../layout_hash.rs");

    fn sources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
    }

    fn copy(from: &Path, to: &Path) {
        for path in sources_below(from) {
            let target = to.join(path.strip_prefix(from).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&path, &target).unwrap();
        }
    }

    /// The layouts of builds with one source changed, for every source.
    pub fn with_one_source_changed() -> Vec<u64> {
        let folder = std::env::temp_dir().join(format!("copse-sources-{}", std::process::id()));
        copy(&sources(), &folder);
        let layouts = sources_below(&folder).into_iter().map(|path| {
            let text = std::fs::read(&path).unwrap();
            std::fs::write(&path, [&text[..], b"//"].concat()).unwrap();
            let layout = layout_hash(&folder);
            std::fs::write(&path, text).unwrap();
            layout
        });
        let layouts = layouts.collect();
        assert_eq!(layout_hash(&folder), LAYOUT);
        std::fs::remove_dir_all(&folder).unwrap();
        layouts
    }

    #[test]
    fn the_layout_is_the_hash_of_the_sources() {
        assert_eq!(layout_hash(&sources()), LAYOUT);
    }
}
