//! What the tools of one reply write into the state, joined in the order of the calls.

use std::sync::Arc;

use hanok_core::{Chain, Change, StoredState};
use hanok_graph::Context;
use hanok_model::ToolTarget;
use hanok_parse::Language;
use hanok_state::{Messages, State, StateUpdate, StateWrite, ToolCall};

use crate::{
    conversation,
    has_agent::HasAgent,
    observation::{FaultKind, Observation},
    prompt,
    runner::tool_result::ToolResult,
    state::AgentState,
};

/// Where the conversation stands in a state.
type MessagesOf<S> = fn(&S) -> &Messages;

/// Reads a write of a part of a state, given the earlier stored forms of the state and the node.
type ReadPart<S> = fn(&S, &StateWrite, &[StoredState], &Arc<str>) -> Option<<S as State>::Update>;

/// The state that the calls of one reply write to.
pub(crate) struct ToolWrites<'a, S: State> {
    state: &'a S,
    /// The stored forms that the state had in earlier builds, in which a call may have written.
    earlier: &'a [StoredState],
    node: Arc<str>,
    language: Language,
    /// Where the conversation stands in the state, if it has one.
    messages: Option<MessagesOf<S>>,
    /// True if a tool may say where the run goes on.
    goes_on: bool,
    /// Reads a write that is none of the whole state, where a part of it can take it.
    part: ReadPart<S>,
}

