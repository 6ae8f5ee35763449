//! The rows of the file as they are written.

use serde::Deserialize;
use toml::Spanned;

use super::{Area, Buyer, DepositRegion, Lender};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) limit: Vec<Named>,
    #[serde(default)]
    pub(super) small_deposit: Vec<Small>,
    #[serde(default)]
    pub(super) ltv: Vec<Ltv>,
    #[serde(default)]
    pub(super) dti: Vec<Dti>,
    #[serde(default)]
    pub(super) dsr: Vec<Dsr>,
    #[serde(default)]
    pub(super) stress: Vec<Stress>,
    #[serde(default)]
    pub(super) ceiling: Vec<Highest>,
    #[serde(default)]
    pub(super) place: Vec<Place>,
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    Percent,
    Months,
    Won,
}

impl Unit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Months => "months",
            Self::Won => "won",
        }
    }
}

/// A row with the columns of its own and those of its source.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $(pub(super) $field: $type,)*
            pub(super) as_of: Spanned<String>,
            pub(super) law: Spanned<String>,
            pub(super) article: Spanned<String>,
            pub(super) note: Option<String>,
        }

        impl $name {
            /// The columns of the source.
            pub(super) fn cited(&self) -> Cited<'_> {
                Cited {
                    as_of: &self.as_of,
                    law: &self.law,
                    article: &self.article,
                    note: self.note.as_deref(),
                }
            }
        }
    };
}

/// The columns of a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cited<'a> {
    pub(super) as_of: &'a Spanned<String>,
    pub(super) law: &'a Spanned<String>,
    pub(super) article: &'a Spanned<String>,
    pub(super) note: Option<&'a str>,
}

row!(
    /// A limit with a name.
    Named { key: Spanned<String>, value: Spanned<String>, unit: Spanned<Unit> }
);
row!(
    /// The protected deposits of a region.
    Small { region: Spanned<DepositRegion>, deposit: Spanned<i64>, protected: Spanned<i64> }
);
row!(
    /// The share of a price that is lent.
    Ltv { area: Spanned<Area>, buyer: Buyer, percent: Spanned<String> }
);
row!(
    /// The share of an income that a home loan may cost.
    Dti { area: Spanned<Area>, percent: Spanned<String> }
);
row!(
    /// The share of an income that all loans may cost.
    Dsr { lender: Spanned<Lender>, percent: Spanned<String> }
);
row!(
    /// The points that are added to a rate.
    Stress { area: Spanned<Area>, points: Spanned<String> }
);
row!(
    /// The most that is lent on a home.
    Highest { area: Spanned<Area>, price_up_to: Option<Spanned<i64>>, most: Spanned<i64> }
);
row!(
    /// The place of a rule without a number.
    Place { key: Spanned<String> }
);
