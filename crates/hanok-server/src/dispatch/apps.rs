//! The graphs that are served.

use std::{collections::BTreeMap, sync::Arc};

use hanok_graph::{AnyApp, AnyThread};

use crate::{error::ServeError, rows::run::RunRow};

/// The graphs that are served, by their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Apps(pub(crate) BTreeMap<String, Arc<dyn AnyApp>>);

impl Apps {
    /// The graph of this name.
    pub(crate) fn get(&self, graph: &str) -> Result<&Arc<dyn AnyApp>, ServeError> {
        self.0.get(graph).ok_or_else(|| ServeError::NoSuchGraph {
            graph: graph.to_owned(),
            graphs: self.0.keys().cloned().collect(),
        })
    }

    /// The thread of a run, for whoever has asked for the run.
    pub(crate) fn thread(&self, row: &RunRow) -> Result<Box<dyn AnyThread>, ServeError> {
        let app = self.get(&row.request.graph)?;
        Ok(app.thread(&row.request.caller(&row.thread), row.thread.thread())?)
    }
}
