//! Statistics in a snapshot.

use super::{Attribute, Statistics};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, ensure, write_bytes};

impl Item for Attribute {
    fn write(&self, out: &mut Vec<u8>) {
        self.presence.write(out);
        self.empty.write(out);
        self.rest.write(out);
        self.sorted.write(out);
        (self.histogram.len() as u32).write(out);
        for &(low, high, share) in &self.histogram {
            (low, (high, share)).write(out);
        }
        let mut texts: Vec<(&str, f32)> = self.texts.iter().map(|(t, &s)| (&**t, s)).collect();
        texts.sort_unstable_by_key(|&(text, _)| text);
        (texts.len() as u32).write(out);
        for (text, share) in texts {
            write_bytes(out, text.as_bytes());
            share.write(out);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let mut known = Attribute {
            presence: Item::read(from)?,
            empty: Item::read(from)?,
            rest: Item::read(from)?,
            sorted: Item::read(from)?,
            ..Default::default()
        };
        let ascending = known.sorted.is_sorted_by_key(|&(order, _)| order);
        ensure(ascending, "statistics are out of order")?;
        known.numbers = known.sorted.iter().copied().collect();
        for _ in 0..from.u32()? {
            let (low, (high, share)) = Item::read(from)?;
            known.histogram.push((low, high, share));
        }
        for _ in 0..from.u32()? {
            let text = from.text()?;
            known.texts.insert(text.into(), Item::read(from)?);
        }
        Ok(known)
    }
}

impl Item for Statistics {
    fn write(&self, out: &mut Vec<u8>) {
        (self.attributes.len() as u32).write(out);
        for attribute in &self.attributes {
            u8::from(attribute.is_some()).write(out);
            if let Some(known) = attribute {
                known.write(out);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let mut attributes = Vec::new();
        for _ in 0..from.u32()? {
            let known = from.u8()? != 0;
            attributes.push(known.then(|| Item::read(from)).transpose()?);
        }
        Ok(Statistics { attributes })
    }
}
