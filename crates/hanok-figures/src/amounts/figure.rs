//! What is read in a text.

use std::fmt;
use std::ops::Range;

use crate::calculator::Number;

use super::{grouped::grouped, scan::figures, won::Won};

/// Something in a text that has a value, with its place.
///
/// Displayed in one form, which is read as the same value again.
///
/// ```
/// use hanok_figures::{Figure, figures};
///
/// let read: Vec<Figure> = figures("2025. 3. 1.부터 이천오백만원").collect();
/// assert!(matches!(&read[..], [Figure::Date(date), Figure::Amount(amount)]
///     if date.month == 3 && amount.value.to_i128() == Some(25_000_000)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Figure {
    /// An amount of money, a per cent, an area or a plain number.
    Amount(Amount),
    /// A day.
    Date(Date),
    /// The number of an article.
    Article(Article),
}

impl Figure {
    /// The bytes of the text that it stands in.
    ///
    /// ```
    /// use hanok_figures::figures;
    ///
    /// let text = "약 5퍼센트";
    /// let ranges: Vec<_> = figures(text).map(|figure| figure.at()).collect();
    /// assert_eq!(&text[ranges[0].clone()], "5퍼센트");
    /// ```
    pub fn at(&self) -> Range<usize> {
        match self {
            Self::Amount(amount) => amount.at.clone(),
            Self::Date(date) => date.at.clone(),
            Self::Article(article) => article.at.clone(),
        }
    }

    /// The amount, if it is one.
    ///
    /// ```
    /// use hanok_figures::{Figure, figures};
    ///
    /// let amounts: Vec<_> = figures("제7조의 3만원").filter_map(Figure::into_amount).collect();
    /// assert_eq!(amounts.len(), 1);
    /// ```
    pub fn into_amount(self) -> Option<Amount> {
        match self {
            Self::Amount(amount) => Some(amount),
            Self::Date(_) | Self::Article(_) => None,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount(amount) => amount.fmt(f),
            Self::Date(date) => date.fmt(f),
            Self::Article(article) => article.fmt(f),
        }
    }
}

/// An exact amount with its unit.
///
/// ```
/// use hanok_figures::{AmountUnit, Figure, figures};
///
/// let rate = figures("연 3.5%").find_map(Figure::into_amount).unwrap();
/// assert_eq!((rate.value.to_string().as_str(), rate.unit), ("3.5", AmountUnit::Percent));
/// assert_eq!(rate.to_string(), "3.5%");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// The value in the unit: 5 of `5%`, 350000000 of `3.5억원`.
    pub value: Number,
    /// The unit that is written.
    pub unit: AmountUnit,
    /// The bytes of the text that it stands in, with the unit.
    pub at: Range<usize>,
}

impl Amount {
    /// The amount of `text`, if there is exactly one.
    ///
    /// ```
    /// use hanok_figures::Amount;
    ///
    /// assert_eq!(Amount::only("약 3억 5천만원").map(|it| it.to_string()).as_deref(), Some("350,000,000원"));
    /// assert_eq!(Amount::only("3억에서 3.3억"), None);
    /// ```
    #[must_use]
    pub fn only(text: &str) -> Option<Self> {
        let mut amounts = figures(text).filter_map(Figure::into_amount);
        amounts.next().filter(|_| amounts.next().is_none())
    }

    /// The area in square metres, where it is one: of a bare number, that number. A 평 is 400/121 of them.
    ///
    /// ```
    /// use hanok_figures::{Amount, Rounding};
    ///
    /// let area = Amount::only("25평").and_then(|area| area.square_metres()).unwrap();
    /// assert_eq!(area.round(2, Rounding::HalfAway)?.to_string(), "82.64");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    #[must_use]
    pub fn square_metres(&self) -> Option<Number> {
        match self.unit {
            AmountUnit::Pyeong => self.value.multiply(&400.into()).ok()?.divide(&121.into()).ok(),
            AmountUnit::SquareMetre | AmountUnit::Plain => Some(self.value.clone()),
            _ => None,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            AmountUnit::Won => return Won(self.value.clone()).fmt(f),
            AmountUnit::Percent => "%",
            AmountUnit::Pyeong => "평",
            AmountUnit::SquareMetre => "㎡",
            AmountUnit::Plain => "",
        };
        f.pad(&format!("{}{unit}", grouped(&self.value.to_string())))
    }
}

/// The unit behind an amount.
///
/// ```
/// use hanok_figures::{AmountUnit, Figure, figures};
///
/// let units: Vec<_> = figures("32평(105.8㎡)에 3억, 세 사람 중 2명")
///     .filter_map(Figure::into_amount)
///     .map(|amount| amount.unit)
///     .collect();
/// use AmountUnit::{Plain, Pyeong, SquareMetre};
/// assert_eq!(units, [Pyeong, SquareMetre, Plain, Plain]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AmountUnit {
    /// 원, or ₩ before the digits.
    Won,
    /// %, 퍼센트 or 프로; percentage points are not.
    Percent,
    /// 평.
    Pyeong,
    /// ㎡, 제곱미터 or 평방미터.
    SquareMetre,
    /// None of these is written: `12`, `3억`, `5명`.
    Plain,
}

/// A day of the calendar that exists.
///
/// ```
/// use hanok_figures::figures;
///
/// let days: Vec<String> = figures("2025년 3월 1일, 2025-02-30").map(|day| day.to_string()).collect();
/// assert_eq!(days, ["2025-03-01"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Date {
    /// The year, 1 to 9999.
    pub year: u16,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The bytes of the text that it stands in.
    pub at: Range<usize>,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:04}-{:02}-{:02}", self.year, self.month, self.day))
    }
}

/// The number of an article of a law or a contract.
///
/// ```
/// use hanok_figures::{Figure, figures};
///
/// let Some(Figure::Article(article)) = figures("제7조의2 제1항에 따라").next() else { panic!() };
/// assert_eq!((article.number, article.branch, article.paragraph), (7, Some(2), Some(1)));
/// assert_eq!(article.to_string(), "제7조의2제1항");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// 7 of 제7조의2제1항제3호.
    pub number: u32,
    /// 2 of it.
    pub branch: Option<u32>,
    /// 1 of it.
    pub paragraph: Option<u32>,
    /// 3 of it.
    pub item: Option<u32>,
    /// The bytes of the text that it stands in.
    pub at: Range<usize>,
}

impl fmt::Display for Article {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("제{}조", self.number);
        if let Some(branch) = self.branch {
            text.push_str(&format!("의{branch}"));
        }
        for part in [(self.paragraph, "항"), (self.item, "호")] {
            if let Some(number) = part.0 {
                text.push_str(&format!("제{number}{}", part.1));
            }
        }
        f.pad(&text)
    }
}
