//! A task whose node's results are cached.

use std::sync::Arc;

use hanok_state::State;

use super::{stored_result::StoredResult, task::TaskRunner, task_outcome::TaskOutcome};
use crate::{
    node::{
        attempt::TaskAttempt,
        cache::{self, Cache, CacheLookup},
        command::Command,
    },
    observe::event::EventKind,
};

impl<S: State, C: Send + Sync + 'static> TaskRunner<'_, S, C> {
    /// Uses a cached result, or runs the node and caches its result.
    pub(super) async fn cached(
        &self,
        scope: &Arc<TaskAttempt>,
        settings: &Cache<S, C>,
    ) -> TaskOutcome<S::Update> {
        let key = match (settings.key)(self.state, self.services) {
            Ok(key) => key,
            Err(error) => return TaskOutcome::Failed(error.into()),
        };
        let tenant = scope.env.journal.thread().tenant();
        let key = cache::key(tenant, &scope.task.node, &key, scope.task.input.as_ref());
        let clock = &*scope.env.runtime.clock;
        match self.graph.results.look(key, clock).await {
            CacheLookup::Hit(command) => self.hit(command, scope),
            CacheLookup::Miss(making) => {
                let (graph, node) = (self.graph, &*scope.task.node);
                let stored = settings
                    .store
                    .as_ref()
                    .and_then(|store| StoredResult::of(store, tenant, graph, node, key, clock));
                if let Some(stored) = &stored
                    && let Some(command) = stored.get().await
                {
                    making.keep(command.clone(), settings.ttl, clock);
                    return self.hit(command, scope);
                }
                let mut made = None;
                let ended = self.attempts(scope, |command| made = command.cloned()).await;
                if let (TaskOutcome::Done(_), Some(command)) = (&ended, made) {
                    if let Some(stored) = &stored {
                        stored.put(self.graph, command.clone(), settings.ttl).await;
                    }
                    making.keep(command, settings.ttl, clock);
                }
                ended
            }
        }
    }

    /// Uses a result that was made before.
    fn hit(&self, command: Command<S>, scope: &TaskAttempt) -> TaskOutcome<S::Update> {
        scope.started();
        let ended = self.finish(command, scope);
        if matches!(ended, TaskOutcome::Done(_)) {
            scope.emit(EventKind::TaskFinished { cached: true });
        }
        ended
    }
}
