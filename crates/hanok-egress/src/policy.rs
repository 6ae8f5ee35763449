//! Who may be asked.

use std::net::{IpAddr, Ipv6Addr};

use crate::{EgressError, address};

/// What is reached without asking for more.
const PORTS: [u16; 2] = [80, 443];

/// Which hosts, ports and addresses are reached.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) ports: Vec<u16>,
    pub(crate) only: Option<Vec<String>>,
    pub(crate) permits: Vec<Permit>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { ports: PORTS.into(), only: None, permits: Vec::new() }
    }
}

impl Policy {
    /// Whether `host` may be asked at all.
    pub(crate) fn host(&self, host: &str) -> Result<(), EgressError> {
        let Some(only) = &self.only else { return Ok(()) };
        if only.iter().any(|pattern| matches(pattern, host)) {
            return Ok(());
        }
        Err(EgressError::NotAllowed { host: host.to_owned() })
    }

    /// Whether `address`, to which `host` leads, may be connected to on `port`.
    pub(crate) fn address(&self, host: &str, at: IpAddr, port: u16) -> Result<(), EgressError> {
        if self.permits.iter().any(|permit| permit.covers(at, port)) {
            return Ok(());
        }
        let host = host.to_owned();
        if let Some(what) = address::refused(at) {
            return Err(EgressError::Blocked { host, address: at, what });
        }
        if !self.ports.contains(&port) {
            return Err(EgressError::Port { host, port });
        }
        Ok(())
    }
}

/// `*.example.com` is every name below `example.com`, and not that one.
fn matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(below) => host.len() > below.len() && host.ends_with(below),
        None => pattern == host,
    }
}

/// `pattern` as hosts are spelled, or why it is none.
pub(crate) fn pattern(pattern: &str) -> Result<String, EgressError> {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    let host = url::Host::parse(name);
    match host {
        Ok(host) if !name.contains('*') && !name.ends_with('.') => {
            let star = if name.len() < pattern.len() { "*." } else { "" };
            Ok(format!("{star}{}", host.to_string().trim_matches(['[', ']'])))
        }
        _ => Err(EgressError::Setting {
            what: format!(
                "`{}` is no host; write `example.com` or `*.example.com`",
                pattern.escape_debug()
            ),
        }),
    }
}

/// Addresses that are reached although they are not public.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permit {
    net: Ipv6Addr,
    /// How many of the last bits may differ.
    host: u32,
    port: Option<u16>,
}

impl Permit {
    fn covers(&self, at: IpAddr, port: u16) -> bool {
        let is_port = self.port.is_none_or(|own| own == port);
        is_port && address::is_prefix(self.net.to_bits(), mapped(at).to_bits(), self.host)
    }

    /// Reads `10.0.0.0/8`, `127.0.0.1:8080`, `::1`, `[fd00::/8]:9200`.
    pub(crate) fn parse(text: &str) -> Result<Self, EgressError> {
        read(text.trim()).ok_or_else(|| EgressError::Setting {
            what: format!(
                "`{}` is no range of addresses; write `127.0.0.1:8080`, `10.0.0.0/8` or `[fd00::/8]:9200`",
                text.escape_debug()
            ),
        })
    }
}

fn read(text: &str) -> Option<Permit> {
    let (range, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (range, rest) = rest.split_once(']')?;
            let port = match rest {
                "" => None,
                rest => Some(rest.strip_prefix(':')?.parse().ok()?),
            };
            (range, port)
        }
        None if text.matches(':').count() == 1 => {
            let (range, port) = text.split_once(':')?;
            (range, Some(port.parse().ok()?))
        }
        None => (text, None),
    };
    let (net, length) = match range.split_once('/') {
        Some((net, length)) => (net, Some(length.parse::<u32>().ok()?)),
        None => (range, None),
    };
    let net: IpAddr = net.parse().ok()?;
    let width: u32 = if net.is_ipv4() { 32 } else { 128 };
    let host = width.checked_sub(length.unwrap_or(width))?;
    Some(Permit { net: mapped(net), host, port })
}

/// One kind of address for both.
fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_covers_its_range_and_port_alone() {
        for (permit, address, port, covered) in [
            ("127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("127.0.0.1:8080", "127.0.0.1", 8081, false),
            ("127.0.0.1:8080", "127.0.0.2", 8080, false),
            ("127.0.0.1", "127.0.0.1", 1, true),
            ("127.0.0.1", "::ffff:127.0.0.1", 1, true),
            ("10.0.0.0/8", "10.255.0.1", 9200, true),
            ("10.0.0.0/8", "11.0.0.1", 9200, false),
            ("10.0.0.0/8:443", "10.0.0.1", 80, false),
            ("::1", "::1", 80, true),
            ("[fd00::/8]:9200", "fd12::1", 9200, true),
            ("[fd00::/8]:9200", "fc12::1", 9200, false),
            ("0.0.0.0/0", "169.254.169.254", 80, true),
            ("0.0.0.0/0", "::1", 80, false),
        ] {
            let seen = Permit::parse(permit).unwrap().covers(address.parse().unwrap(), port);
            assert_eq!(seen, covered, "{permit} {address} {port}");
        }
        for wrong in ["", "localhost:80", "10.0.0.0/33", "1.2.3.4:x", "[::1", "[::1]80", "::1/129"]
        {
            assert!(matches!(Permit::parse(wrong), Err(EgressError::Setting { .. })), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_of_hosts_ends_at_a_dot() {
        for (text, host, matched) in [
            ("example.com", "example.com", true),
            ("example.com", "a.example.com", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("EXAMPLE.com", "example.com", true),
            ("[::1]", "::1", true),
        ] {
            assert_eq!(matches(&pattern(text).unwrap(), host), matched, "{text} {host}");
        }
        for wrong in ["", "*.", "a b", "example.com.", "*"] {
            assert!(pattern(wrong).is_err(), "{wrong}");
        }
    }
}
