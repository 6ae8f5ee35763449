//! Hooks: code between the parts of an agent's turn, which reads its state and may write it.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `outcome` | what a hook gives back, and how its step stores it |
//! | `lifted` | hooks of a plain agent in one with a state or services of its own |

pub(crate) mod lifted;
pub(crate) mod outcome;

use std::{fmt, sync::Arc};

use hanok_core::{BoxError, BoxFuture};
use hanok_graph::Context;
use serde::{Deserialize, Serialize};

use self::outcome::Hooked;
use crate::{has_agent::HasAgent, state::AgentState, type_name::type_name};

/// Code between the parts of an agent's turn: it reads the state and the services, and may write fields, add messages that
/// stay, choose tools, or leave the loop. An [`Interceptor`](crate::Interceptor) stands around a single call instead, and
/// changes that alone; hooks stand outside of all interceptors, whichever was added first.
///
/// All methods do nothing by default: write the ones that you need. The hooks run in the order in which they were
/// [added](crate::ReactAgentBuilder::hook), those after a call in the reverse one; each sees what those before it wrote.
///
/// | method | runs |
/// | --- | --- |
/// | [`before_agent`](Self::before_agent) | at the beginning of a turn |
/// | [`before_model`](Self::before_model) | before each time that the model is asked |
/// | [`after_model`](Self::after_model) | after each reply, before its calls are made |
/// | [`after_agent`](Self::after_agent) | at the end of a turn |
///
/// They run within the two nodes of the agent. What each gives back is a memoised step: a run that goes on after a crash reads
/// it, and runs the hook no second time. What a hook does besides is to be repeatable. It may ask a person
/// ([`Context::interrupt`]): then it is run again from its beginning when there is an answer.
///
/// ```
/// use hanok_agent::{AgentState, HasAgent, Hook, Hooked, Jump, ReactAgent, StopReason};
/// use hanok_graph::{BoxError, Context};
/// use hanok_model::ScriptedModel;
/// use hanok_state::{Message, State};
///
/// /// Ends a turn in which a secret word was said.
/// #[derive(Debug)]
/// struct Discreet;
///
/// impl<S: HasAgent, C: Send + Sync + 'static> Hook<S, C> for Discreet {
///     async fn before_agent(&self, state: &S, _: &Context<C>) -> Result<Hooked<S>, BoxError> {
///         let last = state.agent().messages.last().map(|message| message.text().into_owned());
///         Ok(match last.is_some_and(|text| text.contains("swordfish")) {
///             true => Hooked::new().message(Message::assistant("Let us talk of something else.")).jump(Jump::End),
///             false => Hooked::new(),
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let agent = ReactAgent::builder("desk", "Answers", ScriptedModel::new([])).hook(Discreet).build()?;
/// let state = agent.graph().invoke(agent.ask("swordfish?"), ()).await?.done()?;
/// assert_eq!(state.stopped, Some(StopReason::Hook));
/// # Ok(())
/// # }
/// ```
pub trait Hook<S: HasAgent = AgentState, C: Send + Sync + 'static = ()>:
    fmt::Debug + Send + Sync + 'static
{
    /// The name of the hook in what is stored and in errors. A run that goes on in another build finds by it what the hook gave
    /// back. The hooks of an agent have different names. Default: the name of the type, without its module and its parameters.
    fn name(&self) -> &str {
        type_name::<Self>()
    }

    /// Runs at the beginning of a turn.
    ///
    /// # Errors
    ///
    /// An error fails the run.
    fn before_agent(
        &self,
        state: &S,
        context: &Context<C>,
    ) -> impl Future<Output = Result<Hooked<S>, BoxError>> + Send {
        nothing(state, context)
    }

    /// Runs before each time that the model is asked.
    ///
    /// # Errors
    ///
    /// An error fails the run.
    fn before_model(
        &self,
        state: &S,
        context: &Context<C>,
    ) -> impl Future<Output = Result<Hooked<S>, BoxError>> + Send {
        nothing(state, context)
    }

    /// Runs after each reply of the model, which is in the state, before its calls are made.
    ///
    /// # Errors
    ///
    /// An error fails the run.
    fn after_model(
        &self,
        state: &S,
        context: &Context<C>,
    ) -> impl Future<Output = Result<Hooked<S>, BoxError>> + Send {
        nothing(state, context)
    }

    /// Runs at the end of a turn.
    ///
    /// # Errors
    ///
    /// An error fails the run.
    fn after_agent(
        &self,
        state: &S,
        context: &Context<C>,
    ) -> impl Future<Output = Result<Hooked<S>, BoxError>> + Send {
        nothing(state, context)
    }
}

/// The future of a method that a hook does not have.
fn nothing<S: HasAgent, C>(
    _: &S,
    _: &Context<C>,
) -> std::future::Ready<Result<Hooked<S>, BoxError>> {
    std::future::ready(Ok(Hooked::absent()))
}

/// A place in a turn at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookPoint {
    /// The beginning of a turn.
    BeforeAgent,
    /// Before the model is asked.
    BeforeModel,
    /// After a reply of the model.
    AfterModel,
    /// The end of a turn.
    AfterAgent,
}

impl HookPoint {
    /// The stable code, as it is serialised.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::BeforeAgent => "before_agent",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::AfterAgent => "after_agent",
        }
    }

    /// True for a place behind what it is named after: hooks run there in the reverse order.
    pub(crate) fn is_behind(self) -> bool {
        matches!(self, Self::AfterModel | Self::AfterAgent)
    }
}

/// Any hook of an agent with this state and these services.
pub(crate) struct SharedHook<S, C> {
    name: Arc<str>,
    hook: Arc<dyn ErasedHook<S, C>>,
}

impl<S: HasAgent, C: Send + Sync + 'static> SharedHook<S, C> {
    pub(crate) fn new(hook: impl Hook<S, C>) -> Self {
        Self { name: hook.name().into(), hook: Arc::new(hook) }
    }

    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn run(
        &self,
        point: HookPoint,
        state: &S,
        context: &Context<C>,
    ) -> Result<Hooked<S>, BoxError> {
        self.hook.run(point, state, context).await
    }
}

impl<S, C> Clone for SharedHook<S, C> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), hook: self.hook.clone() }
    }
}

impl<S, C> fmt::Debug for SharedHook<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hook.fmt(f)
    }
}

trait ErasedHook<S, C>: fmt::Debug + Send + Sync {
    fn run<'a>(
        &'a self,
        point: HookPoint,
        state: &'a S,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<Hooked<S>, BoxError>>
    where
        S: HasAgent;
}

impl<S: HasAgent, C: Send + Sync + 'static, H: Hook<S, C>> ErasedHook<S, C> for H {
    fn run<'a>(
        &'a self,
        point: HookPoint,
        state: &'a S,
        context: &'a Context<C>,
    ) -> BoxFuture<'a, Result<Hooked<S>, BoxError>> {
        match point {
            HookPoint::BeforeAgent => Box::pin(self.before_agent(state, context)),
            HookPoint::BeforeModel => Box::pin(self.before_model(state, context)),
            HookPoint::AfterModel => Box::pin(self.after_model(state, context)),
            HookPoint::AfterAgent => Box::pin(self.after_agent(state, context)),
        }
    }
}
