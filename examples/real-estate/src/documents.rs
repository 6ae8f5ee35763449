//! Documents: what a lease says, what it lacks, and a lease that is written.
//!
//! [`LeaseTerms`] are what is to be written. [`missing`] says what nobody stated, [`lease`] makes a [`Page`] of the rest, and
//! [`write()`] puts that into files. [`ContractRules`] find what stands in a contract and should not, and [`review()`] weighs it.

mod checks;
mod docx;
mod fields;
mod files;
mod findings;
mod lease;
mod markdown;
mod names;
mod page;
pub mod review;
mod rules;
mod stated;
mod template;
mod terms;

pub use checks::TermsError;
pub use docx::DocxError;
pub use fields::{Field, form, missing};
pub use files::{FileError, Files, call_stem, file_stem, write};
pub use findings::{Facts, Finding, FindingKind, Risk, examine};
pub use lease::{DocumentKind, LeaseError, draft, lease};
pub use page::{Block, BlockKind, Page};
pub use review::{Factor, Level, Review, review, review_needed};
pub use rules::{ContractRules, Rule};
pub use template::Template;
pub use terms::LeaseTerms;
