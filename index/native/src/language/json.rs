//! JSON bytes to a flat tape of tokens, in one pass and without recursion.
//!
//! ```text
//! [1, ["=", "age", 18]]      0 List{len 2, end 6}   1 Int(1)
//!                            2 List{len 3, end 6}   3 Str("=")  4 Str("age")  5 Int(18)
//! ```
//!
//! Why not straight to the tree? Invalid JSON and a valid JSON that is not a tree are different
//! errors, wherever they are, and a gate's number of children must be known before its first child
//! is read. The tape costs 16 bytes a token and keeps its memory.
//!
//! It accepts what Python's `json.loads` accepts (also `NaN` and infinities, lone surrogates, a byte
//! order mark, and integers of up to 4,300 digits), which `serde_json` does not. UTF-16 and UTF-32
//! are refused.

use super::json_string;
use super::types::Span;

/// Deeper nesting is refused, as Python does at about its recursion limit of 1,000.
const MAX_NESTING: usize = 900;
/// Python refuses longer integers.
const MAX_INT_DIGITS: usize = 4300;

/// What makes a valid JSON string invalid in the language.
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
    /// An integer beyond 64 bits: the span of its digits.
    BigInt(Span),
    Float(f64),
    Str(Span, Flaw),
    /// Its elements are the tokens up to `end`.
    List {
        len: u32,
        end: u32,
    },
    Object {
        end: u32,
    },
}

/// Where the text is not JSON, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotJson {
    pub what: &'static str,
    pub at: usize,
}

/// A list or an object that has not ended yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    token: usize,
    len: u32,
    object: bool,
}

/// The tokens of one text, with the buffers to read the next one.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub tokens: Vec<Token>,
    /// The input, then all unescaped strings; tokens refer to spans of it.
    pub text: String,
    unescaped: String,
    /// Positions of raw surrogates in the input.
    surrogates: Vec<usize>,
    open: Vec<Open>,
}

impl Tape {
    /// Reads a whole document; the root is token 0.
    pub(super) fn read(&mut self, json: &[u8]) -> Result<(), NotJson> {
        self.tokens.clear();
        self.text.clear();
        self.unescaped.clear();
        self.surrogates.clear();
        self.open.clear();
        json_string::decode(json, &mut self.text, &mut self.surrogates)?;
        let mut reader = Reader {
            text: &self.text,
            bytes: self.text.as_bytes(),
            at: 0,
            tokens: &mut self.tokens,
            unescaped: &mut self.unescaped,
            surrogates: &self.surrogates,
            open: &mut self.open,
        };
        reader.document()?;
        self.text.push_str(&self.unescaped);
        Ok(())
    }

