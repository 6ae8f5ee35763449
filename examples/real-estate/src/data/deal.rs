//! The kinds of deals for a home, and the money that each is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a home changes hands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Deal {
    /// 매매.
    #[serde(alias = "매매")]
    Sale,
    /// 전세.
    #[serde(alias = "전세")]
    Jeonse,
    /// 월세.
    #[serde(alias = "월세")]
    MonthlyRent,
}

impl Deal {
    /// Every deal.
    pub const ALL: [Self; 3] = [Self::Sale, Self::Jeonse, Self::MonthlyRent];

    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sale => "매매",
            Self::Jeonse => "전세",
            Self::MonthlyRent => "월세",
        }
    }

    /// The sums that a deal is about.
    #[must_use]
    pub fn sums(self) -> &'static [Sum] {
        match self {
            Self::Sale => &[Sum::Price],
            Self::Jeonse => &[Sum::Jeonse],
            Self::MonthlyRent => &[Sum::RentDeposit, Sum::MonthlyRent],
        }
    }
}

/// A sum of money that a deal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sum {
    /// 매매가.
    Price,
    /// 전세금.
    Jeonse,
    /// 월세의 보증금.
    RentDeposit,
    /// 월세.
    MonthlyRent,
}

impl Sum {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Price => "매매가",
            Self::Jeonse => "전세금",
            Self::RentDeposit => "월세 보증금",
            Self::MonthlyRent => "월세",
        }
    }
}
