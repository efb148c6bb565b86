//! Ranges as keys: dyadic pieces of a domain, and buckets of one-sided bounds.

use crate::engine::postings::keys::{Key, KeyVec};
use crate::language::Type;

/// The bucket of an order. It grows with the order, four buckets for each doubling of the value.
pub fn bucket_of(order: u64, kind: Type) -> u32 {
    if kind == Type::Float {
        // Sign, exponent and two bits of the mantissa.
        return (order >> 50) as u32;
    }
    if kind == Type::Version {
        // Two bytes: usually the first two numbers.
        return (order >> 48) as u32;
    }
    let value = (order ^ (1 << 63)) as i64;
    let size = value.unsigned_abs();
    let bucket = if size < 4 {
        size as u32
    } else {
        let doublings = size.ilog2();
        4 * (doublings - 1) + ((size >> (doublings - 2)) & 3) as u32
    };
    const MIDDLE: u32 = 1 << 12;
    if value < 0 {
        MIDDLE - bucket
    } else {
        MIDDLE + bucket
    }
}

/// Dyadic pieces that cover a range of orders, and whether they cover nothing else.
pub fn pieces(attribute: u32, low: u64, high: u64) -> (KeyVec, bool) {
    let width = high - low;
    let finest = (64 - width.leading_zeros()).saturating_sub(5);
    let mut first = low >> finest;
    let mut last = high >> finest;
    let exact = first << finest == low && (last << finest) + ((1 << finest) - 1) == high;
    let mut keys = KeyVec::new();
    let mut level = finest as u8;
    loop {
        if first == last {
            keys.push(Key::Node(attribute, level, first));
            break;
        }
        if first & 1 == 1 {
            keys.push(Key::Node(attribute, level, first));
            first += 1;
        }
        if last & 1 == 0 {
            keys.push(Key::Node(attribute, level, last));
            if last == first {
                break;
            }
            last -= 1;
        }
        if first > last {
            break;
        }
        if level == 63 {
            keys.extend([first, last].map(|half| Key::Node(attribute, level, half)));
            break;
        }
        first >>= 1;
        last >>= 1;
        level += 1;
    }
    (keys, exact)
}

/// The widest range that `pieces` covers exactly wherever it lies.
const WIDEST: u64 = 31;

/// The keys of exactly the orders from a bound on (`up`), or up to it: the buckets behind its own,
/// and pieces of its own. `None` if those would not be exact.
pub fn exact_bound(attribute: u32, bound: u64, up: bool, kind: Type) -> Option<KeyVec> {
    let bucket = bucket_of(bound, kind);
    let step = |order: u64, by: u64| {
        if up {
            order.checked_add(by)
        } else {
            order.checked_sub(by)
        }
    };
    let is_same = |by: u64| step(bound, by).is_some_and(|order| bucket_of(order, kind) == bucket);
    let width = (1..=WIDEST + 1).find(|&by| !is_same(by))?;
    let (last, behind) = (step(bound, width - 1)?, step(bound, width)?);
    let (mut keys, _) = pieces(attribute, bound.min(last), bound.max(last));
    let behind = bucket_of(behind, kind);
    keys.push(if up {
        Key::AtLeast(attribute, behind)
    } else {
        Key::AtMost(attribute, behind)
    });
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::matching::event::order_of_int;

    fn covers(keys: &[Key], order: u64) -> usize {
        keys.iter()
            .filter(|key| matches!(key, Key::Node(_, level, value) if order >> level == *value))
            .count()
    }

    #[test]
    fn buckets_grow_with_values() {
        let ints = [
            i64::MIN,
            -1000,
            -5,
            -4,
            -1,
            0,
            1,
            3,
            4,
            5,
            7,
            8,
            9,
            64,
            100,
            127,
            128,
            i64::MAX,
        ];
        let buckets: Vec<u32> = ints
            .iter()
            .map(|&v| bucket_of(order_of_int(v), Type::Int))
            .collect();
        assert!(buckets.is_sorted(), "{buckets:?}");
        assert_eq!(buckets[9] + 1, bucket_of(order_of_int(6), Type::Int));
    }

    #[test]
    fn pieces_cover_a_range_once_and_little_else() {
        for (low, high) in [
            (0u64, 1u64),
            (5, 5),
            (16, 31),
            (3, 77),
            (1000, 5_000_000),
            (1 << 63, (1 << 63) + 12345),
            (u64::MAX - 100, u64::MAX - 3),
            (1, u64::MAX - 1),
            (1 << 60, u64::MAX - 1),
            (0, 99),
            (7, 8),
        ] {
            let (keys, exact) = pieces(0, low, high);
            assert!(keys.len() <= 14, "{low}..={high}: {}", keys.len());
            let width = high - low;
            for order in [low, high, low + width / 2, low + width / 3] {
                assert_eq!(covers(&keys, order), 1, "{low}..={high} at {order}");
            }
            let slack = width / 16 + 1;
            let below = low.checked_sub(slack + 1);
            let above = high.checked_add(slack + 1);
            for order in below.into_iter().chain(above) {
                assert_eq!(covers(&keys, order), 0, "{low}..={high} at {order}");
            }
            if exact && low > 0 {
                assert_eq!(covers(&keys, low - 1), 0);
            }
            if width < 32 {
                assert!(exact);
            }
        }
    }

    #[test]
    fn an_exact_bound_covers_each_value_on_its_side_once() {
        for bound in -200i64..200 {
            for up in [true, false] {
                let order = order_of_int(bound);
                let keys = exact_bound(0, order, up, Type::Int).unwrap();
                for value in -300..300 {
                    let order = order_of_int(value);
                    let bucket = bucket_of(order, Type::Int);
                    let behind = keys.iter().filter(|key| match **key {
                        Key::AtLeast(_, first) => bucket >= first,
                        Key::AtMost(_, last) => bucket <= last,
                        _ => false,
                    });
                    let count = covers(&keys, order) + behind.count();
                    let is_in = if up { value >= bound } else { value <= bound };
                    assert_eq!(count, usize::from(is_in), "{bound} {up} {value}");
                }
            }
        }
        let far = order_of_int(1 << 30);
        assert!(exact_bound(0, far, true, Type::Int).is_none());
    }
}
