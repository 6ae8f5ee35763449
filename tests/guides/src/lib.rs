//! The programs of the guides, compiled and run: each guide is here, and `cargo xtask tidy` says when one is not.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/coming-from-langgraph.md")]
pub struct ComingFromLangGraph;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/observability.md")]
pub struct Observability;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/state.md")]
pub struct State;
