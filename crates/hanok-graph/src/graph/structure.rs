//! The structure of a graph as data, for editors, servers and tests.

use hanok_state::{FieldSchema, Schema, State};
use serde::Serialize;

use crate::{
    graph::definition::{Definition, Graph},
    names::{END, START},
};

/// The structure of a graph: its nodes, its edges and the fields of its state. It is data, and says nothing of what the nodes do.
/// In JSON START and END have these names, as in a [`GraphSpec`](crate::GraphSpec).
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add");
/// let graph = graph.branch("add", |count: &Count| if count.n < 3 { "add" } else { END }, ["add", END]).build()?;
/// let structure = serde_json::to_value(graph.structure())?;
/// assert_eq!(structure["nodes"][0]["name"], "add");
/// assert_eq!(structure["edges"][0], serde_json::json!({"from": "START", "to": "add", "conditional": false}));
/// assert_eq!(structure["state"][0]["name"], "n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphStructure {
    /// The graph's name.
    pub name: String,
    /// The nodes, by name.
    pub nodes: Vec<NodeStructure>,
    /// The edges: from START first, then by the name of the node. Each source of a join has one.
    pub edges: Vec<EdgeStructure>,
    /// The fields of the state, in the order in which they are declared.
    pub state: Vec<FieldStructure>,
    /// The fields that an input may write.
    pub input: Vec<String>,
    /// The fields that an outcome shows.
    pub output: Vec<String>,
}

/// A node of a [`GraphStructure`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NodeStructure {
    /// The name.
    pub name: String,
    /// The Rust type of its input, for a node that runs for sends alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<&'static str>,
    /// True if it waits until no other node is due.
    pub deferred: bool,
    /// True if the node is a graph.
    pub is_graph: bool,
}

/// An edge of a [`GraphStructure`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EdgeStructure {
    /// The source: a node, or START.
    pub from: String,
    /// The target: a node, or END.
    pub to: String,
    /// True if a branch or a command may choose it.
    pub conditional: bool,
}

/// A field of the state of a [`GraphStructure`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FieldStructure {
    /// The name.
    pub name: String,
    /// The rule by which what is written is merged, in a word or two.
    pub rule: String,
    /// The type, as the program writes it.
    pub kind: String,
    /// True if only the views that name it show it.
    pub private: bool,
    /// True if it lasts for one super-step.
    pub ephemeral: bool,
    /// The fields of a nested state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Self>,
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// The structure of the graph, as data. The graphs that its nodes are have structures of their own.
    pub fn structure(&self) -> GraphStructure {
        let drawing = self.drawing();
        let edge = |from: &str, to: &str, conditional| EdgeStructure {
            from: end(from),
            to: end(to),
            conditional,
        };
        let edges = drawing.lines.iter().map(|line| edge(&line.from, &line.to, line.maybe));
        let graph = &self.0;
        let nodes = graph.nodes.iter().map(|(name, vertex)| NodeStructure {
            name: name.to_string(),
            takes: vertex.kind.map(|kind| kind.name),
            deferred: graph.deferred.contains(name),
            is_graph: vertex.inside.is_some(),
        });
        let schema = graph.initial.schema();
        let (input, output) = (graph.input_fields(schema), graph.output_fields(schema));
        GraphStructure {
            name: graph.name.to_string(),
            nodes: nodes.collect(),
            edges: edges.collect(),
            state: fields(&schema.fields),
            input,
            output,
        }
    }
}

#[cfg(feature = "schema")]
impl<S: State + schemars::JsonSchema, C: Send + Sync + 'static> Graph<S, C> {
    /// The JSON Schema of an input: the fields of the state that it may write, none of which it has to. It is that of the state,
    /// whose collections have one with this feature.
    ///
    /// With the feature `schema`.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::{List, State}};
    /// #[derive(State, schemars::JsonSchema, Clone, Default)]
    /// struct Chat {
    ///     question: String,
    ///     #[reduce(append)]
    ///     sources: List<String>,
    /// }
    ///
    /// # async fn reply(_: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, std::io::Error> { Ok(Chat::update()) }
    /// let graph = Graph::<Chat>::builder("chat").node("reply", reply).sequence([START, "reply", END]);
    /// let graph = graph.input(["question"]).output(["sources"]).build()?;
    /// assert_eq!(graph.input_schema()["properties"]["question"]["type"], "string");
    /// assert!(graph.input_schema()["properties"].get("sources").is_none());
    /// assert_eq!(graph.output_schema()["properties"]["sources"]["type"], "array");
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn input_schema(&self) -> serde_json::Value {
        let mut schema = schema_of::<S>(&self.0.input_fields(self.0.initial.schema()));
        if let Some(object) = schema.as_object_mut() {
            object.remove("required");
        }
        schema
    }

    /// The JSON Schema of an outcome's state: the fields that it shows.
    ///
    /// With the feature `schema`.
    pub fn output_schema(&self) -> serde_json::Value {
        schema_of::<S>(&self.0.output_fields(self.0.initial.schema()))
    }
}

/// The schema of `S` with these fields alone.
#[cfg(feature = "schema")]
fn schema_of<S: schemars::JsonSchema>(fields: &[String]) -> serde_json::Value {
    let mut schema = schemars::schema_for!(S).to_value();
    let has = |name: &str| fields.iter().any(|field| field == name);
    if let Some(properties) = schema.get_mut("properties").and_then(|value| value.as_object_mut()) {
        properties.retain(|name, _| has(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(|value| value.as_array_mut()) {
        required.retain(|name| name.as_str().is_some_and(has));
    }
    schema
}

impl<S: State, C> Definition<S, C> {
    fn input_fields(&self, schema: &Schema) -> Vec<String> {
        match &self.input {
            Some(input) => input.iter().map(ToString::to_string).collect(),
            None => schema.fields.iter().map(|field| field.name.to_string()).collect(),
        }
    }

    fn output_fields(&self, schema: &Schema) -> Vec<String> {
        let shown = schema.fields.iter().filter(|field| self.shows(&field.name));
        shown.map(|field| field.name.to_string()).collect()
    }
}

fn fields(schema: &[FieldSchema]) -> Vec<FieldStructure> {
    let field = |field: &FieldSchema| FieldStructure {
        name: field.name.to_string(),
        rule: field.rule.name().to_owned(),
        kind: field.kind.to_string(),
        private: field.private,
        ephemeral: field.ephemeral,
        fields: field.nested.map(|nested| fields(&nested.fields)).unwrap_or_default(),
    };
    schema.iter().map(field).collect()
}

/// A name as it stands in data.
fn end(name: &str) -> String {
    match name {
        START => "START".to_owned(),
        END => "END".to_owned(),
        name => name.to_owned(),
    }
}
