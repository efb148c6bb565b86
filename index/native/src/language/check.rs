//! Whether an operator and its operands fit an attribute: from JSON tokens to values.
//!
//! The checks are in the same order as in Python, so that both report the same error first. Sets
//! become ascending and lose repeats, as literals need them.

use super::address::{Network, keep_largest};
use super::folding::is_folded;
use super::geometry::{FARTHEST, MOST_CORNERS, Point};
use super::json::{Flaw, Token};
use super::operator::{Op, Operands, Operator};
use super::pattern::Pattern;
use super::tree::{Failure, Predicate};
use super::types::{RawValue, Span, Type};
use super::version;

/// 2^200: integers from here on are not printed in messages.
const TOO_LONG: &str = "1606938044258990275541962092341162602522202993782792835301376";

type Checked<T> = Result<T, Box<Failure>>;

/// What a predicate compares: the attribute, or what is derived from it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Derived {
    Nothing,
    Fold,
    /// With its salt.
    Bucket(Span),
}

/// Appends the values of a predicate; `name` is the attribute's, `operands` are its tokens.
pub(super) fn make_predicate(
    (base, name, kind): (u32, &str, Type),
    derived: Derived,
    op: &'static Operator,
    operands: &[Token],
    text: &str,
    values: &mut Vec<RawValue>,
) -> Checked<Predicate> {
    let (attr, kind, salt) = match derived {
        Derived::Nothing => (base, kind, None),
        Derived::Fold if kind.element() == Type::Str => (base + 1, kind, None),
        Derived::Bucket(salt) if matches!(kind, Type::Str | Type::Int) => {
            (base, Type::Int, Some(salt))
        }
        _ => return Err(not_derived(name, kind, derived)),
    };
    if !op.types.contains(&kind) {
        return Err(wrong_operator(name, kind, op));
    }
    if derived == Derived::Fold && op.operands == Operands::None {
        let message = format!(
            "{} compares no text, so there is no case to ignore",
            op.word
        );
        return Err(Failure::new("type.operator", message));
    }
    let first = values.len();
    if op.operands != Operands::None {
        for (place, token) in operands.iter().enumerate() {
            match check_value(*token, kind.element(), text) {
                Some(RawValue::Str(at)) if is_network(at.of_text(text), kind, op) => {
                    let message = "this is not a stored address".to_owned();
                    return Err(Failure::new("value.ip", message).below(place + 2));
                }
                Some(value) => values.push(value),
                None => return Err(wrong_value(name, kind, *token, text).below(place + 2)),
            }
        }
    }
    let is_other =
        |value: &RawValue| matches!(value, RawValue::Str(at) if !is_folded(at.of_text(text)));
    let not_folded = match derived {
        // A pattern is not folded, but what it reads.
        Derived::Fold if op.op != Op::Matches => values[first..].iter().position(is_other),
        _ => None,
    };
    match op.operands {
        Operands::None | Operands::One => {}
        Operands::Set => {
            if operands.is_empty() {
                let message = format!("the set after {} is empty", op.word);
                return Err(Failure::new("set.empty", message));
            }
            make_ascending(values, first, kind.element(), text);
        }
        Operands::Bounds => {
            let reversed =
                matches!(&values[first..], [low, high] if low.get(text) > high.get(text));
            if reversed {
                let message = format!(
                    "the bounds of {} are reversed: the first must not be above the second",
                    op.word
                );
                return Err(Failure::new("range.reversed", message));
            }
            let family = |value: &RawValue| match value {
                RawValue::Str(at) if kind == Type::Ip => at.of_text(text).as_bytes().first(),
                _ => None,
            };
            if matches!(&values[first..], [low, high] if family(low) != family(high)) {
                let message = format!("{} needs two addresses of one kind", op.word);
                return Err(Failure::new("range.families", message));
            }
        }
        Operands::Networks => {
            if operands.is_empty() {
                let message = format!("the set after {} is empty", op.word);
                return Err(Failure::new("set.empty", message));
            }
            keep_largest(values, first, text);
        }
        Operands::Circle | Operands::Box | Operands::Polygon => {
            let numbers = values[first..].iter().map(|value| match value {
                RawValue::Float(number) => *number,
                _ => f64::NAN,
            });
            check_area(op.operands, &numbers.collect::<Vec<_>>())?;
        }
        Operands::Pattern => {
            if let [RawValue::Str(at)] = values[first..] {
                let folds = derived == Derived::Fold;
                Pattern::read(at.of_text(text), op.op == Op::Like, folds)
                    .map_err(|bad| Failure::new(bad.0, "this is no pattern".to_owned()).below(2))?;
            }
        }
        Operands::Text => {
            if matches!(values[first..], [RawValue::Str(at)] if at.is_empty()) {
                let message = format!(
                    "the text after {} is empty, which every string would satisfy",
                    op.word
                );
                return Err(Failure::new("pattern.empty", message).below(2));
            }
        }
    }
    if let Some(place) = not_folded {
        let message = "this text is not folded".to_owned();
        return Err(Failure::new("value.case", message).below(place + 2));
    }
    Ok(Predicate {
        attr,
        base,
        salt,
        kind,
        op,
        values: Span::new(first, values.len()),
    })
}

