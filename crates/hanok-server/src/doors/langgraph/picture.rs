//! The state of a thread at a checkpoint, as clients see it.

use std::collections::BTreeMap;

use hanok_checkpoint::{Head, Log, LogEntry, OpenLog};
use hanok_core::{Field, Fields, Namespace, Position};
use hanok_graph::{AnyState, GraphView, Pending, RunError, TaskView};
use serde_json::{Map, Value, json};

use super::{
    ids::{CheckpointId, Phase, moment, run_id},
    interrupts::interrupts,
    known::{Known, OfGraph, Step, written},
};
use crate::{
    error::ServeError,
    http::{problem::Problem, result::message_of},
};

/// What a thread is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wants {
    /// The graph whose states are shown.
    pub(crate) path: Namespace,
    /// True if the states of subgraphs stand within the tasks that call them.
    pub(crate) subgraphs: bool,
    /// The members to be shown; all if there is none.
    pub(crate) select: Vec<String>,
}

impl Wants {
    /// Leaves out of a state what is not selected.
    pub(crate) fn selected(&self, mut state: Value) -> Value {
        let is_named = |name: &str| self.select.iter().any(|selected| selected == name);
        let below = |selected: &String| selected.strip_prefix("values.").map(str::to_owned);
        let values: Vec<_> = self.select.iter().filter_map(below).collect();
        if self.select.is_empty() {
            return state;
        }
        if let Value::Object(members) = &mut state {
            members.retain(|key, _| is_named(key) || key == "values" && !values.is_empty());
        }
        if let Some(Value::Object(shown)) = state.get_mut("values").filter(|_| !is_named("values"))
        {
            shown.retain(|key, _| values.contains(key));
        }
        state
    }
}

/// A thread at a checkpoint.
struct Picture<'a> {
    known: &'a Known,
    of: &'a OfGraph,
    head: &'a Head,
    views: Vec<GraphView>,
    /// The checkpoints of subgraphs that are shown.
    steps: BTreeMap<Namespace, Step>,
}

/// The state of a thread in which nothing has happened.
pub(crate) fn empty() -> Value {
    json!({
        "values": {}, "next": [], "tasks": [], "metadata": null, "created_at": null,
        "checkpoint": null, "parent_checkpoint": null, "interrupts": [], "checkpoint_id": null,
        "parent_checkpoint_id": null,
    })
}

/// The values of the thread's own graph, as they are now.
pub(crate) async fn values(of: &OfGraph) -> Result<Value, Problem> {
    json_of_state(of.thread.state(None).await?)
}

fn json_of_state(state: Option<AnyState>) -> Result<Value, Problem> {
    let json = state.map(|state| state.to_json()).transpose();
    let json = json.map_err(|error| ServeError::NoJson(error.to_string()))?;
    Ok(json.unwrap_or_else(|| json!({})))
}

impl Known {
    /// The states at `steps`, newest first. At the step that is `current` the thread is now: it shows what has happened since.
    pub(crate) async fn states(
        &self,
        of: &OfGraph,
        steps: &[Step],
        current: Option<CheckpointId>,
        wants: &Wants,
    ) -> Result<Vec<Value>, Problem> {
        let Some(head) = &of.head else { return Ok(Vec::new()) };
        let mut places = Vec::new();
        for step in steps.iter().rev() {
            let is_current = current == Some(step.id);
            let at = if is_current { head.position } else { of.shown_at(step.id).await? };
            places.push((step, at));
        }
        let (mut reader, mut states) = (Reader::new(of, &places).await?, Vec::new());
        for (step, at) in places {
            states.push(self.state(of, head, step, reader.at(at).await?, wants).await?);
        }
        states.reverse();
        Ok(states)
    }

