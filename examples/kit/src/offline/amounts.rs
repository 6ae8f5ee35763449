//! The amounts of a question, and which parameters they are.
//!
//! What an amount is of, its description says in brackets: `(원)`, `(%)`, `(㎡)`, `(개월)`, `(세)`, `(명)`, `(개)`, `(날짜)`, `(일)`. Which of
//! several is meant, the words beside it say: those that the program knows for the parameter's name.

use std::ops::Range;

use hanok_figures::{AmountUnit, Figure, counts, figures};
use serde_json::{Map, Value};

use crate::offline::{
    listed::{Aliases, Parameter},
    tables,
};

/// What an amount is of, and the words of that in a question.
const UNITS: [(&str, &[&str]); 9] = [
    ("(원)", &[]),
    ("(%)", &[]),
    ("(㎡)", &[]),
    ("(날짜)", &[]),
    ("(개월)", &["개월", "년", "달"]),
    ("(세)", &["세", "살"]),
    ("(명)", &["명"]),
    ("(개)", &["개"]),
    ("(일)", &["일"]),
];

/// Whether a parameter says what it is of.
pub(crate) fn is_amount(parameter: &Parameter) -> bool {
    UNITS.iter().any(|(unit, _)| parameter.description.contains(unit))
}

/// The amounts of `text` that are one of `parameters` each, by their names.
pub(crate) fn amounts(
    text: &str,
    parameters: &[Parameter],
    aliases: &Aliases,
) -> Map<String, Value> {
    let (asked, mut values) = (Asked { text, aliases }, Map::new());
    for (unit, words) in UNITS {
        let of_unit = parameters.iter().filter(|it| it.description.contains(unit));
        asked.put(unit, words, &of_unit.collect::<Vec<_>>(), &mut values);
    }
    values
}

/// A text that is read for amounts, and the words that stand beside them.
struct Asked<'a> {
    text: &'a str,
    aliases: &'a Aliases,
}

/// A value in a text: where it begins and ends.
#[derive(Debug, Clone)]
struct Found {
    start: usize,
    end: usize,
    value: Value,
}

impl Asked<'_> {
    /// Puts the amounts of `unit` in the text to the parameters whose words stand nearest, nearest first.
    fn put(&self, unit: &str, words: &[&str], of: &[&Parameter], values: &mut Map<String, Value>) {
        if of.is_empty() {
            return;
        }
        let (text, found) = (self.text, self.found(unit, words, of));
        let cues = of.iter().flat_map(|it| it.cues(self.aliases));
        let is_unsaid = cues.into_iter().all(|cue| !text.contains(cue.as_str()));
        let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
        for (place, it) in found.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| found.get(before));
            let between =
                before.and_then(|before| text.get(before.end..it.start)).unwrap_or_default();
            // `3억에서 3.3억으로`: the second has the words of the first.
            let own = side(text.get(it.end..).unwrap_or_default());
            let begins = before.is_some_and(|before| {
                side(text.get(before.end..).unwrap_or_default()) == End::From
            });
            let joins =
                before.is_some() && between.chars().count() < 6 && (begins || own == End::To);
            let side = if joins && begins && own == End::Any { End::To } else { own };
            let skipped = place.checked_sub(if joins { 2 } else { 1 });
            let begin = skipped.and_then(|at| found.get(at)).map_or(0, |it| it.end);
            let end = found.get(place + 1).map_or(text.len(), |next| next.start);
            for (number, parameter) in of.iter().enumerate() {
                let penalty = match (End::of(&parameter.name), side) {
                    (End::Any, _) | (End::From, End::From) | (End::To, End::To) => 0,
                    (End::From, End::Any) if parameter.name.ends_with("before") => 40,
                    // Who wants three of them is served by more.
                    (End::From, End::Any) if of.len() == 1 => 0,
                    (End::To, End::Any) => 60,
                    _ => continue,
                };
                let is_change = matches!(parameter.name.as_str(), "before" | "after");
                let distance = match parameter.cues(self.aliases) {
                    // Without words, it is what it is by its unit alone.
                    [] if of.len() == 1 || End::of(&parameter.name) != End::Any => Some(200),
                    // What rises from one amount to another needs no words.
                    _ if is_unsaid && found.len() == 2 && is_change => Some(200),
                    cues => cues.iter().filter_map(|cue| near(text, cue, begin, end, it)).min(),
                };
                pairs.extend(distance.map(|distance| (distance + penalty, place, number)));
            }
        }
        pairs.sort_unstable();
        let mut used = Vec::new();
        for (_, place, number) in pairs {
            let (Some(it), Some(parameter)) = (found.get(place), of.get(number)) else { continue };
            if !used.contains(&place) && !values.contains_key(&parameter.name) {
                used.push(place);
                values.insert(parameter.name.clone(), it.value.clone());
            }
        }
    }

    /// The amounts of this unit in the question, in their order.
    fn found(&self, unit: &str, words: &[&str], of: &[&Parameter]) -> Vec<Found> {
        let text = self.text;
        if words.is_empty() {
            let found = figures(text).filter_map(|figure| {
                let at = figure.at();
                let written = text.get(at.clone())?;
                let value = match figure {
                    Figure::Date(day) if unit == "(날짜)" => day.to_string(),
                    Figure::Amount(amount) => match (unit, amount.unit) {
                        ("(원)", AmountUnit::Won)
                        | ("(%)", AmountUnit::Percent)
                        | ("(㎡)", AmountUnit::SquareMetre | AmountUnit::Pyeong) => {
                            written.to_owned()
                        }
                        ("(원)", AmountUnit::Plain) => self.bare_won(&at, written, of)?,
                        _ => return None,
                    },
                    _ => return None,
                };
                Some(Found { start: at.start, end: at.end, value: value.into() })
            });
            return found.collect();
        }
        if unit == "(개월)" {
            let months = counts(text).find_map(|count| match count.unit {
                "월" => count.number.to_i128(),
                "년" => count.number.to_i128().map(|years| years * 12),
                _ => None,
            });
            // `한 달 이자` is no term of a month.
            let months = months.and_then(|months| i64::try_from(months).ok().filter(|it| *it > 1));
            return months
                .map(|months| Found { start: 0, end: 0, value: months.into() })
                .into_iter()
                .collect();
        }
        let found = numbers(text).into_iter().filter_map(|(number, Range { start, end })| {
            let behind = text.get(end..)?.trim_start();
            let is_unit =
                words.iter().any(|word| behind.starts_with(word)) && !behind.starts_with("개월");
            let before = text.get(..start)?;
            // A day of every month.
            let is_day = before.contains("매월") || before.contains("매달");
            let number = number.to_string().parse::<u32>().ok().filter(|it| *it < 1_000)?;
            let fits = is_unit && (unit != "(일)" || is_day);
            fits.then(|| Found { start, end, value: number.into() })
        });
        found.collect()
    }

    /// A number without 원 as an amount: one with a place (`3억`), one that shares the place of the amount behind it (`3에서 3.3억`), or one
    /// beside the word for an amount (`월세 50`), which people say in 만원.
    fn bare_won(&self, at: &Range<usize>, written: &str, of: &[&Parameter]) -> Option<String> {
        if written.contains(['억', '만']) {
            return Some(written.to_owned());
        }
        let behind = self.text.get(at.end..)?;
        if ["에서 ", "→", "~", "부터 "].iter().any(|word| behind.starts_with(word)) {
            let next = figures(behind).find_map(Figure::into_amount)?;
            let next = behind.get(next.at)?;
            let place = ["억", "만"].into_iter().find(|place| next.contains(place))?;
            return Some(format!("{written}{place}"));
        }
        let before = self.text.get(..at.start)?.trim_end();
        let bare = before.strip_suffix(['을', '를', '은', '는']).unwrap_or(before);
        let mut cues = of.iter().flat_map(|it| it.cues(self.aliases));
        let is_beside =
            cues.any(|cue| bare.ends_with(cue.as_str()) || before.ends_with(cue.as_str()));
        let joined = ["에", "으로", "을", "를", "이", "인", "만 ", "받"];
        let is_counted = behind.starts_with(char::is_alphanumeric)
            && !joined.iter().any(|word| behind.starts_with(word));
        (is_beside && written.len() > 1 && !is_counted).then(|| format!("{written}만원"))
    }
}

