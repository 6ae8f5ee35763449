//! Which calls rules propose for a question. They hold only what the user wrote.

use hanok_retrieval::Contract;
use hanok_state::{Arguments, ToolCall};
use serde_json::json;

use crate::{question, tools::LOOKUP_STANDARD};

/// How many articles are proposed at once.
const MOST: usize = 4;

/// The calls for `question`; `before` is what was asked before where it goes on from that.
pub(crate) fn calls(question: &str, before: Option<&str>, contract: &Contract) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let mut add = |name: &str, arguments: serde_json::Value| {
        let id = format!("rule-{}", calls.len() + 1);
        calls.push(ToolCall {
            id,
            name: name.to_owned(),
            arguments: Arguments::new(arguments.to_string()),
        });
    };
    let named = question::articles(question);
    for number in named.iter().take(MOST) {
        add("get_article_by_index", json!({ "article": number.key() }));
    }
    let title = title(question, contract).or_else(|| {
        let before = before?;
        named
            .is_empty()
            .then(|| title(before, contract))
            .flatten()
            .filter(|_| is_about_before(question))
    });
    if named.is_empty() {
        match &title {
            Some(title) => add("get_article_by_title", json!({ "title": title })),
            None => {}
        }
        let whole = before.filter(|_| is_about_before(question));
        let query =
            whole.map_or_else(|| question.to_owned(), |before| format!("{before} {question}"));
        if title.is_none() || !is_plain(question) {
            add("hybrid_search", json!({ "query": query }));
        }
    }
    if question::asks_standard(question) {
        match title {
            Some(title) => add(LOOKUP_STANDARD, json!({ "topic": title })),
            None => add(LOOKUP_STANDARD, json!({})),
        }
    }
    calls
}

/// Whether nothing but an article is asked for: `해지 조항 알려줘`.
fn is_plain(question: &str) -> bool {
    ["조항", "조문", "내용", "알려줘", "보여줘", "뭐라고"]
        .iter()
        .any(|word| question.contains(word))
}

/// Whether the question is about the same as the one before.
fn is_about_before(question: &str) -> bool {
    ["그 ", "그건", "그것", "그거", "그게", "이건", "아까", "방금", "위"]
        .iter()
        .any(|word| question.trim_start().starts_with(word))
}

/// The words of `question` that are the title of an article, or the beginning of one; the longest.
fn title(question: &str, contract: &Contract) -> Option<String> {
    let titles = contract.articles.iter().filter_map(|article| article.title.as_deref());
    let parts = titles.flat_map(|title| std::iter::once(title).chain(title.split_whitespace()));
    let stands = |part: &&str| {
        part.chars().count() >= 2 && question.contains(*part) && !COMMON.contains(part)
    };
    let longest = parts.filter(stands).max_by_key(|part| part.chars().count())?;
    // As the user wrote it.
    let at = question.find(longest)?;
    question.get(at..at + longest.len()).map(str::to_owned)
}

/// Words of titles that stand in every question.
const COMMON: [&str; 10] =
    ["계약", "계약의", "계약서", "관한", "대한", "사항", "기타", "및", "경우", "조항"];
