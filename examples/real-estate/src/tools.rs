//! The ten tools.

mod contract_analysis;
mod lease_contract_generator;
mod loan_simulator;
mod roi_calculator;

pub use contract_analysis::{
    Analysis, ContractFindings, ContractQuestion, RentAnswer, analyse, contract_analysis,
};
pub use lease_contract_generator::{Generated, LeaseOrder, generate, lease_contract_generator};
pub use loan_simulator::{Check, LoanQuestion, LoanSummary, Measure, loan_simulator, simulate};
pub use roi_calculator::{RoiQuestion, roi_calculator, yields};
