//! A search as a tool: what a model reads, and what a program does.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{Call, Effect};
use hanok_model::{Tool, ToolError, ToolOutput};
use hanok_retrieval::{
    Document, Hit, MemoryIndex, Mode, Query, RetrievalError, Retriever, SearchTool, Splitter, Terms,
};
use hanok_state::Arguments;
use serde_json::json;

fn index(documents: &[(&str, &str)]) -> MemoryIndex {
    let documents = documents.iter().map(|(source, text)| Document::new(source, text));
    MemoryIndex::new(documents.flat_map(|each| Splitter::new().split(&each)), Terms::default())
}

fn tool(retriever: impl Retriever) -> SearchTool {
    SearchTool::new("search_rules", "Searches the rules.", retriever).unwrap()
}

async fn run(tool: &SearchTool, query: &str) -> Result<ToolOutput, ToolError> {
    let arguments = Arguments::from_value(&json!({"query": query})).unwrap();
    tool.run(&arguments, &Call::detached()).await
}

#[tokio::test]
async fn passages_come_with_their_sources_and_those_are_data_too() {
    let tool = tool(index(&[
        ("it.md", "# Passwords\n\nThey have at least 14 characters."),
        ("plain.txt", "Passwords are kept in the vault."),
        ("leave.md", "# Leave\n\nThere are 25 days."),
    ]));
    assert_eq!((tool.spec().name(), tool.effect()), ("search_rules", Effect::Pure));
    assert_eq!(tool.spec().only_text_parameter(), Some("query"));
    let found = run(&tool, "password").await.unwrap();
    insta::assert_snapshot!(found.text, @"
    [1] it.md: Passwords
    # Passwords

    They have at least 14 characters.

    [2] plain.txt
    Passwords are kept in the vault.
    ");
    let sources = found.data.unwrap().0;
    assert_eq!(sources["sources"][1]["source"], "plain.txt");
    assert_eq!(sources["sources"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn nothing_found_is_one_sentence_that_repeats_little() {
    let tool = tool(index(&[("leave.md", "There are 25 days of leave.")]));
    let nothing = run(&tool, "airport").await.unwrap();
    assert_eq!(nothing.text, "Nothing was found about `airport`.");
    assert_eq!(nothing.data.unwrap().0, json!({"sources": []}));
    let long = run(&tool, &"airport ".repeat(8_000)).await.unwrap();
    assert!(long.text.chars().count() < 120);
}

#[tokio::test]
async fn the_query_and_the_text_are_the_caller_s_to_change() {
    let said = |text: &str, hits: &[Hit]| format!("{text}: {}", hits.len());
    let documents = index(&[("a.md", "leave a"), ("b.md", "leave b"), ("c.md", "leave c")]);
    let tool = tool(documents).query(|query| query.limit(1).under("b.md")).format(said);
    let found = run(&tool, "leave").await.unwrap();
    assert_eq!(found.text, "leave: 1");
    assert_eq!(found.data.unwrap().0["sources"][0]["source"], "b.md");
}

#[derive(Debug)]
struct Away;

impl Retriever for Away {
    async fn search(&self, _: &Query) -> Result<Vec<Hit>, RetrievalError> {
        Err(RetrievalError::NoVector { mode: Mode::Vector })
    }
}

#[tokio::test]
async fn a_store_that_fails_fails_the_call_and_a_call_without_a_query_is_the_model_s_mistake() {
    assert!(matches!(run(&tool(Away), "?").await, Err(ToolError::Failed(_))));
    let empty = tool(Away).run(&Arguments::new("{}"), &Call::detached()).await;
    assert!(matches!(empty, Err(ToolError::Arguments(_))));
}
