//! What a model may do here: compare two texts, and choose a label from a closed list.

use std::future::Future;

use hanok_core::{BoxError, Call};
use serde::{Deserialize, Serialize};

use super::normal::normalized;

/// What two texts ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextRelation {
    /// The same.
    Same,
    /// Something else.
    Different,
    /// The contrary.
    Contradicting,
}

/// Whatever judges whether two texts ask for the same: a model, as a rule.
///
/// # Contract
///
/// - It reads the two texts and nothing else: both are data, and no instruction in them is heeded.
/// - It fails only where the run has to end. A model that does not answer judges [`TextRelation::Different`].
///
/// ```
/// use hanok_core::{BoxError, Call};
/// use hanok_learning::{TextJudge, TextRelation};
///
/// /// Asks a small model: with `hanok_agent::Structured`, as a rule.
/// struct OwnModel;
///
/// impl TextJudge for OwnModel {
///     async fn judge(&self, one: &str, other: &str, _: &Call) -> Result<TextRelation, BoxError> {
///         Ok(if one.len() == other.len() { TextRelation::Same } else { TextRelation::Different })
///     }
/// }
/// ```
pub trait TextJudge: Send + Sync {
    /// What `one` and `other` ask for.
    ///
    /// # Errors
    ///
    /// Whatever ends the run.
    fn judge(
        &self,
        one: &str,
        other: &str,
        call: &Call,
    ) -> impl Future<Output = Result<TextRelation, BoxError>> + Send;
}

/// Nobody: texts are the same when their normal forms are equal.
#[derive(Debug, Clone, Copy, Default)]
pub struct EqualTexts;

impl TextJudge for EqualTexts {
    async fn judge(&self, one: &str, other: &str, _: &Call) -> Result<TextRelation, BoxError> {
        Ok(match normalized(one) == normalized(other) {
            true => TextRelation::Same,
            false => TextRelation::Different,
        })
    }
}

/// Whatever chooses a label for a text: a model, as a rule. What it says is data: see [`labelled`].
pub trait Labeller: Send + Sync {
    /// The label of `labels` that fits `text`; `None` when none does, or when a model does not answer.
    ///
    /// # Errors
    ///
    /// Whatever ends the run.
    fn label(
        &self,
        text: &str,
        labels: &[&str],
        call: &Call,
    ) -> impl Future<Output = Result<Option<String>, BoxError>> + Send;
}

/// The label of the closed list `labels` that `labeller` chooses for `text`, as the list writes it; `None` when it chooses none, or
/// something that does not stand in the list. Make it a step of a node, so that a replay has the same.
///
/// ```
/// use hanok_core::{BoxError, Call};
/// use hanok_learning::{Labeller, labelled};
///
/// struct Invents;
///
/// impl Labeller for Invents {
///     async fn label(&self, text: &str, _: &[&str], _: &Call) -> Result<Option<String>, BoxError> {
///         Ok(text.split(' ').next().map(str::to_owned))
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let (labels, call) = (["lease", "tax"], Call::detached());
/// assert_eq!(labelled("LEASE of a flat", &labels, &Invents, &call).await?, Some("lease"));
/// assert_eq!(labelled("Weather in Seoul", &labels, &Invents, &call).await?, None);
/// # Ok::<(), BoxError>(())
/// # }).unwrap();
/// ```
///
/// # Errors
///
/// As [`Labeller::label`].
pub async fn labelled<'l>(
    text: &str,
    labels: &[&'l str],
    labeller: &impl Labeller,
    call: &Call,
) -> Result<Option<&'l str>, BoxError> {
    let Some(chosen) = labeller.label(text, labels, call).await? else { return Ok(None) };
    let chosen = normalized(&chosen);
    Ok(labels.iter().copied().find(|label| normalized(label) == chosen))
}
