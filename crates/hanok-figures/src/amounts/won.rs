//! Money in writing.

use std::fmt;

use super::grouped::grouped;
use crate::calculator::Number;

/// An amount of won, to be written.
///
/// Displayed with commas. What is written is read by [`figures`](super::figures) as the same value, up to 100 digits. Decimals are
/// written as they are: round to whole won before, as the contract says.
///
/// ```
/// use hanok_figures::{Number, Won};
///
/// let deposit = Won(Number::from(120_000_000));
/// assert_eq!(deposit.to_string(), "120,000,000원");
/// assert_eq!(deposit.in_units(), "1억 2,000만원");
/// assert_eq!(Won(Number::from(-300_005_000)).in_units(), "-3억 5,000원");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Won(pub Number);

impl Won {
    /// The amount in 조, 억 and 만: `1억 2,000만원`.
    ///
    /// ```
    /// use hanok_figures::{Won, evaluate};
    ///
    /// assert_eq!(Won(evaluate("350000000 / 8")?).in_units(), "4,375만원");
    /// assert_eq!(Won(evaluate("1e12 + 1")?).in_units(), "1조 1원");
    /// # Ok::<(), hanok_figures::CalculatorError>(())
    /// ```
    pub fn in_units(&self) -> String {
        let text = self.0.to_string();
        let (sign, whole, decimals) = pieces(&text);
        let mut parts = Vec::new();
        let mut rest = whole;
        for (power, unit) in [(12, "조"), (8, "억"), (4, "만")] {
            let split = rest.len().saturating_sub(power);
            let (above, below) = rest.split_at_checked(split).unwrap_or(("", rest));
            let above = above.trim_start_matches('0');
            if !above.is_empty() {
                parts.push(format!("{}{unit}", grouped(above)));
            }
            rest = below;
        }
        let ones = rest.trim_start_matches('0');
        let has_decimals = !decimals.is_empty();
        if !ones.is_empty() || has_decimals || parts.is_empty() {
            let ones = if ones.is_empty() { "0" } else { ones };
            let point = if has_decimals { "." } else { "" };
            parts.push(format!("{}{point}{decimals}", grouped(ones)));
        }
        format!("{sign}{}원", parts.join(" "))
    }
}

impl fmt::Display for Won {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}원", grouped(&self.0.to_string())))
    }
}

/// The sign, the digits before the point and those behind it.
fn pieces(text: &str) -> (&str, &str, &str) {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    (sign, whole, decimals)
}
