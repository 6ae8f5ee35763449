//! Rent: how much it rises, how much it may, and what a deposit is worth as monthly rent.
//!
//! The cap of 주택임대차보호법 제7조 holds for an increase within a lease and for a renewal that the tenant asked for (제6조의3).
//! It does not hold for a new contract, and [`RentChange::not_covered`] says so with every result.

use std::cmp::Ordering;

use hanok_figures::{Number, Rounding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::{MoneyError, percent_shown, share, units, whole_won};
use crate::data::limits::{Limits, Source};

/// What the law says of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An increase of no more than the cap.
    WithinCap,
    /// An increase above the cap.
    AboveCap,
    /// No change.
    Unchanged,
    /// A decrease, which no cap limits.
    Decrease,
    /// An amount where none was: no rate is defined, and no part of zero may be added.
    NoBase,
}

/// A change of a deposit or of a rent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RentChange {
    /// The amount before, in won.
    pub before: i64,
    /// The amount after, in won.
    pub after: i64,
    /// What is added, in won; negative for a decrease.
    pub difference: i64,
    /// The rate in per cent to one decimal, a half away from zero. `None` where nothing was before.
    pub rate_percent: Option<String>,
    /// What the law says.
    pub verdict: Verdict,
    /// The greatest amount that the cap permits, in won, cut to the won.
    pub most: i64,
    /// The cap in per cent.
    pub cap_percent: String,
    /// Where the cap stands.
    pub source: Source,
    /// When the amount may not rise at all.
    pub pause: Source,
    /// What the cap does not cover, for a reader.
    pub not_covered: Vec<String>,
}

/// The change from `before` to `after`, both in whole won of 0 or more.
///
/// ```
/// use real_estate::data::Limits;
/// use real_estate::money::rent::{Verdict, change};
///
/// let limits = Limits::shipped()?;
/// let rise = change(300_000_000, 330_000_000, &limits)?;
/// assert_eq!(rise.rate_percent.as_deref(), Some("10.0"));
/// assert_eq!((rise.verdict, rise.most), (Verdict::AboveCap, 315_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`MoneyError`] for amounts that no contract has.
pub fn change(before: i64, after: i64, limits: &Limits) -> Result<RentChange, MoneyError> {
    compared(&Number::from(before), &Number::from(after), &Number::from(1), limits)
}

/// The change between two amounts, each of which is a number of won times `scale`: what needs a division stays exact by it.
fn compared(
    before: &Number,
    after: &Number,
    scale: &Number,
    limits: &Limits,
) -> Result<RentChange, MoneyError> {
    let cap = &limits.rent_increase;
    let zero = Number::from(0);
    let difference = after.subtract(before)?;
    let most = before.add(&before.multiply(&cap.value)?.divide(&Number::from(100))?)?;
    let has_base = before.compare(&zero).is_ne();
    let rate = if has_base { Some(percent_shown(&share(&difference, before)?, 1)?) } else { None };
    let verdict = match after.compare(before) {
        Ordering::Equal => Verdict::Unchanged,
        Ordering::Less => Verdict::Decrease,
        Ordering::Greater if !has_base => Verdict::NoBase,
        Ordering::Greater if after.compare(&most).is_gt() => Verdict::AboveCap,
        Ordering::Greater => Verdict::WithinCap,
    };
    let shown = |number: &Number| whole_won(&number.divide(scale)?, Rounding::Floor);
    Ok(RentChange {
        before: shown(before)?,
        after: shown(after)?,
        difference: shown(&difference)?,
        rate_percent: rate,
        verdict,
        most: shown(&most)?,
        cap_percent: cap.value.to_string(),
        source: cap.source.clone(),
        pause: limits.increase_pause.source.clone(),
        not_covered: not_covered(),
    })
}

fn not_covered() -> Vec<String> {
    [
        "기간이 끝난 뒤 새로 맺는 계약(다른 임차인과의 계약이나, 갱신요구권을 쓰지 않고 조건을 다시 합의한 계약)에는 이 상한이 적용되지 않습니다",
        "갱신요구권을 써서 갱신하면 제6조의3제3항에 따라 이 상한 안에서만 올릴 수 있습니다",
        "상한 안이라도 임대인이 일방적으로 올릴 수는 없고, 경제 사정의 변동 같은 이유를 들어 청구할 수 있을 뿐입니다",
    ]
    .map(str::to_owned)
    .to_vec()
}

