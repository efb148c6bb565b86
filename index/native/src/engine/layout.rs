//! What the bytes of a snapshot mean, as one number: another build refuses what it would misread.
//!
//! Most of a snapshot is memory as it lay, and what that means is said in code: how a literal is
//! packed, which keys a range is posted under, how large a block is. A version that somebody has
//! to remember to raise would be forgotten one day, and the answers would be wrong. So the number
//! is taken from the text of that code itself, when it is compiled. A changed comment changes it
//! as well, which costs one cold start.

/// The code that says how an index lies in memory, and what its words mean.
const SOURCES: [&[u8]; 35] = [
    include_bytes!("arena.rs"),
    include_bytes!("arena/stored.rs"),
    include_bytes!("check.rs"),
    include_bytes!("chunked/stored.rs"),
    include_bytes!("core.rs"),
    include_bytes!("encode.rs"),
    include_bytes!("event.rs"),
    include_bytes!("formula.rs"),
    include_bytes!("gather.rs"),
    include_bytes!("groups/stored.rs"),
    include_bytes!("index/stored.rs"),
    include_bytes!("keys.rs"),
    include_bytes!("keys/stored.rs"),
    include_bytes!("lists.rs"),
    include_bytes!("lists/stored.rs"),
    include_bytes!("long_literals.rs"),
    include_bytes!("long_literals/stored.rs"),
    include_bytes!("pairs/stored.rs"),
    include_bytes!("plan.rs"),
    include_bytes!("programs.rs"),
    include_bytes!("programs/stored.rs"),
    include_bytes!("ranges.rs"),
    include_bytes!("restore.rs"),
    include_bytes!("selectivity/stored.rs"),
    include_bytes!("set_bits.rs"),
    include_bytes!("set_bits/stored.rs"),
    include_bytes!("sharers.rs"),
    include_bytes!("sharers/stored.rs"),
    include_bytes!("slots.rs"),
    include_bytes!("slots/stored.rs"),
    include_bytes!("sparse/stored.rs"),
    include_bytes!("statistics/stored.rs"),
    include_bytes!("stored.rs"),
    include_bytes!("strings/stored.rs"),
    include_bytes!("tuning.rs"),
];

/// The layout of this build.
pub const LAYOUT: u64 = {
    let mut hash = mix(1, &1u64.to_ne_bytes());
    hash = mix(hash, &[size_of::<usize>() as u8]);
    let mut i = 0;
    while i < SOURCES.len() {
        hash = mix(hash, SOURCES[i]);
        i += 1;
    }
    hash
};

/// FNV-1a over eight bytes at a time, since it runs in the compiler.
const fn mix(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        let mut word = 0u64;
        let mut i = 0;
        while i < 8 && at + i < bytes.len() {
            word = word << 8 | bytes[at + i] as u64;
            i += 1;
        }
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        hash ^= hash >> 29;
        at += 8;
    }
    (hash ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
