//! The papers' engines, each behind the face in `engine.rs` and made by its name.
//!
//! ```text
//!   a-tree-thesis (all expressions)                      a_tree/
//!   be-tree, be-tree-{lazy,bitmap,bitmap-cc,lazy-bloom,bitmap-bloom,adaptive}   be_tree/
//!   propagation, propagation-{plain,static,dynamic}     propagation/
//!   pst-bloom, pst-hash                                  pst/
//!   tama, tama-optimal (approximate: no false negatives) tama/
//! ```
//!
//! Trees and events are read by the flat scan's reader, so all engines see the same expressions.

pub mod a_tree;
pub mod be_tree;
mod checks;
pub mod engine;
#[cfg(test)]
mod histories;
pub mod literal;
mod pool;
mod predicates;
pub mod propagation;
pub mod pst;
mod spaces;
pub mod store;
pub mod tama;

use _native::language::{Schema, Type};

use a_tree::ATree;
use be_tree::{BeTree, Parameters, Variant};
use engine::{Conjunctive, Engine, Index};
use propagation::{Clustering, Propagation, Thresholds};
use pst::{bloom::PstBloom, hash::PstHash};
use store::Store;
use tama::{Separation, Tama};

/// The names of all engines.
pub const NAMES: &[&str] = &[
    "a-tree-thesis",
    "be-tree",
    "be-tree-lazy",
    "be-tree-bitmap",
    "be-tree-bitmap-cc",
    "be-tree-lazy-bloom",
    "be-tree-bitmap-bloom",
    "be-tree-adaptive",
    "propagation",
    "propagation-plain",
    "propagation-static",
    "propagation-dynamic",
    "pst-bloom",
    "pst-hash",
    "tama",
    "tama-optimal",
];

/// An empty engine. `setting` is the capacity of BE-Tree's leaves or TAMA's last level, if not the
/// default.
pub fn make(name: &str, schema: Schema, setting: Option<usize>) -> Option<Box<dyn Engine>> {
    if name == "a-tree-thesis" {
        return Some(Box::new(ATree::new(schema)));
    }
    let attributes = schema.len();
    let floats = (0..attributes as u32).map(|a| schema.ty(a) == Type::Float);
    let floats: Vec<bool> = floats.collect();
    let store = Store::new(schema);
    let with = |variant, mut parameters: Parameters| {
        parameters.max_cap = setting.unwrap_or(parameters.max_cap);
        BeTree::new(variant, parameters, attributes)
    };
    let be_tree = |variant| with(variant, Parameters::default());
    let tama = |separation| {
        let last = setting.map_or(tama::LEVELS, |last| last as u32);
        Tama::new(last, separation, floats)
    };
    let dynamic = Clustering::Dynamic(Thresholds::default());
    let engine: Box<dyn Engine> = match name {
        "be-tree" => conjunctive(store, be_tree(Variant::Plain)),
        "be-tree-lazy" => conjunctive(store, be_tree(Variant::Lazy)),
        "be-tree-bitmap" => conjunctive(store, be_tree(Variant::Bitmap)),
        "be-tree-bitmap-cc" => conjunctive(store, be_tree(Variant::BitmapCc)),
        "be-tree-lazy-bloom" => conjunctive(store, be_tree(Variant::LazyBloom)),
        "be-tree-bitmap-bloom" => conjunctive(store, be_tree(Variant::BitmapBloom)),
        "be-tree-adaptive" => conjunctive(store, with(Variant::Plain, Parameters::adaptive())),
        "propagation" => conjunctive(store, Propagation::new(Clustering::Single, true)),
        "propagation-plain" => conjunctive(store, Propagation::new(Clustering::Single, false)),
        "propagation-static" => conjunctive(store, Propagation::new(Clustering::Static, true)),
        "propagation-dynamic" => conjunctive(store, Propagation::new(dynamic, true)),
        "pst-bloom" => conjunctive(store, PstBloom::new(attributes)),
        "pst-hash" => conjunctive(store, PstHash::default()),
        "tama" => conjunctive(store, tama(Separation::Uniform)),
        "tama-optimal" => conjunctive(store, tama(Separation::Optimal)),
        _ => return None,
    };
    Some(engine)
}

fn conjunctive(store: Store, index: impl Index + 'static) -> Box<dyn Engine> {
    Box::new(Conjunctive::new(store, index))
}
