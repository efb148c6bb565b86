//! `bucket(attribute, 'salt')`: a stable number from 0 to 9,999 of a value and a salt.
//!
//! The first eight bytes of SHA-256 of the salt, a NUL and the value as text, as one number with the
//! highest byte first, modulo 10,000. docs/language.md has test vectors.

use sha2::{Digest, Sha256};

/// The number of buckets.
pub const BUCKETS: i64 = 10_000;

/// The bucket of a value, given as text.
pub fn bucket_of(salt: &str, value: &[u8]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(salt.as_bytes());
    hash.update([0]);
    hash.update(value);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_be_bytes(first) % BUCKETS as u64
}

#[cfg(test)]
mod tests {
    use super::bucket_of;

    #[test]
    fn buckets_are_those_of_the_documentation() {
        assert_eq!(bucket_of("spring", b"user-1"), 2625);
        assert_eq!(bucket_of("holdout", b"user-1"), 1313);
        assert_eq!(bucket_of("", b"42"), 8124);
    }
}