/// Whether a stored address is a network where only an address may be.
fn is_network(stored: &str, kind: Type, op: &Operator) -> bool {
    kind == Type::Ip && op.operands != Operands::Networks && stored.contains('/')
}

/// The checks of a circle, a box or a polygon.
fn check_area(shape: Operands, numbers: &[f64]) -> Checked<()> {
    let wrong = |code, message: &str| Failure::new(code, message.to_owned());
    if shape == Operands::Circle && !(numbers[0] > 0.0 && numbers[0] <= FARTHEST) {
        return Err(wrong("range.distance", "the distance is not valid").below(2));
    }
    if shape == Operands::Polygon && !(3..=MOST_CORNERS).contains(&(numbers.len() / 2)) {
        return Err(wrong("range.polygon", "the number of corners is not valid"));
    }
    let first = numbers.len() % 2;
    for (place, pair) in numbers[first..].chunks_exact(2).enumerate() {
        if Point::new(pair[0], pair[1]).is_none() {
            let place = first + 2 * place + 2;
            return Err(wrong("value.point", "there is no such point").below(place));
        }
    }
    if shape == Operands::Box && numbers[0] > numbers[2] {
        let message = "the first corner of a box is the southern one";
        return Err(wrong("range.reversed", message));
    }
    Ok(())
}

/// The token as a value of a scalar type, if it is one; of a point, as a number of an area.
fn check_value(token: Token, kind: Type, text: &str) -> Option<RawValue> {
    match (kind, token) {
        (Type::Str, Token::Str(at, Flaw::None)) => Some(RawValue::Str(at)),
        (Type::Int, Token::Int(value)) => Some(RawValue::Int(value)),
        (Type::Version, Token::Str(at, _)) => {
            let order = version::parse(at.of_text(text))?;
            Some(RawValue::Int(version::to_int(order)))
        }
        (Type::Ip, Token::Str(at, _)) => {
            Network::of_stored(at.of_text(text)).map(|_| RawValue::Str(at))
        }
        (Type::Point, token) => check_value(token, Type::Float, text),
        (Type::Float, Token::Float(value)) if value.is_finite() => {
            Some(RawValue::Float(value + 0.0)) // -0.0 + 0.0 is 0.0
        }
        (Type::Float, Token::Int(value)) => {
            let double = value as f64;
            (double as i128 == i128::from(value)).then_some(RawValue::Float(double))
        }
        (Type::Float, Token::BigInt(digits)) => exact_double(digits.of_text(text)),
        (Type::Bool, Token::Bool(value)) => Some(RawValue::Bool(value)),
        _ => None,
    }
}

/// The double that is exactly this integer of many digits, if there is one.
fn exact_double(digits: &str) -> Option<RawValue> {
    let double: f64 = digits.parse().ok()?;
    let exact = double.is_finite() && format!("{double:.0}") == digits;
    exact.then_some(RawValue::Float(double))
}

/// Sorts the values from `first` on, which are all of one type, and drops repeated ones.
fn make_ascending(values: &mut Vec<RawValue>, first: usize, kind: Type, text: &str) {
    let set = &mut values[first..];
    // A key of one type compares several times faster than a value of any.
    let kept = match kind {
        Type::Int => ascend(set, |value| match value {
            RawValue::Int(int) => *int,
            _ => 0,
        }),
        Type::Str | Type::Ip => ascend(set, |value| match value {
            RawValue::Str(at) => at.of_text(text),
            _ => "",
        }),
        _ => ascend(set, |value| value.get(text)),
    };
    values.truncate(first + kept);
}

