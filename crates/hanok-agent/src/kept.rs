//! What a call gave, as it is kept with its step.

use hanok_core::Spent;
use hanok_graph::Context;
use serde::{Deserialize, Serialize};

use crate::{DataMark, Observation};

/// An observation as it is kept with its call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) observation: Observation,
    pub(crate) mark: DataMark,
    #[serde(default)]
    pub(crate) spent: Spent,
}

impl Kept {
    pub(crate) fn new(context: &Context, observation: Observation, spent: Spent) -> Self {
        Self { observation, mark: DataMark::new(&*context.runtime().rng), spent }
    }
}

/// What a call that must not be repeated gave: as it was kept, or as a person who knows says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Made {
    Kept(Kept),
    Text(String),
    Json(serde_json::Value),
}
