//! The documents as a tool.

use hanok_model::{InvalidSpec, SharedTool};
use hanok_retrieval::SharedRetriever;
use kit::passages::search_tool;

/// The tool `search_knowledge_base`: the five passages of `documents` that fit a query best, each with its source.
///
/// A passage that shares next to nothing with the query is not shown; without one the tool says that nothing was found.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn search_knowledge_base(documents: SharedRetriever) -> Result<SharedTool, InvalidSpec> {
    let description = "Searches the company's documents (규정, 지침, 핸드북) and returns passages with their sources.";
    search_tool("search_knowledge_base", description, documents).map(SharedTool::new)
}
