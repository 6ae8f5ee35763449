//! URLs that are fetched.

use std::net::IpAddr;

use url::{Host, Url};

use crate::EgressError;

/// The longest URL.
const LONGEST: usize = 8 * 1024;

/// The most characters of a URL in an error.
const SHOWN: usize = 200;

/// A URL of which it is certain where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) url: Url,
    /// As a name is resolved; an IPv6 address without brackets.
    pub(crate) host: String,
    pub(crate) address: Option<IpAddr>,
    pub(crate) port: u16,
}

impl Target {
    /// Reads `text`. What has more than one reading is refused, not interpreted: checkers and clients that read a URL
    /// differently are how checks are passed.
    pub(crate) fn read(text: &str) -> Result<Self, EgressError> {
        let refuse = |why| EgressError::Url { url: shown_text(text), why };
        if text.len() > LONGEST {
            return Err(refuse("it is longer than 8192 bytes"));
        }
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(refuse("it holds spaces, control characters or backslashes"));
        }
        let host = written_host(text).map_err(refuse)?;
        let Ok(url) = Url::parse(text) else {
            return Err(refuse("it is no URL"));
        };
        if !is_plain(host, &url) {
            return Err(refuse("its host is written in an unusual form"));
        }
        Self::new(url).ok_or_else(|| refuse("it has no host and port"))
    }

    fn new(mut url: Url) -> Option<Self> {
        url.set_fragment(None);
        let port = url.port_or_known_default()?;
        let (host, address) = match url.host()? {
            Host::Domain(name) => (name.to_owned(), None),
            Host::Ipv4(address) => (address.to_string(), Some(IpAddr::V4(address))),
            Host::Ipv6(address) => (address.to_string(), Some(IpAddr::V6(address))),
        };
        Some(Self { url, host, address, port })
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        self.is_secure() == other.is_secure() && self.host == other.host && self.port == other.port
    }

    /// The URL without what may be secret in it.
    pub(crate) fn shown(&self) -> String {
        shown(&self.url)
    }
}

/// The host as it stands in `text`, or why there is none.
fn written_host(text: &str) -> Result<&str, &'static str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err("it does not begin with http:// or https://");
    };
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err("it does not begin with http:// or https://");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if authority.contains('@') {
        return Err("it holds a user or a password");
    }
    if authority.starts_with('[') {
        return Ok(authority.split_inclusive(']').next().unwrap_or(authority));
    }
    match authority.split(':').next() {
        Some(host) if !host.is_empty() => Ok(host),
        _ => Err("it has no host"),
    }
}

/// Whether `written` is the host of `url` in the form in which hosts are usually written: no address as one number, in octal,
/// hexadecimal or with parts left out, nothing percent-encoded, no dot at the end.
fn is_plain(written: &str, url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) if written.is_ascii() => {
            name.eq_ignore_ascii_case(written) && !name.ends_with('.')
        }
        // A name in another script, which IDNA has made ASCII.
        Some(Host::Domain(name)) => {
            !written.contains('%') && !name.is_empty() && !name.ends_with('.')
        }
        Some(Host::Ipv4(address)) => address.to_string() == written,
        Some(Host::Ipv6(_)) => written.starts_with('['),
        None => false,
    }
}

/// `url` without the values of its query.
pub(crate) fn shown(url: &Url) -> String {
    let names: Vec<_> = url.query_pairs().map(|(name, _)| format!("{name}=…")).collect();
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    // None of these fails for a URL with a host, and one without has neither.
    let _ = (bare.set_username(""), bare.set_password(None));
    let query = if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) };
    cut(&format!("{bare}{query}"))
}

/// The beginning of `text`, which is no URL that could be taken apart.
pub(crate) fn shown_text(text: &str) -> String {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let (said, rest) = text.split_at(end);
    // What stands before an `@` may be a password.
    let said = match said.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => said.to_owned(),
    };
    cut(&format!("{said}{}", if rest.is_empty() { "" } else { "?…" }))
}

fn cut(text: &str) -> String {
    let mut kept: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P39
    #[test]
    fn a_host_has_one_reading_or_none() {
        for (text, host, port) in [
            ("http://example.com", "example.com", 80),
            ("HTTPS://Example.com:8443/a?b=c#d", "example.com", 8443),
            ("http://127.0.0.1/", "127.0.0.1", 80),
            ("http://[::ffff:7f00:1]/", "::ffff:127.0.0.1", 80),
            ("https://위키백과.한국/대문", "xn--vb0bj20ar8hvuj.xn--3e0b707e", 443),
        ] {
            let target = Target::read(text).unwrap();
            assert_eq!((target.host.as_str(), target.port), (host, port), "{text}");
        }
        for text in [
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://localhost./",
            "http://１２７.０.０.１/",
            "http://①②⑦.⓪.⓪.①/",
            "http://127%2e0.0.1/",
            "http://%6cocalhost/",
            "http://example.com@127.0.0.1/",
            "http://user:word@example.com/",
            "http://example.com\\@127.0.0.1/",
            "http://example.com\t/",
            "http:// example.com/",
            "http://\u{0}example.com/",
            "http:example.com",
            "http:///example.com",
            "http://[fe80::1%25eth0]/",
            "http://[127.0.0.1]/",
            "http://example.com:99999/",
            "http://:80/",
            "http://",
            "//example.com/",
            "file:///etc/passwd",
            "gopher://example.com/",
            "ftp://example.com/",
            "data:text/plain,1",
            "javascript:alert(1)",
            "",
        ] {
            let error = Target::read(text).unwrap_err();
            assert!(matches!(error, EgressError::Url { .. }), "{text}: {error}");
        }
    }

    /// P55
    #[test]
    fn what_is_shown_of_a_url_holds_no_values() {
        for (text, want) in [
            ("https://a.b/c?appid=geheim&q=Seoul#d", "https://a.b/c?appid=…&q=…"),
            ("http://me:geheim@a.b/", "http://a.b/"),
        ] {
            assert_eq!(shown(&Url::parse(text).unwrap()), want);
        }
        for (text, want) in [
            ("http://me:geheim@a.b/c?d=geheim", "…@a.b/c?…"),
            ("ftp://a.b/\u{1b}[2J", "ftp://a.b/\\u{1b}[2J"),
        ] {
            assert_eq!(shown_text(text), want);
        }
        assert_eq!(shown_text(&"x".repeat(500)).chars().count(), SHOWN + 1);
    }
}
