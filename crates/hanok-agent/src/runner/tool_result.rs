//! The result of a call as its step stores it.

use hanok_core::Spent;
use hanok_graph::Context;
use hanok_model::DataMark;
use serde::{Deserialize, Serialize};

use crate::observation::Observation;

/// The observation of a call, as the memoised step stores it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallRecord {
    pub(crate) observation: Observation,
    pub(crate) mark: DataMark,
    #[serde(default)]
    pub(crate) spent: Spent,
}

impl CallRecord {
    pub(crate) fn new(context: &Context, observation: Observation, spent: Spent) -> Self {
        Self { observation, mark: DataMark::new(&*context.runtime().rng), spent }
    }
}

/// The result of a call that must not be repeated: the stored record, or the result that a person gives.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum OnceResult {
    Record(CallRecord),
    Text(String),
    Json(serde_json::Value),
}
