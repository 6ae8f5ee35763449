//! A thread of a caller, and its checkpoints as clients number them.
//!
//! The state before an input is a checkpoint of its own, as the SDKs expect: an input of the log makes two, of which the first has
//! step -1 and the node `__start__` due. Steps count within their turn.

use axum::http::StatusCode;
use hanok_checkpoint::{
    Body, Checkpoint, Checkpointer as _, Entry, Head, LogEntry, Select, Source,
};
use hanok_core::{Namespace, Position, RunId, Timestamp};
use hanok_graph::AnyThread;
use serde_json::{Value, json};
use uuid::Uuid;

use super::ids::{CheckpointId, Phase, read_thread};
use crate::{
    http::{auth::Signed, problem::Problem, service::Service},
    rows::{keys::public_id, thread::ThreadRow},
};

/// The entries that are read at a time.
const PAGE: usize = 64;

/// The source of a checkpoint that copies another, from which the thread goes on.
const FORK: &str = "fork";

/// A thread of a caller.
pub(crate) struct Known {
    pub(crate) id: Uuid,
    pub(crate) row: ThreadRow,
    /// The thread behind its graph; `None` if it has no graph that is served.
    pub(crate) graph: Option<OfGraph>,
}

/// A thread behind its graph.
pub(crate) struct OfGraph {
    pub(crate) name: String,
    /// The names of its nodes.
    pub(crate) nodes: Vec<String>,
    pub(crate) thread: Box<dyn AnyThread>,
    /// The head of its log; `None` if nothing was written.
    pub(crate) head: Option<Head>,
}

/// A checkpoint, as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    /// The super-steps of the turn that are done; -1 before the input.
    pub(crate) number: i64,
    pub(crate) source: &'static str,
    pub(crate) at: Timestamp,
    pub(crate) next: Vec<String>,
    pub(crate) run: Option<RunId>,
}

impl Step {
    /// The fork of this checkpoint that is made where the thread went back to it.
    fn forked(self, at: Option<(Position, Timestamp)>) -> Self {
        let Some((position, at)) = at else { return self };
        let id = CheckpointId { position, phase: Phase::At };
        let (parent, number) = (Some(self.id), self.number + 1);
        Self { id, parent, number, source: FORK, at, run: None, ..self }
    }
}

/// There is no checkpoint of this id in the thread.
pub(crate) fn no_checkpoint() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "HNK-102", "there is no such checkpoint")
}

impl Service {
    /// The thread of a caller that is named by a UUID as text.
    pub(crate) async fn known(&self, signed: &Signed, id: &str) -> Result<Known, Problem> {
        let row = self.known_thread(signed, read_thread(id)?).await?;
        self.known_of(signed, row).await
    }

    /// The thread of a row.
    pub(crate) async fn known_of(&self, signed: &Signed, row: ThreadRow) -> Result<Known, Problem> {
        let served = self.served_graph(&row).map(str::to_owned);
        let graph = match served {
            Some(name) => {
                let thread = self.thread(signed, &name, &row.name)?;
                let head = thread.log().store().head(thread.key()).await?;
                let nodes = self.app(&name)?.structure().nodes;
                let nodes = nodes.into_iter().map(|node| node.name).collect();
                Some(OfGraph { name, nodes, thread, head })
            }
            None => None,
        };
        Ok(Known { id: public_id(&row.name), row, graph })
    }
}

impl Known {
    /// The names of a checkpoint.
    pub(crate) fn named(&self, id: CheckpointId, head: &Head, path: &Namespace) -> Value {
        let id = id.to_uuid(head.life).to_string();
        json!({"thread_id": self.id.to_string(), "checkpoint_ns": written(path), "checkpoint_id": id})
    }
}

/// The path of a graph within its thread, as clients write it.
pub(crate) fn written(path: &Namespace) -> String {
    path.segments().collect::<Vec<_>>().join("|")
}

