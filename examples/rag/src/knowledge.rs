//! The documents as a tool.

use std::time::Duration;

use hanok_core::Effect;
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError};
use hanok_retrieval::{MIN_COVERAGE, Query, Retriever, SharedRetriever};
use schemars::JsonSchema;
use serde::Deserialize;
use terminal::passages::observation;

/// How many passages a search shows.
const PASSAGES: usize = 3;

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// 찾을 말. What to look for in the documents, in keywords or as a question.
    query: String,
}

/// The tool `search_knowledge_base`: the three passages of `documents` that fit a query best, each with its source.
///
/// A passage that shares next to nothing with the query is not shown; without one the tool says that nothing was found.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn search_knowledge_base(documents: SharedRetriever) -> Result<SharedTool, InvalidSpec> {
    let description = "회사의 규정, 지침, 핸드북 같은 문서에서 찾습니다. \
        Searches the company's documents and returns passages with their sources.";
    let tool = FnTool::new("search_knowledge_base", description, move |search: Search, _call| {
        let documents = documents.clone();
        async move {
            let query = Query::new(&search.query).limit(PASSAGES).min_coverage(MIN_COVERAGE);
            let hits = documents.search(&query).await.map_err(ToolError::failed)?;
            Ok(observation(&search.query, &hits).into())
        }
    })?;
    Ok(SharedTool::new(tool.effect(Effect::Pure).timeout(Duration::from_secs(10))))
}
