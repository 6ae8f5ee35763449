//! Passages of documents, as a model reads them.

use std::fmt::Write;

use hanok_model::InvalidSpec;
use hanok_retrieval::{Hit, Mode, Query, SearchTool, SharedRetriever};

use crate::everyday;

/// How many passages a search gives.
const PASSAGES: usize = 5;

/// A passage that shares less with the query is not found.
const LEAST_COVERED: f32 = 0.15;

/// The most characters of one passage that are shown. The library's own passages are shorter.
const PASSAGE_CHARS: usize = 2_000;

/// The most characters of a query that are repeated where nothing is found.
const QUERY_CHARS: usize = 80;

/// `query` as the examples search documents: the five passages that fit best, by everyday words as well.
#[must_use]
pub fn few(query: Query) -> Query {
    query.limit(PASSAGES).min_coverage(LEAST_COVERED).synonyms(everyday())
}

/// A tool that searches `documents` so.
///
/// # Errors
///
/// [`InvalidSpec`] when `name` is no name of a tool.
pub fn search_tool(
    name: &str,
    description: &str,
    documents: SharedRetriever,
) -> Result<SearchTool, InvalidSpec> {
    Ok(SearchTool::new(name, description, documents)?.query(few).format(observation))
}

/// What a model reads: passages under their headings, each followed by its source, or that nothing was found about `query`. It is
/// told where some were found by their meaning: these may have no word of the question.
#[must_use]
pub fn observation(query: &str, hits: &[Hit]) -> String {
    if hits.is_empty() {
        return format!(
            "문서에서 `{}`에 대한 내용을 찾지 못했습니다.",
            shortened(query, QUERY_CHARS)
        );
    }
    let by_meaning = |hit: &Hit| hit.parts.iter().any(|part| part.by == Mode::Vector);
    let mut text = String::from(match hits.iter().any(by_meaning) {
        true => "문서 검색 결과(뜻이 가까운 것까지)",
        false => "문서 검색 결과",
    });
    for Hit { passage, .. } in hits {
        let page = passage.page.map(|page| format!(", {page}쪽")).unwrap_or_default();
        let said = shortened(passage.text.trim(), PASSAGE_CHARS);
        // A text without headings has its name for one.
        let heading = match passage.heading.trim() {
            "" => passage.source.as_str(),
            heading => heading,
        };
        // Writing to a string does not fail.
        let _ = write!(text, "\n\n제목: {heading}\n내용: {said}\n출처: {}{page}", passage.source);
    }
    text
}

fn shortened(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() { head + "…" } else { head }
}