/// What the calls of one reply come to.
pub(crate) struct Written<'a, S: State> {
    /// The results, and what the tools write.
    pub(crate) update: S::Update,
    /// Where the run goes on, and the call that says so.
    pub(crate) target: Option<(&'a ToolCall, ToolTarget)>,
    /// Each call and its observation.
    pub(crate) results: Vec<(&'a ToolCall, Observation)>,
    /// The calls whose wishes do not stand, with what the model reads.
    pub(crate) refused: Vec<(&'a ToolCall, Observation)>,
}

/// The node's own update, and those of tools so far.
struct Standing<'a, S: State> {
    own: &'a S::Update,
    /// True when every call has its result after the node's own update.
    whole: bool,
    written: &'a [(Arc<str>, S::Update)],
}

impl<'a, S: HasAgent> ToolWrites<'a, S> {
    /// The state of an agent. A tool may write to the whole of it, or to the agent's part.
    pub(crate) fn of_agent<C>(state: &'a S, context: &'a Context<C>, language: Language) -> Self {
        fn messages<S: HasAgent>(state: &S) -> &Messages {
            &state.agent().messages
        }
        let part = |state: &S, write: &StateWrite, earlier: &[StoredState], node: &Arc<str>| {
            let earlier = earlier.iter().filter_map(|whole| agent_part::<S>(state, whole));
            let earlier: Vec<_> = earlier.collect();
            let update = write.read(state.agent(), &earlier, node);
            update.map(S::wrap).map_err(drop).ok()
        };
        Self { part, ..Self::new(state, context, language, messages) }
    }
}

impl<'a, S: State> ToolWrites<'a, S> {
    /// A state that holds a conversation.
    pub(crate) fn new<C>(
        state: &'a S,
        context: &'a Context<C>,
        language: Language,
        messages: MessagesOf<S>,
    ) -> Self {
        Self { messages: Some(messages), goes_on: true, ..Self::of_plan(state, context, language) }
    }

    /// A state without a conversation, in a node that goes on as a plan says.
    pub(crate) fn of_plan<C>(state: &'a S, context: &'a Context<C>, language: Language) -> Self {
        let part = |_: &S, _: &StateWrite, _: &[StoredState], _: &Arc<str>| None;
        let (earlier, node) = (context.earlier_states(), context.node().into());
        Self { state, earlier, node, language, messages: None, goes_on: false, part }
    }

    /// Joins what the tools write behind the node's `own` update, which holds the messages of the results.
    ///
    /// A write stands if it can be merged with those before it as if each were a node's, if it leaves every call with one result,
    /// and if no call before it says otherwise where the run goes on. One that does not stand is applied in no part.
    pub(crate) fn join<'c>(
        &self,
        mut results: Vec<(&'c ToolCall, ToolResult)>,
        own: impl Fn(&[(&'c ToolCall, ToolResult)]) -> S::Update,
    ) -> Written<'c, S> {
        let (mut target, mut refused) = (None, Vec::new());
        let mut written: Vec<(Arc<str>, S::Update)> = Vec::new();
        let wishes = results.iter().any(|(_, it)| it.update.is_some() || it.target.is_some());
        // The order of the messages is that of the calls, whatever becomes of their words.
        let base = wishes.then(|| own(&results));
        let whole = base.as_ref().is_some_and(|base| self.is_whole(base));
        for (call, result) in &mut results {
            let (update, wish) = (result.update.take(), result.target.take());
            let Some(own) = base.as_ref().filter(|_| update.is_some() || wish.is_some()) else {
                continue;
            };
            let standing = Standing { own, whole, written: &written };
            match self.stands(call, update, wish.as_ref(), target.as_ref(), &standing) {
                Ok(update) => {
                    written.extend(update.map(|update| (named(call), update)));
                    target = target.or(wish.map(|wish| (*call, wish)));
                }
                Err(reason) => {
                    let observation = &mut result.observation;
                    observation.text =
                        prompt::not_applied(&observation.text, &reason, self.language);
                    observation.fault = Some(FaultKind::NotApplied);
                    refused.push((*call, observation.clone()));
                }
            }
        }
        let update = written.into_iter().fold(own(&results), |all, (_, update)| all.and(update));
        let results = results.into_iter().map(|(call, result)| (call, result.observation));
        Written { update, target, results: results.collect(), refused }
    }

    /// The update of a call, or the reason for which neither that nor its target stands.
    fn stands(
        &self,
        call: &ToolCall,
        update: Option<StateWrite>,
        wish: Option<&ToolTarget>,
        target: Option<&(&ToolCall, ToolTarget)>,
        before: &Standing<'_, S>,
    ) -> Result<Option<S::Update>, String> {
        match (target, wish) {
            (_, Some(_)) if !self.goes_on => Err(prompt::goes_on_by_plan(self.language)),
            (Some((first, at)), Some(wish)) if at != wish => {
                Err(prompt::second_target(&first.name, self.language))
            }
            _ => update.map(|update| self.fits(&update, call, before)).transpose(),
        }
    }

    /// The update that `write` is, if it stands beside those before it.
    fn fits(
        &self,
        write: &StateWrite,
        call: &ToolCall,
        before: &Standing<'_, S>,
    ) -> Result<S::Update, String> {
        let update = match write.read(self.state, self.earlier, &self.node) {
            Ok(update) => update,
            Err(error) => (self.part)(self.state, write, self.earlier, &self.node)
                .ok_or_else(|| Chain(&error).to_string())?,
        };
        let mut writes = vec![(self.node.clone(), before.own.clone())];
        writes.extend(before.written.iter().cloned());
        writes.push((named(call), update.clone()));
        let merged = self.merged(writes).map_err(|error| error.to_string())?;
        match before.whole && !self.has_its_results(&merged) {
            true => Err(prompt::not_whole(self.language)),
            false => Ok(update),
        }
    }

    fn has_its_results(&self, state: &S) -> bool {
        self.messages.is_none_or(|messages| conversation::is_whole(messages(state)))
    }

    fn is_whole(&self, own: &S::Update) -> bool {
        let merged = self.merged(vec![(self.node.clone(), own.clone())]);
        merged.is_ok_and(|merged| self.has_its_results(&merged))
    }

    /// The state after `writes`, as if each were a node's.
    fn merged(
        &self,
        mut writes: Vec<(Arc<str>, S::Update)>,
    ) -> Result<S, hanok_state::ReduceError> {
        let (mut merged, mut count) = (S::clone(self.state), 0);
        for (_, write) in &mut writes {
            write.complete(&mut || {
                count += 1;
                format!("{}-{count}", self.node)
            });
        }
        let mut writes: Vec<_> = writes.iter_mut().map(|(name, it)| (&*name, it)).collect();
        merged.merge_writes(&mut writes, false)?;
        Ok(merged)
    }
}

/// The agent's part of an earlier stored form of `state`, under the name that the part had then.
fn agent_part<S: HasAgent>(state: &S, whole: &StoredState) -> Option<StoredState> {
    let (mut schema, mut part) = (state.schema(), whole.clone());
    let mut written = S::wrap(AgentState::update().should_stop(true)).to_changes().ok()?;
    while let Some((name, Change::Nested(within))) = written.0.pop() {
        let field = schema.field(&name)?;
        let mut names = std::iter::once(&*field.name).chain(field.aliases.iter().copied());
        part = names.find_map(|name| part.nested(name))?;
        (schema, written) = (field.nested?, within);
    }
    Some(part)
}

/// The name of a call's write in an error.
fn named(call: &ToolCall) -> Arc<str> {
    format!("{} ({})", call.name, call.id).into()
}
