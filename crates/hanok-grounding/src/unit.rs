//! The unit of a number in a tool's data, by the name of its key or by what stands beside it.

/// The unit of the numbers under a key of a tool's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataUnit {
    /// Won.
    Won,
    /// Thousands of won.
    ThousandWon,
    /// 만원, tens of thousands of won, in which public prices are published.
    ManWon,
    /// Millions of won.
    MillionWon,
    /// 억원, hundreds of millions of won.
    EokWon,
    /// Hundredths: 5 is 5 %.
    Percent,
    /// A part of one: 0.05 is 5 %.
    Fraction,
    /// A part of one up to 1, and hundredths above: 0.05 and 5 are 5 %.
    Rate,
    /// ㎡.
    SquareMetre,
    /// 평.
    Pyeong,
    /// Something else that is counted or named: months, floors, numbers of a list. It is no money, no per cent and no area.
    Other,
}

/// The words of keys with their units. The last word of a key that is one of these decides.
const WORDS: &[(DataUnit, &[&str])] = &[
    (DataUnit::ManWon, &["manwon", "만원"]),
    (DataUnit::ThousandWon, &["cheonwon", "천원"]),
    (DataUnit::MillionWon, &["백만원"]),
    (DataUnit::EokWon, &["eok", "eokwon", "억원"]),
    (DataUnit::Won, &["won", "krw", "원"]),
    (DataUnit::Percent, &["percent", "percents", "percentage", "pct", "%", "퍼센트"]),
    (DataUnit::Fraction, &["fraction", "multiple", "times", "배", "배수"]),
    (
        DataUnit::Rate,
        &[
            "rate",
            "rates",
            "ratio",
            "ratios",
            "share",
            "비중",
            "ltv",
            "dti",
            "dsr",
            "yield",
            "금리",
            "수익률",
        ],
    ),
    (DataUnit::SquareMetre, &["m2", "sqm", "area", "㎡", "m²", "면적"]),
    (DataUnit::Pyeong, &["pyeong", "평"]),
    (
        DataUnit::Other,
        &[
            "month",
            "months",
            "year",
            "years",
            "day",
            "days",
            "week",
            "weeks",
            "hour",
            "hours",
            "minute",
            "minutes",
            "second",
            "seconds",
            "ms",
            "count",
            "counts",
            "id",
            "ids",
            "no",
            "num",
            "code",
            "index",
            "page",
            "pages",
            "floor",
            "floors",
            "household",
            "households",
            "unit",
            "units",
            "age",
            "km",
            "m",
            "lat",
            "lng",
            "lon",
            "latitude",
            "longitude",
            "position",
            "version",
            "score",
            "usd",
            "개월",
            "년",
            "월",
            "일",
            "층",
            "호",
            "동",
            "명",
            "세대",
            "가구",
            "건",
            "개",
            "번호",
            "코드",
        ],
    ),
];

/// Words behind which a key says by what, and no unit.
const BY: &[&str] = &["per", "by", "of"];

/// The unit that `key` names.
pub(crate) fn of_key(key: &str) -> Option<DataUnit> {
    let words = words(key);
    let end = words.iter().position(|word| BY.contains(&&**word)).filter(|end| *end > 0);
    let words = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
    let two = words.windows(2).rev().find_map(|two| match two {
        [one, two] => match (&**one, &**two) {
            ("man", "won") => Some(DataUnit::ManWon),
            ("million", "won") => Some(DataUnit::MillionWon),
            ("thousand", "won") => Some(DataUnit::ThousandWon),
            ("eok", "won") => Some(DataUnit::EokWon),
            ("square", "metres" | "meters" | "metre" | "meter") | ("sq", "m") => {
                Some(DataUnit::SquareMetre)
            }
            _ => None,
        },
        _ => None,
    });
    two.or_else(|| words.iter().rev().find_map(|word| of_word(word)))
}

fn of_word(word: &str) -> Option<DataUnit> {
    let by_name = WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(unit, _)| *unit);
    by_name.or_else(|| {
        // `전세가율`, `전용면적`
        let hangul = [
            ('율', DataUnit::Rate),
            ('률', DataUnit::Rate),
            ('원', DataUnit::Won),
            ('평', DataUnit::Pyeong),
            ('㎡', DataUnit::SquareMetre),
        ];
        let is_long = word.chars().count() > 1;
        let by_end = hangul.iter().find(|(end, _)| is_long && word.ends_with(*end));
        let by_word = || word.ends_with("면적").then_some(DataUnit::SquareMetre);
        by_end.map(|(_, unit)| *unit).or_else(by_word)
    })
}

/// The unit that the text beside a value names. Another one than those of a figure is [`DataUnit::Other`].
pub(crate) fn of_text(text: &str) -> DataUnit {
    let text = text.trim().to_lowercase();
    of_word(&text)
        .filter(|_| text.chars().count() <= 16)
        .or_else(|| of_key(&text))
        .unwrap_or(DataUnit::Other)
}

/// The words of a key in any writing, in lower case.
pub(crate) fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    // A key is a name: what is longer has its unit at its beginning or not at all.
    for c in key.chars().take(128) {
        let is_break = !c.is_alphanumeric() && !matches!(c, '%' | '㎡' | '²');
        let is_camel = c.is_uppercase() && was_lower;
        if is_break || is_camel {
            words.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        if !is_break && let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
