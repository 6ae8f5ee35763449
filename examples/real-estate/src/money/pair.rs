//! The amount before a change and the amount after it, in one text.

use hanok_figures::{Amount, AmountUnit, Number, Rounding};

use super::amount::{
    AmountError, StatedWon, all, cut, head, in_range, is_bare, is_small, money, place, won,
};

/// How far from a separator a number may begin, in characters.
const LONGEST: usize = 300;

/// The amount before and the amount after a change, in whole won.
///
/// A number without a unit takes that of its partner: the 3 of `3에서 3.3억으로` is 3억.
///
/// ```
/// use real_estate::money::pair;
///
/// assert_eq!(pair("전세금을 3에서 3.3억으로 올려 달래요"), Ok((300_000_000, 330_000_000)));
/// ```
///
/// # Errors
///
/// [`AmountError`] when not exactly two amounts are understood.
pub fn pair(text: &str) -> Result<(i64, i64), AmountError> {
    for separator in SEPARATORS {
        for at in text.match_indices(separator).take(8).map(|place| place.0) {
            let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
            let after = after.strip_prefix(separator).unwrap_or(after);
            if let Some(pair) = sides(before, after) {
                return pair;
            }
        }
    }
    let amounts = money(text);
    if let [one] = amounts.as_slice()
        && !is_bare(text, one)
        && let Some(after) = by_rate(text, &one.value)
    {
        return Ok((in_range(&one.value)?, in_range(&after)?));
    }
    let [first, second] = amounts.as_slice() else {
        return Err(match amounts.as_slice() {
            [one] if is_bare(text, one) => AmountError::NoUnit { text: cut(text) },
            [] | [_] => AmountError::NoAmount { text: cut(text) },
            _ => AmountError::Several { text: cut(text), count: amounts.len() },
        });
    };
    if is_bare(text, first) || is_bare(text, second) {
        return Err(AmountError::NoUnit { text: cut(text) });
    }
    let (before, after) = (in_range(&first.value)?, in_range(&second.value)?);
    Ok(if is_reversed(text, first, second) { (after, before) } else { (before, after) })
}

/// The amount before and the amount after, each stated by itself.
///
/// # Errors
///
/// As of [`pair`].
pub fn stated_pair(before: &StatedWon, after: &StatedWon) -> Result<(i64, i64), AmountError> {
    let (one, two) = (before.words(), after.words());
    match (won(&one), won(&two)) {
        (Ok(one), Ok(two)) => Ok((one, two)),
        // `3` and `3.3억`: the one takes the unit of the other.
        (Err(AmountError::NoUnit { .. }), _) | (_, Err(AmountError::NoUnit { .. })) => {
            pair(&format!("{one}에서 {two}"))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// The amount after a change by a rate: `3억에서 5% 올리면`, cut to the won.
fn by_rate(text: &str, before: &Number) -> Option<Number> {
    let mut rates = all(text).into_iter().filter(|amount| amount.unit == AmountUnit::Percent);
    let rate = rates.next().filter(|_| rates.next().is_none())?.value;
    let says = |words: [&str; 7]| words.iter().any(|word| text.contains(word));
    let rises = says(["올리", "올려", "올린", "올릴", "인상", "오르", "증액"]);
    let falls = says(["내리", "내려", "내린", "내릴", "인하", "깎", "감액"]);
    let hundred = Number::from(100);
    let percent = match (rises, falls) {
        (true, false) => hundred.add(&rate).ok()?,
        (false, true) => hundred.subtract(&rate).ok()?,
        _ => return None,
    };
    let after = before.multiply(&percent).ok()?.divide(&hundred).ok()?;
    after.round(0, Rounding::Floor).ok()
}

/// What stands between the amount before and the amount after.
const SEPARATORS: [&str; 7] = ["에서", "→", "->", "=>", "~", "∼", "부터"];

/// Words before an amount that holds now.
const NOW: [&str; 6] = ["지금", "현재", "기존", "원래", "종전", "이전"];

/// The amounts directly around a separator, if both are there.
fn sides(before: &str, after: &str) -> Option<Result<(i64, i64), AmountError>> {
    let first = last_number(before)?;
    let second = first_number(after)?;
    let is_small = |side: &Side| side.place.is_none() && is_small(&side.value);
    let (one, two) = match (is_small(&first), is_small(&second)) {
        (false, false) => (first.value, second.value),
        (true, true) => {
            let text = format!("{} → {}", first.text, second.text);
            return Some(Err(AmountError::NoUnit { text: cut(&text) }));
        }
        (true, false) => (first.lent(&second)?, second.value),
        (false, true) => (first.value.clone(), second.lent(&first)?),
    };
    Some(in_range(&one).and_then(|one| Ok((one, in_range(&two)?))))
}

/// A number beside a separator.
#[derive(Debug)]
struct Side {
    value: Number,
    /// The power of ten of its first 만, 억 or 조; 0 for 원. `None` without a unit.
    place: Option<i64>,
    text: String,
}

impl Side {
    fn of(text: &str, amount: Amount) -> Self {
        let text = text.get(amount.at.clone()).unwrap_or_default().to_owned();
        let place = place(&text, amount.unit);
        Self { value: amount.value, place, text }
    }

    /// The value with the place of `other`. `None` when the two are then too far from each other to be meant so.
    fn lent(&self, other: &Self) -> Option<Number> {
        let value = self.value.multiply(&Number::from(other.place?)).ok()?;
        let ten = Number::from(10);
        let is_near = !value.compare(&other.value.multiply(&ten).ok()?).is_gt()
            && !other.value.compare(&value.multiply(&ten).ok()?).is_gt();
        is_near.then_some(value)
    }
}

/// The number at the end of `text`.
fn last_number(text: &str) -> Option<Side> {
    let text = text.trim_end();
    let near = tail(text, LONGEST);
    let amount = money(near).pop().filter(|amount| amount.at.end == near.len())?;
    Some(Side::of(near, amount))
}

/// The number at the beginning of `text`, behind a word or two.
fn first_number(text: &str) -> Option<Side> {
    let near = head(text, LONGEST);
    let amount = money(near).into_iter().next()?;
    let before = near.get(..amount.at.start)?;
    (before.chars().count() <= 12).then(|| Side::of(near, amount))
}

/// Whether the second of two amounts is the one before the change.
fn is_reversed(text: &str, first: &Amount, second: &Amount) -> bool {
    let behind = |amount: &Amount| text.get(amount.at.end..).unwrap_or_default();
    let is_aim =
        |amount: &Amount| behind(amount).starts_with("으로") || behind(amount).starts_with('로');
    let between = text.get(first.at.end..second.at.start).unwrap_or_default();
    !is_aim(second) && (is_aim(first) || NOW.iter().any(|word| between.contains(word)))
}

fn tail(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most).map_or(0, |place| place.0);
    text.get(start..).unwrap_or(text)
}
