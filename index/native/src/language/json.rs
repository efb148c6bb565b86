//! JSON bytes to a flat tape of tokens.
//!
//! ```text
//! [1, ["=", "age", 18]]      0 List{len 2, end 6}   1 Int(1)
//!                            2 List{len 3, end 6}   3 Str("=")  4 Str("age")  5 Int(18)
//! ```
//!
//! A tape comes before the tree because a text that is not JSON has its own error code, wherever
//! the fault is, and because a gate needs the number of its children before the first one is read.
//! The tape takes 16 bytes a token and keeps its memory.
//!
//! `serde_json` reads the text. What it refuses is read again, value by value (`exact_value`), because
//! Python's `json.loads` accepts more and the language has codes of its own for that: integers
//! beyond 64 bits, `1e999`, a lone surrogate, `NaN`, the infinities, lists nested deeper than 128.

use super::types::Span;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The deepest nesting, close to where Python's recursion limit is.
const MAX_NESTING: usize = 900;
/// Python converts no longer text to an integer.
const MAX_INT_DIGITS: usize = 4300;
/// Positions in the text, unescaped strings included, take 32 bits.
const MAX_BYTES: usize = (u32::MAX / 2) as usize;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is wrong with a string that JSON allows and the language does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    None,
    Nul,
    Surrogate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits, as its digits.
    BigInt(Span),
    Float(f64),
    Str(Span, Flaw),
    /// Its elements are the tokens up to `end`.
    List {
        len: u32,
        end: u32,
    },
    /// No tree has an object, so its members are not on the tape.
    Object,
}

/// Why a text is not JSON.
#[derive(Debug)]
pub(super) struct NotJson(String);

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<serde_json::Error> for NotJson {
    fn from(error: serde_json::Error) -> Self {
        NotJson(error.to_string())
    }
}

/// The tokens of one text, with the buffers to read the next one.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub tokens: Vec<Token>,
    /// The input, then all strings that had escapes; the spans of strings are in here.
    pub text: String,
    unescaped: String,
}

impl Tape {
    /// Reads a whole document; the root is token 0.
    pub(super) fn read(&mut self, json: &[u8]) -> Result<(), NotJson> {
        let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
        if json.len() > MAX_BYTES {
            return Err(NotJson("more than 2 GiB".to_owned()));
        }
        let text = std::str::from_utf8(json).map_err(|bad| NotJson(bad.to_string()))?;
        let mut json = serde_json::Deserializer::from_str(text);
        let read = self.fresh(text).deserialize(&mut json);
        if read.and_then(|()| json.end()).is_err() {
            self.read_exactly(text)?;
        }
        self.text.push_str(&self.unescaped);
        Ok(())
    }

    #[cold]
    fn read_exactly(&mut self, text: &str) -> Result<(), NotJson> {
        let text = &without_constants(text);
        if nesting(text) > MAX_NESTING {
            return Err(NotJson(format!("more than {MAX_NESTING} nested lists")));
        }
        let root: &RawValue = serde_json::from_str(text)?;
        self.fresh(text).exact_value(root.get())
    }

    /// A reader of another text into the buffers.
    fn fresh<'a>(&'a mut self, text: &'a str) -> Reader<'a> {
        self.tokens.clear();
        self.unescaped.clear();
        self.text.clear();
        self.text.push_str(text);
        Reader {
            text,
            tokens: &mut self.tokens,
            unescaped: &mut self.unescaped,
        }
    }