    /// The state at `step`, of a log that was read.
    async fn state(
        &self,
        of: &OfGraph,
        head: &Head,
        step: &Step,
        opened: Option<OpenLog>,
        wants: &Wants,
    ) -> Result<Value, Problem> {
        let end = opened.as_ref().map_or(Position::START, |opened| opened.fold.position);
        let (state, views) = match opened {
            Some(opened) => of.thread.read(opened).await?,
            None => (None, Vec::new()),
        };
        let is_before = step.id.phase == Phase::Before;
        let mut steps = BTreeMap::new();
        for view in views.iter().filter(|view| wants.subgraphs && !view.path.is_root()) {
            let before = CheckpointId { position: end.next(), phase: Phase::Before };
            let newest = of.steps(Some(before), &view.path, 1).await?.into_iter().next();
            steps.extend(newest.map(|step| (view.path.clone(), step)));
        }
        let picture = Picture { known: self, of, head, views, steps };
        let values = match (wants.path.is_root(), picture.view(&wants.path)) {
            (true, _) => json_of_state(state)?,
            (false, Some(view)) if !is_before => values_of(&view.values),
            (false, _) => json!({}),
        };
        Ok(wants.selected(match is_before {
            true => picture.before(step, values, &wants.path),
            false => picture.state(step, values, &wants.path),
        }))
    }
}

/// Reads a log at rising positions. The first is read from the store, and a later one follows from the one before it where its
/// entries do.
struct Reader {
    log: Log,
    entries: BTreeMap<Position, LogEntry>,
    last: Option<OpenLog>,
}

impl Reader {
    async fn new(of: &OfGraph, places: &[(&Step, Position)]) -> Result<Self, Problem> {
        let positions = || places.iter().map(|(_, at)| *at).filter(|at| *at != Position::START);
        let (first, last) =
            (positions().min().unwrap_or_default(), positions().max().unwrap_or_default());
        let log = of.thread.log();
        let count = usize::try_from(last.0 - first.0).unwrap_or(usize::MAX);
        let entries = log.history(Some(last.next()), count).await?.into_iter();
        let entries = entries.map(|entry| (entry.position, entry)).collect();
        Ok(Self { log, entries, last: None })
    }

    /// The log up to `at`; `None` at its start.
    async fn at(&mut self, at: Position) -> Result<Option<OpenLog>, Problem> {
        if at == Position::START {
            return Ok(None);
        }
        let follows = match self.last.take() {
            Some(last) => self.follow(last, at)?,
            None => None,
        };
        self.last = match follows {
            None => self.log.open(Some(at)).await?,
            follows => follows,
        };
        Ok(self.last.clone())
    }

    /// The log at `at`, if that follows from where it was read last.
    fn follow(&self, mut last: OpenLog, at: Position) -> Result<Option<OpenLog>, Problem> {
        let (mut path, mut from) = (Vec::new(), at);
        while from > last.fold.position {
            let Some(entry) = self.entries.get(&from) else { return Ok(None) };
            path.push(entry);
            from = entry.parent;
        }
        if from != last.fold.position {
            return Ok(None);
        }
        for entry in path.into_iter().rev() {
            let applied = last.fold.apply(entry.position, &entry.entry);
            applied.map_err(|error| RunError::State(error.into()))?;
        }
        Ok(Some(last))
    }
}

