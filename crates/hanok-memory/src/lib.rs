#![doc = include_str!("../README.md")]

mod action;
mod apply;
mod change;
mod compactor;
mod event;
mod expand;
mod full_window;
mod learning;
mod memory;
mod orchestration;
mod pin;
mod plan;
mod policy;
mod prompt_size;
mod request;
mod separated;
mod shrink;
mod stated_facts;
mod turn_data;
mod unit;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_model as model;
pub use hanok_parse as parse;
pub use hanok_state as state;

pub use action::{Action, Replaced};
pub use apply::NotApplied;
pub use change::CompactionChange;
pub use compactor::{Compactor, MemoryError, Remembers, SummaryModel};
pub use event::MemoryEvent;
pub use expand::{ExpandError, Expanded, expand};
pub use full_window::FullWindow;
pub use learning::{
    days::Days,
    episode::{Episode, EpisodeReport},
    error::{LearningError, Refusal},
    evidence::{Actor, Evidence, EvidenceSource},
    forget::{Forget, ForgottenEvidence},
    kind::MemoryKind,
    learner::{Drained, Learner, RefusedEvidence},
    long_term::LongTerm,
    memories::{Learned, Memories},
    preference::{NotStated, Preference, PreferenceProposal, PreferenceStatement, PreferredValue},
    proposer::{PreferenceProposer, RulesAlone},
    recalled::{RecallScore, Recalled, Recollection, RecordOrigin},
    stated_preferences::stated_preferences,
    teach::teach,
    user::{Remembered, UserMemories},
};
pub use memory::{ConversationMemory, ConversationMemoryUpdate, Fact, FactKind, Summary};
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
pub use plan::Plan;
pub use policy::{Compaction, KeepRecent, Overflow, PolicyError, Trigger};
pub use prompt_size::{PromptParts, PromptSize};
pub use separated::SeparatorInside;
pub use shrink::STORED;
pub use stated_facts::stated_facts;
pub use turn_data::turn_data;
