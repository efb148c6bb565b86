//! Areas: networks of addresses, and circles, boxes and polygons on the globe.
//!
//! A literal of an area has words that are ready to be tested:
//!
//! ```text
//!   networks   version and prefix │ high bits │ low bits     for each, ascending and disjoint
//!   circle     metres │ latitude │ longitude │ square of the chord │ x │ y │ z
//!   box        south │ west │ north │ east
//!   polygon    latitude │ longitude                          for each corner
//! ```
//!
//! The order of an address begins with the bits of its networks, the order of a point with the
//! cells of a quadtree around it. So the keys of an area are pieces of the domain, as those of a
//! range are: the network itself, or a few cells that cover the area.

use crate::engine::matching::event::Event;
use crate::engine::postings::keys::{Key, KeyVec};
use crate::language::address::Network;
use crate::language::geometry::{self, Point};
use crate::language::{Literal, Op, Value};

/// The kind of an area.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Area {
    Networks,
    Circle,
    Box,
    Polygon,
}

impl Area {
    pub const ALL: [Self; 4] = [Self::Networks, Self::Circle, Self::Box, Self::Polygon];

    /// Whether there can be an area with this number of words.
    pub fn fits(self, words: usize) -> bool {
        match self {
            Self::Networks => words > 0 && words.is_multiple_of(3),
            Self::Circle => words == 7,
            Self::Box => words == 4,
            Self::Polygon => words >= 6 && words.is_multiple_of(2),
        }
    }

    /// Whether an event is in the area.
    pub fn has(self, words: &[u64], attribute: u32, event: &Event) -> bool {
        let found = event.elements(attribute);
        match self {
            Self::Networks => {
                let [version, high, low] = found else {
                    return false;
                };
                let address = (*version, high, low);
                let key = |place: usize| {
                    let network = &words[3 * place..];
                    (network[0] >> 8, &network[1], &network[2])
                };
                // The last network that begins at or below the address.
                let (mut first, mut last) = (0, words.len() / 3);
                while first < last {
                    let middle = first + (last - first) / 2;
                    if key(middle) <= address {
                        first = middle + 1;
                    } else {
                        last = middle;
                    }
                }
                let Some(place) = first.checked_sub(1) else {
                    return false;
                };
                let network = read_network(&words[3 * place..]);
                *version == u64::from(network.version) && join(*high, *low) <= network.last()
            }
            Self::Circle => {
                let [_, _, x, y, z] = found else {
                    return false;
                };
                let place = |words: [&u64; 3]| words.map(|word| f64::from_bits(*word));
                let centre = place([&words[4], &words[5], &words[6]]);
                geometry::is_near(place([x, y, z]), centre, f64::from_bits(words[3]))
            }
            Self::Box => geometry::in_box(point_of(found), bounds(words)),
            Self::Polygon => geometry::in_polygon(point_of(found), corners(words)),
        }
    }

    /// Keys that every event in the area has, and whether all events with one are in it.
    pub fn keys(self, words: &[u64], attribute: u32) -> (KeyVec, bool) {
        let bounds = match self {
            Self::Networks => {
                let networks = words.chunks_exact(3).map(read_network);
                let exact = networks.clone().all(|network| network.prefix <= 63);
                let key = |network: Network| {
                    let level = 63 - network.prefix.min(63);
                    Key::Node(attribute, level as u8, network.order() >> level)
                };
                let mut keys: KeyVec = networks.map(key).collect();
                keys.dedup(); // networks of more than 63 bits may share a key
                return (keys, exact);
            }
            Self::Circle => {
                let [metres, lat, lon] = [words[0], words[1], words[2]].map(f64::from_bits);
                geometry::around_circle(metres, lat, lon)
            }
            Self::Box => geometry::around_box(bounds(words)),
            Self::Polygon => geometry::around_polygon(corners(words)),
        };
        let cells = geometry::cells(bounds);
        let mut keys: KeyVec = cells
            .into_iter()
            .map(|(level, cell)| Key::Node(attribute, level, cell))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        (keys, false)
    }

    /// The share of requests in the area, without any knowledge of them.
    pub fn prior(self, words: &[u64]) -> f32 {
        match self {
            Self::Networks => (0.01 * (words.len() / 3) as f32).min(0.5),
            Self::Circle => 0.01,
            Self::Box | Self::Polygon => 0.05,
        }
    }

