//! Calling a graph from a node of another.

use std::sync::Arc;

use hanok_checkpoint::{Begin, Body, Epoch, Persistence, RunFold};
use hanok_core::{AskError, InvalidName, Namespace, Position, RequestId, RunId, TaskId};
use hanok_state::State;
use thiserror::Error;

use crate::{
    AnyState, Context, EventKind, Graph, Outcome, RunError,
    begin::{apply_input, upgraded},
    drive::{Progress, Scope, schema},
    journal::Keep,
};

/// Why a subgraph did not come to an outcome. Hand it on with `?`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SubgraphError {
    /// A person is asked in the subgraph: the run ends here and goes on with the answer.
    #[error(transparent)]
    Waiting(AskError),
    /// The subgraph could not go on.
    #[error("subgraph `{graph}` could not go on")]
    Run {
        /// The subgraph.
        graph: String,
        /// Why.
        #[source]
        source: Box<RunError>,
    },
    /// The node's name is too long to be part of a namespace.
    #[error("a namespace for subgraph `{graph}` cannot be made")]
    Name {
        /// The subgraph.
        graph: String,
        /// Why.
        #[source]
        source: InvalidName,
    },
}

impl<C> Context<C> {
    /// Runs `graph` on `input`, from a default state, as part of this task.
    ///
    /// Its entries stand in the thread's own log, in a namespace of the call: this task, run again after a crash, goes on
    /// with the run that it began. The state lives as long as the call. Cancellation and the observer are this run's.
    ///
    /// # Errors
    ///
    /// [`SubgraphError::Run`] when the subgraph could not go on; [`SubgraphError::Waiting`] when it asks a person.
    pub async fn run<S: State, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<S, D>,
        input: S::Update,
        services: D,
    ) -> Result<Outcome<S>, SubgraphError> {
        let namespace = self
            .subgraph_namespace()
            .map_err(|source| SubgraphError::Name { graph: graph.name().to_owned(), source })?;
        let failed = |source: RunError| SubgraphError::Run {
            graph: graph.name().to_owned(),
            source: Box::new(source),
        };
        let outer = self.scope();
        let scope = Scope {
            graph: graph.0.clone(),
            services: Arc::new(services),
            journal: outer.journal.clone(),
            run: RunId(u128::from_be_bytes(*outer.task.as_bytes())),
            runtime: outer.runtime.clone(),
            cancellation: outer.cancellation.clone(),
            sink: outer.sink.clone(),
            total: outer.total.clone(),
            limit: graph.0.recursion_limit,
            namespace,
        };
        let left = outer.journal.take_left(&scope.namespace);
        let mut progress = match left {
            Some(run) => go_on(&scope, run).await.map_err(failed)?,
            None => begin(&scope, input, outer.task).await.map_err(failed)?,
        };
        match scope.drive(&mut progress).await.map_err(failed)? {
            Outcome::Interrupted(requests) => {
                let id = requests.first().map_or_else(|| "".into(), |first| first.id.0.clone());
                outer.seen().waiting.extend(requests);
                Err(SubgraphError::Waiting(AskError::Waiting(RequestId(id))))
            }
            outcome => Ok(outcome),
        }
    }

    /// The namespace of this task's next call: the node, the task, and how many calls came before.
    fn subgraph_namespace(&self) -> Result<Namespace, InvalidName> {
        let task = self.task().to_string();
        let task = task.get(..16).unwrap_or(&task);
        let call = self.next_subgraph();
        self.namespace().child(&format!("{}#{task}.{call}", self.node()))
    }
}

/// The run that the same task began before; a state in another schema is written anew in this build's.
async fn go_on<S: State, D: Send + Sync + 'static>(
    scope: &Scope<S, D>,
    run: RunFold,
) -> Result<Progress<S>, RunError> {
    let (run, rebased) = upgraded::<S>(run)?;
    let progress = Progress::of(run)?;
    if rebased {
        let entry = (scope.namespace.clone(), progress.rebase()?);
        scope.journal.append(vec![entry], Keep::Claim).await?;
    }
    Ok(progress)
}

async fn begin<S: State, D: Send + Sync + 'static>(
    scope: &Scope<S, D>,
    input: S::Update,
    parent: TaskId,
) -> Result<Progress<S>, RunError> {
    let mut progress = Progress::beginning(S::default(), Default::default());
    let changes = apply_input(scope, &mut progress, input, Position::START)?;
    let begin = Begin {
        run: scope.run,
        epoch: Epoch::default(),
        parent: Some(parent),
        persistence: Persistence::PerCall,
        input: changes,
        frontier: Some(progress.frontier.clone()),
        schema: schema::<S>(),
        graph: scope.graph.fingerprint,
        takeovers: 0,
    };
    let entry = (scope.namespace.clone(), Body::Begin(begin));
    progress.at = scope.journal.append(vec![entry], Keep::Claim).await?;
    if scope.sink.is_on() {
        let values = EventKind::Values(AnyState::new(&progress.state));
        scope.emit(&progress, None, None, Some(progress.at), values);
    }
    Ok(progress)
}
