//! Cells: hierarchical discretisation (section III-A).
//!
//! ```text
//!   level 0 │                0                │      a value is in one cell of each level
//!   level 1 │       0        │       1        │
//!   level 2 │   0   │   1    │   2    │   3   │
//!              [─────────────]                      a range takes the widest cells inside it, and
//!   level 3 │ 0 │ 1 │ 2 │ 3  │ 4  │ …               at the last level those that cover the rest
//! ```
//!
//! Errata: the first loop of algorithm 1 ends at the first level that has a cell inside the range; a
//! range that contains no cell of the last level takes the cells that it touches there.

/// Level and number.
pub type Cell = (u32, u64);

/// The cell of a normalised value at each level.
pub fn located(value: f64, last: u32) -> impl Iterator<Item = Cell> {
    let finest = (value * (1u64 << last) as f64) as u64;
    (0..=last).map(move |level| (level, finest >> (last - level)))
}

/// Algorithm 1 for a range of normalised values.
pub fn cells([low, high]: [f64; 2], last: u32) -> Vec<Cell> {
    let mut found = Vec::new();
    // The part that is covered so far, in cells of the current level: [from, to).
    let mut covered: Option<(u64, u64)> = None;
    for level in 0..last {
        let count = (1u64 << level) as f64;
        let first = (low * count).ceil() as u64;
        let end = ((high * count).floor() as u64).max(first);
        let (from, to) = match covered {
            None if first < end => {
                found.extend((first..end).map(|cell| (level, cell)));
                (first, end)
            }
            None => continue,
            Some((from, to)) => {
                let (from, to) = (2 * from, 2 * to);
                found.extend((first..from).map(|cell| (level, cell)));
                found.extend((to..end).map(|cell| (level, cell)));
                (first.min(from), end.max(to))
            }
        };
        covered = Some((from, to));
    }
    let count = (1u64 << last) as f64;
    let first = (low * count) as u64;
    let end = (high * count) as u64 + 1;
    match covered {
        None => found.extend((first..end).map(|cell| (last, cell))),
        Some((from, to)) => {
            found.extend((first..2 * from).map(|cell| (last, cell)));
            found.extend((2 * to..end).map(|cell| (last, cell)));
        }
    }
    found
}

/// Theorem 1: the largest share of false matches of a constraint that begins at level `start`.
#[cfg(test)]
pub fn bound(last: u32, start: u32) -> f64 {
    1.0 / (2f64.powi(last as i32 - start as i32 - 1) + 1.0)
}
