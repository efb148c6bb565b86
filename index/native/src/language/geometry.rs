//! Points on the globe, and areas: circles, boxes and polygons. `geometry.py` has the rules; the
//! operations here are the same, in the same order, so that the results are equal bit for bit.

use std::f64::consts::PI;

/// The mean radius of the earth, in metres.
const EARTH: f64 = 6_371_008.8;
/// Half way around the globe.
pub const FARTHEST: f64 = PI * EARTH;
const UNITS: f64 = 1e7;
const QUARTER: i64 = 900_000_000;
const HALF: i64 = 1_800_000_000;
const WHOLE: i64 = 3_600_000_000;
const RADIANS: f64 = PI / HALF as f64;
pub const MOST_CORNERS: usize = 1000;

/// Latitude and longitude, in units of 10^-7 degrees; the longitude is below 180 degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub lat: i64,
    pub lon: i64,
}

/// Degrees in units of 10^-7.
fn units(degrees: f64) -> i64 {
    (degrees * UNITS + 0.5).floor() as i64
}

/// A place on the unit sphere.
pub type Place = [f64; 3];

impl Point {
    /// The point at these degrees, if there is one.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        if !(-90.0..=90.0).contains(&latitude) || !(-180.0..=180.0).contains(&longitude) {
            return None;
        }
        let lon = units(longitude);
        Some(Self {
            lat: units(latitude),
            lon: if lon == HALF { -HALF } else { lon },
        })
    }

    /// Where it is on the unit sphere.
    pub fn on_sphere(self) -> Place {
        let (lat, lon) = (self.lat as f64 * RADIANS, self.lon as f64 * RADIANS);
        let across = cosine(lat);
        [across * cosine(lon), across * sine(lon), sine(lat)]
    }

    /// A number whose even prefixes are the cells of a quadtree: the bits of latitude and
    /// longitude in turn.
    pub fn order(self) -> u64 {
        let [y, x] = grid(self.lat, self.lon);
        spread(y) << 1 | spread(x)
    }
}

/// The place of a cell of size 1 in a grid of 32 bits each way.
fn grid(lat: i64, lon: i64) -> [u64; 2] {
    [((lat + QUARTER) << 1) as u64, (lon + HALF) as u64]
}

/// The low 32 bits at the even places of 64.
fn spread(value: u64) -> u64 {
    let mut v = value & 0xffff_ffff;
    v = (v | v << 16) & 0x0000_ffff_0000_ffff;
    v = (v | v << 8) & 0x00ff_00ff_00ff_00ff;
    v = (v | v << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | v << 2) & 0x3333_3333_3333_3333;
    (v | v << 1) & 0x5555_5555_5555_5555
}

/// Whether two places are within a chord, given by its square.
#[inline]
pub fn is_near(a: Place, b: Place, square: f64) -> bool {
    let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    x * x + y * y + z * z <= square
}

/// The square of the chord of a distance in metres.
pub fn chord_square(metres: f64) -> f64 {
    let chord = 2.0 * sine(metres.min(FARTHEST) / (2.0 * EARTH));
    chord * chord
}

/// A box: south, west, north, east, in units of 10^-7 degrees.
pub type Bounds = [i64; 4];

/// The bounds of a box of degrees.
pub fn bounds_of(degrees: [f64; 4]) -> Bounds {
    degrees.map(units)
}

/// Whether a point is in a box. With west above east, the box crosses the meridian of 180 degrees.
pub fn in_box(point: Point, [south, west, north, east]: Bounds) -> bool {
    let Point { lat, lon } = point;
    if !(south..=north).contains(&lat) {
        return false;
    }
    if lat.abs() == QUARTER {
        return true; // a pole has every longitude
    }
    if west > east {
        return lon >= west || lon <= east;
    }
    (west..=east).contains(&lon) || lon + WHOLE == east // 180 degrees is stored as -180
}

/// A box with all its points, the poles of every longitude included.
pub fn around_box(bounds: Bounds) -> Bounds {
    let [south, west, north, east] = bounds;
    if south == -QUARTER || north == QUARTER {
        [south, -HALF, north, HALF]
    } else {
        [south, west, north, east]
    }
}

