//! From the JSON of a request's attributes to an event, in one pass.
//!
//! `index/event.py` has the rules and the messages: `null` is missing, of a repeated key the last
//! one counts, undeclared names are left out and reported. Here an event is read or refused. Python
//! then reads the refused one again, and reports its problems or finds that there are none.

use crate::engine::expression::strings::Strings;
use crate::engine::matching::event::Event;
use crate::language::address::Network;
use crate::language::geometry::Point;
use crate::language::{Schema, Type, version};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An event that this module cannot read.
#[derive(Debug)]
pub struct Unfit;

/// Fill an event from the JSON of its attributes. Names that the schema does not have are passed to
/// `unknown`.
///
/// # Errors
/// If the event is wrong or unusual. Then its content is undefined.
pub fn fill(
    event: &mut Event,
    json: &[u8],
    schema: &Schema,
    strings: &Strings,
    unknown: &mut impl FnMut(&str),
) -> Result<(), Unfit> {
    let text = std::str::from_utf8(json).map_err(|_| Unfit)?;
    let mut json = serde_json::Deserializer::from_str(text);
    let attributes = Attributes {
        event,
        schema,
        strings,
        unknown,
    };
    json.deserialize_map(attributes)
        .and_then(|()| json.end())
        .map_err(|_| Unfit)
}

struct Attributes<'a, F> {
    event: &'a mut Event,
    schema: &'a Schema,
    strings: &'a Strings,
    unknown: &'a mut F,
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, F: FnMut(&str)> Visitor<'de> for Attributes<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of attributes")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Name(name)) = map.next_key::<Name>()? {
            let Some(attribute) = self.schema.attr(&name) else {
                map.next_value::<IgnoredAny>()?;
                (self.unknown)(&name);
                continue;
            };
            let kind = self.schema.ty(attribute);
            if kind == Type::Float || kind == Type::Point {
                let value: &RawValue = map.next_value()?;
                set_exact(self.event, attribute, kind, value.get())?;
                continue;
            }
            map.next_value_seed(Value {
                event: self.event,
                strings: self.strings,
                attribute,
                fold: self.schema.used_fold(attribute),
                kind,
                is_element: false,
            })?;
        }
        Ok(())
    }
}

fn refuse<E: Error>() -> Result<(), E> {
    Err(E::custom("not a value of this type"))
}

/// Set a float or a point from its text: serde_json would not tell `1e25` from an integer of 26
/// digits, which no double holds exactly.
fn set_exact<E: Error>(event: &mut Event, attribute: u32, kind: Type, json: &str) -> Result<(), E> {
    if json == "null" {
        event.unset(attribute, None);
        return Ok(());
    }
    if kind == Type::Float {
        let value = double(json).ok_or_else(|| E::custom("not a double"))?;
        event.set_float(attribute, value);
        return Ok(());
    }
    let inside = json
        .strip_prefix('[')
        .and_then(|json| json.strip_suffix(']'));
    let pair = inside.and_then(|inside| inside.split_once(','));
    let point = pair.and_then(|(lat, lon)| Point::new(double(lat.trim())?, double(lon.trim())?));
    event.set_point(attribute, point.ok_or_else(|| E::custom("not a point"))?);
    Ok(())
}

/// The finite double that a JSON number says exactly, if it says one.
fn double(json: &str) -> Option<f64> {
    let value = match json.parse::<i64>() {
        Ok(int) if int as f64 as i128 == i128::from(int) => int as f64,
        Err(_) if json.contains(['.', 'e', 'E']) => json.parse().ok()?,
        _ => return None,
    };
    f64::is_finite(value).then_some(value + 0.0) // -0.0 + 0.0 is 0.0
}

/// The value of an attribute, or an element of its list. `kind` is the type of a scalar or of an
/// element, and else of the list.
struct Value<'a> {
    event: &'a mut Event,
    strings: &'a Strings,
    attribute: u32,
    /// The attribute of the folded text, if it is wanted.
    fold: Option<u32>,
    kind: Type,
    is_element: bool,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.kind.name())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.is_element {
            return refuse();
        }
        self.event.unset(self.attribute, self.fold);
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        if self.kind != Type::Bool {
            return refuse();
        }
        self.event.set_bool(self.attribute, value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        if self.kind != Type::Int {
            return refuse();
        }
        if self.is_element {
            self.event.push_int(value);
        } else {
            self.event.set_int(self.attribute, value);
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(value).map_err(E::custom)?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let unfit = || E::custom("not a value of this type");
        match self.kind {
            Type::Version => {
                let order = version::parse(text).ok_or_else(unfit)?;
                self.event.set_version(self.attribute, order);
                return Ok(());
            }
            Type::Ip => {
                let address = Network::of_client(text).ok_or_else(unfit)?;
                self.event.set_address(self.attribute, address);
                return Ok(());
            }
            Type::Str if memchr::memchr(0, text.as_bytes()).is_none() => {}
            _ => return refuse(),
        }
        if self.is_element {
            self.event
                .push_text(text, self.fold.is_some(), self.strings);
        } else {
            self.event
                .set_text(self.attribute, self.fold, text, self.strings);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.kind.is_list() {
            return refuse();
        }
        let start = self.event.begin_list();
        let mut given = 0;
        while let Some(()) = list.next_element_seed(Value {
            event: self.event,
            strings: self.strings,
            attribute: self.attribute,
            fold: self.fold,
            kind: self.kind.element(),
            is_element: true,
        })? {
            given += 1;
        }
        self.event.end_list(self.attribute, self.fold, start, given);
        Ok(())
    }
}