/// Reads what [`written`] writes.
pub(crate) fn read_path(text: &str) -> Result<Namespace, Problem> {
    let segments = text.split('|').filter(|segment| !segment.is_empty());
    let path = segments.map(str::to_owned).collect::<Vec<_>>().try_into();
    path.map_err(|error| Problem::unprocessable(format!("`checkpoint_ns`: {error}")))
}

fn read_checkpoint(head: Option<&Head>, id: &str) -> Result<CheckpointId, Problem> {
    let head = head.ok_or_else(no_checkpoint)?;
    CheckpointId::read(id, head.life).ok_or_else(no_checkpoint)
}

async fn shown_at(thread: &dyn AnyThread, id: CheckpointId) -> Result<Position, Problem> {
    if id.phase == Phase::At {
        return Ok(id.position);
    }
    let page = thread.log().history(Some(id.position.next()), 1).await?;
    let entry = page.first().filter(|entry| entry.position == id.position);
    Ok(entry.ok_or_else(no_checkpoint)?.parent)
}

/// The position at which a run goes on that names a checkpoint: with an input of its own (`is_new`) or with what is due there.
pub(crate) async fn position_of(
    thread: &dyn AnyThread,
    id: &str,
    is_new: bool,
) -> Result<Position, Problem> {
    let head = thread.log().store().head(thread.key()).await?;
    let id = read_checkpoint(head.as_ref(), id)?;
    // What was due before an input is that input.
    if is_new { shown_at(thread, id).await } else { Ok(id.position) }
}

impl OfGraph {
    /// The checkpoint of the thread's own graph that the thread is at.
    pub(crate) async fn current(&self) -> Result<Option<Step>, Problem> {
        match &self.head {
            Some(head) => self.newest_of(head, head.position).await,
            None => Ok(None),
        }
    }

    /// The newest checkpoint that leads to the entry at a position. A thread that went back, and has none since, is at a fork of
    /// the checkpoint that it went back to.
    async fn newest_of(&self, head: &Head, mut at: Position) -> Result<Option<Step>, Problem> {
        let (log, mut fork) = (self.thread.log(), None);
        while at > head.floor {
            let page = log.history(Some(at.next()), PAGE).await?;
            let Some(last) = page.last().map(|entry| entry.position) else { break };
            for LogEntry { position, parent, entry } in page {
                if position != at {
                    continue;
                }
                if is_checkpoint(&entry) {
                    let step = self.at(at, &Namespace::root()).await?;
                    return Ok(step.map(|step| step.forked(fork)));
                }
                if matches!(entry.body, Body::Rewind(_)) {
                    fork = fork.or(Some((position, entry.at)));
                }
                at = parent;
                if at < last {
                    break;
                }
            }
        }
        Ok(self.at_floor(head).await?.map(|step| step.forked(fork)))
    }

    /// Reads an id of a checkpoint of this thread.
    pub(crate) fn read(&self, id: &str) -> Result<CheckpointId, Problem> {
        read_checkpoint(self.head.as_ref(), id)
    }

    /// The checkpoint with an id.
    pub(crate) async fn find(&self, id: &str, path: &Namespace) -> Result<Step, Problem> {
        let (id, head) = (self.read(id)?, self.head.as_ref().ok_or_else(no_checkpoint)?);
        let step = match self.at(id.position, path).await? {
            // The floor of the log, or where the thread went back.
            None if path.is_root() && (head.floor..=head.position).contains(&id.position) => {
                self.newest_of(head, id.position).await?
            }
            step => step,
        };
        let step = step.ok_or_else(no_checkpoint)?;
        match (step.id == id, step.parent) {
            (true, _) => Ok(step),
            (false, Some(parent)) if parent == id => {
                let before = self.before_input(id.position, path).await?;
                before.ok_or_else(no_checkpoint)
            }
            _ => Err(no_checkpoint()),
        }
    }

