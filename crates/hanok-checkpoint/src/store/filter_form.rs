//! Filters as clients send them.

use hanok_core::Stored;
use thiserror::Error;

use super::filter::{FieldPath, Filter};

/// The depth to which a filter may be nested.
const DEEPEST: usize = 32;

/// The most comparisons of a filter.
const MOST: usize = 1_024;

/// Why something is no filter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no such operator.
    #[error(
        "no operator `{operator}` at `{at}`; there are $eq, $ne, $gt, $gte, $lt, $lte, $exists, $and, $or, $not"
    )]
    UnknownOperator {
        /// The writes.
        operator: String,
        /// The field it was written for.
        at: FieldPath,
    },
    /// An operator was given something else than it takes.
    #[error("`{operator}` at `{at}` takes {takes}")]
    Operand {
        /// The operator.
        operator: String,
        /// The field it was written for.
        at: FieldPath,
        /// The values that it takes.
        takes: &'static str,
    },
    /// A filter is a map.
    #[error("a filter is a map, at `{at}` too")]
    NoMap {
        /// The path at which it is not.
        at: FieldPath,
    },
    /// It is nested deeper than 32.
    #[error("a filter may be nested {DEEPEST} deep")]
    TooDeep,
    /// It has more than 1,024 comparisons.
    #[error("a filter may have {MOST} comparisons")]
    TooLong,
}

impl Filter {
    /// Reads a filter in the form in which clients send it, as JSON or whatever else became a [`Stored`]:
    ///
    /// - `{"kind": "note", "age": {"$gte": 18, "$lt": 65}}`: all of it has to fit;
    /// - `{"meta": {"lang": "ko"}}` is the field `lang` of the field `meta`, `{"meta": {"$eq": {…}}}` a whole map;
    /// - `$and` and `$or` take a list of filters, `$not` a filter, `$exists` true or false; within a field they are about
    ///   that field.
    ///
    /// A key that begins with `$` is an operator; a field of such a name is compared by a filter that a program makes.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Stored};
    /// let form = Stored::encode(&std::collections::BTreeMap::from([("city", "Seoul")]))?;
    /// let filter = Filter::parse(&form)?;
    /// assert!(filter.fits(&form));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FilterError`] names the operator and the field.
    pub fn parse(form: &Stored) -> Result<Self, FilterError> {
        Parser { remaining: MOST }.filter(form, &FieldPath::default(), DEEPEST)
    }
}

struct Parser {
    /// The number of comparisons that it may still have.
    remaining: usize,
}

impl Parser {
    fn filter(
        &mut self,
        form: &Stored,
        at: &FieldPath,
        deep: usize,
    ) -> Result<Filter, FilterError> {
        let deep = deep.checked_sub(1).ok_or(FilterError::TooDeep)?;
        let Ok(entries) = form.to_entries() else {
            return Err(FilterError::NoMap { at: at.clone() });
        };
        let mut all = Vec::new();
        for (key, value) in entries {
            let Ok(key) = key.as_str() else { return Err(FilterError::NoMap { at: at.clone() }) };
            self.remaining = self.remaining.checked_sub(1).ok_or(FilterError::TooLong)?;
            all.push(match key.starts_with('$') {
                true => self.operator(key, value, at, deep)?,
                false => self.field(value, at.child(key), deep)?,
            });
        }
        Ok(match all.pop() {
            Some(only) if all.is_empty() => only,
            last => Filter::And(all.into_iter().chain(last).collect()),
        })
    }

    /// A map says what has to fit; anything else, and a map with nothing in it, is what has to be there.
    fn field(&mut self, value: Stored, at: FieldPath, deep: usize) -> Result<Filter, FilterError> {
        match value.to_entries() {
            Ok(entries) if !entries.is_empty() => self.filter(&value, &at, deep),
            _ => Ok(Filter::Eq(at, value)),
        }
    }

    fn operator(
        &mut self,
        operator: &str,
        value: Stored,
        at: &FieldPath,
        deep: usize,
    ) -> Result<Filter, FilterError> {
        let path = at.clone();
        Ok(match operator {
            "$eq" => Filter::Eq(path, value),
            "$ne" => Filter::Ne(path, value),
            "$gt" => Filter::Gt(path, value),
            "$gte" => Filter::Gte(path, value),
            "$lt" => Filter::Lt(path, value),
            "$lte" => Filter::Lte(path, value),
            "$and" => Filter::And(self.each(operator, &value, at, deep)?),
            "$or" => Filter::Or(self.each(operator, &value, at, deep)?),
            "$not" => Filter::Not(Box::new(self.filter(&value, at, deep)?)),
            "$exists" => match value.decode() {
                Ok(true) => Filter::Exists(path),
                Ok(false) => Filter::Not(Box::new(Filter::Exists(path))),
                Err(_) => return Err(wrong(operator, at, "true or false")),
            },
            _ => {
                return Err(FilterError::UnknownOperator {
                    operator: operator.to_owned(),
                    at: path,
                });
            }
        })
    }

