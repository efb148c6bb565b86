//! The catalogue of attributes that expressions may use: names, types, and the order of names.
//!
//! The core numbers attributes in the order of declaration. The normal form is ordered by *name*, so
//! that it does not depend on that order; the ranks are for that. Names are checked in Python.
//!
//! An attribute of strings has another one behind it, for its folded text (`ignoring case`). Clients
//! cannot send it: it has no name of its own. Events have it only once an expression uses it.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::types::Type;

/// The version of the last schema that got one.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// The attributes, by number and by name. Attributes can be added, and never change.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    attributes: Vec<Attribute>,
    by_name: FxHashMap<Box<str>, Entry>,
    /// Numbers of attributes, by ascending name.
    in_order: Vec<u32>,
    /// Whether an expression uses any folded text.
    folds: bool,
    version: u64,
}

#[derive(Clone, Debug)]
struct Attribute {
    name: Box<str>,
    kind: Type,
    /// The position in `in_order`.
    rank: u32,
    /// The attribute whose folded text this is.
    base: Option<u32>,
    /// Whether an expression uses the folded text of this one.
    folded: bool,
}

/// The result of a look-up by name.
#[derive(Clone, Copy, Debug)]
struct Entry {
    attr: u32,
    kind: Type,
}

/// An attribute that was declared before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedName {
    pub name: String,
}

impl Schema {
    /// A schema of these attributes, numbered from 0.
    pub fn new<'a>(
        attributes: impl IntoIterator<Item = (&'a str, Type)>,
    ) -> Result<Self, RepeatedName> {
        let mut schema = Self::default();
        for (name, kind) in attributes {
            schema.declare(name, kind)?;
        }
        schema.sort();
        Ok(schema)
    }

    /// Declares one more attribute and returns its number. Linear in the number of attributes; the
    /// ranks of others may change, their numbers do not.
    pub fn add(&mut self, name: &str, kind: Type) -> Result<u32, RepeatedName> {
        let attr = self.declare(name, kind)?;
        self.sort();
        Ok(attr)
    }

    fn declare(&mut self, name: &str, kind: Type) -> Result<u32, RepeatedName> {
        if self.by_name.contains_key(name) {
            return Err(RepeatedName {
                name: name.to_owned(),
            });
        }
        self.version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
        let attr = self.push(name, kind, None);
        self.by_name.insert(name.into(), Entry { attr, kind });
        if kind.element() == Type::Str {
            self.push(name, kind, Some(attr));
        }
        Ok(attr)
    }

    fn push(&mut self, name: &str, kind: Type, base: Option<u32>) -> u32 {
        let attr = u32::try_from(self.attributes.len()).unwrap_or(u32::MAX);
        self.attributes.push(Attribute {
            name: name.into(),
            kind,
            rank: 0,
            base,
            folded: false,
        });
        self.in_order.push(attr);
        attr
    }

    /// The attribute of the folded text of an attribute of strings.
    pub fn fold_of(&self, attr: u32) -> u32 {
        attr + 1
    }

    /// The attribute itself, or the one whose folded text this is.
    pub fn base(&self, attr: u32) -> u32 {
        self.attributes[attr as usize].base.unwrap_or(attr)
    }

    /// Whether this is the folded text of another attribute.
    pub fn is_fold(&self, attr: u32) -> bool {
        self.attributes[attr as usize].base.is_some()
    }

    /// From now on events have the folded text of an attribute, if this is one.
    pub fn use_fold(&mut self, attr: u32) {
        let base = self.base(attr);
        self.attributes[base as usize].folded |= base != attr;
        self.folds |= base != attr;
    }

    /// The attribute of the folded text, if an expression uses it.
    #[inline]
    pub fn used_fold(&self, attr: u32) -> Option<u32> {
        let used = self.folds && self.attributes[attr as usize].folded;
        used.then_some(attr + 1)
    }

    /// A number for the names and types that are declared: equal numbers, equal declarations.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The attributes that were declared.
    pub fn declared(&self) -> impl Iterator<Item = u32> {
        let attributes = (0..).zip(&self.attributes);
        attributes.filter_map(|(attr, each)| each.base.is_none().then_some(attr))
    }

    /// Nearly sorted already, except the first time.
    fn sort(&mut self) {
        let Self {
            attributes,
            in_order,
            ..
        } = self;
        in_order.sort_by(|a, b| {
            let [a, b] = [a, b].map(|attr| &attributes[*attr as usize]);
            a.name.cmp(&b.name).then(a.base.cmp(&b.base))
        });
        for (rank, attr) in (0..).zip(in_order.iter()) {
            attributes[*attr as usize].rank = rank;
        }
    }

    /// The number of an attribute, if it is declared.
    pub fn attr(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).map(|entry| entry.attr)
    }

    /// Number and type in one look-up.
    pub(super) fn find(&self, name: &str) -> Option<(u32, Type)> {
        self.by_name.get(name).map(|entry| (entry.attr, entry.kind))
    }

    /// The name of an attribute.
    ///
    /// # Panics
    ///
    /// If no attribute has that number, as do `ty` and `rank`.
    pub fn name(&self, attr: u32) -> &str {
        &self.attributes[attr as usize].name
    }

    /// The type of an attribute.
    pub fn ty(&self, attr: u32) -> Type {
        self.attributes[attr as usize].kind
    }

    /// The position of an attribute's name among all names; literals are ordered by it.
    pub fn rank(&self, attr: u32) -> u32 {
        self.attributes[attr as usize].rank
    }

    /// The number of attributes, those of folded texts included.
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_by_declaration_and_ranks_by_name() {
        let mut schema = Schema::new([("b", Type::Int), ("a.z", Type::Str)]).unwrap();
        assert_eq!(schema.attr("b"), Some(0));
        assert_eq!(
            (0..3).map(|n| schema.rank(n)).collect::<Vec<_>>(),
            [2, 0, 1]
        );
        assert_eq!(schema.add("B", Type::Bool), Ok(3));
        assert_eq!(
            (0..4).map(|n| schema.rank(n)).collect::<Vec<_>>(),
            [3, 1, 2, 0]
        );
        assert_eq!(schema.find("a.z"), Some((1, Type::Str)));
        assert_eq!(schema.attr("c"), None);
        assert_eq!(
            (schema.name(1), schema.ty(1), schema.len()),
            ("a.z", Type::Str, 4)
        );
        assert!(schema.add("b", Type::Int).is_err());
        assert_eq!(schema.len(), 4);
        assert_eq!(
            (schema.is_fold(1), schema.is_fold(2), schema.base(2)),
            (false, true, 1)
        );
        assert_eq!(schema.used_fold(1), None);
        schema.use_fold(1);
        assert_eq!(schema.used_fold(1), None);
        schema.use_fold(2);
        assert_eq!(schema.used_fold(1), Some(2));
        assert_eq!(schema.declared().collect::<Vec<_>>(), [0, 1, 3]);
    }
}
