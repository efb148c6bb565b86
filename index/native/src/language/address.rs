//! Addresses and networks, in the form that sorts (`address.py`): the version, the bits in
//! hexadecimal, and the prefix length of a network.

use std::net::IpAddr;

use super::types::RawValue;

/// A network: the version (4 or 6), the bits of its first address from the top of 128, and the
/// number of bits that are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    pub version: u8,
    pub bits: u128,
    pub prefix: u32,
}

impl Network {
    /// An address that a client sent. IPv4 inside IPv6 is IPv4.
    pub fn of_client(text: &str) -> Option<Self> {
        // `IpAddr` knows no scopes, and neither do we.
        let (version, bits) = match text.parse::<IpAddr>().ok()?.to_canonical() {
            IpAddr::V4(address) => (4, u128::from(u32::from(address)) << 96),
            IpAddr::V6(address) => (6, u128::from(address)),
        };
        Some(Self::address(version, bits))
    }

    /// A single address.
    pub fn address(version: u8, bits: u128) -> Self {
        let prefix = if version == 4 { 32 } else { 128 };
        Self {
            version,
            bits,
            prefix,
        }
    }

    /// What a JSON form stores, if it is valid.
    pub fn of_stored(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let hex = address.get(1..)?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if !hex.bytes().all(is_hex) {
            return None;
        }
        let (version, digits, most, shift) = match (address.as_bytes()[0], hex.len()) {
            (b'4', 8) => (4, 2, 32, 96),
            (b'6', 32) => (6, 3, 128, 0),
            _ => return None,
        };
        let bits = u128::from_str_radix(hex, 16).ok()? << shift;
        let prefix = match prefix {
            None => most,
            Some(text) if text.len() == digits && text.bytes().all(|b| b.is_ascii_digit()) => {
                text.parse().ok().filter(|&prefix| prefix < most)?
            }
            Some(_) => return None,
        };
        let network = Self {
            version,
            bits,
            prefix,
        };
        (network.bits & network.host_mask() == 0).then_some(network)
    }

    /// The bits, from the top, that are not fixed.
    fn host_mask(self) -> u128 {
        let all = u128::MAX.checked_shr(self.prefix).unwrap_or(0);
        if self.version == 4 {
            all >> 96 << 96
        } else {
            all
        }
    }

    /// The bits of its last address.
    pub fn last(self) -> u128 {
        self.bits | self.host_mask()
    }

    /// The version and the highest 63 bits in one word, which sorts like the addresses.
    pub fn order(self) -> u64 {
        u64::from(self.version == 6) << 63 | (self.bits >> 65) as u64
    }

    /// The networks that make up a range of addresses of one version.
    pub fn of_range(version: u8, first: u128, last: u128) -> Vec<Self> {
        // Units of one address: an IPv4 address is the top 32 bits.
        let shift = if version == 4 { 96 } else { 0 };
        let most: u32 = 128 - shift;
        let (mut first, last) = (first >> shift, last >> shift);
        let mut networks = Vec::new();
        loop {
            let mut free = first.trailing_zeros().min(most);
            let size = |free: u32| 1u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
            while size(free) > last - first {
                free -= 1;
            }
            networks.push(Self {
                version,
                bits: first << shift,
                prefix: most - free,
            });
            match first
                .checked_add(size(free))
                .and_then(|end| end.checked_add(1))
            {
                Some(next) if next <= last => first = next,
                _ => return networks,
            }
        }
    }

    /// For people: `10.0.0.0/8`.
    pub fn print(self) -> String {
        let address = if self.version == 4 {
            IpAddr::from(((self.bits >> 96) as u32).to_be_bytes())
        } else {
            IpAddr::from(self.bits.to_be_bytes())
        };
        if self == Self::address(self.version, self.bits) {
            address.to_string()
        } else {
            format!("{address}/{}", self.prefix)
        }
    }
}

/// Keeps of the stored networks from `first` on those that are in no other one, ascending.
pub(super) fn keep_largest(values: &mut Vec<RawValue>, first: usize, text: &str) {
    let mut networks: Vec<(Network, RawValue)> = values
        .drain(first..)
        .filter_map(|raw| match raw {
            RawValue::Str(at) => Some((Network::of_stored(at.of_text(text))?, raw)),
            _ => None,
        })
        .collect();
    networks.sort_by_key(|(network, _)| *network); // a larger network comes before those in it
    let mut end: Option<(u8, u128)> = None;
    for (network, raw) in networks {
        if end.is_none_or(|end| (network.version, network.bits) > end) {
            end = Some((network.version, network.last()));
            values.push(raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_networks_are_read_and_wrong_ones_refused() {
        let read = |text: &str| Network::of_stored(text).map(Network::print);
        assert_eq!(read("40a000000/08").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(read("40a000001").as_deref(), Some("10.0.0.1"));
        let six = "620010db8000000000000000000000000";
        assert_eq!(
            read(&format!("{six}/032")).as_deref(),
            Some("2001:db8::/32")
        );
        for bad in [
            "",
            "4",
            "40A000000",
            "40a000001/08",
            "40a000000/8",
            "40a000000/32",
            "é",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&format!("{six}/128")), None);
        let mapped = Network::of_client("::ffff:10.0.0.1").unwrap();
        assert_eq!(mapped.print(), "10.0.0.1");
        assert!(Network::of_client("fe80::1%eth0").is_none());
    }

    #[test]
    fn a_range_is_its_networks() {
        let cover = |low: &str, high: &str| {
            let (low, high) = (
                Network::of_client(low).unwrap(),
                Network::of_client(high).unwrap(),
            );
            let networks = Network::of_range(low.version, low.bits, high.bits);
            networks.into_iter().map(Network::print).collect::<Vec<_>>()
        };
        assert_eq!(cover("10.0.0.1", "10.0.0.1"), ["10.0.0.1"]);
        assert_eq!(
            cover("10.0.0.1", "10.0.0.4"),
            ["10.0.0.1", "10.0.0.2/31", "10.0.0.4"]
        );
        assert_eq!(cover("0.0.0.0", "255.255.255.255"), ["0.0.0.0/0"]);
        assert_eq!(
            cover("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ["::/0"]
        );
        assert_eq!(cover("::1", "::2").len(), 2);
        assert_eq!(
            cover(
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
            )
            .len(),
            1
        );
    }
}
