//! Values normalised to [0, 1): uniformly, or by their distribution (section III-C, algorithm 3).
//!
//! ```text
//!   uniform   low ├───────┼───────┼───────┼───────┤ high      cells of equal width
//!   optimal   low ├─┼─┼──┼────────────────────────┤ high      cells that as many events fall into
//! ```
//!
//! Algorithm 3 halves each cell at the median D⁻¹((D(x) + D(y)) / 2) of its ends. In the scale of the
//! distribution function D that is the middle, so a value v stands at D(v) and the cells are equal
//! again. D is what a sample of events shows, linear between its values. What lies outside the sample
//! counts as the nearest value inside.

/// Where cells are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separation {
    Uniform,
    Optimal,
}

pub struct Scale {
    separation: Separation,
    /// Doubles are numbered by their bits.
    is_float: bool,
    /// Values with their place in [0, 1], ascending; between them it is linear.
    knots: Vec<(f64, f64)>,
}

impl Scale {
    pub fn new(separation: Separation, is_float: bool) -> Self {
        Scale {
            separation,
            is_float,
            knots: vec![(0.0, 0.0), (1.0, 1.0)],
        }
    }

    fn real(&self, value: i64) -> f64 {
        if !self.is_float {
            return value as f64;
        }
        let bits = if value < 0 { i64::MIN - value } else { value };
        f64::from_bits(bits as u64).clamp(f64::MIN, f64::MAX)
    }

    /// Take the domain, or the distribution, from a sample.
    pub fn learn(&mut self, sample: impl Iterator<Item = i64>) {
        let mut values: Vec<f64> = sample.map(|value| self.real(value)).collect();
        values.sort_by(f64::total_cmp);
        let [low, .., high] = values[..] else {
            return;
        };
        if low == high {
            return;
        }
        if self.separation == Separation::Uniform {
            self.knots = vec![(low, 0.0), (high, 1.0)];
            return;
        }
        let last = (values.len() - 1) as f64;
        let mut knots: Vec<(f64, f64)> = vec![(low, 0.0)];
        for (place, &value) in values.iter().enumerate() {
            let share = place as f64 / last;
            match knots.last_mut() {
                Some(knot) if knot.0 == value && value != low => knot.1 = share,
                Some(knot) if knot.0 == value => {}
                _ => knots.push((value, share)),
            }
        }
        self.knots = knots;
    }

    pub fn normal(&self, value: i64) -> f64 {
        let value = self.real(value);
        let after = self.knots.partition_point(|knot| knot.0 <= value);
        let share = match (
            after.checked_sub(1).map(|p| self.knots[p]),
            self.knots.get(after),
        ) {
            (None, _) => 0.0,
            (Some(_), None) => 1.0,
            (Some(left), Some(right)) => {
                left.1 + (right.1 - left.1) * ((value - left.0) / (right.0 - left.0))
            }
        };
        share.clamp(0.0, 1.0 - f64::EPSILON)
    }
}
