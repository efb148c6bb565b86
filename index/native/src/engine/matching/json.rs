//! Passing over JSON: where each value ends, and that it is one, without making anything of it.
//!
//! ```text
//!   {"page": "https:\/\/a.b", "geo": {"lat": [1.5]}, "country": "US"}␀␀␀␀␀␀␀␀␀␀␀␀␀␀␀␀
//!            ▲──────────────▲         ▲───────────▲             ▲──▲
//!            skip()                   skip()                    text(), the only one that is kept
//! ```
//!
//! The text is copied to a buffer and NULs are put behind it. JSON has no NUL, so nothing goes on
//! at one: the end needs no check of its own, and 16 bytes can be looked at wherever a byte can. A
//! value is as strict as in serde_json, at any depth: what is passed over must still be JSON.
//!
//! Tried and rejected: slices with their checks instead of NULs (10,000 instructions instead of
//! 5,000 for an event of 834 bytes with 25 attributes); eight bytes at a time.

use smallvec::SmallVec;
use std::borrow::Cow;

/// The bytes are not what was expected at this place.
#[derive(Debug)]
pub struct Unexpected;

/// How many bytes are looked at together.
pub const BLOCK: usize = 16;

/// The memory of a text with NULs behind it, reused from one to the next.
#[derive(Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// A cursor at the start of a text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn read(&mut self, json: &[u8]) -> Result<Cursor<'_>, Unexpected> {
        if !json.is_ascii() {
            std::str::from_utf8(json).map_err(|_| Unexpected)?;
        }
        self.0.clear();
        self.0.reserve(json.len() + BLOCK);
        self.0.extend_from_slice(json);
        self.0.extend_from_slice(&[0; BLOCK]);
        Ok(Cursor {
            padded: &self.0,
            at: 0,
        })
    }
}