    /// The place of the token after the value at `place`.
    pub(super) fn next(&self, place: usize) -> usize {
        match self.tokens.get(place) {
            Some(Token::List { end, .. }) => *end as usize,
            _ => place + 1,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a mut Vec<Token>,
    unescaped: &'a mut String,
}

impl Reader<'_> {
    fn push<E>(&mut self, token: Token) -> Result<(), E> {
        self.tokens.push(token);
        Ok(())
    }

    /// A list whose elements `read` pushes; it returns their number.
    fn list<E>(&mut self, read: impl FnOnce(&mut Self) -> Result<usize, E>) -> Result<(), E> {
        let place = self.tokens.len();
        self.tokens.push(Token::Null); // until its end is known
        let len = count(read(self)?);
        let end = count(self.tokens.len());
        self.tokens[place] = Token::List { len, end };
        Ok(())
    }

    fn push_unescaped<E>(&mut self, text: &str, flaw: Flaw) -> Result<(), E> {
        let start = self.text.len() + self.unescaped.len();
        self.unescaped.push_str(text);
        self.push(Token::Str(Span::new(start, start + text.len()), flaw))
    }

    /// Where a part of the text is.
    fn span(&self, part: &str) -> Span {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        Span::new(start, start + part.len())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

/// Fails on what has to be read exactly.
impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(Token::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(Token::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.push(Token::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        let value = i64::try_from(value).map_err(E::custom)?;
        self.push(Token::Int(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        // An integer is a double here if it is -0 or has more than 64 bits.
        let is_minus_zero = value == 0.0 && value.is_sign_negative();
        if is_minus_zero || value.abs() >= 2f64.powi(63) {
            return Err(E::custom("perhaps an integer"));
        }
        self.push(Token::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        let at = self.span(text);
        self.push(Token::Str(at, Flaw::None))
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.push_unescaped(text, flaw_of(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.list(|reader| {
            let mut len = 0;
            while list.next_element_seed(&mut *reader)?.is_some() {
                len += 1;
            }
            Ok(len)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.push(Token::Object)
    }
}

/// Reading each value from its own text: slow, and at any nesting.
impl Reader<'_> {
    fn exact_value(&mut self, raw: &str) -> Result<(), NotJson> {
        match raw.as_bytes()[0] {
            b'[' => self.list(|reader| {
                let elements: Vec<&RawValue> = serde_json::from_str(raw)?;
                for element in &elements {
                    reader.exact_value(element.get())?;
                }
                Ok(elements.len())
            }),
            b'{' => self.push(Token::Object),
            b'"' => match serde_json::from_str::<String>(raw) {
                Ok(text) => self.push_unescaped(&text, flaw_of(&text)),
                Err(_) => {
                    // Only a lone surrogate is left to be wrong. Python looks for NUL first.
                    let flaw = if has_nul(raw) {
                        Flaw::Nul
                    } else {
                        Flaw::Surrogate
                    };
                    self.push_unescaped("\u{fffd}", flaw)
                }
            },
            b'n' => self.push(Token::Null),
            first @ (b't' | b'f') => self.push(Token::Bool(first == b't')),
            _ => self.exact_number(raw),
        }
    }

    fn exact_number(&mut self, raw: &str) -> Result<(), NotJson> {
        if raw.contains(['.', 'e', 'E']) {
            return self.push(Token::Float(raw.parse().unwrap_or(f64::INFINITY)));
        }
        if let Ok(value) = raw.parse() {
            return self.push(Token::Int(value));
        }
        if raw.trim_start_matches('-').len() > MAX_INT_DIGITS {
            let message = format!("an integer of more than {MAX_INT_DIGITS} digits");
            return Err(NotJson(message));
        }
        let at = self.span(raw);
        self.push(Token::BigInt(at))
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn flaw_of(text: &str) -> Flaw {
    if text.contains('\0') {
        Flaw::Nul
    } else {
        Flaw::None
    }
}

/// Whether a JSON string has an escaped NUL.
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

/// The parts of a text in turn: what is outside of strings, then the string behind it.
fn parts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (outside, string) = rest.split_at(rest.find('"').unwrap_or(rest.len()));
        let mut escaped = true; // the opening quote is not the end
        let end = string.find(|c| {
            let is_end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            is_end
        });
        let (string, after) = string.split_at(end.map_or(string.len(), |end| end + 1));
        let is_over = rest.is_empty();
        rest = after;
        (!is_over).then_some((outside, string))
    })
}

/// The same text with infinite numbers in place of `NaN`, `Infinity` and `-Infinity`.
fn without_constants(text: &str) -> String {
    let mut out = String::new();
    for (outside, string) in parts(text) {
        // The spaces keep the number apart from what is before and behind.
        let outside = outside.replace("-Infinity", " -1e999 ");
        let outside = outside.replace("Infinity", " 1e999 ");
        out.push_str(&outside.replace("NaN", " 1e999 "));
        out.push_str(string);
    }
    out
}

/// How deep lists are nested.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in parts(text).flat_map(|(outside, _)| outside.bytes()) {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str) -> Option<Vec<Token>> {
        let mut tape = Tape::default();
        tape.read(json.as_bytes()).ok().map(|()| tape.tokens)
    }

    fn string(inner: &str) -> Option<(String, Flaw)> {
        let mut tape = Tape::default();
        tape.read(format!("\"{inner}\"").as_bytes()).ok()?;
        match tape.tokens[0] {
            Token::Str(at, flaw) => Some((at.of_text(&tape.text).to_owned(), flaw)),
            _ => None,
        }
    }

    #[test]
    fn a_token_is_small() {
        assert_eq!(size_of::<Token>(), 16);
    }

    #[test]
    fn lists_know_their_length_and_end() {
        let flat = tokens(" [1 , [[],{\"a\":[2],\"b\":3}], true]\n").unwrap();
        assert_eq!(flat[0], Token::List { len: 3, end: 6 });
        assert_eq!(flat[2], Token::List { len: 2, end: 5 });
        assert_eq!(flat[3], Token::List { len: 0, end: 4 });
        assert_eq!(flat[4], Token::Object);
        assert_eq!(flat[5], Token::Bool(true));
    }

    #[test]
    fn numbers_are_integers_or_doubles() {
        let one = |json: &str| tokens(json).map(|flat| flat[0]);
        assert_eq!(one("-0"), Some(Token::Int(0)));
        assert_eq!(one("9223372036854775807"), Some(Token::Int(i64::MAX)));
        assert_eq!(one("-9223372036854775808"), Some(Token::Int(i64::MIN)));
        assert_eq!(
            one("9223372036854775808"),
            Some(Token::BigInt(Span { start: 0, end: 19 }))
        );
        assert_eq!(one("1e3"), Some(Token::Float(1000.0)));
        assert_eq!(one("1E+2"), Some(Token::Float(100.0)));
        assert_eq!(one("-1.5"), Some(Token::Float(-1.5)));
        assert_eq!(one("1e999"), Some(Token::Float(f64::INFINITY)));
        assert_eq!(one("NaN"), Some(Token::Float(f64::INFINITY)));
        assert_eq!(one("-Infinity"), Some(Token::Float(f64::NEG_INFINITY)));
        assert!(one(&"9".repeat(4300)).is_some());
        assert!(one(&"9".repeat(4301)).is_none());
        for bad in [
            "01", "-", "-a", "1.", ".5", "1e", "1e+", "+1", "-Inf", "0x1", "1_0", "1NaN", "--NaN",
            "-NaN", "NaN1",
        ] {
            assert!(one(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            " ",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "]",
            "[1]]",
            "[1 2]",
            "{",
            "{1:2}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1]",
            "[1}",
            "tru",
            "nul",
            "true1",
            "\"",
            "\"\n\"",
            "\0",
            "\"NaN",
            "\"\\\"NaN",
        ] {
            assert!(tokens(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(tokens(&nested(MAX_NESTING)).is_some());
        assert!(tokens(&nested(MAX_NESTING + 1)).is_none());
        assert!(tokens(&"[".repeat(1_000_000)).is_none());
        assert!(tokens(&"{\"a\":".repeat(1_000_000)).is_none());
    }

    #[test]
    fn escapes_say_what_they_say_in_python() {
        let all = string(r#"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é"#);
        let expected = "a\"\\/\u{8}\u{c}\n\r\té\u{1F600}é";
        assert_eq!(all, Some((expected.to_owned(), Flaw::None)));
        for bad in [
            r"\x",
            r"\u12",
            r"\u12g4",
            r"\ud83d\u12",
            "\n",
            r"\",
            "\\\u{fffd}",
        ] {
            assert_eq!(string(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn flaws_are_remembered() {
        let flaw = |inner| string(inner).unwrap().1;
        assert_eq!(flaw(r"a\u0000"), Flaw::Nul);
        assert_eq!(flaw(r"\ud800"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ude00\ud83d"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ud83d\ud83d\ude00"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ud800\u0000"), Flaw::Nul);
        assert_eq!(flaw(r"\u0000\ud800"), Flaw::Nul);
    }

    #[test]
    fn constants_in_strings_stay() {
        assert_eq!(string(r#"NaN\"Infinity\\"#).unwrap().0, "NaN\"Infinity\\");
        let flat = tokens(r#"["NaN\"", -Infinity, "é"]"#).unwrap();
        assert_eq!(flat[2], Token::Float(f64::NEG_INFINITY));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        let read = |json: &[u8]| Tape::default().read(json).is_ok();
        assert!(read(b"\xef\xbb\xbf[1]"));
        assert!(!read(b"\"a\xff\""));
        assert!(!read(b"\"\xed\xa0\x80\""));
    }
}