    /// The orders that the area covers: the networks, or the cells around it.
    pub fn ranges(self, words: &[u64]) -> Vec<(u64, u64)> {
        let (keys, _) = self.keys(words, 0);
        keys.into_iter()
            .filter_map(|key| match key {
                Key::Node(_, level, value) => {
                    let low = value << level;
                    Some((low, low | ((1 << level) - 1)))
                }
                _ => None,
            })
            .collect()
    }

    /// The operator and the operand in words.
    pub fn text(self, words: &[u64]) -> (Op, String) {
        let degrees = |word: u64| word as i64 as f64 / 1e7;
        let pairs = |words: &[u64]| {
            let pairs = words.chunks_exact(2);
            let pairs = pairs.map(|pair| format!("({}, {})", degrees(pair[0]), degrees(pair[1])));
            format!("({})", pairs.collect::<Vec<_>>().join(", "))
        };
        match self {
            Self::Networks => {
                let count = words.len() / 3;
                let networks = words.chunks_exact(3).take(8).map(read_network);
                let mut shown: Vec<String> = networks
                    .map(|network| format!("'{}'", network.print()))
                    .collect();
                if count > 8 {
                    shown.push(format!("… {count} in all"));
                }
                (Op::InNetwork, format!("({})", shown.join(", ")))
            }
            Self::Circle => {
                let [metres, lat, lon] = [words[0], words[1], words[2]].map(f64::from_bits);
                (Op::Within, format!("{metres} m of ({lat}, {lon})"))
            }
            Self::Box => (Op::WithinBox, pairs(words)),
            Self::Polygon => (Op::WithinPolygon, pairs(words)),
        }
    }
}

/// The area of a literal and its words, if it has one.
pub fn area_of(literal: &Literal) -> Option<(Area, Vec<u64>)> {
    let numbers: Vec<f64> = literal
        .values
        .iter()
        .filter_map(|value| match value {
            Value::Float(number) => Some(number),
            _ => None,
        })
        .collect();
    let networks = literal.values.iter().filter_map(|value| match value {
        Value::Str(text) => Network::of_stored(text),
        _ => None,
    });
    let words = |point: Point| [point.lat as u64, point.lon as u64];
    Some(match (literal.op, &numbers[..]) {
        (Op::InNetwork, _) => (Area::Networks, networks.flat_map(write_network).collect()),
        (Op::Between, []) => {
            let ends: Vec<Network> = networks.collect();
            let (low, high) = (ends.first()?, ends.last()?);
            let networks = Network::of_range(low.version, low.bits, high.bits);
            let words = networks.into_iter().flat_map(write_network).collect();
            (Area::Networks, words)
        }
        (Op::Within, &[metres, lat, lon]) => {
            let centre = Point::new(lat, lon)?.on_sphere();
            let mut words = vec![metres, lat, lon, geometry::chord_square(metres)];
            words.extend(centre);
            (Area::Circle, words.into_iter().map(f64::to_bits).collect())
        }
        (Op::WithinBox, &[south, west, north, east]) => {
            let bounds = geometry::bounds_of([south, west, north, east]);
            (Area::Box, bounds.map(|bound| bound as u64).to_vec())
        }
        (Op::WithinPolygon, numbers) => {
            let corners = numbers
                .chunks_exact(2)
                .filter_map(|at| Point::new(at[0], at[1]));
            (Area::Polygon, corners.flat_map(words).collect())
        }
        _ => return None,
    })
}

fn write_network(network: Network) -> [u64; 3] {
    let first = u64::from(network.version) << 8 | u64::from(network.prefix);
    [first, (network.bits >> 64) as u64, network.bits as u64]
}

fn read_network(words: &[u64]) -> Network {
    Network {
        version: (words[0] >> 8) as u8,
        prefix: words[0] as u32 & 0xff,
        bits: join(words[1], words[2]),
    }
}

fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn bounds(words: &[u64]) -> geometry::Bounds {
    [words[0], words[1], words[2], words[3]].map(|word| word as i64)
}

fn corners(words: &[u64]) -> impl ExactSizeIterator<Item = Point> + Clone {
    words.chunks_exact(2).map(point_of)
}

fn point_of(words: &[u64]) -> Point {
    Point {
        lat: words[0] as i64,
        lon: words[1] as i64,
    }
}