/// A place in a text.
pub struct Cursor<'a> {
    /// UTF-8, with a block of NULs at the end.
    padded: &'a [u8],
    /// At the first NUL at most: no step passes one.
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    fn byte(&self) -> u8 {
        debug_assert!(self.at + BLOCK <= self.padded.len());
        // SAFETY: the place is at the first NUL at most, and a block of them is at the end.
        unsafe { *self.padded.get_unchecked(self.at) }
    }

    #[inline(always)]
    fn block(&self) -> &[u8; BLOCK] {
        debug_assert!(self.at + BLOCK <= self.padded.len());
        // SAFETY: as above, and a block has no alignment.
        unsafe { &*self.padded.as_ptr().add(self.at).cast() }
    }

    /// What was passed since `start`. Both ends must be between characters.
    #[inline(always)]
    fn since(&self, start: usize) -> &'a str {
        let bytes = &self.padded[start..self.at];
        debug_assert!(std::str::from_utf8(bytes).is_ok());
        // SAFETY: all is UTF-8, and callers begin and end at ASCII.
        unsafe { std::str::from_utf8_unchecked(bytes) }
    }

    /// The next byte that is not white space, which stays the next one; NUL at the end.
    #[inline(always)]
    pub fn peek(&mut self) -> u8 {
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Whether nothing is left but white space.
    pub fn is_done(&mut self) -> bool {
        self.peek() == 0 && self.at + BLOCK == self.padded.len()
    }

    /// Pass over this byte, not NUL, if it is next but for white space. Returns whether it was.
    ///
    /// With `self.at += usize::from(found)` instead of a branch, rustc 1.95 compiled `nested` so
    /// that it refused every comma, at opt-level 2 and 3 only.
    #[inline(always)]
    pub fn take(&mut self, wanted: u8) -> bool {
        if self.peek() == wanted {
            self.at += 1;
            return true;
        }
        false
    }

    /// Pass over this byte, not NUL, which must be next but for white space.
    ///
    /// # Errors
    /// If it is not.
    #[inline(always)]
    pub fn expect(&mut self, wanted: u8) -> Result<(), Unexpected> {
        self.take(wanted).then_some(()).ok_or(Unexpected)
    }

    /// Pass over what is probably next but for white space. Returns whether it was.
    #[inline(always)]
    pub fn take_probable(&mut self, probable: &Probable) -> bool {
        self.peek();
        let found = equal_bytes(self.block(), &probable.start) & probable.mask == probable.mask
            && (probable.len <= BLOCK || self.padded[self.at..].starts_with(&probable.text));
        if found {
            self.at += probable.len;
        }
        found
    }

    /// The text between quotes that is next.
    ///
    /// # Errors
    /// If there is none, or if an escape in it stands for half a character.
    #[inline(always)]
    pub fn text(&mut self) -> Result<Cow<'a, str>, Unexpected> {
        self.expect(b'"')?;
        let start = self.at;
        if self.pass_text()? {
            let read = serde_json::from_str(self.since(start - 1));
            return read.map(Cow::Owned).map_err(|_| Unexpected);
        }
        Ok(Cow::Borrowed(&self.since(start)[..self.at - start - 1]))
    }

    /// Pass over a text whose first quote is passed. Returns whether it has escapes.
    #[inline(always)]
    fn pass_text(&mut self) -> Result<bool, Unexpected> {
        let mut has_escapes = false;
        loop {
            let special = special_in(self.block());
            if special == 0 {
                self.at += BLOCK;
                continue;
            }
            self.at += special.trailing_zeros() as usize;
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Ok(has_escapes);
                }
                b'\\' => self.escape()?,
                _ => return Err(Unexpected),
            }
            has_escapes = true;
        }
    }

    fn escape(&mut self) -> Result<(), Unexpected> {
        self.at += 1;
        let digits = match self.byte() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return Err(Unexpected),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.byte().is_ascii_hexdigit() {
                return Err(Unexpected);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Pass over the value that is next, and return it as written.
    ///
    /// # Errors
    /// If there is none.
    #[inline]
    pub fn value(&mut self) -> Result<&'a str, Unexpected> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Pass over the value that is next, however deep it is.
    ///
    /// # Errors
    /// If there is none.
    #[inline(always)]
    pub fn skip(&mut self) -> Result<(), Unexpected> {
        match self.peek() {
            b'[' | b'{' => self.nested(),
            first => self.scalar(first),
        }
    }

    #[inline(always)]
    fn scalar(&mut self, first: u8) -> Result<(), Unexpected> {
        match first {
            b'"' => {
                self.at += 1;
                self.pass_text().map(drop)
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => Err(Unexpected),
        }
    }

    /// Lists and objects in each other, without recursion.
    #[inline(never)]
    fn nested(&mut self) -> Result<(), Unexpected> {
        // The end of the innermost one, NUL if none is open, and the ends of those around it.
        let mut end = 0;
        let mut outer: SmallVec<[u8; 32]> = SmallVec::new();
        loop {
            match self.peek() {
                open @ (b'[' | b'{') => {
                    self.at += 1;
                    let inner = open + 2; // in ASCII
                    if !self.take(inner) {
                        outer.push(end);
                        end = inner;
                        self.key(end)?;
                        continue;
                    }
                }
                first => self.scalar(first)?,
            }
            loop {
                if end == 0 {
                    return Ok(());
                }
                if self.take(b',') {
                    self.key(end)?;
                    break;
                }
                self.expect(end)?;
                end = outer.pop().unwrap_or(0);
            }
        }
    }

    #[inline(always)]
    fn key(&mut self, end: u8) -> Result<(), Unexpected> {
        if end == b'}' {
            self.expect(b'"')?;
            self.pass_text()?;
            self.expect(b':')?;
        }
        Ok(())
    }

    #[inline(always)]
    fn word(&mut self, word: &[u8]) -> Result<(), Unexpected> {
        if !self.block().starts_with(word) {
            return Err(Unexpected);
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<(), Unexpected> {
        if self.byte() == b'-' {
            self.at += 1;
        }
        if self.byte() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if self.byte() | 0x20 == b'e' {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn digits(&mut self) -> Result<(), Unexpected> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(()).ok_or(Unexpected)
    }
}

/// A text without NUL, prepared for `Cursor::take_probable`.
pub struct Probable {
    text: Box<[u8]>,
    len: usize,
    /// Its first bytes, and a bit for each of them.
    start: [u8; BLOCK],
    mask: u32,
}

impl Probable {
    /// Prepare a text.
    pub fn new(text: Vec<u8>) -> Self {
        let mut start = [0; BLOCK];
        let len = text.len().min(BLOCK);
        start[..len].copy_from_slice(&text[..len]);
        Probable {
            len: text.len(),
            text: text.into(),
            start,
            mask: (1 << len) - 1,
        }
    }
}

/// A bit for each byte that is a quote, a backslash or a control character. Every x86-64 has SSE2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn special_in(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };
    // SAFETY: the block has the 16 bytes that are loaded, at any alignment.
    unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
        let escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        let controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), controls)) as u32
    }
}

