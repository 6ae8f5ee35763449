//! Migration of a graph's stored state and pending writes from the schema of an earlier build to this build's.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{Body, Edit, Extend, Goto, Handed, Rebase, RunFold, Void};
use hanok_core::{
    Change, Changes, Fields, Namespace, Position, StoredSchema, StoredState, ThreadKey,
};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    graph::definition::Definition,
    run::{parent_command::apart, run_state::RunState},
};

/// One graph's part of a thread, as this build reads it.
pub(crate) struct Migrated<S: State> {
    pub(crate) progress: RunState<S>,
    /// The entries that record the migration.
    pub(crate) entries: Vec<(Namespace, Body)>,
    /// Stored fields that are unknown to this build, although it has the same version.
    pub(crate) unknown: Vec<String>,
}

/// The place of one graph's part: the thread, and the path there.
#[derive(Clone, Copy)]
pub(crate) struct LogPlace<'a> {
    pub(crate) thread: &'a ThreadKey,
    pub(crate) path: &'a Namespace,
}

impl<S: State, C> Definition<S, C> {
    /// Refuses a run that a graph of another name has stored, unless this one had that name once.
    ///
    /// # Errors
    ///
    /// [`RunError::OtherGraph`].
    pub(crate) fn owns(&self, place: LogPlace<'_>, run: &RunFold) -> Result<(), RunError> {
        match &run.graph.name {
            Some(name) if !self.is_called(name) => Err(RunError::OtherGraph {
                thread: place.thread.clone(),
                namespace: place.path.clone(),
                stored: name.to_string(),
                graph: self.name.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks whether the graph has this name, or had it once.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        *self.name == *name || self.formerly.iter().any(|before| **before == *name)
    }
}

/// Reads the part of the graph at `place`. The subgraphs in `below` are in its schema where they share the state or
/// command the graph. A record that cannot be read in this build's schema is voided, and its task runs again.
pub(crate) fn migrated<S: State>(
    initial: &S,
    place: LogPlace<'_>,
    run: RunFold,
    below: &mut BTreeMap<Namespace, RunFold>,
) -> Result<Migrated<S>, RunError> {
    let writer = run.graph.name.clone();
    read(initial, place.path, run, below).map_err(|error| match error {
        RunError::State(source) => RunError::Unreadable {
            thread: place.thread.clone(),
            namespace: place.path.clone(),
            graph: writer.map(|name| name.to_string()),
            source,
        },
        error => error,
    })
}

fn read<S: State>(
    initial: &S,
    path: &Namespace,
    mut run: RunFold,
    below: &mut BTreeMap<Namespace, RunFold>,
) -> Result<Migrated<S>, RunError> {
    let mut migration = Migration { initial, entries: Vec::new() };
    let mut unknown = Vec::new();
    if run.run.is_some() {
        let before = migration.state(path, &mut run, None, &mut unknown)?;
        migration.below(path, before.as_ref(), below);
    }
    let progress = RunState::of(initial, run)?;
    Ok(Migrated { progress, entries: migration.entries, unknown })
}

/// Warns of stored fields that are unknown to this build.
pub(crate) fn warn_unknown(thread: &ThreadKey, path: &Namespace, fields: &[String]) {
    tracing::warn!(
        %thread,
        graph = %path,
        ?fields,
        "the state holds fields that this build does not know; they ride along. If one was renamed, say its former name \
         with `#[state(alias = …)]`; if it was removed, count up the state's `version`",
    );
}

/// The state of `run`, before it is written anew.
fn stored_state(run: &RunFold) -> StoredState {
    StoredState { fields: run.fields.clone(), schema: run.schema.clone() }
}

struct Migration<'a, S: State> {
    initial: &'a S,
    entries: Vec<(Namespace, Body)>,
}

impl<S: State> Migration<'_, S> {
    /// Brings the state of `run` and its pending writes into this build's schema; returns the earlier state, if it is
    /// written anew. `base` is the earlier state of its caller, if it shares that.
    fn state(
        &mut self,
        path: &Namespace,
        run: &mut RunFold,
        base: Option<&StoredState>,
        unknown: &mut Vec<String>,
    ) -> Result<Option<StoredState>, RunError> {
        let schema = self.initial.schema();
        let stored = run.schema.clone();
        let differences = schema.compare(&stored, &run.fields)?;
        unknown.extend(differences.unknown);
        let before = differences.rewritten.then(|| stored_state(run));
        let writes = self.pending(path, run, before.as_ref());
        if let Some(before) = &before {
            run.records.rebase(|| before.clone());
            schema
                .upgrade(&stored, &mut run.fields)
                .map_err(|error| RunError::State(error.into()))?;
            run.fields = self.whole(&run.fields)?;
            run.schema = schema.extended(&stored).into();
            let added = base.map(|base| self.added(base, &run.added)).transpose()?;
            if let Some(added) = &added {
                run.added.clone_from(added);
            }
            let (fields, schema) = (run.fields.to_stored(), StoredSchema::clone(&run.schema));
            let rebase = Rebase { schema, fields, writes, added };
            self.push(path, Body::Rebase(rebase));
        } else if !differences.added.is_empty() {
            let whole = self.whole(&run.fields)?;
            let mut values = Changes::default();
            for path in &differences.added {
                values.0.extend(value_at(&whole, path));
            }
            run.fields.apply_all(&values).map_err(|error| RunError::State(error.into()))?;
            run.schema = schema.extended(&stored).into();
            let schema = StoredSchema::clone(&run.schema);
            self.push(path, Body::Extend(Extend { schema, values }));
        }
        Ok(before)
    }

    fn push(&mut self, path: &Namespace, body: Body) {
        self.entries.push((path.clone(), body));
    }

    /// The fields as this build stores them, with unknown ones.
    fn whole(&self, fields: &Fields) -> Result<Fields, RunError> {
        let unknown = self.initial.schema().unknown(fields);
        let state = self.initial.load(&mut fields.clone()).map_err(state_error)?;
        let mut whole = state.to_fields().map_err(state_error)?;
        whole.fill(&unknown);
        Ok(whole)
    }

    /// Reads pending writes in this build's schema, and voids those that cannot be read; returns those that differ in it.
    fn pending(
        &mut self,
        path: &Namespace,
        run: &mut RunFold,
        before: Option<&StoredState>,
    ) -> Vec<(Position, Changes)> {
        let (mut writes, mut voided) = (Vec::new(), Vec::new());
        for (position, write) in &mut run.records.pending {
            match (self.translated(before, &write.changes, &write.node), before) {
                (Some(changes), Some(_)) if changes != write.changes => {
                    write.changes.clone_from(&changes);
                    writes.push((*position, changes));
                }
                (Some(_), _) => {}
                (None, _) => voided.push(*position),
            }
        }
        self.void(path, run, voided);
        writes
    }

    fn void(&mut self, path: &Namespace, run: &mut RunFold, writes: Vec<Position>) {
        if writes.is_empty() {
            return;
        }
        writes.iter().for_each(|position| {
            run.records.pending.remove(position);
        });
        let reason = "the state has another schema since, in which the write cannot be read";
        let void = Void { writes, field: String::new(), reason: reason.to_owned() };
        self.push(path, Body::Void(void));
    }

    /// Translates `changes` into this build's schema, if it can read them.
    fn translated(
        &self,
        before: Option<&StoredState>,
        changes: &Changes,
        node: &Arc<str>,
    ) -> Option<Changes> {
        let schema = self.initial.schema();
        match before {
            Some(before) => {
                let changes = schema.translate(&before.schema, &before.fields, changes)?;
                self.read(&changes, node)
            }
            None => self.read(changes, node),
        }
    }

    /// The stored form of `changes` in this build, if it can read them.
    fn read(&self, changes: &Changes, node: &Arc<str>) -> Option<Changes> {
        let unknown = self.initial.schema().unknown_changes(changes);
        if unknown.has_input() {
            return None;
        }
        let mut update = S::Update::from_changes(changes).ok()?;
        self.initial.bind(node, &mut update).ok()?;
        let mut read = update.to_changes().ok()?;
        for (name, change) in unknown.0 {
            let known = read.0.iter_mut().find(|(other, _)| *other == name);
            match (known, change) {
                (Some((_, Change::Set(whole))), Change::Nested(rest)) => {
                    let mut fields = Fields::from_stored(whole).ok()?;
                    fields.apply_all(&rest).ok()?;
                    *whole = fields.to_stored();
                }
                (_, change) => read.push(name, change),
            }
        }
        Some(read)
    }

    /// The changes of a subgraph to the state that it shares.
    fn added(&self, base: &StoredState, added: &[Changes]) -> Result<Vec<Changes>, RunError> {
        let mut before = base.clone();
        let node = "subgraph".into();
        added
            .iter()
            .map(|changes| {
                let translated = self.translated(Some(&before), changes, &node);
                let applied = before.fields.apply_all(changes);
                applied.map_err(|error| RunError::State(error.into()))?;
                translated.ok_or_else(|| RunError::State("what a subgraph has added".into()))
            })
            .collect()
    }

    /// Reads the states of the subgraphs that the graph at `path` calls. A call whose state cannot be read is forgotten,
    /// and its task makes it anew.
    fn below(
        &mut self,
        path: &Namespace,
        before: Option<&StoredState>,
        below: &mut BTreeMap<Namespace, RunFold>,
    ) {
        let called: Vec<_> =
            below.keys().filter(|called| called.parent().as_ref() == Some(path)).cloned().collect();
        for called in called {
            let Some(mut run) = below.remove(&called) else { continue };
            let is_read = self.commands(&called, before, &mut run)
                && (!run.shared || self.shared(&called, before, &mut run, below));
            match is_read {
                true => drop(below.insert(called, run)),
                false => below.retain(|path, _| !path.is_within(&called)),
            }
        }
    }

    /// Reads the state of a subgraph that shares its caller's; returns true if it could be read.
    fn shared(
        &mut self,
        path: &Namespace,
        before: Option<&StoredState>,
        run: &mut RunFold,
        below: &mut BTreeMap<Namespace, RunFold>,
    ) -> bool {
        let written = self.entries.len();
        let own = match before {
            Some(base) => self.state(path, run, Some(base), &mut Vec::new()),
            None => Ok(None),
        };
        let Ok(own) = own else {
            self.entries.truncate(written);
            return false;
        };
        self.below(path, own.as_ref(), below);
        // An update of this build's cannot hold what the build does not know.
        let schema = self.initial.schema();
        let node = "subgraph".into();
        run.added.iter().all(|changes| {
            schema.unknown_changes(changes).is_empty() && self.read(changes, &node).is_some()
        })
    }

    /// Reads the command of a subgraph, which is in the caller's schema; returns true if it could be read.
    fn commands(
        &mut self,
        path: &Namespace,
        before: Option<&StoredState>,
        run: &mut RunFold,
    ) -> bool {
        if let Some(handed) = &run.frontier.handed {
            let Some(changes) = self.command(handed, before) else { return false };
            if changes != handed.changes {
                let handed = Handed { changes, ..Handed::clone(handed) };
                run.frontier.handed = Some(Box::new(handed));
                let edit = Edit { frontier: Some(run.frontier.clone()), ..Edit::default() };
                self.push(path, Body::Edit(edit));
            }
        }
        let is_read = |goto: &Goto| match goto {
            Goto::Parent(handed) => {
                self.command(handed, before).is_some_and(|changes| changes == handed.changes)
            }
            _ => true,
        };
        let unread =
            run.records.pending.iter().filter(|(_, write)| !write.goto.iter().all(is_read));
        let unread = unread.map(|(position, _)| *position).collect();
        self.void(path, run, unread);
        true
    }

    fn command(&self, handed: &Handed, before: Option<&StoredState>) -> Option<Changes> {
        let schema = self.initial.schema();
        let node = "subgraph".into();
        let changes = match before {
            Some(before) => schema.translate(&before.schema, &before.fields, &handed.changes)?,
            None => handed.changes.clone(),
        };
        let foreign = changes.0.iter().any(|(name, _)| schema.field(name).is_none());
        let is_read = apart(changes.clone()).iter().all(|part| self.read(part, &node).is_some());
        (!foreign && is_read).then_some(changes)
    }
}

/// The value of the field at `path`, as the change that sets it.
fn value_at(fields: &Fields, path: &[String]) -> Option<(std::borrow::Cow<'static, str>, Change)> {
    let (name, rest) = path.split_first()?;
    let field = fields.get(name)?;
    let change = match (rest, field) {
        ([], field) => Change::Set(field.to_stored()),
        (rest, hanok_core::Field::Nested(fields)) => {
            Change::Nested(Changes(vec![value_at(fields, rest)?]))
        }
        _ => return None,
    };
    Some((name.clone().into(), change))
}
