//! Renamed and removed nodes and joins of earlier builds, for the threads that still wait at them.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    sync::Arc,
};

use hanok_checkpoint::Frontier;
use hanok_core::BoxError;
use hanok_state::State;

use crate::{
    error::RunError,
    graph::definition::{Definition, Join, Vertex, Ways},
    node::{context::Context, function::Typed, settings::NodeSettings, snapshot::Snapshot},
};

/// The declarations.
#[derive(Debug, Default)]
pub(crate) struct MigrationSpec {
    /// The current names, by the former names.
    pub(crate) renamed: BTreeMap<Arc<str>, Arc<str>>,
    /// The nodes that follow removed ones, by the former names.
    pub(crate) removed: BTreeMap<Arc<str>, Arc<str>>,
    pub(crate) joins: BTreeSet<String>,
}

/// The declarations, as a graph uses them.
pub(crate) struct Migration<S: State, C> {
    pub(crate) renamed: BTreeMap<Arc<str>, Arc<str>>,
    /// The stand-ins for removed nodes: they write nothing and continue.
    removed: BTreeMap<Arc<str>, Vertex<S, C>>,
    /// The current names of joins, by their former names; `None` for a removed one.
    joins: BTreeMap<String, Option<String>>,
}

impl<S: State, C: Send + Sync + 'static> Migration<S, C> {
    pub(crate) fn new(declared: MigrationSpec, joins: &[Join]) -> Self {
        let mut former: BTreeMap<_, _> =
            declared.joins.into_iter().map(|name| (name, None)).collect();
        for join in joins.iter().filter(|_| !declared.renamed.is_empty()) {
            let names = join.former_names(&declared.renamed);
            former.extend(names.into_iter().map(|name| (name, Some(join.name.clone()))));
        }
        let gone = |(name, next)| {
            let ways = Ways { edges: vec![next], ..Ways::default() };
            let node = Arc::new(Typed(nothing::<S, C>, PhantomData));
            let settings = NodeSettings::default();
            let routers = Vec::new();
            (name, Vertex { node, kind: None, inside: None, ways, routers, settings })
        };
        let removed = declared.removed.into_iter().map(gone).collect();
        Self { renamed: declared.renamed, removed, joins: former }
    }
}

async fn nothing<S: State, C>(_: Snapshot<S>, _: Context<C>) -> Result<(), BoxError> {
    Ok(())
}

impl Join {
    /// The name of a join of `sources`.
    pub(crate) fn name_of(sources: &[Arc<str>], target: &str) -> String {
        format!("{}->{target}", sources.join("+"))
    }

    /// The names of the join in builds in which some of its nodes had former names.
    fn former_names(&self, renamed: &BTreeMap<Arc<str>, Arc<str>>) -> BTreeSet<String> {
        let former = |node: &Arc<str>| {
            let was = renamed.iter().filter(|(_, now)| *now == node).map(|(was, _)| was.clone());
            std::iter::once(node.clone()).chain(was).collect::<Vec<_>>()
        };
        let mut sources: Vec<Vec<Arc<str>>> = vec![Vec::new()];
        for source in &self.sources {
            let with = |before: Vec<Arc<str>>| {
                let with = move |name| before.iter().cloned().chain([name]).collect();
                former(source).into_iter().map(with).collect::<Vec<_>>()
            };
            sources = sources.into_iter().flat_map(with).collect();
        }
        let targets = former(&self.target);
        let names = sources
            .iter()
            .flat_map(|sources| targets.iter().map(move |target| Self::name_of(sources, target)));
        names.filter(|name| *name != self.name).collect()
    }
}

impl<S: State, C> Definition<S, C> {
    /// The vertex of `node`, by its current name or by the name of an earlier build.
    pub(crate) fn vertex(&self, node: &str) -> Option<&Vertex<S, C>> {
        self.nodes.get(node).or_else(|| match self.former.renamed.get(node) {
            Some(now) => self.nodes.get(now),
            None => self.former.removed.get(node),
        })
    }

    /// Refuses the name of a node that is not in the graph.
    pub(crate) fn has(&self, node: &str) -> Result<(), RunError> {
        if self.vertex(node).is_some() {
            return Ok(());
        }
        let nodes = self.nodes.keys().map(ToString::to_string).collect();
        Err(RunError::NoSuchNode { node: node.to_owned(), nodes })
    }

    /// The name of `node` in this build.
    pub(crate) fn current_name<'a>(&'a self, node: &'a Arc<str>) -> &'a Arc<str> {
        self.former.renamed.get(node).unwrap_or(node)
    }

    /// Renames the joins in a stored `frontier`, and the nodes that they have counted, to the names of this build. Due
    /// nodes keep their names, from which the ids of tasks derive.
    ///
    /// # Errors
    ///
    /// [`RunError::GraphChanged`] for a missing join without a declaration.
    pub(crate) fn adapt(&self, frontier: &mut Frontier) -> Result<(), RunError> {
        let mut missing = Vec::new();
        let known = |name: &str| self.joins.iter().any(|join| join.name == name);
        for (mut name, mut seen) in std::mem::take(&mut frontier.joins) {
            match self.former.joins.get(&name) {
                _ if known(&name) => {}
                Some(Some(now)) => name.clone_from(now),
                Some(None) => continue,
                None => {
                    missing.push(name);
                    continue;
                }
            }
            for node in &mut seen {
                if let Some(now) = self.former.renamed.get(node.as_str()) {
                    *node = now.to_string();
                }
            }
            frontier.joins.push((name, seen));
        }
        if missing.is_empty() { Ok(()) } else { Err(RunError::GraphChanged { missing }) }
    }
}
