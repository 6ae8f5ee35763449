//! Hooks of a plain agent, in one with a state or services of its own.

use std::fmt;

use hanok_core::BoxError;
use hanok_graph::Context;

use super::{Hook, HookPoint, SharedHook, outcome::Hooked};
use crate::{has_agent::HasAgent, state::AgentState};

/// A hook of an agent without a state of its own.
pub(crate) struct OfAgentState<C>(pub(crate) SharedHook<AgentState, C>);

impl<C: Send + Sync + 'static> OfAgentState<C> {
    async fn run<S: HasAgent>(
        &self,
        point: HookPoint,
        state: &S,
        context: &Context<C>,
    ) -> Result<Hooked<S>, BoxError> {
        Ok(self.0.run(point, state.agent(), context).await?.wrapped())
    }
}

/// A hook of an agent without services.
pub(crate) struct WithoutServices<S>(pub(crate) SharedHook<S, ()>);

impl<S: HasAgent> WithoutServices<S> {
    async fn run<C>(
        &self,
        point: HookPoint,
        state: &S,
        context: &Context<C>,
    ) -> Result<Hooked<S>, BoxError> {
        let context = context.with_services(());
        self.0.run(point, state, &context).await
    }
}

/// Hands all methods of a hook on to `run`.
macro_rules! handed_on {
    () => {
        fn name(&self) -> &str {
            self.0.name()
        }

        async fn before_agent(&self, state: &S, cx: &Context<C>) -> Result<Hooked<S>, BoxError> {
            self.run(HookPoint::BeforeAgent, state, cx).await
        }

        async fn before_model(&self, state: &S, cx: &Context<C>) -> Result<Hooked<S>, BoxError> {
            self.run(HookPoint::BeforeModel, state, cx).await
        }

        async fn after_model(&self, state: &S, cx: &Context<C>) -> Result<Hooked<S>, BoxError> {
            self.run(HookPoint::AfterModel, state, cx).await
        }

        async fn after_agent(&self, state: &S, cx: &Context<C>) -> Result<Hooked<S>, BoxError> {
            self.run(HookPoint::AfterAgent, state, cx).await
        }
    };
}

impl<S: HasAgent, C: Send + Sync + 'static> Hook<S, C> for OfAgentState<C> {
    handed_on!();
}

impl<S: HasAgent, C: Send + Sync + 'static> Hook<S, C> for WithoutServices<S> {
    handed_on!();
}

impl<C> fmt::Debug for OfAgentState<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S> fmt::Debug for WithoutServices<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
