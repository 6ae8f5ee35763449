//! Long-term memory of a user: records that are folds of evidence.
//!
//! A node *teaches*: it puts a piece of [`Evidence`] into the outbox of its thread, so it is committed with the super-step or not
//! at all. After the answer a [`Learner`] takes it out and folds it into a record of its [`MemoryKind`], in one batch of the store.
//!
//! Invariants:
//!
//! - A record is the fold of the evidence that is stored beside it, in whatever order that came: whoever folds anew arrives at the
//!   same bytes. So forgetting is removing evidence and folding the rest.
//! - Evidence and record are written in one batch. Evidence is expected to be absent, the record to be of the version that was
//!   read: what is delivered twice, or to two learners, counts once.
//! - The tenant and the thread of evidence are those of the thread that it was committed in, whatever it says itself.
//! - Evidence stands below its record, an item for each id says which record that is, and an item for each turn and each server
//!   says which records it taught something: all of it is written in the batch of the record. So folding one record again reads its
//!   evidence alone, and forgetting a thread or a server reads what it taught.
//! - Evidence of a kind that a build does not know is set aside, in the namespace of its user, and holds up no other. The learner that
//!   knows the kind finds it by an item of the default tenant, which names the kind and the tenant.
//! - Every read and search is within one tenant and one user; only forgetting a thread or a server reaches all users of its tenant.

mod aside;
mod count;
mod days;
mod episode;
mod error;
mod evidence;
mod forget;
mod kind;
mod learner;
mod long_term;
mod memories;
mod names;
mod orchestration;
mod preference;
mod proposer;
mod recalled;
mod registry;
mod stated_preferences;
mod teach;
mod transfer;
mod user;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_model as model;
pub use hanok_parse as parse;
pub use hanok_state as state;

pub use days::Days;
pub use episode::{Episode, EpisodeReport};
pub use error::{LearningError, Refusal};
pub use evidence::{Actor, Evidence, EvidenceSource};
pub use forget::{Forget, ForgottenEvidence};
pub use kind::MemoryKind;
pub use learner::{Drained, Learner, RefusedEvidence};
pub use long_term::LongTerm;
pub use memories::{Learned, Memories};
pub use orchestration::{
    admission::{LONGEST_TEXT, MOST_ITEMS},
    behaviour_memory::{BehaviourMemory, GateAction, GateActions, GateReport},
    candidate::{Candidate, CandidateScore, Candidates, Shortfall},
    clarification_advice::{ClarificationAdvice, ReusableAnswer},
    clarification_memory::{
        ClarificationEvent, ClarificationMemory, ClarificationReport, ClarificationTally, Clarity,
    },
    cold_start::{adjusted_confidence, calculate_confidence_multiplier},
    gate_verdict::{GateReason, GateVerdict},
    judge::{EqualTexts, Labeller, TextJudge, TextRelation, labelled},
    normal::normalized,
    orchestrator::{OrchestratorMemory, WorkflowTemplate},
    plan_memory::{PlanDecisions, PlanEvent, PlanMemory, PlanReport, PlanTally},
    policy::{
        ApprovalPolicy, AutomaticPolicy, AvoidancePolicy, CandidatePolicy, OrchestratorPolicy,
    },
    similarity::TextSimilarity,
    stamped::Stamped,
    tally::{Outcomes, RunOutcome, Tally},
    tool_advice::{Avoidance, ToolAdvice, ToolStanding},
    tool_memory::{ToolMemory, ToolReport, ToolTally},
    tool_ref::ToolRef,
    workflow_memory::{ToolSequence, WorkflowMemory, WorkflowReport},
};
pub use preference::{
    NotStated, Preference, PreferenceProposal, PreferenceStatement, PreferredValue,
};
pub use proposer::{PreferenceProposer, RulesAlone};
pub use recalled::{RecallScore, Recalled, Recollection, RecordOrigin};
pub use stated_preferences::stated_preferences;
pub use teach::teach;
pub use user::{Remembered, UserMemories};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