/// Whether a point is inside a polygon.
pub fn in_polygon(point: Point, corners: impl ExactSizeIterator<Item = Point> + Clone) -> bool {
    let following = corners.clone().cycle().skip(1);
    let (mut around, mut latitudes, mut inside) = (0, 0, false);
    for (corner, next) in corners.zip(following) {
        let step = turn(next.lon - corner.lon);
        around += step;
        latitudes += corner.lat;
        let along = turn(point.lon - corner.lon);
        let side = i128::from(point.lat - corner.lat) * i128::from(step);
        let edge = i128::from(next.lat - corner.lat) * i128::from(along);
        if 0 <= along && along < step {
            inside ^= side < edge;
        } else if step <= along && along < 0 {
            inside ^= side > edge;
        }
    }
    inside ^ (around != 0 && latitudes > 0)
}

/// The same direction, from -180 to below 180 degrees.
fn turn(longitude: i64) -> i64 {
    (longitude + HALF).rem_euclid(WHOLE) - HALF
}

/// A box around a polygon.
pub fn around_polygon(corners: impl ExactSizeIterator<Item = Point> + Clone) -> Bounds {
    let following = corners.clone().cycle().skip(1);
    let (mut south, mut north) = (QUARTER, -QUARTER);
    let (mut lon, mut west, mut east, mut latitudes) = (0, 0, 0, 0);
    let mut start = 0;
    for (place, (corner, next)) in corners.zip(following).enumerate() {
        if place == 0 {
            (start, lon, west, east) = (corner.lon, corner.lon, corner.lon, corner.lon);
        }
        south = south.min(corner.lat);
        north = north.max(corner.lat);
        latitudes += corner.lat;
        lon += turn(next.lon - corner.lon);
        west = west.min(lon);
        east = east.max(lon);
    }
    if lon != start {
        // It goes around the globe, and has a pole inside.
        return if latitudes > 0 {
            [south, -HALF, QUARTER, HALF]
        } else {
            [-QUARTER, -HALF, north, HALF]
        };
    }
    if east - west >= WHOLE {
        return [south, -HALF, north, HALF];
    }
    [south, turn(west), north, turn(east)]
}

/// A box around a circle, a little larger than needed.
pub fn around_circle(metres: f64, latitude: f64, longitude: f64) -> Bounds {
    let slack = 1e-6;
    let angle = metres / EARTH + 1e-9;
    let reach = angle.to_degrees() + slack;
    let (south, north) = (latitude - reach, latitude + reach);
    if south <= -90.0 || north >= 90.0 {
        return bounds_of([south.max(-90.0), -180.0, north.min(90.0), 180.0]);
    }
    let width = (angle.sin() / latitude.to_radians().cos()).min(1.0).asin();
    let width = width.to_degrees() + slack;
    if width >= 180.0 {
        return bounds_of([south, -180.0, north, 180.0]);
    }
    let [south, west, north, east] =
        bounds_of([south, longitude - width, north, longitude + width]);
    [south, turn(west), north, turn(east)]
}

/// The most cells of a cover.
const MOST_CELLS: u64 = 9;

/// Cells of the quadtree that cover a box: the bits below a cell, and its order without them.
pub fn cells(bounds: Bounds) -> Vec<(u8, u64)> {
    let [south, west, north, east] = bounds;
    let spans = if west > east {
        vec![(west, HALF), (-HALF, east)]
    } else if east == HALF && west > -HALF {
        vec![(west, HALF), (-HALF, -HALF)] // 180 degrees is stored as -180
    } else {
        vec![(west, east)]
    };
    let mut found = Vec::new();
    for (west, east) in spans {
        let ([y0, x0], [y1, x1]) = (grid(south, west), grid(north, east));
        let count = |k: u32| ((y1 >> k) - (y0 >> k) + 1) * ((x1 >> k) - (x0 >> k) + 1);
        let k = (0..31).find(|&k| count(k) <= MOST_CELLS).unwrap_or(31);
        for y in y0 >> k..=y1 >> k {
            for x in x0 >> k..=x1 >> k {
                found.push((2 * k as u8, spread(y) << 1 | spread(x)));
            }
        }
    }
    found
}

const TERMS: [f64; 12] = [
    -3.8681701706306835e-23,
    1.9572941063391263e-20,
    -8.22063524662433e-18,
    2.8114572543455206e-15,
    -7.647163731819816e-13,
    1.6059043836821613e-10,
    -2.505210838544172e-08,
    2.7557319223985893e-06,
    -0.0001984126984126984,
    0.008333333333333333,
    -0.16666666666666666,
    1.0,
];

