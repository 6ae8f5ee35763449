//! Finds personal data in a text, in time linear in its length.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use serde::{Deserialize, Serialize};

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PersonalData {
    /// An e-mail address.
    Email,
    /// A Korean mobile number, `010-1234-5678` or `+82 10 1234 5678`.
    Mobile,
    /// A Korean resident registration number, whose date and check digit are right. Numbers of births since October 2020
    /// have no check digit.
    ResidentNumber,
    /// A number of a payment card: 13 to 19 digits, the last of which is right (Luhn, ISO/IEC 7812-1).
    Card,
    /// An IP address of version 4 or 6.
    Ip,
}

impl PersonalData {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Email, Self::Mobile, Self::ResidentNumber, Self::Card, Self::Ip];

    /// The personal data in `text`: kinds and bytes, in their order. Nothing overlaps.
    ///
    /// ```
    /// use hanok_agent::PersonalData;
    ///
    /// let text = "전화 010-1234-5678, mail kim@example.com";
    /// let found: Vec<_> = PersonalData::find(text).map(|(kind, at)| (kind, &text[at])).collect();
    /// assert_eq!(
    ///     found,
    ///     [(PersonalData::Mobile, "010-1234-5678"), (PersonalData::Email, "kim@example.com")]
    /// );
    /// ```
    pub fn find(text: &str) -> impl Iterator<Item = (Self, Range<usize>)> {
        let mut found = Vec::new();
        numbers(text.as_bytes(), &mut found);
        emails(text.as_bytes(), &mut found);
        addresses(text, &mut found);
        found.sort_by_key(|(_, at): &(Self, Range<usize>)| (at.start, std::cmp::Reverse(at.end)));
        let mut end = 0;
        found.into_iter().filter(move |(_, at)| {
            let apart = at.start >= end;
            end = if apart { at.end } else { end };
            apart
        })
    }

    /// Its name in a placeholder.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Email => "EMAIL",
            Self::Mobile => "MOBILE",
            Self::ResidentNumber => "RESIDENT_NUMBER",
            Self::Card => "CARD",
            Self::Ip => "IP",
        }
    }
}

type Matches = Vec<(PersonalData, Range<usize>)>;

/// The longest number that is looked at, with what separates its digits.
const LONGEST_NUMBER: usize = 40;

/// Numbers that begin with a digit or with `+82`.
fn numbers(text: &[u8], found: &mut Matches) {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        work::count(1);
        let before = at.checked_sub(1).and_then(|before| text.get(before)).copied();
        let begins = (byte.is_ascii_digit()
            || text.get(at..).is_some_and(|t| t.starts_with(b"+82")))
            && before.is_none_or(|before| !before.is_ascii_alphanumeric());
        let rest = text.get(at..).unwrap_or_default();
        let number = begins.then(|| number(rest, before == Some(b'.'))).flatten();
        match number {
            Some((kind, length)) => {
                found.push((kind, at..at + length));
                at += length;
            }
            None => at += 1,
        }
    }
}

/// The number at the beginning of `text`, and its length. What stands `behind_a_dot` is no address, but a part of one.
fn number(text: &[u8], behind_a_dot: bool) -> Option<(PersonalData, usize)> {
    let text = text.get(..text.len().min(LONGEST_NUMBER)).unwrap_or_default();
    work::count(text.len());
    let of = |kind, length: Option<usize>| length.map(|length| (kind, length));
    of(PersonalData::ResidentNumber, resident(text))
        .or_else(|| of(PersonalData::Mobile, mobile(text)))
        .or_else(|| of(PersonalData::Card, card(text)))
        .or_else(|| of(PersonalData::Ip, (!behind_a_dot).then(|| ipv4(text)).flatten()))
}

/// Digits one after the other, and what may stand between them.
struct Digits<'a> {
    text: &'a [u8],
    at: usize,
}

impl Digits<'_> {
    /// The next `most` digits at most, at least `least`.
    fn take(&mut self, least: usize, most: usize) -> Option<&[u8]> {
        let rest = self.text.get(self.at..)?;
        let count = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let digits = rest.get(..count).filter(|_| count >= least)?;
        self.at += count;
        Some(digits)
    }

    /// Skips one of `between`, if it is there.
    fn skip(&mut self, between: &[u8]) {
        let next = self.text.get(self.at);
        self.at += usize::from(next.is_some_and(|next| between.contains(next)));
    }

    /// The length of the number, if no digit follows.
    fn end(&self) -> Option<usize> {
        let next = self.text.get(self.at);
        next.is_none_or(|next| !next.is_ascii_alphanumeric()).then_some(self.at)
    }
}

