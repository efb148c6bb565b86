//! Copies of many normal forms, one after another; a front end overwrites its own.
//!
//! ```text
//!   nodes     [ first … ][ second … ][ third … ]     each form a piece of every vector,
//!   text      [ first … ][ second … ][ third … ]     with the places inside it unchanged
//! ```

use super::literal::RawLiteral;
use super::normal_form::{Node, NormalForm};
use super::types::RawValue;

/// Normal forms by number.
#[derive(Debug, Default)]
pub struct Forms {
    nodes: Vec<Node>,
    children: Vec<u32>,
    literals: Vec<RawLiteral>,
    values: Vec<RawValue>,
    text: String,
    ends: Vec<End>,
}

/// Where a form ends in each vector; it begins where the previous one ends.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    nodes: usize,
    children: usize,
    literals: usize,
    values: usize,
    text: usize,
    is_pending: bool,
}

impl Forms {
    /// Adds one.
    pub fn push(&mut self, form: &NormalForm) {
        self.nodes.extend_from_slice(form.nodes);
        self.children.extend_from_slice(form.children);
        self.literals.extend_from_slice(form.literals);
        self.values.extend_from_slice(form.values);
        self.text.push_str(form.text);
        self.ends.push(End {
            nodes: self.nodes.len(),
            children: self.children.len(),
            literals: self.literals.len(),
            values: self.values.len(),
            text: self.text.len(),
            is_pending: form.is_pending,
        });
    }

    /// The form with this number, counted from 0.
    pub fn get(&self, number: usize) -> Option<NormalForm<'_>> {
        let end = self.ends.get(number)?;
        let start = match number.checked_sub(1) {
            Some(before) => self.ends[before],
            None => End::default(),
        };
        Some(NormalForm {
            nodes: &self.nodes[start.nodes..end.nodes],
            children: &self.children[start.children..end.children],
            literals: &self.literals[start.literals..end.literals],
            values: &self.values[start.values..end.values],
            text: &self.text[start.text..end.text],
            is_pending: end.is_pending,
        })
    }

    /// Bytes in use, roughly.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.children[..])
            + size_of_val(&self.literals[..])
            + size_of_val(&self.values[..])
            + self.text.len()
            + size_of_val(&self.ends[..])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FrontEnd, Limits, Schema, Type};
    use super::*;

    #[test]
    fn what_is_kept_is_what_it_was() {
        let schema = Schema::new([("s", Type::Str), ("a", Type::Int)]).unwrap();
        let mut front = FrontEnd::default();
        let mut forms = Forms::default();
        let mut written = Vec::new();
        for n in 0..50 {
            let json = match n % 3 {
                0 => "[1,true]".to_owned(),
                1 => format!(r#"[1,["in","s","x{n}","\u00e9"]]"#),
                _ => format!(r#"[1,["or",["=","a",{n}],["and",["=","s","y"],["<","a",3]]]]"#),
            };
            let limits = Limits::default();
            let form = front.normalize(json.as_bytes(), &schema, &limits).unwrap();
            written.push(form.to_json(&schema));
            forms.push(&form);
        }
        for (n, written) in written.iter().enumerate() {
            assert_eq!(&forms.get(n).unwrap().to_json(&schema), written);
        }
        assert!(forms.get(50).is_none() && forms.bytes() > 0);
    }
}
