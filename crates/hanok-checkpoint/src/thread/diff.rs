//! Differences between two positions.

use std::collections::BTreeSet;

use hanok_core::{Field, Fields, Namespace, Position, Stored};

use crate::{
    entry::fold::{RunFold, ThreadFold},
    error::CheckpointError,
    thread::log::Log,
};

/// The difference between two positions of a thread, or of two threads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// The graphs in which something changed, by their paths.
    pub graphs: Vec<GraphDiff>,
}

/// The difference in one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphDiff {
    /// Which graph: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The fields that changed, by name.
    pub fields: Vec<(String, Difference)>,
    /// The nodes that were due and that are due now, if others are.
    pub next: Option<(Vec<String>, Vec<String>)>,
}

/// The difference in one field.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// It had no value.
    Added(Stored),
    /// It has no value any more.
    Removed(Stored),
    /// It has another value.
    Changed {
        /// The one it had.
        before: Stored,
        /// The one it has.
        after: Stored,
    },
}

impl Diff {
    /// The difference from `before` to `after`.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let fold = ThreadFold::default();
    /// assert_eq!(Diff::of(&fold, &fold), Diff::default());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(before: &ThreadFold, after: &ThreadFold) -> Self {
        let paths: BTreeSet<_> = before.runs.keys().chain(after.runs.keys()).collect();
        let none = RunFold::default();
        let graphs = paths.into_iter().filter_map(|path| {
            let was = before.run(path).unwrap_or(&none);
            let is = after.run(path).unwrap_or(&none);
            let (due, dues) = (next(was), next(is));
            let fields = fields(&was.fields, &is.fields);
            let next = (due != dues).then_some((due, dues));
            let changed = !fields.is_empty() || next.is_some();
            changed.then(|| GraphDiff { path: path.clone(), fields, next })
        });
        Self { graphs: graphs.collect() }
    }
}

impl Log {
    /// The difference from `before` to `after` (`None`: the end), which need not lie on one branch.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// assert!(log.diff(Position(1), None).await?.graphs.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Log::open).
    pub async fn diff(
        &self,
        before: Position,
        after: Option<Position>,
    ) -> Result<Diff, CheckpointError> {
        let before = self.open(Some(before)).await?.map(|opened| opened.fold);
        let after = self.open(after).await?.map(|opened| opened.fold);
        Ok(Diff::of(&before.unwrap_or_default(), &after.unwrap_or_default()))
    }
}

fn next(run: &RunFold) -> Vec<String> {
    run.frontier.due.iter().map(|due| due.node.to_string()).collect()
}

fn fields(before: &Fields, after: &Fields) -> Vec<(String, Difference)> {
    let names: BTreeSet<_> = before.iter().chain(after.iter()).map(|(name, _)| name).collect();
    let differs = |name: &str| {
        let value = |fields: &Fields| fields.get(name).map(Field::to_stored);
        match (value(before), value(after)) {
            (Some(before), Some(after)) if before == after => None,
            (Some(before), Some(after)) => Some(Difference::Changed { before, after }),
            (None, Some(added)) => Some(Difference::Added(added)),
            (Some(removed), None) => Some(Difference::Removed(removed)),
            (None, None) => None,
        }
    };
    let named = names.into_iter().map(|name| Some((name.to_owned(), differs(name)?)));
    named.flatten().collect()
}
