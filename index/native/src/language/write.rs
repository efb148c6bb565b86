//! Values as Python writes them, in JSON (byte for byte) and in messages.

use std::fmt::Write;

use super::types::Value;

/// Appends a value as `json.dumps(value, ensure_ascii=False)` would.
pub(super) fn json_value(value: Value<'_>, out: &mut String) {
    match value {
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Int(value) => integer(value, out),
        Value::Float(value) => out.push_str(&python_float(value)),
        Value::Str(value) => json_string(value, out),
    }
}

pub(super) fn integer(value: impl std::fmt::Display, out: &mut String) {
    // Writing to a String does not fail.
    let _ = write!(out, "{value}");
}

/// Appends a string with only the escapes that JSON requires.
pub(super) fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

/// `repr(float)`: the shortest digits that read back as the same double, with an exponent below 1e-4
/// and from 1e16 on.
pub(super) fn python_float(value: f64) -> String {
    if !value.is_finite() {
        let words = ["nan", "inf", "-inf"];
        let word = usize::from(value.is_infinite()) + usize::from(value < 0.0);
        return words[word].to_owned();
    }
    let mut scientific = format!("{value:e}");
    // Halfway between two shortest ones Rust rounds up, Python to even, as this does.
    let before_e = scientific.bytes().take_while(|&byte| byte != b'e');
    let fraction = before_e.filter(u8::is_ascii_digit).count() - 1;
    let to_even = format!("{value:.fraction$e}");
    if to_even.parse() == Ok(value) {
        scientific = to_even;
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let minus = if value < 0.0 { "-" } else { "" };
    let digits = mantissa.replace(['-', '.'], "");
    match usize::try_from(exponent) {
        Err(_) => format!(
            "{minus}0.{digits:0>width$}",
            width = fraction + 1 + zeros(exponent)
        ),
        Ok(point) if point < fraction => {
            let (whole, rest) = digits.split_at(point + 1);
            format!("{minus}{whole}.{rest}")
        }
        Ok(point) => format!("{minus}{digits:0<width$}.0", width = point + 1),
    }
}

/// Zeros between the point and the first digit of a number below one.
fn zeros(exponent: i32) -> usize {
    exponent.unsigned_abs() as usize - 1
}

/// `repr(str)`, for messages; rare characters are left as they are.
pub(super) fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(char));
            }
            _ if char == quote => out.extend(['\\', char]),
            _ => out.push(char),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_look_as_in_python() {
        for (value, text) in [
            (0.0, "0.0"),
            (5.0, "5.0"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (1e22, "1e+22"),
            (1e23, "1e+23"),
            (638574704222243.0 + 0.25, "638574704222243.2"),
            (638574704222243.0 + 0.75, "638574704222243.8"),
            (2f64.powi(-44), "5.684341886080802e-14"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (0.00001, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(python_float(value), text);
        }
    }

    #[test]
    fn strings_escape_what_python_escapes() {
        let mut out = String::new();
        json_string(
            "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}é\u{10ffff}",
            &mut out,
        );
        let expected = "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}é\u{10ffff}\"";
        assert_eq!(out, expected);
        assert_eq!(python_string("it's"), "\"it's\"");
        assert_eq!(python_string("a\n'\"\\"), "'a\\n\\'\"\\\\'");
    }
}
