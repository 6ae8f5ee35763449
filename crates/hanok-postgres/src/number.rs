//! Numbers: ours have 64 bits, PostgreSQL's have 63 and a sign.

use crate::failure::Failure;

/// A number to store.
pub(crate) fn stored(number: u64) -> Result<i64, Failure> {
    Ok(i64::try_from(number)?)
}

/// A number that was stored.
pub(crate) fn read(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|error| Failure::Damaged(error.into()))
}

/// A bound to compare with: no stored number is above the largest.
pub(crate) fn bound(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