impl Picture<'_> {
    fn view(&self, path: &Namespace) -> Option<&GraphView> {
        self.views.iter().find(|view| view.path == *path)
    }

    /// The state of one graph.
    fn state(&self, step: &Step, values: Value, path: &Namespace) -> Value {
        let view = self.view(path);
        let tasks = view.map(|view| view.tasks.iter().map(|task| self.task(view, task)).collect());
        let next = view.map_or_else(|| step.next.clone(), |view| view.next.clone());
        let within = self.views.iter().filter(|view| view.path.is_within(path));
        let asked: Vec<_> = within.flat_map(|view| view.requests.clone()).collect();
        let asked = interrupts(&asked, false);
        self.whole(step, path, values, json!(next), tasks.unwrap_or_default(), asked)
    }

    /// The state before an input, with the task that takes it.
    fn before(&self, step: &Step, values: Value, path: &Namespace) -> Value {
        let start = json!({
            "id": step.id.to_uuid(self.head.life).to_string(), "name": "__start__",
            "path": ["__pregel_pull", "__start__"], "error": null, "interrupts": [],
            "checkpoint": null, "state": null, "result": null,
        });
        self.whole(step, path, values, json!(step.next), vec![start], json!([]))
    }

    fn whole(
        &self,
        step: &Step,
        path: &Namespace,
        values: Value,
        next: Value,
        tasks: Vec<Value>,
        asked: Value,
    ) -> Value {
        let named = |id| self.known.named(id, self.head, path);
        let (checkpoint, parent) = (named(step.id), step.parent.map(named));
        let text = |id: CheckpointId| id.to_uuid(self.head.life).to_string();
        json!({
            "values": values, "next": next, "tasks": tasks,
            "metadata": self.known.metadata(self.of, step),
            "created_at": moment(step.at), "checkpoint_id": text(step.id),
            "checkpoint": checkpoint, "parent_checkpoint": parent,
            "parent_checkpoint_id": step.parent.map(text), "interrupts": asked,
        })
    }

    /// A task that is due, with what it asks, and its subgraphs too.
    fn task(&self, view: &GraphView, task: &TaskView) -> Value {
        let below = |path: &Namespace| {
            path.is_within(&view.path)
                && path.segments().nth(view.path.depth()).is_some_and(|call| is_of(call, task))
        };
        let below: Vec<_> = self.views.iter().filter(|view| below(&view.path)).collect();
        let asked = task.requests.iter().chain(below.iter().flat_map(|view| &view.requests));
        let asked: Vec<Pending> = asked.cloned().collect();
        let has_failed = view.error.is_some() && !task.is_done && asked.is_empty();
        let called = below.iter().find(|below| below.path.depth() == view.path.depth() + 1);
        let (mut checkpoint, mut state) = (Value::Null, Value::Null);
        if let Some(called) = called {
            match self.steps.get(&called.path) {
                Some(step) => state = self.state(step, values_of(&called.values), &called.path),
                None => {
                    let (thread, path) = (self.known.id.to_string(), written(&called.path));
                    checkpoint = json!({"thread_id": thread, "checkpoint_ns": path});
                }
            }
        }
        json!({
            "id": task.id.to_string(), "name": task.node, "path": ["__pregel_pull", task.node],
            // What went wrong in a graph is for its operator.
            "error": has_failed.then_some("the run failed"),
            "interrupts": interrupts(&asked, false), "checkpoint": checkpoint, "state": state,
            "result": task.writes.as_ref().and_then(|writes| serde_json::to_value(writes).ok()),
        })
    }
}

impl Known {
    /// What is noted of a checkpoint.
    pub(crate) fn metadata(&self, of: &OfGraph, step: &Step) -> Map<String, Value> {
        let mut metadata = self.row.metadata.clone();
        let mut note = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        note("source", step.source.into());
        note("step", step.number.into());
        note("parents", json!({}));
        note("thread_id", self.id.to_string().into());
        note("graph_id", of.name.clone().into());
        // An edit is nobody's run.
        if let Some(run) = step.run.filter(|_| step.source != "update") {
            note("run_id", run_id(run).into());
        }
        metadata
    }
}

/// True if `call`, a segment of the path of a subgraph, is of a call that `task` makes.
fn is_of(call: &str, task: &TaskView) -> bool {
    let id = task.id.to_string();
    let by_id = id.get(..16).is_some_and(|id| call.contains(&format!("#{id}")));
    by_id || call.starts_with(&format!("{}:", task.node))
}

/// The fields of a subgraph. Messages have LangChain's form.
fn values_of(fields: &Fields) -> Value {
    let shown = |field: &Field| match field {
        Field::Messages(messages) => messages.iter().map(message_of).collect(),
        Field::Nested(fields) => values_of(fields),
        field => serde_json::to_value(field).unwrap_or_default(),
    };
    Value::Object(fields.iter().map(|(name, field)| (name.to_owned(), shown(field))).collect())
}
