//! Gives the crate `COPSE_LAYOUT`, a hash of all its sources: see `src/engine/snapshot/layout.rs`.

include!("layout_hash.rs");

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=layout_hash.rs");
    println!(
        "cargo::rustc-env=COPSE_LAYOUT={}",
        layout_hash(Path::new("src"))
    );
}