fn value(digit: u8) -> u32 {
    u32::from(digit.wrapping_sub(b'0'))
}

/// Six digits of a date, and seven of which the last is a check digit.
fn resident(text: &[u8]) -> Option<usize> {
    let mut digits = Digits { text, at: 0 };
    let date = digits.take(6, 6)?.to_vec();
    digits.skip(b"- ");
    let rest = digits.take(7, 7)?.to_vec();
    let length = digits.end()?;
    let number = |from: usize| {
        date.get(from..from + 2)
            .into_iter()
            .flatten()
            .fold(0, |sum, digit| sum * 10 + value(*digit))
    };
    let kind = value(*rest.first()?);
    let is_date = (1..=12).contains(&number(2)) && (1..=31).contains(&number(4));
    if !is_date || !(1..=8).contains(&kind) {
        return None;
    }
    let all = date.iter().chain(&rest).map(|digit| value(*digit));
    let weights = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];
    let sum: u32 = all.zip(weights).map(|(digit, weight)| digit * weight).sum();
    // Foreigners' numbers are 2 further.
    let base = if kind >= 5 { 13 } else { 11 };
    let is_right = (base - sum % 11) % 10 == value(*rest.last()?);
    let is_young = matches!(kind, 3 | 4 | 7 | 8) && (number(0), number(2)) >= (20, 10);
    (is_right || is_young).then_some(length)
}

fn mobile(text: &[u8]) -> Option<usize> {
    const BETWEEN: &[u8] = b"- .";
    let mut digits = Digits { text, at: 0 };
    if text.starts_with(b"+82") {
        digits.at = 3;
        digits.skip(BETWEEN);
        digits.skip(b"0");
    } else {
        digits.skip(b"0");
        (digits.at == 1).then_some(())?;
    }
    let prefix = digits.take(2, 2)?.to_vec();
    let [b'1', b'0' | b'1' | b'6'..=b'9'] = prefix.as_slice() else { return None };
    digits.skip(BETWEEN);
    let begun = digits.at;
    // Four digits and four, or three and four where nothing stands between them either.
    for middle in [4, 3] {
        digits.at = begun;
        if digits.take(middle, middle).is_some() {
            digits.skip(BETWEEN);
            if digits.take(4, 4).is_some()
                && let Some(length) = digits.end()
            {
                return Some(length);
            }
        }
    }
    None
}

/// Groups of digits, of which the first 13 to 19 that end with a group and are right are a number.
fn card(text: &[u8]) -> Option<usize> {
    if !matches!(text.first(), Some(b'2'..=b'6')) {
        return None;
    }
    let (mut digits, mut all) = (Digits { text, at: 0 }, Vec::new());
    while all.len() <= 19 {
        all.extend_from_slice(digits.take(2, 20)?);
        let ends = digits.end();
        if (13..=19).contains(&all.len()) && ends.is_some() && is_luhn(&all) {
            return ends;
        }
        let before = digits.at;
        digits.skip(b"- ");
        (digits.at > before).then_some(())?;
    }
    None
}

/// The formula of Luhn (US patent 2,950,048).
fn is_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, digit)| match (n % 2, value(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| Some(digit) != digits.first())
}

fn ipv4(text: &[u8]) -> Option<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let mut length = text.iter().take_while(is_part).count();
    if text.get(..length)?.ends_with(b".") {
        length -= 1;
    }
    let next = text.get(length);
    let ends = next.is_none_or(|next| !next.is_ascii_alphanumeric());
    let address = std::str::from_utf8(text.get(..length)?).ok()?;
    (ends && address.parse::<Ipv4Addr>().is_ok()).then_some(length)
}

/// Addresses around an `@`.
fn emails(text: &[u8], found: &mut Matches) {
    let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    work::count(text.len());
    let signs = text.iter().enumerate().filter(|(_, byte)| **byte == b'@').map(|(at, _)| at);
    for at in signs {
        let (before, after) = text.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let local = before.iter().rev().take(65).take_while(|byte| is_local(byte)).count();
        let domain = after.iter().take(254).take_while(|byte| is_domain(byte)).count();
        work::count(local + domain + 2);
        let domain = after.get(..domain).unwrap_or_default().trim_ascii_end();
        let domain = domain.strip_suffix(b".").unwrap_or(domain);
        let top = domain.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let is_name = domain.contains(&b'.')
            && top.len() >= 2
            && top.iter().all(u8::is_ascii_alphabetic)
            && domain.first().is_some_and(u8::is_ascii_alphanumeric);
        if (1..=64).contains(&local) && is_name {
            found.push((PersonalData::Email, at - local..at + 1 + domain.len()));
        }
    }
}