impl RentChange {
    /// A sentence or two for a reader, with the article.
    #[must_use]
    pub fn said_in_korean(&self) -> String {
        let (before, after) = (units(self.before), units(self.after));
        let rate = self.rate_percent.as_deref().unwrap_or_default();
        let (cap, most) = (&self.cap_percent, units(self.most));
        let cited = self.source.cited();
        match self.verdict {
            Verdict::WithinCap => format!(
                "{before}에서 {after}으로 {rate}% 오릅니다. 상한 {cap}%({most}) 안입니다. 근거: {cited}."
            ),
            Verdict::AboveCap => format!(
                "{before}에서 {after}으로 {rate}% 오릅니다. 상한 {cap}%를 넘으며, 상한까지 올리면 {most}입니다. 근거: {cited}."
            ),
            Verdict::Unchanged => format!("{before} 그대로이며 오르지 않습니다."),
            Verdict::Decrease => format!(
                "{before}에서 {after}으로 {}% 내립니다. 내리는 데에는 상한이 없습니다. 근거: {cited}.",
                rate.trim_start_matches('-'),
            ),
            Verdict::NoBase => format!(
                "이전 금액이 0원이어서 증가율을 정할 수 없습니다. 새로 {after}을 받기로 하는 것은 증액이 아니라 조건의 변경이며, 보증금과 월세를 함께 보아야 합니다. 근거: {cited}."
            ),
        }
    }
}

/// The rate at which a deposit becomes rent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionRate {
    /// In per cent a year.
    pub percent: Number,
    /// Where it stands: that of the ceiling or of the margin, whichever is lower.
    pub source: Source,
    /// Where the base rate stands.
    pub base_rate: Source,
}

/// The highest rate at which a deposit may be made rent: the lower of the ceiling and of the base rate with its margin.
///
/// # Errors
///
/// [`MoneyError`] for limits that no law has.
pub fn conversion_rate(limits: &Limits) -> Result<ConversionRate, MoneyError> {
    let with_margin = limits.base_rate.value.add(&limits.conversion_margin.value)?;
    let ceiling = &limits.conversion_ceiling;
    let (percent, source) = match with_margin.compare(&ceiling.value) {
        Ordering::Greater => (ceiling.value.clone(), &ceiling.source),
        _ => (with_margin, &limits.conversion_margin.source),
    };
    let base_rate = limits.base_rate.source.clone();
    Ok(ConversionRate { percent, source: source.clone(), base_rate })
}

/// The monthly rent that a deposit may become at most, in won, cut to the won.
///
/// # Errors
///
/// [`MoneyError`] for amounts that no contract has.
pub fn deposit_to_rent(deposit: i64, rate: &ConversionRate) -> Result<i64, MoneyError> {
    let year = Number::from(deposit).multiply(&rate.percent)?.divide(&Number::from(100))?;
    whole_won(&year.divide(&Number::from(12))?, Rounding::Floor)
}

/// The deposit that bears a monthly rent, in won, rounded up to the won: its rent is never below the one it is for.
///
/// # Errors
///
/// [`MoneyError`] with a rate of zero, at which no deposit bears rent.
pub fn rent_to_deposit(rent: i64, rate: &ConversionRate) -> Result<i64, MoneyError> {
    let year = Number::from(rent).multiply(&Number::from(1_200))?;
    whole_won(&year.divide(&rate.percent)?, Rounding::Ceiling)
}

/// A deposit with a monthly rent, in won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The deposit.
    pub deposit: i64,
    /// The rent of a month.
    pub rent: i64,
}

/// The change of a deposit and a rent together: the rent counts as the deposit that bears it (환산보증금).
///
/// They are compared exactly; the amounts that are shown are cut to the won.
///
/// # Errors
///
/// As of [`change`], and with a rate of zero, at which no deposit bears rent.
pub fn change_of_both(
    before: Terms,
    after: Terms,
    limits: &Limits,
) -> Result<RentChange, MoneyError> {
    let rate = conversion_rate(limits)?;
    // The deposit with the converted rent, times the rate.
    let whole = |terms: Terms| {
        let deposit = Number::from(terms.deposit).multiply(&rate.percent)?;
        deposit.add(&Number::from(terms.rent).multiply(&Number::from(1_200))?)
    };
    compared(&whole(before)?, &whole(after)?, &rate.percent, limits)
}
