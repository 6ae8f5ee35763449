//! The hooks of a turn, one after the other, and what is written beside them.

use std::sync::Arc;

use hanok_core::{BoxError, Chain};
use hanok_graph::{Command, Context, Snapshot, StepError};
use hanok_state::{State, StateUpdate, UnfitWrite};

use crate::{
    error::AgentError,
    has_agent::HasAgent,
    hook::{
        HookPoint,
        outcome::{Hooked, Jump, StoredHook},
    },
    settings::AgentParts,
    state::{AgentState, AgentStateUpdate, StopReason},
};

/// One node's part of a turn: the state after what was written so far, and all of that as one update.
pub(crate) struct Turn<'a, S: HasAgent, C> {
    parts: &'a AgentParts<S, C>,
    context: &'a Context<C>,
    node: Arc<str>,
    pub(crate) now: Arc<S>,
    update: S::Update,
    /// The tools that the model is shown next, if hooks chose some.
    pub(crate) tools: Option<Vec<String>>,
    /// The node at which the calling graph goes on, if the turn ends.
    pub(crate) parent: Option<String>,
}

impl<'a, S: HasAgent, C: Send + Sync + 'static> Turn<'a, S, C> {
    pub(crate) fn new(
        parts: &'a AgentParts<S, C>,
        state: Snapshot<S>,
        context: &'a Context<C>,
    ) -> Self {
        let node = context.node().into();
        let (now, update) = (state.into(), S::update());
        Self { parts, context, node, now, update, tools: None, parent: None }
    }

    /// Writes `update` behind what was written so far.
    pub(crate) fn write(&mut self, update: S::Update) -> Result<(), AgentError> {
        if !self.parts.hooks.is_empty() {
            let (mut seen, mut now) = (update.clone(), S::clone(&self.now));
            let mut count = 0;
            // The engine gives the ids that stay.
            seen.complete(&mut || {
                count += 1;
                format!("{}-{count}", self.node)
            });
            now.merge_writes(&mut [(&self.node, &mut seen)], false).map_err(|source| {
                AgentError::Write { agent: self.parts.settings.name.clone(), source }
            })?;
            self.now = Arc::new(now);
        }
        self.update = std::mem::take(&mut self.update).and(update);
        Ok(())
    }

    /// Writes to the agent's part.
    pub(crate) fn write_agent(&mut self, update: AgentStateUpdate) -> Result<(), AgentError> {
        self.write(S::wrap(update))
    }

    /// Runs the hooks of `point` up to the first that jumps.
    pub(crate) async fn hooks(&mut self, point: HookPoint) -> Result<Option<Jump>, AgentError> {
        let count = self.parts.hooks.len();
        for turn in 0..count {
            let index = if point.is_behind() { count - 1 - turn } else { turn };
            let hooked = self.hook(point, index).await.map_err(|source| AgentError::Hook {
                agent: self.parts.settings.name.clone(),
                hook: self.parts.hooks.get(index).map_or("", |hook| hook.name()).to_owned(),
                point,
                source,
            })?;
            let Some(Hooked { update, tools, jump, .. }) = hooked else { continue };
            if !update.is_empty() {
                self.write(update)?;
            }
            if tools.is_some() {
                self.tools = tools;
            }
            if jump.is_some() {
                return Ok(jump);
            }
        }
        Ok(None)
    }

    /// Runs one hook, once and for all of the task's runs. `None` for one that does nothing here.
    ///
    /// What the hook of an earlier build gave back and this build cannot read is as nothing: a hook is repeatable, and runs again.
    async fn hook(&self, point: HookPoint, index: usize) -> Result<Option<Hooked<S>>, BoxError> {
        let Some(hook) = self.parts.hooks.get(index) else { return Ok(None) };
        let (context, mut attempt) = (self.context, 0_u32);
        loop {
            let step = format!("hook-{}-{attempt}-{}", point.code(), hook.name());
            let unread: BoxError = match context.memoised::<StoredHook>(&step) {
                Ok(None) => {
                    let hooked = hook.run(point, &self.now, context).await?;
                    let Some(stored) = StoredHook::of(&hooked)? else { return Ok(None) };
                    let stored =
                        context.step(&step, || async { Ok::<_, BoxError>(stored) }).await?;
                    return Ok(Some(self.read(stored)?));
                }
                Ok(Some(stored)) => match self.read(stored) {
                    Ok(hooked) => return Ok(Some(hooked)),
                    Err(error) => error.into(),
                },
                Err(error @ StepError::Stored { .. }) => error.into(),
                Err(error) => return Err(error.into()),
            };
            tracing::warn!(hook = hook.name(), error = %Chain(&*unread), "a hook of another build runs again");
            attempt += 1;
        }
    }

    fn read(&self, stored: StoredHook) -> Result<Hooked<S>, UnfitWrite> {
        stored.read(&*self.now, self.context.earlier_states(), &self.node)
    }

    /// Ends the turn, if it has to, with the hooks of its end. Returns the command of the node, which goes on at `goto`, or
    /// where the agent would.
    pub(crate) async fn into_command(
        mut self,
        mut goto: Option<&'static str>,
    ) -> Result<Command<S>, AgentError> {
        let agent = self.now.agent();
        if !self.parts.hooks.is_empty() && agent.should_stop && goto.is_none() {
            let limited = agent.stopped == Some(StopReason::MaxIterations);
            if self.hooks(HookPoint::AfterAgent).await? == Some(Jump::Model) && !limited {
                let open = AgentState::update().should_stop(false).stopped(None);
                self.write_agent(open.answer(None).value(None))?;
                goto = Some("call_model");
            }
        }
        let command = Command::new().update(self.update);
        Ok(match (goto, self.parent) {
            (Some(target), _) => command.goto(target).only(),
            (None, Some(node)) => command.parent(Command::<S>::new().goto(node)),
            (None, None) => command,
        })
    }

    /// Asks the model again because a hook says so, unless it may not be asked any more.
    pub(crate) async fn again(mut self) -> Result<Command<S>, AgentError> {
        if self.now.agent().stopped == Some(StopReason::MaxIterations) {
            return self.into_command(None).await;
        }
        let open = AgentState::update().pending_tool_calls(Vec::new()).faults(Vec::new());
        self.write_agent(open.should_stop(false).stopped(None).answer(None).value(None))?;
        self.into_command(Some("call_model")).await
    }

    /// Ends the turn because a hook says so.
    pub(crate) fn end(&mut self) -> Result<(), AgentError> {
        let reason = StopReason::Hook;
        let update = self.parts.settings.stop(self.context, AgentState::update(), reason);
        self.write_agent(update.pending_tool_calls(Vec::new()).faults(Vec::new()))
    }
}
