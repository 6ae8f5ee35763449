//! The programs of the guides, compiled and run: each guide is here, and `cargo xtask tidy` says when one is not.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/agents.md")]
pub struct Agents;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/coming-from-langgraph.md")]
pub struct ComingFromLangGraph;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/control-flow.md")]
pub struct ControlFlow;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/conversations.md")]
pub struct Conversations;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/documents.md")]
pub struct Documents;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/durability.md")]
pub struct Durability;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/effects.md")]
pub struct Effects;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/encryption.md")]
pub struct Encryption;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/errors.md")]
pub struct Errors;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/failure.md")]
pub struct Failure;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/getting-started.md")]
pub struct GettingStarted;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/limits.md")]
pub struct Limits;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/long-term-memory.md")]
pub struct LongTermMemory;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/observability.md")]
pub struct Observability;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/people-in-the-loop.md")]
pub struct PeopleInTheLoop;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/postgresql.md")]
pub struct Postgresql;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/retention.md")]
pub struct Retention;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/state.md")]
pub struct State;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/streams.md")]
pub struct Streams;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/subgraphs.md")]
pub struct Subgraphs;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/testing.md")]
pub struct Testing;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/time-travel.md")]
pub struct TimeTravel;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/tools.md")]
pub struct Tools;
