//! The documents as a tool.

use std::{fmt::Write, time::Duration};

use hanok_core::Effect;
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError};
use hanok_retrieval::{Hit, MIN_COVERAGE, Query, Retriever, SharedRetriever};
use schemars::JsonSchema;
use serde::Deserialize;

/// How many passages a search shows.
const PASSAGES: usize = 3;

/// The most characters of one passage that are shown. The library's own passages are shorter.
const PASSAGE_CHARS: usize = 2_000;

/// The most characters of a query that are repeated where nothing is found.
const QUERY_CHARS: usize = 80;

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

/// What a model reads: passages under their headings, each followed by its source.
fn observation(query: &str, hits: &[Hit]) -> String {
    if hits.is_empty() {
        return format!(
            "문서에서 `{}`에 대한 내용을 찾지 못했습니다.",
            shortened(query, QUERY_CHARS)
        );
    }
    let mut text = String::from("문서 검색 결과");
    for Hit { passage, .. } in hits {
        let page = passage.page.map(|page| format!(", {page}쪽")).unwrap_or_default();
        let said = shortened(passage.text.trim(), PASSAGE_CHARS);
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n\n제목: {}\n내용: {said}\n출처: {}{page}",
            passage.heading, passage.source
        );
    }
    text
}

fn shortened(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() { head + "…" } else { head }
}
