//! Values that somebody else wrote, compared with what a person wrote.

use hanok_figures::{Amount, AmountUnit, Count, Figure, Number, counts, figures};
use serde_json::Value as Json;

/// What a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatedKind {
    /// An amount of money: `300000000`, `"3억"`.
    Won,
    /// A rate: `3.6`, `"3.6%"`.
    Percent,
    /// An area: `"25평"`, `"84㎡"`; a bare number is in square metres.
    Area,
    /// A day: `"2026-03-01"`.
    Day,
    /// A number of months, which may be written as years.
    Months,
    /// Words, a name or an address.
    Words,
}

/// What a person wrote: the texts in which values that a model gives as arguments have to stand.
///
/// A model may read `삼억 오천` as `350000000`, and `25년` as 300 months; it may not give an amount that nobody wrote.
///
/// ```
/// use hanok_grounding::{Stated, StatedKind};
/// use serde_json::json;
///
/// let stated = Stated::new(["전세금을 3에서 3.3억으로, 연 3.6%로 25년, 임차인은 이영희"]);
/// for (value, kind, want) in [
///     (json!("3.3억"), StatedKind::Won, true),
///     (json!(300_000_000), StatedKind::Won, true),
///     (json!("4억"), StatedKind::Won, false),
///     (json!("3.6%"), StatedKind::Percent, true),
///     (json!(300), StatedKind::Months, true),
///     (json!("이영희"), StatedKind::Words, true),
///     (json!("2026-03-01"), StatedKind::Day, false),
/// ] {
///     assert_eq!(stated.has(&value, kind), want, "{value}");
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stated {
    figures: Vec<Figure>,
    months: Vec<Number>,
    /// The letters of each text.
    letters: Vec<String>,
}

impl Stated {
    /// What is stated in `texts`.
    pub fn new(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut stated = Self::default();
        for text in texts {
            let text = text.into();
            stated.figures.extend(figures(&text));
            stated.months.extend(counts(&text).filter_map(months));
            stated.letters.push(letters(&text));
        }
        stated
    }

    /// Whether `value`, which is of this kind, stands in a text. Nothing (0) is no amount that somebody could have made up.
    pub fn has(&self, value: &Json, kind: StatedKind) -> bool {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match kind {
            StatedKind::Won => Amount::only(&text).is_some_and(|won| {
                let is_zero = won.value.compare(&0.into()).is_eq();
                let is_money = matches!(won.unit, AmountUnit::Won | AmountUnit::Plain);
                is_money && (is_zero || self.amounts().any(|it| is_won(it, &won.value)))
            }),
            StatedKind::Percent => Amount::only(&text)
                .is_some_and(|rate| self.amounts().any(|it| it.value.compare(&rate.value).is_eq())),
            StatedKind::Area => {
                Amount::only(&text).and_then(|area| area.square_metres()).is_some_and(|area| {
                    let mut areas = self.amounts().filter_map(Amount::square_metres);
                    areas.any(|it| it.compare(&area).is_eq())
                })
            }
            StatedKind::Day => {
                let is = |it: &Figure| matches!(it, Figure::Date(day) if day.to_string() == text);
                self.figures.iter().any(is)
            }
            StatedKind::Months => {
                self.months.contains(&Number::from(value.as_i64().unwrap_or_default()))
            }
            StatedKind::Words => {
                let words = letters(&text);
                !words.is_empty() && self.letters.iter().any(|text| text.contains(&words))
            }
        }
    }

    fn amounts(&self) -> impl Iterator<Item = &Amount> {
        self.figures.iter().filter_map(|figure| match figure {
            Figure::Amount(amount) => Some(amount),
            _ => None,
        })
    }
}

/// The months of a count, if it is of these.
fn months(count: Count) -> Option<Number> {
    match count.unit {
        "월" => Some(count.number),
        "년" => count.number.multiply(&12.into()).ok(),
        _ => None,
    }
}

/// Whether an amount is this one: `3` of `3에서 3.3억`, and `1000` of `보증금 1000`, may be of a larger unit.
fn is_won(amount: &Amount, won: &Number) -> bool {
    let is = |times: i64| {
        amount.value.multiply(&times.into()).is_ok_and(|value| value.compare(won).is_eq())
    };
    let is_bare = amount.unit == AmountUnit::Plain && amount.value.compare(&10_000.into()).is_lt();
    is(1) || is_bare && [10_000, 100_000_000].into_iter().any(is)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Stated, StatedKind};

    #[test]
    fn values_are_compared_by_what_they_are() {
        let stated = Stated::new([
            "보증금 1000에 월세 50",
            "25평, 마포구 월드컵로 12",
            "2026년 3월 1일부터 6개월",
        ]);
        for (value, kind, want) in [
            (json!("1000만원"), StatedKind::Won, true),
            (json!(500_000), StatedKind::Won, true),
            (json!("50%"), StatedKind::Won, false),
            (json!("0원"), StatedKind::Won, true),
            (json!("많이"), StatedKind::Won, false),
            (json!("25평"), StatedKind::Area, true),
            (json!("26평"), StatedKind::Area, false),
            (json!("2026-03-01"), StatedKind::Day, true),
            (json!(6), StatedKind::Months, true),
            (json!(12), StatedKind::Months, false),
            (json!("마포구 월드컵로12"), StatedKind::Words, true),
            (json!(""), StatedKind::Words, false),
        ] {
            assert_eq!(stated.has(&value, kind), want, "{value} {kind:?}");
        }
    }
}
