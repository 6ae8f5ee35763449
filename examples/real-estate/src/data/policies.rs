//! What the state offers, read from `data/policies.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::deal::Deal;
use super::{DataError, Origin, lines};

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/policies.json");

/// Something that the state offers to who meets its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The name that no other policy has.
    pub id: String,
    /// The name for a reader.
    pub name: String,
    /// The deal that it helps with.
    pub topic: Deal,
    /// What it offers: a sentence without its full stop.
    pub benefit: String,
    /// The conditions, all of which have to be met.
    pub conditions: Vec<Condition>,
}

impl Policy {
    fn fault(&self) -> Option<String> {
        for (name, text) in [("name", &self.name), ("benefit", &self.benefit)] {
            if text.trim().is_empty() {
                return Some(format!("the `{name}` of `{}` is empty", self.id));
            }
        }
        if self.conditions.is_empty() {
            return Some(format!("`{}` has no condition", self.id));
        }
        self.conditions.iter().find_map(Condition::fault)
    }
}

/// All policies. Made by [`Policies::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policies {
    /// Where the policies come from.
    pub origin: Origin,
    policies: Vec<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    source: String,
    policies: Vec<Policy>,
}

impl Policies {
    /// The policies in `text`, which is JSON as `data/policies.json`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of what is wrong; of a policy that is, the line of its `id`.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let rows: File = serde_json::from_str(text)
            .map_err(|error| DataError::at(file, error.line().max(1), lines::reason(&error)))?;
        let line_of = |needle: &str, nth: usize| {
            let at = text.match_indices(needle).nth(nth).map_or(0, |place| place.0);
            text.get(..at).unwrap_or_default().matches('\n').count() + 1
        };
        let origin = Origin::parse(file, line_of("\"as_of\"", 0), &rows.as_of, &rows.source)?;
        if rows.policies.is_empty() {
            return Err(DataError::of(file, "there is no policy"));
        }
        for (at, policy) in rows.policies.iter().enumerate() {
            let line = line_of("\"id\"", at);
            if policy.id.trim().is_empty() {
                return Err(DataError::at(file, line, "the `id` is empty"));
            }
            let mut before = rows.policies.iter().take(at);
            if before.any(|other| other.id == policy.id) {
                let reason = format!("the policy `{}` stands twice", policy.id);
                return Err(DataError::at(file, line, reason));
            }
            if let Some(reason) = policy.fault() {
                return Err(DataError::at(file, line, reason));
            }
        }
        Ok(Self { origin, policies: rows.policies })
    }

    /// The policies that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/policies.json", SHIPPED)
    }

    /// The policies, in the order of the file.
    #[must_use]
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_policies_ship_for_every_deal() {
        let policies = Policies::shipped().unwrap();
        assert_eq!(policies.policies().len(), 12);
        for deal in Deal::ALL {
            assert!(policies.policies().iter().any(|policy| policy.topic == deal));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, want) in [
            ("\"as_of\": \"2026-06-30\"", "\"as_of\": \"06/30\"", "p.json:2: `06/30` is no day"),
            ("\"source\"", "\"sources\"", "p.json:3: unknown field `sources`"),
            (
                "\"general_jeonse\"",
                "\"youth_jeonse\"",
                "p.json:15: the policy `youth_jeonse` stands twice",
            ),
            ("\"general_jeonse\"", "\"\"", "p.json:15: the `id` is empty"),
            (
                "\"근로자·서민 전세자금 지원\"",
                "\"\"",
                "p.json:15: the `name` of `general_jeonse` is empty",
            ),
            (
                "\"is\": \"at_least\", \"value\": 2}",
                "\"is\": \"at_least\", \"value\": true}",
                "p.json:32: 자녀 수 is compared",
            ),
            ("\"topic\": \"jeonse\"", "\"topic\": \"loan\"", "p.json:6: unknown variant `loan`"),
            ("\"policies\": [", "\"policies\": [,", "p.json:4: expected value"),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = Policies::parse("p.json", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}\n{want}");
        }
        assert!(Policies::parse("p.json", "").unwrap_err().to_string().starts_with("p.json:1: "));
    }
}
