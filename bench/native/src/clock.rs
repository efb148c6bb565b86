//! CPU time of a thread: on a shared machine wall time is unreliable.

/// Nanoseconds of CPU that this thread has used.
pub fn thread_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every system that we build for, and the pointer is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