    /// The place of the token after the value at `place`.
    pub(super) fn next(&self, place: usize) -> usize {
        match self.tokens.get(place) {
            Some(Token::List { end, .. } | Token::Object { end }) => *end as usize,
            _ => place + 1,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: &'a mut Vec<Token>,
    unescaped: &'a mut String,
    surrogates: &'a [usize],
    open: &'a mut Vec<Open>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), NotJson> {
        loop {
            let opened = self.value()?;
            if !opened && self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Reads a value, or the head of a list or object; true if its first element is next.
    fn value(&mut self) -> Result<bool, NotJson> {
        let token = match self.after_space() {
            b'"' => {
                let (at, flaw) = self.string()?;
                Token::Str(at, flaw)
            }
            b'[' => return self.open(false),
            b'{' => return self.open(true),
            b'0'..=b'9' => self.number()?,
            b'-' if !self.bytes[self.at..].starts_with(b"-I") => self.number()?,
            _ => self.word()?,
        };
        self.tokens.push(token);
        Ok(false)
    }

    /// Closes what ends here; true at the end of the document.
    fn after_value(&mut self) -> Result<bool, NotJson> {
        loop {
            let byte = self.after_space();
            let Some(open) = self.open.last_mut() else {
                return if self.at == self.bytes.len() {
                    Ok(true)
                } else {
                    Err(self.wrong("the end"))
                };
            };
            open.len += 1;
            let object = open.object;
            match byte {
                b',' => {
                    self.at += 1;
                    if object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                b']' if !object => self.close(),
                b'}' if object => self.close(),
                _ => return Err(self.wrong("a comma or the end of the list")),
            }
        }
    }

    fn open(&mut self, object: bool) -> Result<bool, NotJson> {
        if self.open.len() >= MAX_NESTING {
            return Err(self.wrong("less nesting"));
        }
        self.at += 1;
        self.open.push(Open {
            token: self.tokens.len(),
            len: 0,
            object,
        });
        self.tokens.push(Token::Null); // until its end is known
        match self.after_space() {
            b']' if !object => self.close(),
            b'}' if object => self.close(),
            _ => {
                if object {
                    self.key()?;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn close(&mut self) {
        self.at += 1;
        let end = u32::try_from(self.tokens.len()).unwrap_or(u32::MAX);
        if let Some(Open { token, len, object }) = self.open.pop() {
            self.tokens[token] = if object {
                Token::Object { end }
            } else {
                Token::List { len, end }
            };
        }
    }

    /// Keys are checked and dropped: no tree has an object.
    fn key(&mut self) -> Result<(), NotJson> {
        if self.after_space() != b'"' {
            return Err(self.wrong("a key in double quotes"));
        }
        self.string()?;
        if self.after_space() != b':' {
            return Err(self.wrong("a colon"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(Span, Flaw), NotJson> {
        let start = self.at + 1;
        let end = json_string::plain_run(self.bytes, start);
        if self.bytes.get(end) != Some(&b'"') {
            return self.escaped(start);
        }
        self.at = end + 1;
        Ok((Span::new(start, end), self.raw_flaw(start, end)))
    }

    #[cold]
    fn escaped(&mut self, start: usize) -> Result<(Span, Flaw), NotJson> {
        let first = self.unescaped.len();
        let (end, flaw) = json_string::unescape(self.text, start, self.unescaped)?;
        self.at = end + 1;
        let shift = self.text.len();
        let at = Span::new(shift + first, shift + self.unescaped.len());
        let flaw = match flaw {
            Flaw::None => self.raw_flaw(start, end),
            found => found,
        };
        Ok((at, flaw))
    }

    fn raw_flaw(&self, start: usize, end: usize) -> Flaw {
        let next = self.surrogates.partition_point(|&place| place < start);
        match self.surrogates.get(next) {
            Some(&place) if place < end => Flaw::Surrogate,
            _ => Flaw::None,
        }
    }

    fn number(&mut self) -> Result<Token, NotJson> {
        let start = self.at;
        let negative = self.byte() == b'-';
        self.at += usize::from(negative);
        let first = self.at;
        let mut value: i64 = 0;
        while let digit @ b'0'..=b'9' = self.byte() {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 || (digits > 1 && self.bytes[first] == b'0') {
            return Err(self.wrong("a number"));
        }
        if let b'.' | b'e' | b'E' = self.byte() {
            return self.float(start);
        }
        if digits < 19 {
            return Ok(Token::Int(if negative { -value } else { value }));
        }
        if digits > MAX_INT_DIGITS {
            return Err(self.wrong("an integer of at most 4300 digits"));
        }
        let at = Span::new(start, self.at);
        Ok(match at.of_text(self.text).parse() {
            Ok(value) => Token::Int(value),
            Err(_) => Token::BigInt(at),
        })
    }

    /// The fraction and the exponent of a number that starts at `start`.
    fn float(&mut self, start: usize) -> Result<Token, NotJson> {
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if let b'e' | b'E' = self.byte() {
            self.at += 1;
            if let b'+' | b'-' = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        match Span::new(start, self.at).of_text(self.text).parse() {
            Ok(value) => Ok(Token::Float(value)),
            Err(_) => Err(self.wrong("a number")),
        }
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let first = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == first {
            return Err(self.wrong("a digit"));
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Token, NotJson> {
        const WORDS: [(&[u8], Token); 6] = [
            (b"true", Token::Bool(true)),
            (b"false", Token::Bool(false)),
            (b"null", Token::Null),
            (b"NaN", Token::Float(f64::NAN)),
            (b"Infinity", Token::Float(f64::INFINITY)),
            (b"-Infinity", Token::Float(f64::NEG_INFINITY)),
        ];
        let rest = &self.bytes[self.at..];
        for (word, token) in WORDS {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(token);
            }
        }
        Err(self.wrong("a value"))
    }

    /// The byte here; 0, which is never valid JSON, at the end.
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn after_space(&mut self) -> u8 {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    #[cold]
    fn wrong(&self, what: &'static str) -> NotJson {
        NotJson { what, at: self.at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str) -> Option<Vec<Token>> {
        let mut tape = Tape::default();
        tape.read(json.as_bytes()).ok().map(|()| tape.tokens)
    }

    #[test]
    fn a_token_is_small() {
        assert_eq!(size_of::<Token>(), 16);
    }

    #[test]
    fn lists_know_their_length_and_end() {
        let flat = tokens(" [1 , [[],{\"a\":[2],\"b\":3}], true]\n").unwrap();
        assert_eq!(flat[0], Token::List { len: 3, end: 9 });
        assert_eq!(flat[2], Token::List { len: 2, end: 8 });
        assert_eq!(flat[3], Token::List { len: 0, end: 4 });
        assert_eq!(flat[4], Token::Object { end: 8 });
        assert_eq!(flat[8], Token::Bool(true));
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
        assert_eq!(one("-Infinity"), Some(Token::Float(f64::NEG_INFINITY)));
        assert!(one(&"9".repeat(4300)).is_some());
        assert!(one(&"9".repeat(4301)).is_none());
        for bad in [
            "01", "-", "-a", "1.", ".5", "1e", "1e+", "+1", "-Inf", "0x1", "1_0",
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
}
