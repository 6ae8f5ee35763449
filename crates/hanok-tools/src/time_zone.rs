//! Places and their time zones.

use std::sync::LazyLock;

/// Places, as they are named in Korean and English, and the IANA zone of each.
static PLACES: LazyLock<Vec<(Vec<&str>, &str)>> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let (zone, names) = line.split_once(" = ")?;
        Some((names.split(", ").collect(), zone))
    };
    include_str!("time_zones.txt").lines().filter_map(read).collect()
});

/// The IANA time zone of the first place that `question` names in Korean or English, or the zone itself where it stands there.
///
/// ```
/// use hanok_tools::time_zone_in;
///
/// assert_eq!(time_zone_in("뉴욕은 지금 몇 시야?").as_deref(), Some("America/New_York"));
/// assert_eq!(time_zone_in("Europe/Vienna 시각").as_deref(), Some("Europe/Vienna"));
/// assert_eq!(time_zone_in("지금 몇 시야?"), None);
/// ```
#[must_use]
pub fn time_zone_in(question: &str) -> Option<String> {
    let written = question
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+')));
    let mut iana = written.filter(|word| {
        let mut parts = word.split('/');
        let starts = |part: Option<&str>| {
            part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        starts(parts.next()) && starts(parts.next())
    });
    if let Some(zone) = iana.next() {
        return Some(zone.to_owned());
    }
    let lower = question.to_lowercase();
    let at = |names: &[&str]| names.iter().filter_map(|name| place(&lower, name)).min();
    let found = PLACES.iter().filter_map(|(names, zone)| Some((at(names)?, zone))).min();
    found.map(|(_, zone)| (*zone).to_owned())
}

/// Where `name` begins a word of `text`.
fn place(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(name) {
        let at = from + found;
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + name.len()..)?.chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let begins = !before.is_some_and(char::is_alphanumeric);
        if begins && !(name.is_ascii() && joins(after)) {
            return Some(at);
        }
        from = at + name.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::time_zone_in;

    #[test]
    fn a_place_has_its_zone() {
        for (question, want) in [
            ("뉴욕은 지금 몇 시야?", Some("America/New_York")),
            ("서울과 도쿄의 시간", Some("Asia/Seoul")),
            ("What time is it in London?", Some("Europe/London")),
            ("Europe/Vienna 시각", Some("Europe/Vienna")),
            ("지금 몇 시야?", None),
            ("24/7 지원", None),
            ("외국인도 되나요", None),
        ] {
            assert_eq!(time_zone_in(question).as_deref(), want, "{question}");
        }
    }
}
