//! Pairs in a snapshot: the table of each two attributes.

use super::{KnownValue, Pairs, Side, Table};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, write_bytes};
use crate::language::Type;

impl Item for KnownValue {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            KnownValue::Number(order) => {
                0u8.write(out);
                order.write(out);
            }
            KnownValue::Text(text) => {
                1u8.write(out);
                write_bytes(out, text.as_bytes());
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(match from.u8()? {
            0 => KnownValue::Number(from.u64()?),
            _ => KnownValue::Text(from.text()?.into()),
        })
    }
}

impl Item for Side {
    fn write(&self, out: &mut Vec<u8>) {
        self.attribute.write(out);
        write_bytes(out, self.kind.name().as_bytes());
        self.presence.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(Side {
            attribute: from.u32()?,
            kind: Type::from_name(from.text()?).ok_or(Malformed("a type is unknown"))?,
            presence: Item::read(from)?,
        })
    }
}

impl Table {
    fn write(&self, out: &mut Vec<u8>) {
        for side in &self.sides {
            side.write(out);
        }
        u8::from(self.presence.is_some()).write(out);
        self.presence.unwrap_or(0.0).write(out);
        let listed: usize = self.first.iter().map(|(_, others)| others.len()).sum();
        (listed as u32).write(out);
        for (value, others) in &self.first {
            for (other, share) in others {
                value.write(out);
                other.write(out);
                share.write(out);
            }
        }
    }
}

impl Item for Pairs {
    fn write(&self, out: &mut Vec<u8>) {
        let mut tables: Vec<_> = self.tables.iter().collect();
        tables.sort_unstable_by_key(|(attributes, _)| **attributes);
        (tables.len() as u32).write(out);
        for (_, table) in tables {
            table.write(out);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let mut pairs = Pairs::default();
        for _ in 0..from.u32()? {
            let sides = [Side::read(from)?, Side::read(from)?];
            let (is_known, presence) = (from.u8()? != 0, f32::read(from)?);
            let mut values = Vec::new();
            for _ in 0..from.u32()? {
                values.push((
                    KnownValue::read(from)?,
                    KnownValue::read(from)?,
                    f32::read(from)?,
                ));
            }
            pairs.add(sides, is_known.then_some(presence), values);
        }
        Ok(pairs)
    }
}
