//! From the bytes of a request's attributes to an event, without anything in between.
//!
//! The same rules as `index/event.py`, to the letter: `null` is missing, of a repeated key the last
//! one counts, unknown names are reported and left out, and every problem is found, not only the
//! first.

use crate::engine::expression::strings::Strings;
use crate::engine::matching::event::Event;
use crate::language::{Schema, Type};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// One thing wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventProblem {
    pub attribute: String,
    pub code: &'static str,
    pub message: String,
    pub element: Option<usize>,
}

/// What is wrong with an event.
#[derive(Debug)]
pub enum EventError {
    /// The bytes are not JSON.
    Json(String),
    /// It is JSON, but not an object.
    Shape(&'static str),
    /// Some attributes have wrong values.
    Problems(Vec<EventProblem>),
}

/// The code and the message of a problem.
pub type Problem = (&'static str, String);

/// Fill an event from the JSON of its attributes. Names that the schema does not have go to
/// `unknown`.
///
/// # Errors
/// With everything that is wrong with the event; what is in it then is of no use.
pub fn fill(
    event: &mut Event,
    json: &[u8],
    schema: &Schema,
    strings: &Strings,
    unknown: &mut Vec<String>,
) -> Result<(), EventError> {
    let first = json
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace());
    if let Some(first) = first
        && first != b'{'
    {
        let mut whole = serde_json::Deserializer::from_slice(json);
        serde::de::IgnoredAny::deserialize_checked(&mut whole)
            .map_err(|e| EventError::Json(e.to_string()))?;
        whole.end().map_err(|e| EventError::Json(e.to_string()))?;
        let text = String::from_utf8_lossy(json);
        return Err(EventError::Shape(kind_of(first, &text)));
    }
    let mut filling = Filling {
        event,
        schema,
        strings,
        unknown,
        problems: Vec::new(),
    };
    let mut reader = serde_json::Deserializer::from_slice(json);
    reader
        .deserialize_map(&mut filling)
        .and_then(|()| reader.end())
        .map_err(|e| EventError::Json(e.to_string()))?;
    if filling.problems.is_empty() {
        Ok(())
    } else {
        Err(EventError::Problems(filling.problems))
    }
}

trait Checked: Sized {
    fn deserialize_checked<'de, D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error>;
}

impl Checked for serde::de::IgnoredAny {
    fn deserialize_checked<'de, D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        serde::Deserialize::deserialize(reader)
    }
}

struct Filling<'a> {
    event: &'a mut Event,
    schema: &'a Schema,
    strings: &'a Strings,
    unknown: &'a mut Vec<String>,
    problems: Vec<EventProblem>,
}

impl<'de> Visitor<'de> for &mut Filling<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of attributes")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Name(name)) = map.next_key::<Name>()? {
            let value: &RawValue = map.next_value()?;
            match self.schema.attr(&name) {
                Some(attribute) => self.set(attribute, &name, value.get()),
                None => self.unknown.push(name.into_owned()),
            }
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Filling<'_> {
    fn set(&mut self, attribute: u32, name: &str, raw: &str) {
        // Of a repeated key only the last one counts, for better or worse.
        self.problems.retain(|problem| problem.attribute != name);
        if raw == "null" {
            self.event.unset(attribute);
            return;
        }
        let kind = self.schema.ty(attribute);
        let problem = if kind.is_list() {
            self.set_list(attribute, raw, kind)
        } else {
            self.set_scalar(attribute, raw, kind)
                .map_err(|problem| (problem, None))
        };
        if let Err(((code, message), element)) = problem {
            self.problems.push(EventProblem {
                attribute: name.to_owned(),
                code,
                message,
                element,
            });
        }
    }

    fn set_scalar(&mut self, attribute: u32, raw: &str, kind: Type) -> Result<(), Problem> {
        match read(raw, kind)? {
            Read::Bool(value) => self.event.set_bool(attribute, value),
            Read::Int(value) => self.event.set_int(attribute, value),
            Read::Float(value) => self.event.set_float(attribute, value),
            Read::Text(text) => self.event.set_text(attribute, &text, self.strings),
        }
        Ok(())
    }

    fn set_list(
        &mut self,
        attribute: u32,
        raw: &str,
        kind: Type,
    ) -> Result<(), (Problem, Option<usize>)> {
        if !raw.starts_with('[') {
            return Err((mismatch(kind, raw), None));
        }
        let elements: Vec<&RawValue> =
            serde_json::from_str(raw).map_err(|e| (("event.json", e.to_string()), None))?;
        let start = self.event.begin_list();
        for (place, element) in elements.iter().enumerate() {
            match read(element.get(), kind.element()) {
                Ok(Read::Int(value)) => self.event.push_int(value),
                Ok(Read::Text(text)) => self.event.push_text(&text, self.strings),
                Ok(_) => {}
                Err(problem) => {
                    self.event.end_list(attribute, start, elements.len());
                    return Err((problem, Some(place)));
                }
            }
        }
        self.event.end_list(attribute, start, elements.len());
        Ok(())
    }
}

