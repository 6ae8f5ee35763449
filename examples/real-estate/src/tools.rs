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

use std::{path::PathBuf, sync::Arc};

use hanok_model::{InvalidSpec, SharedTool};

use crate::{data::Data, documents::ContractRules};

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

/// The tools of the search team.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn search_tools(data: &Data) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![
        SharedTool::new(legal_search(data.law.clone())?),
        SharedTool::new(market_data(data.market.clone())?),
        SharedTool::new(real_estate_search(data.listings.clone())?),
        SharedTool::new(loan_data(data.loans.clone())?),
    ])
}

/// The tools of the analysis team.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn analysis_tools(
    data: &Data,
    rules: &Arc<ContractRules>,
) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![
        SharedTool::new(contract_analysis(data.limits.clone(), rules.clone())?),
        SharedTool::new(market_analysis(data.market.clone(), data.risk.clone())?),
        SharedTool::new(roi_calculator()?),
        SharedTool::new(loan_simulator(data.limits.clone())?),
        SharedTool::new(policy_matcher(data.policies.clone())?),
    ])
}

/// The tool of the document team, which writes into the folder `out`.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn document_tools(
    data: &Data,
    rules: &Arc<ContractRules>,
    out: PathBuf,
) -> Result<Vec<SharedTool>, InvalidSpec> {
    let tool = lease_contract_generator(out, data.limits.clone(), rules.clone())?;
    Ok(vec![SharedTool::new(tool)])
}