/// Returns the number of values left.
fn ascend<K: Ord>(set: &mut [RawValue], key: impl Fn(&RawValue) -> K) -> usize {
    if set.is_sorted_by(|a, b| key(a) < key(b)) {
        return set.len();
    }
    set.sort_unstable_by_key(&key);
    let mut kept = 1;
    for place in 1..set.len() {
        if key(&set[place]) != key(&set[kept - 1]) {
            set[kept] = set[place];
            kept += 1;
        }
    }
    kept
}

#[cold]
fn not_derived(name: &str, kind: Type, derived: Derived) -> Box<Failure> {
    let what = match derived {
        Derived::Fold => ", and ignoring case is for text only",
        _ => "; bucket takes a string or an int",
    };
    let message = format!("{name} is {}{what}", kind.with_article());
    Failure::new("type.operator", message)
}

#[cold]
fn wrong_operator(name: &str, kind: Type, op: &Operator) -> Box<Failure> {
    let takes = kind.with_article();
    if op.word == "holds" {
        let message = format!("{name} is {takes}; only a bool can stand alone");
        return Failure::new("type.bare", message);
    }
    let message = format!("{} does not work on {name}, which is {takes}", op.word);
    Failure::new("type.operator", message)
}

/// Why `check_value` returned nothing.
#[cold]
fn wrong_value(name: &str, kind: Type, token: Token, text: &str) -> Box<Failure> {
    let digits = |at: Span| {
        let digits = at.of_text(text);
        let magnitude = digits.trim_start_matches('-');
        let brief = (magnitude.len(), magnitude) < (TOO_LONG.len(), TOO_LONG);
        if brief { digits } else { "this integer" }
    };
    let element = match kind.element() {
        Type::Point => Type::Float, // the numbers of an area
        element => element,
    };
    let (code, message) = match (element, token) {
        (Type::Ip, _) => ("value.ip", "this is not a stored address".to_owned()),
        (Type::Version, Token::Str(at, _)) => (
            "value.version",
            format!("'{}' is not a version", at.of_text(text)),
        ),
        (Type::Str, Token::Str(_, Flaw::Nul)) => (
            "value.nul",
            "a string must not contain the NUL character".to_owned(),
        ),
        (Type::Str, Token::Str(_, Flaw::Surrogate)) => (
            "value.surrogate",
            "a string must not contain a lone surrogate".to_owned(),
        ),
        (Type::Int, Token::BigInt(at)) => (
            "value.int_range",
            format!("{} does not fit in 64 bits", digits(at)),
        ),
        (Type::Float, Token::Float(_)) => (
            "value.not_finite",
            "NaN and infinities are not allowed".to_owned(),
        ),
        (Type::Float, Token::BigInt(at)) => (
            "value.inexact",
            format!("a double cannot hold {} exactly", digits(at)),
        ),
        (Type::Float, Token::Int(value)) => (
            "value.inexact",
            format!("a double cannot hold {value} exactly"),
        ),
        (element, _) => {
            let elements = if kind.is_list() {
                format!(", its elements are {}s", element.name())
            } else {
                String::new()
            };
            let got = describe(token);
            (
                "type.mismatch",
                format!("{name} is {}{elements}; this is {got}", kind.with_article()),
            )
        }
    };
    Failure::new(code, message)
}

/// The type of a value in messages.
pub(super) fn describe(token: Token) -> &'static str {
    match token {
        Token::Null => "null",
        Token::Bool(_) => "a bool",
        Token::Int(_) | Token::BigInt(_) => "an int",
        Token::Float(_) => "a float",
        Token::Str(..) => "a string",
        Token::List { .. } => "a list",
        Token::Object => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_integers_become_doubles() {
        let exact = |digits: &str| exact_double(digits).is_some();
        assert!(exact("18446744073709551616"));
        assert!(!exact("18446744073709551617"));
        assert!(exact("-18446744073709551616"));
        assert!(!exact("100000000000000000000000"), "1e23 is not a double");
        assert!(exact(&format!("{:.0}", f64::MAX)));
        assert!(!exact(&"9".repeat(309)));
        assert!(!exact(&"9".repeat(4000)));
    }

    #[test]
    fn sets_come_out_ascending_and_distinct() {
        let mut values: Vec<RawValue> = [9, 3, 1, 3, 2, 1].map(RawValue::Int).to_vec();
        make_ascending(&mut values, 1, Type::Int, "");
        let ints: Vec<_> = values
            .iter()
            .map(|value| match value {
                RawValue::Int(int) => *int,
                _ => 0,
            })
            .collect();
        assert_eq!(ints, [9, 1, 2, 3]);
    }
}
