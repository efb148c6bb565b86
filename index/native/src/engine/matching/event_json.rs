//! From the JSON of a request's attributes to an event, in one pass; what no attribute needs is
//! passed over (`json.rs`).
//!
//! `index/event.py` has the rules and the messages: `null` is missing, of a repeated key the last
//! one counts, undeclared names are left out and reported. Here an event is read or refused. Python
//! then reads the refused one again, and reports its problems or finds that there are none.

use crate::engine::expression::strings::Strings;
use crate::engine::matching::event::Event;
use crate::engine::matching::json::{Buffer, Cursor, Unexpected};
use crate::engine::matching::names::{Counts, Names};
use crate::language::address::Network;
use crate::language::geometry::Point;
use crate::language::{Schema, Type, version};
use parking_lot::RwLock;
use std::borrow::Cow;

/// An event that this module cannot read.
#[derive(Debug)]
pub struct Unfit;

impl From<Unexpected> for Unfit {
    fn from(_: Unexpected) -> Self {
        Unfit
    }
}

/// Fill an event from the JSON of its attributes. `names` then has the undeclared ones, which are in
/// `counts` or new.
///
/// # Errors
/// If the event is wrong or unusual. Then its content is undefined.
pub fn fill(
    event: &mut Event,
    json: &[u8],
    schema: &Schema,
    strings: &Strings,
    buffer: &mut Buffer,
    names: &mut Names,
    counts: &RwLock<Counts>,
) -> Result<(), Unfit> {
    let mut json = buffer.read(json)?;
    names.begin(schema);
    json.expect(b'{')?;
    if !json.take(b'}') {
        loop {
            let attribute = names.read(&mut json, schema, counts)?;
            json.expect(b':')?;
            match attribute {
                None => json.skip()?,
                Some(attribute) => set(event, attribute, &mut json, schema, strings)?,
            }
            if !json.take(b',') {
                break;
            }
        }
        json.expect(b'}')?;
    }
    json.is_done().then_some(()).ok_or(Unfit)
}

/// Set an attribute to the value that is next.
fn set(
    event: &mut Event,
    attribute: u32,
    json: &mut Cursor,
    schema: &Schema,
    strings: &Strings,
) -> Result<(), Unfit> {
    let fold = schema.used_fold(attribute);
    let kind = schema.ty(attribute);
    match (kind, json.peek()) {
        (_, b'n') => {
            json.skip()?;
            event.unset(attribute, fold);
        }
        (Type::Str, _) => event.set_text(attribute, fold, &text(json)?, strings),
        (Type::Version, _) => {
            event.set_version(attribute, version::parse(&text(json)?).ok_or(Unfit)?);
        }
        (Type::Ip, _) => {
            event.set_address(attribute, Network::of_client(&text(json)?).ok_or(Unfit)?);
        }
        (Type::Bool, _) => event.set_bool(attribute, json.value()?.parse().map_err(|_| Unfit)?),
        (Type::Int, _) => event.set_int(attribute, int(json)?),
        (Type::Float, _) => event.set_float(attribute, double(json.value()?).ok_or(Unfit)?),
        (Type::Point, _) => event.set_point(attribute, point(json.value()?).ok_or(Unfit)?),
        (Type::IntList | Type::StrList, _) => {
            let start = event.begin_list();
            let mut given = 0;
            json.expect(b'[')?;
            if !json.take(b']') {
                loop {
                    if kind == Type::IntList {
                        event.push_int(int(json)?);
                    } else {
                        event.push_text(&text(json)?, fold.is_some(), strings);
                    }
                    given += 1;
                    if !json.take(b',') {
                        break;
                    }
                }
                json.expect(b']')?;
            }
            event.end_list(attribute, fold, start, given);
        }
    }
    Ok(())
}

/// A text without NUL.
#[inline]
fn text<'a>(json: &mut Cursor<'a>) -> Result<Cow<'a, str>, Unfit> {
    let text = json.text()?;
    // Only an escape can be one.
    let has_nul = matches!(&text, Cow::Owned(text) if text.contains('\0'));
    if has_nul { Err(Unfit) } else { Ok(text) }
}

/// An integer of 64 bits. What JSON calls a number is one for Rust, too.
#[inline]
fn int(json: &mut Cursor) -> Result<i64, Unfit> {
    json.value()?.parse().map_err(|_| Unfit)
}

fn point(json: &str) -> Option<Point> {
    let inside = json.strip_prefix('[')?.strip_suffix(']')?;
    let (lat, lon) = inside.split_once(',')?;
    Point::new(double(lat.trim())?, double(lon.trim())?)
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