/// The sine of an angle from -pi to pi, by its series: every machine rounds it in the same way.
fn sine(angle: f64) -> f64 {
    let angle = if angle > PI / 2.0 {
        PI - angle
    } else if angle < -PI / 2.0 {
        -PI - angle
    } else {
        angle
    };
    let square = angle * angle;
    let series = TERMS
        .iter()
        .fold(0.0, |result, term| result * square + term);
    series * angle
}

fn cosine(angle: f64) -> f64 {
    sine(PI / 2.0 - angle.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_covered(point: Point, cells: &[(u8, u64)]) -> bool {
        let order = point.order();
        cells.iter().any(|&(level, cell)| order >> level == cell)
    }

    #[test]
    fn the_sine_is_the_sine() {
        for step in -1000..=1000 {
            let angle = f64::from(step) / 1000.0 * PI;
            assert!((sine(angle) - angle.sin()).abs() < 1e-15, "{angle}");
            assert!((cosine(angle) - angle.cos()).abs() < 1e-15, "{angle}");
        }
    }

    #[test]
    fn covers_have_every_point_of_their_area() {
        let degrees = |n: u64, range: f64| (n % 100_003) as f64 / 100_003.0 * 2.0 * range - range;
        let mut drawn = 1u64;
        let mut next = || {
            drawn = drawn
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            drawn >> 20
        };
        let mut hits = 0;
        for round in 0..3000 {
            let metres = [10.0, 500.0, 5_000.0, 200_000.0, 3e6, 1.5e7][round % 6];
            let (lat, lon) = match round % 4 {
                0 => (degrees(next(), 90.0), degrees(next(), 180.0)),
                1 => (degrees(next(), 90.0), 180.0),
                2 => (89.99, degrees(next(), 180.0)),
                _ => (-89.0, -179.99),
            };
            let cover = cells(around_circle(metres, lat, lon));
            assert!(cover.len() <= 2 * MOST_CELLS as usize);
            let centre = Point::new(lat, lon).unwrap().on_sphere();
            let square = chord_square(metres);
            for _ in 0..20 {
                let reach = metres / 1e5;
                let point = Point::new(
                    (lat + degrees(next(), reach)).clamp(-90.0, 90.0),
                    (lon + degrees(next(), reach)).clamp(-180.0, 180.0),
                );
                let point = point.unwrap();
                if is_near(point.on_sphere(), centre, square) {
                    hits += 1;
                    assert!(
                        is_covered(point, &cover),
                        "{metres} m of {lat}, {lon}: {point:?}"
                    );
                }
            }
        }
        assert!(hits > 10_000, "{hits}");
    }

    #[test]
    fn covers_of_boxes_and_polygons_have_their_points() {
        for bounds in [
            [50.0, 170.0, 60.0, -170.0],
            [50.0, 10.0, 60.0, 180.0],
            [-90.0, -180.0, 90.0, 180.0],
            [0.0, 0.0, 0.0, 0.0],
            [80.0, 0.0, 90.0, 10.0],
        ] {
            let cover = cells(around_box(bounds_of(bounds)));
            let corners = [
                (bounds[0], bounds[1]),
                (bounds[2], bounds[3]),
                (bounds[0], bounds[3]),
            ];
            for (lat, lon) in corners {
                let point = Point::new(lat, lon).unwrap();
                assert!(in_box(point, bounds_of(bounds)));
                assert!(is_covered(point, &cover), "{bounds:?} {lat} {lon}");
            }
        }
        let polar = bounds_of([80.0, 0.0, 90.0, 10.0]);
        let pole = Point::new(90.0, 77.0).unwrap();
        assert!(in_box(pole, polar) && is_covered(pole, &cells(around_box(polar))));
        let ring: Vec<Point> = [(70.0, 0.0), (70.0, 120.0), (70.0, -120.0)]
            .map(|(lat, lon)| Point::new(lat, lon).unwrap())
            .to_vec();
        let cover = cells(around_polygon(ring.iter().copied()));
        for (lat, lon, inside) in [(90.0, 5.0, true), (80.0, 77.0, true), (60.0, 5.0, false)] {
            let point = Point::new(lat, lon).unwrap();
            assert_eq!(in_polygon(point, ring.iter().copied()), inside);
            assert!(!inside || is_covered(point, &cover));
        }
    }
}
