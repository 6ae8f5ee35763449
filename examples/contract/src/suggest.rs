//! Which calls rules propose for a question. They hold only what the user wrote.

use hanok_retrieval::Contract;
use hanok_state::{Arguments, ToolCall};
use serde_json::{Value, json};

use crate::{question, tools::LOOKUP_STANDARD};

/// How many articles are proposed at once.
const MOST: usize = 4;

/// The calls for `question`; `before` is what was asked before, where it goes on from that.
pub(crate) fn calls(question: &str, before: Option<&str>, contract: &Contract) -> Vec<ToolCall> {
    let before = before.filter(|_| points_back(question));
    let named = question::articles(question);
    let title = title_of(question, contract).or_else(|| {
        before.filter(|_| named.is_empty()).and_then(|before| title_of(before, contract))
    });
    let mut wanted: Vec<(&str, Value)> = Vec::new();
    for number in named.iter().take(MOST) {
        wanted.push(("get_article_by_index", json!({ "article": number.key() })));
    }
    if named.is_empty() {
        wanted
            .extend(title.iter().map(|title| ("get_article_by_title", json!({ "title": title }))));
        if title.as_ref().is_none_or(|title| !is_plain(question, title)) {
            let query = before.map_or_else(|| question.to_owned(), |it| format!("{it} {question}"));
            wanted.push(("hybrid_search", json!({ "query": query })));
        }
    }
    if question::asks_standard(question) {
        let topic = title.map_or_else(|| json!({}), |title| json!({ "topic": title }));
        wanted.push((LOOKUP_STANDARD, topic));
    }
    let call = |(at, (name, arguments)): (usize, (&str, Value))| ToolCall {
        id: format!("rule-{}", at + 1),
        name: name.to_owned(),
        arguments: Arguments::new(arguments.to_string()),
    };
    wanted.into_iter().enumerate().map(call).collect()
}

/// How many letters may stand beside a title in a question for nothing but its article: `해지 조항 알려줘`.
const BESIDE: usize = 8;

/// Words that call what stands before them a title.
const BY_TITLE: [&str; 3] = ["조항", "조문", "규정에"];

/// Whether `question` asks for nothing but the article of this title.
fn is_plain(question: &str, title: &str) -> bool {
    if BY_TITLE.iter().any(|word| question.contains(word)) {
        return true;
    }
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    letters(question).saturating_sub(letters(title)) <= BESIDE
}

/// What a question begins with that is about the same as the one before.
const POINTING: [&str; 9] = ["그 ", "그건", "그것", "그거", "그게", "이건", "아까", "방금", "위의"];

fn points_back(question: &str) -> bool {
    POINTING.iter().any(|word| question.trim_start().starts_with(word))
}

/// The words of `question` that are the title of an article, or the beginning of one; the longest.
fn title_of(question: &str, contract: &Contract) -> Option<String> {
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
