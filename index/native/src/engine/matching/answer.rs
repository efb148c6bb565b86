//! The best matches as JSON: the bytes that the service sends.

use crate::engine::ids::score::{bid, priority};

/// Write pairs of a score and an id, and the total if it is known; then the tail, which has the
/// other members of the object and its closing brace.
///
/// ```text
///   {"matches":[{"campaign_id":7,"priority":5,"bid_micros":1200000}],"total":1 tail
/// ```
pub fn write(best: &[(i64, u64)], total: Option<usize>, tail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + best.len() * 72 + tail.len());
    out.extend_from_slice(b"{\"matches\":[");
    for (place, &(score, id)) in best.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"campaign_id\":");
        write_number(&mut out, id as i64);
        out.extend_from_slice(b",\"priority\":");
        write_number(&mut out, priority(score));
        out.extend_from_slice(b",\"bid_micros\":");
        write_number(&mut out, bid(score) as i64);
        out.push(b'}');
    }
    out.push(b']');
    if let Some(total) = total {
        out.extend_from_slice(b",\"total\":");
        write_number(&mut out, total as i64);
    }
    out.extend_from_slice(tail);
    out
}

fn write_number(out: &mut Vec<u8>, number: i64) {
    // Writing a number into memory cannot fail. This is several times as fast as `write!`.
    let _ = serde_json::to_writer(out, &number);
}

#[cfg(test)]
mod tests {
    use super::write;

    #[test]
    fn the_contract_byte_by_byte() {
        assert_eq!(write(&[], None, b"}"), br#"{"matches":[]}"#);
        assert_eq!(write(&[], Some(0), b"}"), br#"{"matches":[],"total":0}"#);
        let best = [((5 << 53) + 1_200_000, 7), (i64::MAX, (1 << 63) - 1)];
        let tail = b",\"epoch\":\"e\",\"rev\":42}";
        assert_eq!(
            String::from_utf8(write(&best, Some(3), tail)).expect("text"),
            concat!(
                r#"{"matches":[{"campaign_id":7,"priority":5,"bid_micros":1200000},"#,
                r#"{"campaign_id":9223372036854775807,"priority":1023,"#,
                r#""bid_micros":9007199254740991}],"total":3,"epoch":"e","rev":42}"#
            )
        );
    }
}
