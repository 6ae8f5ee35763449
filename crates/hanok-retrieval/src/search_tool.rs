//! A search as a tool.

use std::{fmt, fmt::Write, sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use serde::Deserialize;
use serde_json::json;

use crate::{
    query::{MIN_COVERAGE, Query},
    retriever::{Hit, Retriever, SharedRetriever},
};

/// The default number of passages that are shown.
const PASSAGES: usize = 3;

/// The most characters of one passage that are shown. The library's own passages are shorter.
const PASSAGE_CHARS: usize = 2_000;

/// The most characters of a query that are repeated where nothing is found.
const QUERY_CHARS: usize = 80;

type MakeQuery = dyn Fn(Query) -> Query + Send + Sync;
type Format = dyn Fn(&str, &[Hit]) -> String + Send + Sync;

/// Any [`Retriever`] as a tool: a model asks with `query`, and reads the passages that fit best, each under its source.
///
/// It changes nothing, and takes at most 10 s. A passage that shares next to nothing with the query is not shown; without one
/// the model is told that nothing was found. The data of an observation are `{"sources": [{"source": "rules.md", "heading":
/// "Leave", "page": null, "passage": "its id"}]}`, in the order of the passages.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::Tool;
/// use hanok_retrieval::{Document, MemoryIndex, SearchTool, Splitter, Terms};
/// use hanok_state::Arguments;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rules = Document::new("rules.md", "# Passwords\n\nThey have at least 14 characters.\n");
/// let index = MemoryIndex::new(Splitter::new().split(&rules), Terms::default());
/// let tool = SearchTool::new("search_rules", "Searches the rules of the company.", index)?;
///
/// let found = tool.run(&Arguments::new(r#"{"query": "password length"}"#), &Call::detached()).await?;
/// assert_eq!(found.text, "[1] rules.md: Passwords\n# Passwords\n\nThey have at least 14 characters.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SearchTool {
    spec: ToolSpec,
    retriever: SharedRetriever,
    query: Arc<MakeQuery>,
    format: Arc<Format>,
}

impl fmt::Debug for SearchTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spec, retriever, .. } = self;
        let mut tool = f.debug_struct("SearchTool");
        tool.field("spec", spec).field("retriever", retriever).finish_non_exhaustive()
    }
}

#[derive(Debug, Deserialize)]
struct Search {
    query: String,
}

impl SearchTool {
    /// A search in `retriever`. The description tells models what is found there.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when `name` is no name of a tool.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        retriever: impl Retriever,
    ) -> Result<Self, InvalidSpec> {
        let query = "What to look for, in keywords or as a question.";
        let parameters = json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": query}},
            "required": ["query"],
        });
        Ok(Self {
            spec: ToolSpec::new(name, description, parameters)?,
            retriever: SharedRetriever::new(retriever),
            query: Arc::new(|query| query),
            format: Arc::new(passages),
        })
    }

    /// Changes each query: its number of passages, its mode, its filters. Default: three passages by keywords, with a coverage
    /// of at least [`MIN_COVERAGE`].
    ///
    /// ```
    /// use hanok_retrieval::{MemoryIndex, Mode, Retriever, SearchTool};
    ///
    /// # fn tool(store: impl Retriever) -> Result<SearchTool, hanok_model::InvalidSpec> {
    /// let tool = SearchTool::new("search_rules", "Searches the rules of the company.", store)?;
    /// Ok(tool.query(|query| query.mode(Mode::Hybrid).only("team", "hr").limit(5)))
    /// # }
    /// ```
    #[must_use]
    pub fn query(self, change: impl Fn(Query) -> Query + Send + Sync + 'static) -> Self {
        Self { query: Arc::new(change), ..self }
    }

    /// Sets the text that a model reads, made of its query and the passages, the best first; there may be none. Default: each
    /// passage under its number, source, page and heading, in English.
    #[must_use]
    pub fn format(self, format: impl Fn(&str, &[Hit]) -> String + Send + Sync + 'static) -> Self {
        Self { format: Arc::new(format), ..self }
    }
}

impl Tool for SearchTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 10 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Searches.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] without a query, [`ToolError::Failed`] when the store fails.
    async fn run(&self, arguments: &Arguments, _call: &Call) -> Result<ToolOutput, ToolError> {
        let Search { query: text } = arguments.decode().map_err(ToolError::arguments)?;
        let query = Query::new(&text).limit(PASSAGES).min_coverage(MIN_COVERAGE);
        let hits = self.retriever.search(&(self.query)(query)).await.map_err(ToolError::failed)?;
        let sources = hits.iter().map(|Hit { passage, .. }| {
            json!({
                "source": passage.source,
                "heading": passage.heading,
                "page": passage.page,
                "passage": passage.id,
            })
        });
        let data = json!({"sources": sources.collect::<Vec<_>>()});
        Ok(ToolOutput::new((self.format)(&text, &hits)).data(data))
    }
}

/// What a model reads.
fn passages(query: &str, hits: &[Hit]) -> String {
    if hits.is_empty() {
        return format!("Nothing was found about `{}`.", shortened(query, QUERY_CHARS));
    }
    let mut text = String::new();
    for (number, Hit { passage, .. }) in (1..).zip(hits) {
        let between = if text.is_empty() { "" } else { "\n\n" };
        let page = passage.page.map(|page| format!(", page {page}")).unwrap_or_default();
        let heading = &passage.heading;
        let heading = if heading.is_empty() { String::new() } else { format!(": {heading}") };
        let said = shortened(passage.text.trim(), PASSAGE_CHARS);
        // Writing to a string does not fail.
        let _ = write!(text, "{between}[{number}] {}{page}{heading}\n{said}", passage.source);
    }
    text
}

fn shortened(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() { head + "…" } else { head }
}
