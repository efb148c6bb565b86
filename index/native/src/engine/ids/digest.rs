//! A digest of all ids and their versions: equal contents have equal digests.
//!
//! It is the sum, modulo 2^64, of a hash of each pair of id and version. So it does not depend on
//! order, and an update costs one addition. `index/digest.py` is the same in Python.

/// The finaliser of SplitMix64: every bit of the input moves every bit of the output.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The term of an id and its version in the sum.
#[inline]
pub fn term(id: u64, version: u32) -> u64 {
    mix(mix(id) ^ u64::from(version))
}

#[cfg(test)]
mod tests {
    use super::{mix, term};

    #[test]
    fn it_is_split_mix() {
        // The first outputs of the generator with seed 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn id_and_version_are_told_apart() {
        assert_ne!(term(1, 2), term(2, 1));
        assert_ne!(term(0, 0), term(0, 1));
        assert_ne!(
            term(1, 1).wrapping_add(term(2, 2)),
            term(1, 2).wrapping_add(term(2, 1))
        );
    }
}
