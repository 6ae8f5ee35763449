//! Evidence on its way out of a node.

use hanok_graph::Context;

use super::{
    error::LearningError,
    evidence::{Evidence, LessonRef},
    kind::MemoryKind,
    registry::checked,
};

/// Puts `evidence` into the outbox of the node's thread, for the [`Learner`](crate::Learner) of `topic`: it is committed with
/// the super-step or not at all, and no answer waits for it to be learned.
///
/// ```
/// use hanok_graph::{BoxError, Context};
/// use hanok_learning::{Actor, Evidence, Preference, PreferenceStatement, teach};
/// use hanok_state::Message;
///
/// fn learn(said: &Message, context: &Context) -> Result<(), BoxError> {
///     let likes = PreferenceStatement::new("drink", "green tea", "I like green tea", said)?;
///     let (id, user) = (said.id().unwrap_or_default(), "kim");
///     let evidence = Evidence::new(context, "drink", user, Actor::User, id, likes);
///     Ok(teach::<Preference, _>(context, "memory", &evidence)?)
/// }
///
/// # let context = Context::for_test(()).build()?;
/// assert!(learn(&Message::user("I like green tea, by the way."), &context).is_ok());
/// assert!(learn(&Message::user("I like coffee."), &context).is_err());
/// # Ok::<(), hanok_graph::BoxError>(())
/// ```
///
/// # Errors
///
/// [`LearningError::Refused`] and [`LearningError::Name`] when no learner would count it; [`LearningError::Value`] when it cannot
/// be encoded.
pub fn teach<K: MemoryKind, C>(
    context: &Context<C>,
    topic: &str,
    evidence: &Evidence<K::Body>,
) -> Result<(), LearningError> {
    checked::<K>(evidence)?;
    Ok(context.hand_out(topic, &LessonRef { kind: K::NAME, evidence })?)
}
