//! Versions: numbers separated by dots, as one integer that sorts like them.
//!
//! `version.py` describes the form: one to four bytes for each number, the first bits say how many.

use std::fmt::Write;

const LARGEST: u64 = 1 << 28;
const BYTES: usize = 8;

/// The order of the version that a text says; `None` if it says none that fits.
pub fn parse(text: &str) -> Option<u64> {
    let mut code = [0u8; BYTES];
    let mut used = 0;
    let mut zeros = 0;
    for part in text.split('.') {
        if part.is_empty() || part.len() > 9 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: u64 = part.parse().ok()?;
        if number >= LARGEST {
            return None;
        }
        if number == 0 {
            zeros += 1; // written only if another number follows
            continue;
        }
        used += zeros;
        zeros = 0;
        let size = (1..=4).find(|size| number >> (7 * size) == 0)?;
        let first = (0xff00u64 >> (size - 1)) & 0xff;
        let bytes = number | first << (8 * (size - 1));
        let place = code.get_mut(used..used + size)?;
        place.copy_from_slice(&bytes.to_be_bytes()[BYTES - size..]);
        used += size;
    }
    Some(u64::from_be_bytes(code))
}

/// The text of a version.
pub fn print(order: u64) -> String {
    let mut rest = order;
    let mut out = String::new();
    while rest != 0 || out.is_empty() {
        let size = 1 + ((rest >> 56) as u8).leading_ones().min(3);
        let number = (rest >> (64 - 8 * size)) & ((1 << (7 * size)) - 1);
        let dot = if out.is_empty() { "" } else { "." };
        // Writing to a String does not fail.
        let _ = write!(out, "{dot}{number}");
        rest <<= 8 * size;
    }
    out
}

/// The integer of a version in a literal, whose order is the version's.
pub fn to_int(order: u64) -> i64 {
    (order ^ (1 << 63)) as i64
}

/// The order of such an integer.
pub fn of_int(value: i64) -> u64 {
    (value as u64) ^ (1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_number_by_number() {
        let ascending = [
            "0",
            "0.0.1",
            "0.9",
            "0.127",
            "0.128",
            "1",
            "1.0.1",
            "9.3",
            "10",
            "14.2",
            "14.10",
            "120.0.6099.129",
            "127.9",
            "128",
            "16383.1",
            "16384",
            "2097152",
            "268435455",
        ];
        let orders: Vec<u64> = ascending.iter().map(|text| parse(text).unwrap()).collect();
        assert!(orders.is_sorted_by(|a, b| a < b), "{orders:x?}");
        for (text, order) in ascending.iter().zip(orders) {
            assert_eq!(print(order), *text);
        }
        assert_eq!(parse("14.2.0.0.0.0.0.0.0.0"), parse("14.2"));
        for bad in [
            "",
            ".",
            "1.",
            "a",
            "1.a",
            "-1",
            "+1",
            "1 ",
            "268435456",
            "1.2.3.4.5.6.7.8.9",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