    /// The newest steps before `before`, at least `most` of them unless the log has fewer.
    pub(crate) async fn steps(
        &self,
        before: Option<CheckpointId>,
        path: &Namespace,
        most: usize,
    ) -> Result<Vec<Step>, Problem> {
        let Some(head) = &self.head else { return Ok(Vec::new()) };
        // The checkpoint at the position of `before` is one of them.
        let most = most.saturating_add(1);
        let mut select = Select::all().path(path.clone()).limit(most);
        if let Some(before) = before {
            select = select.before(match before.phase {
                Phase::Before => before.position,
                // What is before an input comes with it.
                Phase::At => before.position.next(),
            });
        }
        let found = self.thread.checkpoints(select).await?;
        let is_last = found.len() < most;
        let mut steps: Vec<_> = found.into_iter().flat_map(steps_of).collect();
        if path.is_root() {
            let fork = self.current().await?.filter(|current| current.source == FORK);
            let is_new = |fork: &Step| steps.iter().all(|step| step.id < fork.id);
            steps.splice(0..0, fork.filter(is_new));
            steps.extend(self.at_floor(head).await?.filter(|_| is_last));
        }
        steps.retain(|step| before.is_none_or(|before| step.id < before));
        Ok(steps)
    }

    /// The position whose state a checkpoint shows; the start if there is none.
    pub(crate) async fn shown_at(&self, id: CheckpointId) -> Result<Position, Problem> {
        shown_at(&*self.thread, id).await
    }

    async fn checkpoint(
        &self,
        at: Position,
        path: &Namespace,
    ) -> Result<Option<Checkpoint>, Problem> {
        let select = Select::all().path(path.clone()).before(at.next()).limit(1);
        let found = self.thread.checkpoints(select).await?.pop();
        Ok(found.filter(|found| found.position == at))
    }

    /// The checkpoint at a position.
    async fn at(&self, at: Position, path: &Namespace) -> Result<Option<Step>, Problem> {
        Ok(self.checkpoint(at, path).await?.and_then(|found| steps_of(found).into_iter().next()))
    }

    /// The checkpoint before the input at a position.
    async fn before_input(&self, at: Position, path: &Namespace) -> Result<Option<Step>, Problem> {
        Ok(self.checkpoint(at, path).await?.and_then(|found| steps_of(found).into_iter().nth(1)))
    }

    /// What a cut has left of the checkpoints before it: one, at the floor of the log.
    async fn at_floor(&self, head: &Head) -> Result<Option<Step>, Problem> {
        if head.floor == Position::START {
            return Ok(None);
        }
        let opened = self.thread.log().open(Some(head.floor)).await?;
        let run = opened.and_then(|opened| opened.fold.runs.get(&Namespace::root()).cloned());
        Ok(run.map(|run| Step {
            id: CheckpointId { position: head.floor, phase: Phase::At },
            parent: None,
            number: i64::from(run.frontier.step),
            source: "loop",
            at: run.since,
            next: run.frontier.due.iter().map(|due| due.node.to_string()).collect(),
            run: run.run,
        }))
    }
}

/// True for an entry at which a state of the thread's own graph stands, between two super-steps.
fn is_checkpoint(entry: &Entry) -> bool {
    let is_one = match &entry.body {
        Body::Begin(begin) => begin.frontier.is_some(),
        Body::Commit(_) | Body::Edit(_) | Body::Origin(_) => true,
        _ => false,
    };
    is_one && entry.namespace.is_root()
}

/// The steps of one checkpoint, newest first: two for an input.
fn steps_of(found: Checkpoint) -> Vec<Step> {
    let id = |position, phase| CheckpointId { position, phase };
    let follows = found.parent.map(|parent| id(parent, Phase::At));
    let before = id(found.position, Phase::Before);
    let (source, parent) = match found.source {
        Source::Input => ("loop", Some(before)),
        Source::Loop => ("loop", follows),
        Source::Edit => ("update", follows),
        Source::Fork => (FORK, follows),
    };
    let step = Step {
        id: id(found.position, Phase::At),
        parent,
        number: i64::from(found.step),
        source,
        at: found.at,
        next: found.next,
        run: found.run,
    };
    if found.source != Source::Input {
        return vec![step];
    }
    let input = Step {
        id: before,
        parent: follows,
        number: -1,
        source: "input",
        next: vec!["__start__".to_owned()],
        ..step.clone()
    };
    vec![step, input]
}
