//! Units.

use serde_json::Value;

use super::{
    desk::is_korean,
    protocol::{failed, text},
};

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Length,
    Weight,
    Area,
    Volume,
    Temperature,
}

/// A unit: its sign, what it measures, what one is in the measure's own unit, where its zero is, and its names.
struct Unit {
    sign: &'static str,
    measure: Measure,
    factor: f64,
    zero: f64,
    names: &'static [&'static str],
}

const fn unit(
    sign: &'static str,
    measure: Measure,
    factor: f64,
    names: &'static [&'static str],
) -> Unit {
    Unit { sign, measure, factor, zero: 0.0, names }
}

/// The units; of two names that begin alike the longer one counts.
const UNITS: [Unit; 20] = [
    unit("km", Measure::Length, 1_000.0, &["킬로미터", "kilometers", "kilometer", "km"]),
    unit("cm", Measure::Length, 0.01, &["센티미터", "센티", "centimeters", "cm"]),
    unit("mm", Measure::Length, 0.001, &["밀리미터", "mm"]),
    unit("mi", Measure::Length, 1_609.344, &["마일", "miles", "mile"]),
    unit("in", Measure::Length, 0.0254, &["인치", "inches", "inch"]),
    unit("ft", Measure::Length, 0.3048, &["피트", "feet", "foot"]),
    unit("m", Measure::Length, 1.0, &["미터", "meters", "meter", "m"]),
    unit("kg", Measure::Weight, 1.0, &["킬로그램", "킬로", "kilograms", "kilogram", "kg"]),
    unit("lb", Measure::Weight, 0.453_592_37, &["파운드", "pounds", "pound", "lb"]),
    unit("oz", Measure::Weight, 0.028_349_523_125, &["온스", "ounces", "ounce", "oz"]),
    unit("g", Measure::Weight, 0.001, &["그램", "grams", "gram", "g"]),
    unit("근", Measure::Weight, 0.6, &["근"]),
    unit(
        "m²",
        Measure::Area,
        1.0,
        &["제곱미터", "제곱 미터", "평방미터", "square meters", "m2", "㎡", "m²"],
    ),
    unit("평", Measure::Area, 400.0 / 121.0, &["평", "pyeong"]),
    unit("ha", Measure::Area, 10_000.0, &["헥타르", "hectares", "hectare"]),
    unit("l", Measure::Volume, 1.0, &["리터", "liters", "liter"]),
    unit("ml", Measure::Volume, 0.001, &["밀리리터", "ml"]),
    unit("gal", Measure::Volume, 3.785_411_784, &["갤런", "gallons", "gallon"]),
    unit("℃", Measure::Temperature, 1.0, &["섭씨", "celsius", "℃", "°c"]),
    Unit {
        sign: "℉",
        measure: Measure::Temperature,
        factor: 5.0 / 9.0,
        zero: 32.0,
        names: &["화씨", "fahrenheit", "℉", "°f"],
    },
];

pub(super) fn convert(said: &str) -> Value {
    let lower = said.to_lowercase();
    let Some((number, at)) = number(&lower) else {
        return failed(match is_korean(said) {
            true => "바꿀 값이 없습니다: ‘10 km를 마일로’처럼 쓰세요.",
            false => "There is no number in it: write it as `10 km in miles`.",
        });
    };
    let named = units(&lower);
    let behind = named.iter().find(|(place, _)| *place >= at);
    let from = behind.filter(|(place, _)| *place <= at + 1).or(named.first());
    let to = from.and_then(|(_, from)| {
        named.iter().find(|(_, to)| to.sign != from.sign && to.measure == from.measure)
    });
    let (Some((_, from)), Some((_, to))) = (from, to) else {
        return failed(match is_korean(said) {
            true => {
                "바꿀 두 단위를 찾지 못했습니다: 길이, 무게, 넓이, 부피, 온도의 단위 둘을 쓰세요."
            }
            false => {
                "Two units of one kind are wanted: of length, weight, area, volume or temperature."
            }
        });
    };
    let value = (number - from.zero) * from.factor / to.factor + to.zero;
    text(format!("{} {} = {} {}", shown(number), from.sign, shown(value), to.sign))
}

/// A number with at most four digits behind its point.
fn shown(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The first number of a text, and where it ends.
fn number(text: &str) -> Option<(f64, usize)> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let rest = text.get(begin..)?;
    let len =
        rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(rest.len());
    let digits = rest.get(..len)?.trim_end_matches(['.', ',']);
    let sign =
        if text.get(..begin).is_some_and(|before| before.ends_with('-')) { -1.0 } else { 1.0 };
    let value: f64 = digits.replace(',', "").parse().ok()?;
    Some((sign * value, begin + digits.len()))
}

/// The units that a text names, in the order in which they stand there.
fn units(text: &str) -> Vec<(usize, &'static Unit)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let begins = |name: &&&str| rest.starts_with(**name) && is_whole(text, at, name);
        let all = UNITS.iter().flat_map(|unit| unit.names.iter().map(move |name| (name, unit)));
        let longest = all.filter(|(name, _)| begins(name)).max_by_key(|(name, _)| name.len());
        at += match longest {
            Some((name, unit)) => {
                found.push((at, unit));
                name.len()
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    found
}

/// Whether a name in Latin letters stands for itself, and is no part of a word.
fn is_whole(text: &str, at: usize, name: &str) -> bool {
    if !name.is_ascii() {
        return true;
    }
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    !joins(before) && !joins(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_whatever_the_words() {
        for (said, want) in [
            ("10 km in miles", "10 km = 6.2137 mi"),
            ("10킬로미터 마일", "10 km = 6.2137 mi"),
            ("몇 마일 10킬로미터", "10 km = 6.2137 mi"),
            ("30평 제곱미터", "30 평 = 99.1736 m²"),
            ("섭씨 25도 화씨", "25 ℃ = 77 ℉"),
            ("100°F celsius", "100 ℉ = 37.7778 ℃"),
            ("1,500 g kg", "1500 g = 1.5 kg"),
            ("-40 celsius fahrenheit", "-40 ℃ = -40 ℉"),
        ] {
            assert_eq!(convert(said)["content"][0]["text"], want, "{said}");
        }
        assert_eq!(convert("10 km")["isError"], true);
        assert_eq!(convert("km in miles")["isError"], true);
    }
}
