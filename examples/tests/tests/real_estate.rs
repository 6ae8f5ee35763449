//! What the team of `real-estate` finds, reckons, writes and says.

mod amount;
mod data;
mod documents;
mod law;
mod leases;
mod legal_search;
mod loans;
mod money_and_document_tools;
mod names;
mod pair;
mod program;
mod python;
mod question;
mod rent;
mod returns;
mod search_tools;
mod stream;
mod team;
mod watched;