enum Read<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
}

/// A JSON value as a value of a scalar type.
fn read(raw: &str, kind: Type) -> Result<Read<'_>, Problem> {
    let first = raw.as_bytes().first().copied().unwrap_or(0);
    let number = first == b'-' || first.is_ascii_digit();
    let integer = number && raw[1..].bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        Type::Bool if first == b't' || first == b'f' => Ok(Read::Bool(first == b't')),
        Type::Int if integer => check_int(raw).map(Read::Int),
        Type::Float if integer => int_to_float(raw).map(Read::Float),
        Type::Float if number => check_float(raw.parse().unwrap_or(f64::INFINITY)).map(Read::Float),
        Type::Str if first == b'"' => {
            let text: Cow<str> = serde_json::from_str::<Name>(raw)
                .map(|name| name.0)
                .map_err(|_| if has_nul(raw) { nul() } else { surrogate() })?;
            check_text(&text)?;
            Ok(Read::Text(text))
        }
        _ => Err(mismatch(kind, raw)),
    }
}

/// The digits of an integer, unless it has more than 200 bits, as `types.py` cuts it short.
fn brief(digits: &str) -> &str {
    const TWO_TO_THE_200: &str = "1606938044258990275541962092341162602522202993782792835301376";
    let size = digits.trim_start_matches('-').trim_start_matches('0');
    let longer = size.len() > TWO_TO_THE_200.len();
    if longer || (size.len() == TWO_TO_THE_200.len() && size >= TWO_TO_THE_200) {
        "this integer"
    } else {
        digits
    }
}

/// Whether a JSON string has an escaped NUL in it.
fn has_nul(raw: &str) -> bool {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        if rest[at..].starts_with("\\u0000") {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or("");
    }
    false
}

fn check_int(digits: &str) -> Result<i64, Problem> {
    digits.parse().map_err(|_| {
        let shown = brief(digits);
        (
            "value.int_range",
            format!("{shown} does not fit in 64 bits"),
        )
    })
}

/// A double that holds an integer exactly.
pub fn int_to_float(digits: &str) -> Result<f64, Problem> {
    let double: f64 = digits.parse().unwrap_or(f64::INFINITY);
    let exact = double.is_finite() && {
        let unsigned = digits.trim_start_matches('-').trim_start_matches('0');
        let mine = format!("{:.0}", double.abs());
        mine == if unsigned.is_empty() { "0" } else { unsigned }
    };
    if exact {
        return Ok(double + 0.0);
    }
    let shown = brief(digits);
    Err((
        "value.inexact",
        format!("a double cannot hold {shown} exactly"),
    ))
}

/// A finite double, `-0.0` being `0.0`.
pub fn check_float(value: f64) -> Result<f64, Problem> {
    if value.is_finite() {
        return Ok(value + 0.0);
    }
    Err((
        "value.not_finite",
        "NaN and infinities are not allowed".to_owned(),
    ))
}

/// A string without NUL.
pub fn check_text(text: &str) -> Result<(), Problem> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(nul());
    }
    Ok(())
}

fn nul() -> Problem {
    (
        "value.nul",
        "a string must not contain the NUL character".to_owned(),
    )
}

/// What is said of a string that is no Unicode.
pub fn surrogate() -> Problem {
    (
        "value.surrogate",
        "a string must not contain a lone surrogate".to_owned(),
    )
}

fn mismatch(kind: Type, raw: &str) -> Problem {
    let first = raw.as_bytes().first().copied().unwrap_or(0);
    expected(kind, kind_of(first, raw))
}

/// What is said of a value of another type.
pub fn expected(kind: Type, got: &str) -> Problem {
    let article = if kind.name().starts_with('i') {
        "an"
    } else {
        "a"
    };
    (
        "type.mismatch",
        format!("expected {article} {}, got {got}", kind.name()),
    )
}

fn kind_of(first: u8, raw: &str) -> &'static str {
    match first {
        b'n' => "null",
        b't' | b'f' => "a bool",
        b'"' => "a string",
        b'[' => "a list",
        b'{' => "an object",
        _ if raw.contains(['.', 'e', 'E']) => "a float",
        _ => "an int",
    }
}
