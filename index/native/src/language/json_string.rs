//! Strings of JSON: bytes to UTF-8, the end of a string, its escapes.
//!
//! Python's strings can have a lone surrogate, Rust's cannot. One in the input, raw or escaped, is
//! read as U+FFFD and recorded as a flaw, so that it is refused with its own code.

use super::json::{Flaw, NotJson};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Places in the text, unescaped strings included, take 32 bits.
const MAX_BYTES: usize = (u32::MAX / 2) as usize;

/// Appends the input to `text`, and the places of raw surrogates to `surrogates`.
pub(super) fn decode(
    json: &[u8],
    text: &mut String,
    surrogates: &mut Vec<usize>,
) -> Result<(), NotJson> {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
    if json.len() > MAX_BYTES {
        let what = "at most 2 GiB";
        return Err(NotJson {
            what,
            at: MAX_BYTES,
        });
    }
    if let Ok(valid) = std::str::from_utf8(json) {
        text.push_str(valid);
        return Ok(());
    }
    // 0xED always leads a character, and is followed by these only in a surrogate.
    let mut bytes = json.to_vec();
    for at in 0..bytes.len().saturating_sub(2) {
        if let [0xed, 0xa0..=0xbf, 0x80..=0xbf] = bytes[at..at + 3] {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
            surrogates.push(at);
        }
    }
    match std::str::from_utf8(&bytes) {
        Ok(valid) => text.push_str(valid),
        Err(bad) => {
            let at = bad.valid_up_to();
            return Err(NotJson { what: "UTF-8", at });
        }
    }
    Ok(())
}

/// The place of the first quote, backslash or control character from `at` on, else the end.
pub(super) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    // Eight bytes at a time: a byte below n sets its high bit in (x - n) & !x. A borrow can set
    // higher ones wrongly, never the lowest.
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let x = u64::from_le_bytes(*chunk);
        let quote = x ^ (ONES * u64::from(b'"'));
        let backslash = x ^ (ONES * u64::from(b'\\'));
        let hits = ((quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (x.wrapping_sub(ONES * 0x20) & !x))
            & HIGHS;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(0x20..=0x21 | 0x23..=0x5b | 0x5d..) = bytes.get(at) {
        at += 1;
    }
    at
}

/// Appends the string that starts at `at`, unescaped; returns the position of its closing quote.
pub(super) fn unescape(
    text: &str,
    mut at: usize,
    out: &mut String,
) -> Result<(usize, Flaw), NotJson> {
    let bytes = text.as_bytes();
    let mut flaw = Flaw::None;
    loop {
        let end = plain_run(bytes, at);
        out.push_str(text.get(at..end).unwrap_or(""));
        at = end;
        match bytes.get(at) {
            Some(b'"') => return Ok((at, flaw)),
            Some(b'\\') => at += 1,
            Some(_) => return Err(wrong("no control character", at)),
            None => return Err(wrong("a closing quote", at)),
        }
        let plain = match bytes.get(at) {
            Some(b'u') => {
                let (char, next) = unicode(bytes, at)?;
                at = next;
                if char == Some('\0') {
                    flaw = Flaw::Nul; // as Python, which looks for it first
                } else if char.is_none() && flaw == Flaw::None {
                    flaw = Flaw::Surrogate;
                }
                out.push(char.unwrap_or('\u{fffd}'));
                continue;
            }
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(&same @ (b'"' | b'\\' | b'/')) => char::from(same),
            _ => return Err(wrong("an escape", at)),
        };
        out.push(plain);
        at += 1;
    }
}

/// The character of an escape whose `u` is at `at`, None for a lone surrogate; and what follows.
fn unicode(bytes: &[u8], at: usize) -> Result<(Option<char>, usize), NotJson> {
    let unit = hex4(bytes, at + 1)?;
    let next = at + 5;
    if (0xd800..0xdc00).contains(&unit) && bytes.get(next..next + 2) == Some(b"\\u") {
        let low = hex4(bytes, next + 2)?;
        if (0xdc00..0xe000).contains(&low) {
            let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            return Ok((char::from_u32(code), next + 6));
        }
    }
    Ok((char::from_u32(unit), next))
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, NotJson> {
    let mut value = 0;
    for place in at..at + 4 {
        let digit = bytes
            .get(place)
            .and_then(|&byte| char::from(byte).to_digit(16));
        value = value * 16 + digit.ok_or_else(|| wrong("four hexadecimal digits", at))?;
    }
    Ok(value)
}

#[cold]
fn wrong(what: &'static str, at: usize) -> NotJson {
    NotJson { what, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inner: &str) -> Option<(String, Flaw)> {
        let mut out = String::new();
        let flaw = unescape(&format!("{inner}\""), 0, &mut out).ok()?.1;
        Some((out, flaw))
    }

    #[test]
    fn escapes_say_what_they_say_in_python() {
        let all = read(r#"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é"#);
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
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn flaws_are_remembered() {
        let flaw = |inner| read(inner).unwrap().1;
        assert_eq!(flaw(r"a\u0000"), Flaw::Nul);
        assert_eq!(flaw(r"\ud800"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ude00\ud83d"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ud83d\ud83d\ude00"), Flaw::Surrogate);
        assert_eq!(flaw(r"\ud800\u0000"), Flaw::Nul);
        assert_eq!(flaw(r"\u0000\ud800"), Flaw::Nul);
    }

    #[test]
    fn a_plain_run_ends_at_the_first_special_byte() {
        for special in ["\"", "\\", "\0", "\n", "\u{1f}"] {
            for before in 0..20 {
                let text = format!("{}{special}\"\\\nrest", "é ~\u{7f}".repeat(before));
                let end = text.find(special).unwrap();
                assert_eq!(plain_run(text.as_bytes(), 0), end);
            }
        }
        assert_eq!(plain_run(b"abc", 0), 3);
        assert_eq!(plain_run(b"abc", 9), 9);
    }

    #[test]
    fn raw_surrogates_keep_their_places() {
        let (mut text, mut places) = (String::new(), Vec::new());
        assert_eq!(
            decode(b"\xef\xbb\xbfa\xed\xa0\x80b", &mut text, &mut places),
            Ok(())
        );
        assert_eq!((text.as_str(), places.as_slice()), ("a\u{fffd}b", &[1][..]));
        assert!(decode(b"a\xff", &mut text, &mut places).is_err());
        assert!(decode(b"\xed\xa0", &mut text, &mut places).is_err());
    }
}
