//! A number to which numbers are added.

use hanok_core::{BoxError, Change, FoldError, Stored, StoredError};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use thiserror::Error;

use crate::{collections::grow::Grow, json::Json, rules::operations::OperationsReducer};

/// A number, stored as its text like all JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Total(pub(crate) Json);

impl Default for Total {
    fn default() -> Self {
        Self(Json(0.into()))
    }
}

impl Grow for Total {
    type Change = Self;

    fn grow(&mut self, change: Self) -> Result<(), FoldError> {
        *self = change;
        Ok(())
    }

    fn store(change: &Self) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Set(Stored::encode(change)?)])
    }
}

/// The error of a sum that is no number of JSON.
#[derive(Debug, Error)]
#[error("{total} and {addend} have no sum that a JSON number holds")]
pub(crate) struct NoSum {
    total: Value,
    addend: Value,
}

/// The reducer that adds.
#[derive(Debug)]
pub(crate) struct Add;

impl OperationsReducer<Total> for Add {
    type Update = Json;

    fn operate(total: &Total, addend: Json) -> Result<Total, BoxError> {
        let Total(total) = total;
        let sum = match (&total.0, &addend.0) {
            (Value::Number(total), Value::Number(addend)) => add(total, addend),
            _ => None,
        };
        let Some(sum) = sum else {
            return Err(NoSum { total: total.0.clone(), addend: addend.0 }.into());
        };
        Ok(Total(Json(sum.into())))
    }
}

/// Adds whole numbers as such, and others as binary fractions.
fn add(total: &Number, addend: &Number) -> Option<Number> {
    let whole = |number: &Number| {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    };
    if let (Some(total), Some(addend)) = (whole(total), whole(addend)) {
        let sum = total + addend;
        let unsigned = u64::try_from(sum).ok().map(Number::from);
        return unsigned.or_else(|| i64::try_from(sum).ok().map(Number::from));
    }
    Number::from_f64(total.as_f64()? + addend.as_f64()?)
}
