//! Which addresses are the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that are not: the special-purpose registry of RFC 6890 as it stands today, and one address by which a cloud
/// talks to its own machines.
const REFUSED_V4: [([u8; 4], u32, &str); 16] = [
    ([0, 0, 0, 0], 8, "unspecified"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a provider (CGNAT)"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "a cloud's metadata"),
    ([169, 254, 0, 0], 16, "link-local or metadata"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "of IETF protocols"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "a 6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved or broadcast"),
];

/// IPv6 ranges that are not, within `2000::/3`; all outside is not either.
const REFUSED_V6: [([u16; 8], u32, &str); 4] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "of IETF protocols (Teredo, benchmarking)"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
];

/// What `address` is when it is not of the public internet; `None` when it is.
pub(crate) fn refused(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refused_v4(address),
        IpAddr::V6(address) => refused_v6(address),
    }
}

fn refused_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |(net, length, _): &&([u8; 4], u32, &str)| {
        let net = Ipv4Addr::from(*net).to_bits();
        is_prefix(net.into(), bits.into(), 32 - *length)
    };
    REFUSED_V4.iter().find(within).map(|(_, _, what)| *what)
}

fn refused_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = wrapped(address) {
        return refused_v4(inner);
    }
    let [first, .., fifth, sixth, _, _] = address.segments();
    if first & 0xe000 != 0x2000 {
        return Some(local_v6(address));
    }
    // ISATAP (RFC 5214): any prefix, and an IPv4 address behind it.
    if matches!((fifth, sixth), (0 | 0x200, 0x5efe)) {
        return Some("a tunnel (ISATAP)");
    }
    let within = |(net, length, _): &&([u16; 8], u32, &str)| {
        is_prefix(Ipv6Addr::from(*net).to_bits(), address.to_bits(), 128 - *length)
    };
    REFUSED_V6.iter().find(within).map(|(_, _, what)| *what)
}

fn local_v6(address: Ipv6Addr) -> &'static str {
    match address.segments() {
        _ if address.is_loopback() => "loopback",
        _ if address.is_unspecified() => "unspecified",
        _ if address.is_multicast() => "multicast",
        [0, 0, 0, 0, 0, 0, _, _] => "IPv4-compatible",
        [first, ..] if first & 0xfe00 == 0xfc00 => "private",
        [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
        _ => "reserved",
    }
}

/// The IPv4 address that a mapped (`::ffff:0:0/96`) or translated one (NAT64, `64:ff9b::/96`) leads to. With NAT64 the whole
/// IPv4 internet has such addresses, so they are judged by what they wrap.
fn wrapped(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        _ => None,
    }
}

/// Whether `address` and `net` are equal but for the last `host` bits.
pub(crate) fn is_prefix(net: u128, address: u128, host: u32) -> bool {
    net.checked_shr(host).unwrap_or(0) == address.checked_shr(host).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_refused(text: &str) -> bool {
        refused(text.parse().unwrap()).is_some()
    }

    /// P39
    #[test]
    fn only_the_public_internet_is_let_through() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "223.255.255.255",
            "::ffff:1.1.1.1",
            "64:ff9b::8.8.8.8",
            "2606:4700::1111",
            "2a00:1450:4001::1",
        ] {
            assert!(!is_refused(public), "{public}");
        }
        for (local, what) in [
            ("127.0.0.1", "loopback"),
            ("10.1.2.3", "private"),
            ("172.31.255.255", "private"),
            ("192.168.0.1", "private"),
            ("100.64.0.1", "shared by a provider (CGNAT)"),
            ("100.100.100.200", "shared by a provider (CGNAT)"),
            ("169.254.169.254", "link-local or metadata"),
            ("168.63.129.16", "a cloud's metadata"),
            ("192.0.0.192", "of IETF protocols"),
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("198.19.255.255", "benchmarking"),
            ("203.0.113.9", "documentation"),
            ("239.1.1.1", "multicast"),
            ("255.255.255.255", "reserved or broadcast"),
            ("::1", "loopback"),
            ("::", "unspecified"),
            ("fe80::1", "link-local"),
            ("fec0::1", "reserved"),
            ("fc00::1", "private"),
            ("fd00:ec2::254", "private"),
            ("ff02::1", "multicast"),
            ("2001::1", "of IETF protocols (Teredo, benchmarking)"),
            ("2001:2::1", "of IETF protocols (Teredo, benchmarking)"),
            ("2001:db8::1", "documentation"),
            ("3fff::1", "documentation"),
            ("2002:808:808::1", "6to4"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:a9fe:a9fe", "link-local or metadata"),
            ("::8.8.8.8", "IPv4-compatible"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b:1::8.8.8.8", "reserved"),
            ("2606:4700::5efe:1.1.1.1", "a tunnel (ISATAP)"),
            ("100::1", "reserved"),
            ("4000::1", "reserved"),
            ("5f00::1", "reserved"),
        ] {
            assert_eq!(refused(local.parse().unwrap()), Some(what), "{local}");
        }
    }

    /// An IPv4 address of one of the refused ranges.
    fn local_v4() -> impl Strategy<Value = Ipv4Addr> {
        (0..REFUSED_V4.len(), any::<u32>()).prop_map(|(index, host)| {
            let (net, length, _) = REFUSED_V4[index];
            let mask = u32::MAX.checked_shr(length).unwrap_or(0);
            Ipv4Addr::from_bits(Ipv4Addr::from(net).to_bits() | (host & mask))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// P39
        #[test]
        fn a_refused_address_passes_in_no_embedding(inner in local_v4(), rest in any::<u64>()) {
            let v4 = u128::from(inner.to_bits());
            let rest = u128::from(rest);
            let embeddings = [
                v4,
                0xffff_u128 << 32 | v4,
                0xffff_0000_u128 << 32 | v4,
                0x0064_ff9b_u128 << 96 | v4,
                0x0064_ff9b_0001_u128 << 80 | (rest & 0xffff) << 32 | v4,
                0x2002_u128 << 112 | v4 << 80 | rest,
                0x2001_0000_u128 << 96 | rest << 32 | (!v4 & 0xffff_ffff),
                0x2001_0000_u128 << 96 | v4 << 64 | rest,
                (0x2606_4700_u128 << 96) | 0x5efe_u128 << 32 | v4,
                (0x2606_4700_u128 << 96) | 0x0200_5efe_u128 << 32 | v4,
                0xfe80_u128 << 112 | 0x5efe_u128 << 32 | v4,
            ];
            prop_assert!(refused(IpAddr::V4(inner)).is_some());
            for embedding in embeddings.map(Ipv6Addr::from_bits) {
                prop_assert!(refused(IpAddr::V6(embedding)).is_some(), "{inner} as {embedding}");
            }
        }

        #[test]
        fn what_is_not_global_unicast_is_never_public(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            if bits >> 125 != 1 && wrapped(address).is_none() {
                prop_assert!(refused(IpAddr::V6(address)).is_some(), "{address}");
            }
        }
    }
}
