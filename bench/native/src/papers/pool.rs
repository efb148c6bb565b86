//! Numbered things that come and go, and small deterministic chance.

/// An arena with a free list.
pub struct Pool<T> {
    all: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool {
            all: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Pool<T> {
    pub fn add(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.all[number as usize] = value;
                number
            }
            None => {
                self.all.push(value);
                (self.all.len() - 1) as u32
            }
        }
    }

    pub fn free(&mut self, number: u32) {
        self.free.push(number);
    }

    /// One more than the highest number.
    pub fn bound(&self) -> usize {
        self.all.len()
    }

    /// How many are in use.
    pub fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Pool<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.all[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.all[number as usize]
    }
}

/// Marsaglia's xorshift: the same numbers in every run.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound.max(1) as u64) as usize
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        (self.below(1 << 30) as f64) < probability * f64::from(1 << 30)
    }
}