    fn each(
        &mut self,
        operator: &str,
        value: &Stored,
        at: &FieldPath,
        deep: usize,
    ) -> Result<Vec<Filter>, FilterError> {
        let Ok(forms) = value.to_items() else {
            return Err(wrong(operator, at, "a list of filters"));
        };
        forms.iter().map(|form| self.filter(form, at, deep)).collect()
    }
}

fn wrong(operator: &str, at: &FieldPath, takes: &'static str) -> FilterError {
    FilterError::Operand { operator: operator.to_owned(), at: at.clone(), takes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Stored {
        Stored::encode(&serde_json::from_str::<serde_json::Value>(text).unwrap()).unwrap()
    }

    /// B106, B107
    #[test]
    fn a_form_is_a_filter_or_says_which_operator_is_wrong() {
        let value = json(r#"{"a": 1, "b": {"c": "x", "d": []}, "e": null, "f": {}}"#);
        for (form, fits) in [
            ("{}", true),
            (r#"{"a": 1}"#, true),
            (r#"{"a": 1.0, "b": {"c": "x"}}"#, true),
            (r#"{"a": {"$gt": 0, "$lte": 1}}"#, true),
            (r#"{"a": {"$gt": 1}}"#, false),
            (r#"{"a": {"$or": [{"$lt": 0}, {"$gte": 1}]}}"#, true),
            (r#"{"$or": [{"a": 2}, {"b": {"c": {"$ne": "y"}}}]}"#, true),
            (r#"{"$and": [{"a": 1}, {"z": {"$ne": 1}}]}"#, false),
            (r#"{"$not": {"z": 1}}"#, true),
            (r#"{"b": {"$eq": {"d": [], "c": "x"}}}"#, true),
            (r#"{"b": {"$not": {"c": "x"}}}"#, false),
            (r#"{"e": null}"#, true),
            (r#"{"e": {"$exists": true}, "z": {"$exists": false}}"#, true),
            (r#"{"f": {}}"#, true),
            (r#"{"b": {}}"#, false),
            (r#"{"b.c": "x"}"#, false),
            (r#"{"$or": []}"#, false),
        ] {
            assert_eq!(Filter::parse(&json(form)).unwrap().fits(&value), fits, "{form}");
        }
        for (form, error) in [
            (
                r#"{"a": {"$regex": "x"}}"#,
                "no operator `$regex` at `a`; there are $eq, $ne, $gt, $gte, $lt, $lte, $exists, $and, $or, $not",
            ),
            (r#"{"b": {"c": {"$and": {}}}}"#, "`$and` at `b/c` takes a list of filters"),
            (r#"{"a": {"$exists": 1}}"#, "`$exists` at `a` takes true or false"),
            (r#"{"a": {"$not": 1}}"#, "a filter is a map, at `a` too"),
            ("[]", "a filter is a map, at `` too"),
        ] {
            assert_eq!(Filter::parse(&json(form)).unwrap_err().to_string(), error, "{form}");
        }
    }

    /// P23 in part
    #[test]
    fn a_filter_is_bounded() {
        let nested = |n: usize| format!("{}1{}", "{\"$not\":".repeat(n), "}".repeat(n));
        let deep = Filter::parse(&json(&nested(40)));
        assert_eq!(deep, Err(FilterError::TooDeep));
        let many = format!("{{\"$or\":[{}]}}", vec![r#"{"a":1}"#; 1_025].join(","));
        assert_eq!(Filter::parse(&json(&many)), Err(FilterError::TooLong));
        let fields = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
        assert_eq!(Filter::parse(&json(&fields(40))), Err(FilterError::TooDeep));
        assert!(Filter::parse(&json(&fields(32))).is_ok());
        // Deeper than JSON readers go: made of the bytes themselves.
        let bytes = [[0x81, 0xa1, b'a'].repeat(100_000), vec![1]].concat();
        assert_eq!(Filter::parse(&Stored::from_bytes(bytes).unwrap()), Err(FilterError::TooDeep));
    }
}
