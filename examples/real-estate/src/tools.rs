//! The ten tools.

mod contract_analysis;
mod lease_contract_generator;
mod legal_search;
mod loan_data;
mod loan_simulator;
mod market_analysis;
mod market_data;
mod policy_matcher;
mod real_estate_search;
mod roi_calculator;
mod words;

pub(crate) use words::short;

use hanok_model::{FnTool, InvalidSpec};

use crate::data::Data;

pub use contract_analysis::{
    Analysis, ContractFindings, ContractQuestion, RentAnswer, analyse, contract_analysis,
};
pub use lease_contract_generator::{Generated, LeaseOrder, generate, lease_contract_generator};
pub use legal_search::{Absent, By, FoundArticle, LawAnswer, LawQuestion, LawSearch, legal_search};
pub use loan_data::{ExcludedLoan, LoanSearch, LoansFound, Offer, loan_data, search_loans};
pub use loan_simulator::{Check, LoanQuestion, LoanSummary, Measure, loan_simulator, simulate};
pub use market_analysis::{
    AnalysisQuestion, Comparison, MarketAnalysis, Ratio, Trend, analyse_market, market_analysis,
};
pub use market_data::{
    Change, MarketPrices, MarketQuestion, MonthPrice, Series, market_data, prices,
};
pub use policy_matcher::{Match, PoliciesMatched, PolicyQuestion, match_policies, policy_matcher};
pub use real_estate_search::{
    Excluded, FilterName, HomesThatFit, SearchQuestion, real_estate_search, search_homes,
};
pub use roi_calculator::{RoiQuestion, roi_calculator, yields};

/// The five tools that look something up: `market_data`, `real_estate_search`, `loan_data`, `market_analysis` and
/// `policy_matcher`.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn search_tools(data: &Data) -> Result<[FnTool; 5], InvalidSpec> {
    Ok([
        market_data(data.market.clone())?,
        real_estate_search(data.listings.clone())?,
        loan_data(data.loans.clone())?,
        market_analysis(data.market.clone(), data.risk.clone())?,
        policy_matcher(data.policies.clone())?,
    ])
}
