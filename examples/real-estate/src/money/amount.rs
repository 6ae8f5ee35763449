//! Amounts and rates as a model or a person writes them.

use hanok_figures::{Amount, AmountUnit, Figure, Number, figures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The greatest amount of won that is taken: 1,000 trillion.
pub const MOST_WON: i64 = 1_000_000_000_000_000;

/// A smaller number without a unit may be one of 만 or 억.
const LEAST_BARE: i64 = 10_000;

/// An amount or a rate that is not understood. The message is a question to whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AmountError {
    /// No amount is understood in the text.
    #[error(
        "\"{text}\"에서 금액을 알아듣지 못했습니다. 얼마인지 \"3억 1,500만원\"처럼 적어 주시겠습니까?"
    )]
    NoAmount {
        /// The text, cut.
        text: String,
    },
    /// A number without a unit may be several amounts.
    #[error(
        "\"{text}\"은(는) 원인지, 만원인지, 억원인지 분명하지 않습니다. 단위를 붙여 주시겠습니까?"
    )]
    NoUnit {
        /// The text, cut.
        text: String,
    },
    /// There are more amounts than one question has.
    #[error("\"{text}\"에 금액이 {count}개 있습니다. 어느 금액을 말씀하십니까?")]
    Several {
        /// The text, cut.
        text: String,
        /// How many there are.
        count: usize,
    },
    /// An amount is below zero, broken, or greater than [`MOST_WON`].
    #[error(
        "{text}은(는) 금액이 될 수 없습니다. 0원부터 1,000조원까지의 원 단위 금액을 적어 주시겠습니까?"
    )]
    OutOfRange {
        /// The amount, cut.
        text: String,
    },
    /// No rate is understood in the text.
    #[error("\"{text}\"에서 이율을 알아듣지 못했습니다. \"4.0%\"처럼 적어 주시겠습니까?")]
    NoRate {
        /// The text, cut.
        text: String,
    },
}

/// An amount of money in arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "금액은 원 단위의 정수(315000000)나 글자(\"3억 1,500만원\")로 적습니다"
)]
pub enum StatedWon {
    /// 원 단위의 정수: `315000000`.
    Won(i64),
    /// 글자로 적은 금액: `3억 1,500만원`.
    Text(String),
}

impl StatedWon {
    /// The amount in whole won.
    ///
    /// # Errors
    ///
    /// [`AmountError`] when it is not understood.
    pub fn won(&self) -> Result<i64, AmountError> {
        match self {
            Self::Won(amount) => in_range(&Number::from(*amount)),
            Self::Text(text) => won(text),
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Won(amount) => amount.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A rate in per cent in arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "이율은 정수(4)나 글자(\"4.25%\")로 적습니다")]
pub enum StatedRate {
    /// 정수 퍼센트: `4`.
    Whole(i64),
    /// 글자로 적은 퍼센트: `4.25` 또는 `4.25%`.
    Text(String),
}

impl StatedRate {
    /// The rate in per cent.
    ///
    /// # Errors
    ///
    /// [`AmountError::NoRate`] when it is not understood.
    pub fn percent(&self) -> Result<Number, AmountError> {
        match self {
            Self::Whole(rate) => Ok(Number::from(*rate)),
            Self::Text(text) => percent(text),
        }
    }
}

/// The one amount in `text`, in whole won.
///
/// ```
/// use real_estate::money::{AmountError, won};
///
/// assert_eq!(won("보증금 3억 1,500만원"), Ok(315_000_000));
/// assert!(matches!(won("3"), Err(AmountError::NoUnit { .. })));
/// assert!(matches!(won("많이"), Err(AmountError::NoAmount { .. })));
/// ```
///
/// # Errors
///
/// [`AmountError`] when it is not understood; what is not understood is never 0.
pub fn won(text: &str) -> Result<i64, AmountError> {
    let amounts = money(text);
    match amounts.as_slice() {
        [] => Err(AmountError::NoAmount { text: cut(text) }),
        [amount] if is_bare(text, amount) => Err(AmountError::NoUnit { text: cut(text) }),
        [amount] => in_range(&amount.value),
        _ => Err(AmountError::Several { text: cut(text), count: amounts.len() }),
    }
}

/// The one rate in `text`, in per cent.
///
/// # Errors
///
/// [`AmountError::NoRate`] when there is none, or several.
pub fn percent(text: &str) -> Result<Number, AmountError> {
    let wrong = || AmountError::NoRate { text: cut(text) };
    if let Ok(number) = text.trim().parse::<Number>() {
        return Ok(number);
    }
    let is_rate = |amount: &Amount| matches!(amount.unit, AmountUnit::Percent);
    let mut rates = all(text).into_iter().filter(is_rate);
    let rate = rates.next().ok_or_else(wrong)?;
    if rates.next().is_some() { Err(wrong()) } else { Ok(rate.value) }
}

/// What stands behind a number that counts something else than money.
const COUNTERS: [&str; 14] =
    ["년", "개월", "월", "일", "층", "호", "동", "명", "번", "채", "배", "차", "회", "평"];

/// The amounts of a text that may be money.
pub(super) fn money(text: &str) -> Vec<Amount> {
    let counts = |amount: &Amount| {
        let behind = text.get(amount.at.end..).unwrap_or_default().trim_start();
        COUNTERS.iter().any(|counter| behind.starts_with(counter))
    };
    let is_money = |amount: &Amount| match amount.unit {
        AmountUnit::Won => true,
        AmountUnit::Plain => !(is_bare(text, amount) && counts(amount)),
        _ => false,
    };
    all(text).into_iter().filter(is_money).collect()
}

pub(super) fn all(text: &str) -> Vec<Amount> {
    figures(head(text, 4_000)).filter_map(Figure::into_amount).collect()
}

/// Whether an amount is a small number without a unit.
pub(super) fn is_bare(text: &str, amount: &Amount) -> bool {
    let written = text.get(amount.at.clone()).unwrap_or_default();
    place(written, amount.unit).is_none() && is_small(&amount.value) && !is_zero(&amount.value)
}

/// The power of ten of the first 만, 억 or 조 of what is written, 1 for 원. `None` without a unit.
pub(super) fn place(written: &str, unit: AmountUnit) -> Option<i64> {
    let place = written.chars().find_map(|c| match c {
        '만' => Some(10_000),
        '억' => Some(100_000_000),
        '조' => Some(1_000_000_000_000),
        _ => None,
    });
    place.or_else(|| (unit == AmountUnit::Won).then_some(1))
}

/// Whether a number is too small to be won without a unit.
pub(super) fn is_small(number: &Number) -> bool {
    number.compare(&Number::from(LEAST_BARE)).is_lt()
}

fn is_zero(number: &Number) -> bool {
    number.compare(&Number::from(0)).is_eq()
}

pub(super) fn in_range(number: &Number) -> Result<i64, AmountError> {
    let whole = number.to_i128().and_then(|whole| i64::try_from(whole).ok());
    let whole = whole.filter(|whole| (0..=MOST_WON).contains(whole));
    whole.ok_or_else(|| AmountError::OutOfRange { text: cut(&number.to_string()) })
}

/// The text as it is repeated in a question: short, and in one line.
pub(super) fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

pub(super) fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |place| place.0);
    text.get(..end).unwrap_or(text)
}
