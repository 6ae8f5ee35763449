//! The ten tools.

mod contract_analysis;
mod lease_contract_generator;
mod legal_search;
mod loan_simulator;
mod market_analysis;
mod market_data;
mod roi_calculator;
mod words;

pub use contract_analysis::{
    Analysis, ContractFindings, ContractQuestion, RentAnswer, analyse, contract_analysis,
};
pub use lease_contract_generator::{Generated, LeaseOrder, generate, lease_contract_generator};
pub use legal_search::{Absent, By, FoundArticle, LawAnswer, LawQuestion, LawSearch, legal_search};
pub use loan_simulator::{Check, LoanQuestion, LoanSummary, Measure, loan_simulator, simulate};
pub use market_analysis::{
    AnalysisQuestion, Comparison, MarketAnalysis, Ratio, Trend, analyse_market, market_analysis,
};
pub use market_data::{
    Change, MarketPrices, MarketQuestion, MonthPrice, Series, market_data, prices,
};
pub use roi_calculator::{RoiQuestion, roi_calculator, yields};
