//! Time that a thread has run: on a shared machine the time on the wall says little, and the less
//! the longer something takes.

/// Nanoseconds that this thread has run.
pub fn thread_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every system that we build for, and the pointer is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
