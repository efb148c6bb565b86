//! The memory of this process, as the system counts it.

use serde_json::{Value, json};

/// The resident memory of the process and its part in huge pages, in bytes, as JSON; null where the
/// system does not tell.
pub fn resident() -> Value {
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps_rollup") else {
        return Value::Null;
    };
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
        kilobytes.and_then(|number| number.parse::<u64>().ok().map(|number| number * 1024))
    };
    json!({"resident": bytes("Rss:"), "huge_pages": bytes("AnonHugePages:")})
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::resident;

    #[test]
    fn touched_memory_is_resident() {
        let before = resident()["resident"].as_u64().unwrap();
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = resident()["resident"].as_u64().unwrap();
        assert!(after > before + (32 << 20), "{before} {after}");
        assert!(resident()["huge_pages"].as_u64().unwrap() <= after);
        drop(touched);
    }
}