/// The end of a range that a value is, by its name, or that an amount is, by what follows it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    From,
    To,
    Any,
}

impl End {
    fn of(name: &str) -> Self {
        match name.rsplit('_').next() {
            Some("from" | "before") => Self::From,
            Some("to" | "after" | "until") => Self::To,
            _ => Self::Any,
        }
    }
}

/// The end of a range that an amount is, by what stands behind it.
fn side(behind: &str) -> End {
    let is = |words: &[&str]| words.iter().any(|word| behind.trim_start().starts_with(word));
    match () {
        () if is(&tables::FROM) => End::From,
        () if is(&tables::TO) => End::To,
        () => End::Any,
    }
}

/// How far `cue` is from a value, between two places; behind it counts as a little farther.
fn near(text: &str, cue: &str, begin: usize, end: usize, it: &Found) -> Option<usize> {
    let before =
        text.get(begin..it.start).and_then(|text| Some(text.len() - text.rfind(cue)? - cue.len()));
    let behind = text.get(it.end..end).and_then(|text| Some(text.find(cue)? + 30));
    before.into_iter().chain(behind).min()
}

/// The numbers of a text, in figures or as a word before a unit, each with where it stands.
pub(crate) fn numbers(text: &str) -> Vec<(f64, Range<usize>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let before = text.get(..at).unwrap_or_default();
        let is_start = !before.ends_with(|c: char| c.is_alphanumeric() || c == '.');
        let is_of = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let digits = rest.split(|c: char| !is_of(c)).next().unwrap_or_default();
        let digits = digits.trim_end_matches(['.', ',']);
        let number = digits.replace(',', "").parse::<f64>().ok();
        let minus = before.strip_suffix(['-', '−']);
        let is_minus = minus.is_some_and(|it| it.is_empty() || it.ends_with(char::is_whitespace));
        let numeral = || {
            tables::NUMERALS.iter().find_map(|item| {
                let (word, number) = item.split_once('=')?;
                (is_start && rest.starts_with(word)).then_some(())?;
                Some((number.parse().ok()?, word.trim_end().len()))
            })
        };
        let from = minus.filter(|_| is_minus).map_or(at, str::len);
        let number =
            number.map(|it| (if is_minus { -it } else { it }, digits.len())).or_else(numeral);
        let length =
            number.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |it| it.1);
        found.extend(number.map(|(number, _)| (number, from..at + length)));
        at += length;
    }
    found
}
