//! Numbers in Arabic digits, with commas between thousands and a decimal point.

use crate::calculator::Number;

use super::words::rest;

/// More digits than any amount has.
pub(super) const MOST_DIGITS: usize = 100;

/// Digits as they stand in the text.
#[derive(Debug, Clone)]
pub(super) struct Digits {
    /// `None` where the commas, the points or the zeros are those of no number.
    pub(super) number: Option<Number>,
    /// The digits alone, where there is neither a comma nor a point.
    pub(super) plain: Option<String>,
    pub(super) has_decimals: bool,
    pub(super) end: usize,
}

/// A digit, half or full width.
pub(super) fn digit(c: char) -> Option<char> {
    match c {
        '0'..='9' => Some(c),
        '０'..='９' => char::from_u32(u32::from(c) - u32::from('０') + u32::from('0')),
        _ => None,
    }
}

fn separator(c: char) -> Option<char> {
    match c {
        ',' | '，' => Some(','),
        '.' | '．' => Some('.'),
        _ => None,
    }
}

/// The digits that begin at `at`, with all separators that stand between two of them.
pub(super) fn digits(text: &str, at: usize) -> Option<Digits> {
    let (mut ascii, mut pending) = (String::new(), None);
    let mut end = at;
    let mut place = at;
    for c in rest(text, at).chars() {
        place += c.len_utf8();
        if let Some(digit) = digit(c) {
            // What is too long is still read to its end.
            if ascii.len() <= MOST_DIGITS * 2 {
                ascii.extend(pending);
                ascii.push(digit);
            }
            (pending, end) = (None, place);
        } else if let (Some(sign), None, false) = (separator(c), pending, ascii.is_empty()) {
            pending = Some(sign);
        } else {
            break;
        }
    }
    if ascii.is_empty() {
        return None;
    }
    let number = is_number(&ascii).then(|| ascii.replace(',', "").parse().ok()).flatten();
    let has_decimals = ascii.contains('.');
    let plain = (!ascii.contains([',', '.'])).then_some(ascii);
    Some(Digits { number, plain, has_decimals, end })
}

/// Whether `1,234.5` is written as a number is: commas before every third digit or none, one point, no zeros in front.
fn is_number(ascii: &str) -> bool {
    let (whole, decimals) = ascii.split_once('.').unwrap_or((ascii, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let groups: Vec<&str> = groups.collect();
    let in_thousands = first.len() <= 3 && groups.iter().all(|group| group.len() == 3);
    (groups.is_empty() || in_thousands)
        && !decimals.contains([',', '.'])
        && (first == "0" && groups.is_empty() || !first.starts_with('0'))
        && ascii.chars().filter(char::is_ascii_digit).count() <= MOST_DIGITS
}

/// The small integer that digits without separators are, zeros in front allowed.
pub(super) fn integer(digits: &Digits) -> Option<u32> {
    digits.plain.as_ref()?.parse().ok()
}
