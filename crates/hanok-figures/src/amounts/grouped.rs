//! Numbers in groups of three digits.

/// `text` with commas between the thousands of its numbers, for people to read.
///
/// A number is a run of ASCII digits; what stands behind a point, a comma or a letter is none. A year is one: this is for
/// calculations and their values, not for dates.
///
/// ```
/// use hanok_figures::grouped;
///
/// assert_eq!(grouped("120000000 / 12 = 10000000"), "120,000,000 / 12 = 10,000,000");
/// assert_eq!(grouped("1,200,000 - 1500 = 1198500"), "1,200,000 - 1,500 = 1,198,500");
/// assert_eq!(grouped("2000 / 3 ≈ 666.666666666666666666"), "2,000 / 3 ≈ 666.666666666666666666");
/// ```
#[must_use]
pub fn grouped(text: &str) -> String {
    let (mut written, mut before) = (String::with_capacity(text.len()), ' ');
    let characters: Vec<char> = text.chars().collect();
    for run in characters.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        let is_whole = !matches!(before, '.' | ',') && !before.is_alphabetic();
        match run.first().is_some_and(char::is_ascii_digit) && is_whole {
            true => written.push_str(&with_commas(&run.iter().collect::<String>())),
            false => written.extend(run),
        }
        before = run.last().copied().unwrap_or(before);
    }
    written
}

/// Digits with a comma before each third from their end.
fn with_commas(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
