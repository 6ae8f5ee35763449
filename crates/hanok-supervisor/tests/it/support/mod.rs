//! Supervisors of scripted models.

#![allow(dead_code, reason = "not every test uses all of it")]

use hanok_agent::ReactAgent;
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{RunError, Thread};
use hanok_model::{Exchange, ScriptedModel};
use hanok_supervisor::{Supervisor, SupervisorBuilder, SupervisorState};

/// A supervisor of `search` and `count`, each with a model of its own.
pub(crate) struct House {
    pub(crate) router: ScriptedModel,
    pub(crate) search: ScriptedModel,
    pub(crate) count: ScriptedModel,
    pub(crate) supervisor: Supervisor,
    pub(crate) thread: Thread<SupervisorState>,
}

impl House {
    pub(crate) fn new(router: impl IntoIterator<Item = Exchange>) -> Self {
        Self::with(router, [], [], |builder| builder)
    }

    pub(crate) fn with(
        router: impl IntoIterator<Item = Exchange>,
        search: impl IntoIterator<Item = Exchange>,
        count: impl IntoIterator<Item = Exchange>,
        build: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Self {
        let [router, search, count] =
            [ScriptedModel::new(router), ScriptedModel::new(search), ScriptedModel::new(count)];
        let agent = |name, description, model: &ScriptedModel| {
            ReactAgent::builder(name, description, model.clone()).max_iterations(2).build().unwrap()
        };
        let builder = Supervisor::builder(router.clone())
            .agent(agent("search", "Searches the rules", &search))
            .agent(agent("count", "Does sums", &count));
        let supervisor = build(builder).build().unwrap();
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = supervisor.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
        Self { router, search, count, supervisor, thread }
    }

    /// One turn, to its end.
    pub(crate) async fn ask(&self, text: &str) -> Result<SupervisorState, RunError> {
        let outcome = self.thread.invoke(self.supervisor.ask(text), ()).await?;
        Ok(outcome.done().unwrap())
    }

    /// The whole script happened.
    pub(crate) fn finished(&self) {
        for model in [&self.router, &self.search, &self.count] {
            model.finished().unwrap();
        }
    }
}