/// A bit for each byte that is the same in both.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn equal_bytes(one: &[u8; BLOCK], other: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: the blocks have the 16 bytes that are loaded, at any alignment.
    unsafe {
        let one = _mm_loadu_si128(one.as_ptr().cast());
        let other = _mm_loadu_si128(other.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) as u32
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn special_in(block: &[u8; BLOCK]) -> u32 {
    bits(|i| block[i] < b' ' || block[i] == b'"' || block[i] == b'\\')
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal_bytes(one: &[u8; BLOCK], other: &[u8; BLOCK]) -> u32 {
    bits(|i| one[i] == other[i])
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bits(is_set: impl Fn(usize) -> bool) -> u32 {
    (0..BLOCK).fold(0, |bits, i| bits | u32::from(is_set(i)) << i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    fn is_json(text: &str) -> bool {
        let mut buffer = Buffer::default();
        let mut cursor = buffer.read(text.as_bytes()).unwrap();
        cursor.skip().is_ok() && cursor.is_done()
    }

    /// Texts that are nearly JSON: its pieces in any order, and strings across the ends of blocks.
    fn nearly_json() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\n",
            "\"",
            "\\",
            "\"a\":",
            "\"b\"",
            "null",
            "true",
            "fals",
            "false",
            "-",
            "0",
            "12",
            ".5",
            "1.",
            "e3",
            "E+",
            "1e-7",
            "\\n",
            "\\u00e9",
            "\\u12",
            "\\ud800",
            "\\x",
            "é",
            "\u{1}",
            "\"0123456789abcde\"",
            "\"0123456789abcdef",
            "\u{7f}",
            "{\"x\":[1,{\"y\":\"z\"}]}",
            "[[[]]]",
            "{}",
        ]);
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_passed_over_is_what_serde_json_ignores(text in nearly_json()) {
            for text in [text.clone(), format!("[{text}]"), format!("{{\"k\":{text}}}"), format!("\"{text}\"")] {
                let ignored = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                prop_assert_eq!(is_json(&text), ignored, "{}", text);
            }
        }

        #[test]
        fn a_text_is_read_as_serde_json_reads_it(text in ".{0,40}", before in " {0,17}") {
            let quoted = before + &serde_json::to_string(&text).unwrap();
            let mut buffer = Buffer::default();
            let mut cursor = buffer.read(quoted.as_bytes()).unwrap();
            prop_assert_eq!(&*cursor.text().unwrap(), &*text);
            prop_assert!(cursor.is_done());
            let other = Probable::new(serde_json::to_vec(&(text.clone() + "x")).unwrap());
            let same = Probable::new(serde_json::to_vec(&text).unwrap());
            let mut cursor = buffer.read(quoted.as_bytes()).unwrap();
            prop_assert!(!cursor.take_probable(&other));
            prop_assert!(cursor.take_probable(&same) && cursor.is_done());
        }
    }

    #[test]
    fn any_depth_is_passed_over() {
        let depth = 100_000;
        let deep = "[{\"a\":".repeat(depth) + "0" + &"}]".repeat(depth);
        assert!(is_json(&deep));
        assert!(!is_json(&deep[1..]));
        assert!(!is_json(&deep[..deep.len() - 1]));
    }
}
