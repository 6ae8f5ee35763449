//! Results of nodes that processes share: in a store, with the time that they are kept.

use hanok_checkpoint::{Body, Entry, Goto, Index, Put, SharedStore, Store, TaskWrite, Ttl};
use hanok_core::{
    BoxError, Chain, Clock, ItemKey, Labels, Namespace, Spent, Stored, TaskId, Tenant, Writer,
};
use hanok_state::{State, StateUpdate};
use std::{sync::Arc, time::Duration};

use crate::{
    graph::definition::Definition,
    ids::Digest,
    names::END,
    node::{
        cache::CacheKey,
        command::{Command, SendTo, Target},
    },
    run::parent_command::apart,
};

/// The place of a result in a store.
pub(crate) struct StoredResult<'a> {
    pub(crate) store: &'a SharedStore,
    pub(crate) key: ItemKey,
    pub(crate) clock: &'a dyn Clock,
}

impl<'a> StoredResult<'a> {
    /// The place of the result of `node` under `key`, which belongs to the schema of the graph's state: what a build with another
    /// schema wrote would mean something else. `None` for a node or a graph whose name is none of a store's.
    pub(crate) fn of<S: State, C>(
        store: &'a SharedStore,
        tenant: &Tenant,
        graph: &Definition<S, C>,
        node: &str,
        key: CacheKey,
        clock: &'a dyn Clock,
    ) -> Option<Self> {
        let labels = Labels::new(["cache", &*graph.name, node]).ok()?;
        let mut schema = Writer::new();
        graph.initial.schema().to_stored().write(&mut schema);
        let name = Digest::new("stored cache").part(&key).part(&schema.into_bytes()).hex();
        let key = ItemKey::new(tenant.clone(), labels, &name).ok()?;
        Some(Self { store, key, clock })
    }

    /// The result, if it is there and can be read. A store that fails is as one that has nothing: the node runs.
    pub(crate) async fn get<S: State>(&self) -> Option<Command<S>> {
        match self.store.get(&self.key, self.clock.now()).await {
            // One that cannot be read is made anew, and written over.
            Ok(item) => read(&item?.value).ok(),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "no result of a node was read; it runs");
                None
            }
        }
    }

    /// Puts the result there for `ttl`.
    pub(crate) async fn put<S: State, C>(
        &self,
        graph: &Definition<S, C>,
        command: Command<S>,
        ttl: Duration,
    ) {
        let value = match write(graph, command) {
            Ok(Some(value)) => value,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the result of a node cannot be stored, and is not shared");
                return;
            }
        };
        let put = Put::new(value).ttl(Ttl::After(ttl)).index(Index::Off);
        if let Err(error) = self.store.put(&self.key, put, self.clock.now()).await {
            tracing::warn!(error = %Chain(&error), "the result of a node was not shared");
        }
    }
}

/// The stored form of a command; `None` for one to a caller, which is not shared.
fn write<S: State, C>(
    graph: &Definition<S, C>,
    command: Command<S>,
) -> Result<Option<Stored>, BoxError> {
    let Command { update, goto, only, parent } = command;
    if parent.is_some() {
        return Ok(None);
    }
    let mut targets: Vec<_> = only.then_some(Goto::Only).into_iter().collect();
    for target in goto {
        targets.push(graph.stored(target)?);
    }
    let write = TaskWrite {
        task: TaskId::from_bytes([0; 16]),
        node: Arc::from(""),
        changes: update.to_changes()?,
        goto: targets,
        spent: Spent::default(),
        outbox: Vec::new(),
    };
    let (at, namespace) = (Default::default(), Namespace::root());
    let entry = Entry { at, namespace, body: Body::Write(write) };
    Ok(Some(Stored::from_bytes(entry.to_bytes())?))
}

/// Reads the form that [`write`] makes.
fn read<S: State>(value: &Stored) -> Result<Command<S>, BoxError> {
    let entry = Entry::from_bytes(value.as_bytes())?;
    let Body::Write(TaskWrite { changes, goto, .. }) = entry.body else {
        return Err("no result of a node".into());
    };
    let update = apart(changes).iter().try_fold(S::update(), |all, changes| {
        Ok::<_, BoxError>(all.then(S::Update::from_changes(changes)?)?)
    })?;
    let only = goto.first() == Some(&Goto::Only);
    let targets = goto.into_iter().filter_map(|goto| match goto {
        Goto::Node(node) => Some(Target::Node(node)),
        Goto::End => Some(Target::from(END)),
        Goto::Send(due) => {
            let input = due.input.unwrap_or_else(Stored::nil);
            Some(Target::Send(SendTo { limits: due.limits, ..SendTo::stored(&due.node, input) }))
        }
        Goto::Only | Goto::Parent(_) => None,
    });
    Ok(Command { update: Box::new(update), goto: targets.collect(), only, parent: None })
}
