//! What a question does not state, and a tool needs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something that a tool needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lacking {
    /// A district.
    District,
    /// A district, a deal, an amount, an area or a number of rooms.
    Filter,
    /// The price of a home.
    Price,
    /// The rent of a month.
    MonthlyRent,
    /// The amount of a loan.
    LoanAmount,
    /// The rate of a loan.
    Rate,
    /// The term of a loan.
    Term,
    /// A contract, or the amounts before and after a change.
    ContractOrChange,
    /// A question.
    Question,
}

impl Lacking {
    /// What it is, in Korean. An example has no figure: an answer would have one that no tool gave.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::District => "서울의 어느 구인지(예: 강남구)",
            Self::Filter => "찾는 집의 조건(예: 마포구, 전세, 보증금의 상한)",
            Self::Price => "집값",
            Self::MonthlyRent => "월세",
            Self::LoanAmount => "대출금",
            Self::Rate => "연 이율(퍼센트)",
            Self::Term => "대출 기간(몇 년인지)",
            Self::ContractOrChange => "계약서의 본문, 또는 바뀌기 전과 바뀐 뒤의 금액",
            Self::Question => "궁금하신 내용",
        }
    }
}

/// A question that a tool has no arguments from. No tool failed: the message says what to ask the person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Missing {
    /// The question does not state what the tool needs.
    #[error("다음을 알려 주시면 답할 수 있습니다: {}.", names(lacking))]
    Lacking {
        /// What it needs, one at least.
        lacking: Vec<Lacking>,
    },
    /// There is no such tool.
    #[error("\"{tool}\"이라는 도구는 없습니다.")]
    NoTool {
        /// The name, cut.
        tool: String,
    },
}

fn names(lacking: &[Lacking]) -> String {
    let names: Vec<&str> = lacking.iter().map(|one| one.name()).collect();
    names.join(", ")
}