/// Addresses of version 6.
fn addresses(text: &str, found: &mut Matches) {
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_part(**byte)).count();
        work::count(length + 1);
        let run = text.get(at..at + length).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let apart = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let address = run.trim_end_matches('.');
        let address = match address.ends_with("::") {
            true => address,
            false => address.trim_end_matches(':'),
        };
        let is_one = address.len() <= 45
            && address.matches(':').take(2).count() == 2
            && address.bytes().any(|byte| byte.is_ascii_digit())
            && apart(before)
            && apart(bytes.get(at + length))
            && address.parse::<Ipv6Addr>().is_ok();
        if is_one {
            found.push((PersonalData::Ip, at..at + address.len()));
        }
        at += length.max(1);
    }
}

/// Counts the bytes that are looked at, so that a test can see whether any is looked at too often.
mod work {
    #[cfg(test)]
    thread_local!(static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

    #[cfg(test)]
    pub(super) fn count(bytes: usize) {
        LOOKED_AT.set(LOOKED_AT.get() + bytes);
    }

    #[cfg(not(test))]
    pub(super) fn count(_bytes: usize) {}

    #[cfg(test)]
    pub(super) fn take() -> usize {
        LOOKED_AT.take()
    }
}

#[cfg(test)]
mod tests {
    use super::PersonalData::{self, Card, Email, Ip, Mobile, ResidentNumber};
    use super::work;

    fn matches(text: &str) -> Vec<(PersonalData, &str)> {
        PersonalData::find(text).map(|(kind, at)| (kind, text.get(at).unwrap())).collect()
    }

    #[test]
    fn personal_data_is_found_and_what_only_looks_like_it_is_not() {
        for (text, want) in [
            ("kim@example.com.", vec![(Email, "kim@example.com")]),
            ("<a.b+c@sub.example.co.kr>", vec![(Email, "a.b+c@sub.example.co.kr")]),
            ("메일은kim@example.com입니다", vec![(Email, "kim@example.com")]),
            ("a@b a@b. @example.com x@.com x@y.1", vec![]),
            ("010-1234-5678", vec![(Mobile, "010-1234-5678")]),
            ("번호01012345678로", vec![(Mobile, "01012345678")]),
            (
                "+82 10 1234 5678, 011.234.5678",
                vec![(Mobile, "+82 10 1234 5678"), (Mobile, "011.234.5678")],
            ),
            ("+82-010-1234-5678", vec![(Mobile, "+82-010-1234-5678")]),
            ("010-1234-56789 0101234567890 02-123-4567 A010-1234-5678", vec![]),
            // The date and the check digit have to be right.
            ("900101-1234568", vec![(ResidentNumber, "900101-1234568")]),
            ("9001011234568", vec![(ResidentNumber, "9001011234568")]),
            ("900101-1234567 901301-1234568 900132-1234568 900101-9234568", vec![]),
            ("201001-3000000 200930-3000000", vec![(ResidentNumber, "201001-3000000")]),
            ("4111 1111 1111 1111", vec![(Card, "4111 1111 1111 1111")]),
            ("4111-1111-1111-1111 123", vec![(Card, "4111-1111-1111-1111")]),
            ("378282246310005", vec![(Card, "378282246310005")]),
            ("4111 1111 1111 1112 1234567890123 4444444444444444444", vec![]),
            ("서버 192.168.0.1.", vec![(Ip, "192.168.0.1")]),
            ("256.1.1.1 1.2.3 1.2.3.4.5 v1.2.3.4", vec![]),
            ("2001:db8::1, fe80::1.", vec![(Ip, "2001:db8::1"), (Ip, "fe80::1")]),
            ("12:30:45 std::vector a::b 1:2", vec![]),
            (
                "kim@example.com/010-1234-5678/900101-1234568",
                vec![
                    (Email, "kim@example.com"),
                    (Mobile, "010-1234-5678"),
                    (ResidentNumber, "900101-1234568"),
                ],
            ),
        ] {
            assert_eq!(matches(text), want, "{text:?}");
        }
    }

    /// P23
    #[test]
    fn a_long_text_takes_work_in_proportion() {
        let looked_at = |text: &str| {
            work::take();
            matches(text);
            work::take()
        };
        for piece in
            ["1", "1 ", "4111 ", "a@", "@a.b", "1.", ":", "1:", "a", "010-1234-5678 ", "+82"]
        {
            let text = piece.repeat(10_000);
            let (once, twice) = (looked_at(&text), looked_at(&text.repeat(2)));
            assert!(once >= text.len(), "{piece:?}: {once}");
            assert!(10 * twice <= 21 * once, "{piece:?}: {once} {twice}");
        }
    }
}
