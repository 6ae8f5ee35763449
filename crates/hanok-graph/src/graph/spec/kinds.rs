//! The kinds of nodes that a spec may use.

use std::{collections::BTreeMap, fmt, marker::PhantomData, sync::Arc};

use hanok_core::BoxError;
use hanok_state::DynamicState;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{NodeSpec, SpecFault};
use crate::node::function::{ErasedNode, Node, Typed};

/// Makes a node of the settings in a spec.
type Make<C> = Arc<dyn Fn(&Value) -> Made<C> + Send + Sync>;

type Made<C> = Result<Arc<dyn ErasedNode<DynamicState, C>>, BoxError>;

/// The kinds of nodes that a [`GraphSpec`](crate::GraphSpec) may use, by name.
#[must_use]
pub struct NodeKinds<C = ()>(BTreeMap<String, Make<C>>);

impl<C: Send + Sync + 'static> NodeKinds<C> {
    /// No kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind, in the place of one of the same name. `make` receives the value under `with`, read as a `W`. A node
    /// without `with` is read from `null`, or from `{}` if a `W` cannot be `null`. `make` returns a [`Node`], or the
    /// reason why it cannot make one.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::{DynamicState, DynamicUpdate}, std::convert::Infallible};
    /// let kinds = NodeKinds::<()>::new().kind("set", |text: String| {
    ///     Ok::<_, Infallible>(move |_: Snapshot<DynamicState>, _: Context| {
    ///         let update = DynamicUpdate::new().set("text", text.clone());
    ///         async move { Ok::<_, Infallible>(update) }
    ///     })
    /// });
    /// assert_eq!(kinds.names().collect::<Vec<_>>(), ["set"]);
    /// ```
    pub fn kind<W, N, M, E>(
        mut self,
        name: &str,
        make: impl Fn(W) -> Result<N, E> + Send + Sync + 'static,
    ) -> Self
    where
        W: DeserializeOwned,
        N: Node<DynamicState, C, M>,
        M: 'static,
        E: Into<BoxError>,
    {
        let made = move |with: &Value| -> Made<C> {
            let node = make(read(with)?).map_err(Into::into)?;
            Ok(Arc::new(Typed(node, PhantomData)))
        };
        self.0.insert(name.to_owned(), Arc::new(made));
        self
    }

    /// The names of the kinds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn make(
        &self,
        node: &str,
        spec: &NodeSpec,
    ) -> Result<Arc<dyn ErasedNode<DynamicState, C>>, SpecFault> {
        let (node, kind) = (node.to_owned(), spec.kind.clone());
        let Some(make) = self.0.get(&kind) else {
            let known = self.names().map(str::to_owned).collect();
            return Err(SpecFault::UnknownKind { node, kind, kinds: known });
        };
        make(&spec.with).map_err(|reason| SpecFault::With { node, kind, reason })
    }
}

/// Reads the value under `with`. A missing value may stand for defaults.
fn read<W: DeserializeOwned>(with: &Value) -> Result<W, serde_json::Error> {
    match W::deserialize(with) {
        Err(_) if with.is_null() => serde_json::from_value(Value::Object(Default::default())),
        read => read,
    }
}

impl<C> Default for NodeKinds<C> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<C> Clone for NodeKinds<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C> fmt::Debug for NodeKinds<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeKinds").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}
