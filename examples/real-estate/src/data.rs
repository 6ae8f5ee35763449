//! The data that the tools read: files that ship with the program and that a user can replace.
//!
//! [`Data`] has all of them. Each says of which day it is and where it comes from ([`Origin`]), and a file that is wrong is
//! refused with its line ([`DataError`]).

mod all;
pub mod conditions;
pub mod deal;
mod error;
pub mod law;
pub mod limits;
mod lines;
pub mod listings;
pub mod loans;
pub mod market;
mod origin;
pub mod policies;
pub mod risk;

pub use all::Data;
pub use error::DataError;
pub use law::Law;
pub use limits::Limits;
pub use listings::Listings;
pub use loans::LoanProducts;
pub use market::Market;
pub use origin::Origin;
pub use policies::Policies;
pub use risk::RiskTable;
