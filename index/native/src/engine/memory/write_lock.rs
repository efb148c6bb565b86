//! The write lock, and how long it was held.

use crate::engine::core::Core;
use parking_lot::RwLockWriteGuard;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// The write lock. It measures how long it is held, in CPU time of this thread, since wall time
/// says little on a shared machine.
pub struct WriteLock<'a> {
    core: RwLockWriteGuard<'a, Core>,
    since: u64,
    longest: &'a AtomicU64,
}

impl<'a> WriteLock<'a> {
    /// Start to measure; `longest` is the maximum over all holds.
    pub fn new(core: RwLockWriteGuard<'a, Core>, longest: &'a AtomicU64) -> Self {
        let since = thread_ns();
        WriteLock {
            core,
            since,
            longest,
        }
    }
}

/// The CPU time of this thread in nanoseconds.
pub fn thread_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every system that we build for, and the pointer is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Deref for WriteLock<'_> {
    type Target = Core;
    fn deref(&self) -> &Core {
        &self.core
    }
}

impl DerefMut for WriteLock<'_> {
    fn deref_mut(&mut self) -> &mut Core {
        &mut self.core
    }
}

impl Drop for WriteLock<'_> {
    fn drop(&mut self) {
        let lasted = thread_ns() - self.since;
        self.longest.fetch_max(lasted, Ordering::Relaxed);
    }
}
