//! Which calls rules propose for a question. They hold only what the user wrote.

use hanok_documents::{Contract, TitleFit};
use hanok_state::{Arguments, ToolCall};
use serde_json::{Value, json};

use crate::{
    Origin, question,
    tools::{self, HYBRID_SEARCH, LOOKUP_STANDARD},
};

/// How many articles are proposed at once.
const MOST: usize = 12;

/// How many titles are.
const TITLES: usize = 3;

/// The calls for `question`; `before` is what was asked before, where it goes on from that.
pub(crate) fn calls(question: &str, before: Option<&str>, contract: &Contract) -> Vec<ToolCall> {
    let standard = question::is_short(question) && question::asks_standard(question);
    let before = before.filter(|_| standard || question::goes_on(question));
    let named = question::articles(question, Origin::Contract);
    let of_standard = question::articles(question, Origin::Standard);
    let by_number = !named.is_empty() || !of_standard.is_empty();
    let mut titles = titles(question, contract);
    // An article that is named by both is read once.
    titles.retain(|title| {
        let fits = contract.by_title(title);
        !fits.first().is_some_and(|first| named.contains(&first.article.number))
    });
    if titles.is_empty() && !by_number {
        titles = before.map(|before| self::titles(before, contract)).unwrap_or_default();
    }
    let mut wanted: Vec<(&str, Value)> = Vec::new();
    let numbers = named.iter().map(|it| (tools::BY_INDEX, json!({ "article": it.key() })));
    wanted.extend(numbers.take(MOST));
    wanted.extend(titles.iter().map(|title| (tools::BY_TITLE, json!({ "title": title }))));
    if !by_number && !titles.iter().any(|title| is_plain(question, title, contract)) {
        let query = before.map_or_else(|| question.to_owned(), |it| format!("{it} {question}"));
        wanted.push((HYBRID_SEARCH, json!({ "query": query })));
    }
    let topics = of_standard.iter().map(|it| (LOOKUP_STANDARD, json!({ "topic": it.to_string() })));
    wanted.extend(topics.take(MOST));
    if of_standard.is_empty() && question::asks_standard(question) {
        let topic = titles.first().filter(|_| named.is_empty());
        wanted.push((
            LOOKUP_STANDARD,
            topic.map_or_else(|| json!({}), |title| json!({ "topic": title })),
        ));
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

/// Whether `question` asks for nothing but the article of this title, all of it and not a word of one.
fn is_plain(question: &str, title: &str, contract: &Contract) -> bool {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let whole = contract.by_title(title).first().is_some_and(|it| it.fit == TitleFit::Exact);
    BY_TITLE.iter().any(|word| question.contains(word))
        || whole && letters(question).saturating_sub(letters(title)) <= BESIDE
}

/// The words of `question` that are titles of articles, the longest first and none within another; without any, the longest
/// word of a title.
pub(crate) fn titles(question: &str, contract: &Contract) -> Vec<String> {
    let stands = |part: &&str| {
        part.chars().count() >= 2 && stands_in(part, question) && !COMMON.contains(part)
    };
    let all = || contract.articles.iter().filter_map(|article| article.title.as_deref());
    let mut whole: Vec<&str> = all().filter(stands).collect();
    whole.sort_by_key(|title| std::cmp::Reverse(title.chars().count()));
    let mut titles: Vec<String> = Vec::new();
    for title in whole {
        if titles.len() < TITLES && !titles.iter().any(|known| known.contains(title)) {
            titles.push(title.to_owned());
        }
    }
    if titles.is_empty() {
        let words = all().flat_map(str::split_whitespace).filter(stands);
        titles.extend(words.max_by_key(|word| word.chars().count()).map(str::to_owned));
    }
    titles
}

/// Whether `title` stands in `question`, with and without the particles between its words: `보증금의 반환` in `보증금 반환은 언제 해?`.
fn stands_in(title: &str, question: &str) -> bool {
    let stem = |word: &str| {
        let short = word.strip_suffix(JOINING).unwrap_or(word);
        if short.chars().count() < 2 { word.to_owned() } else { short.to_owned() }
    };
    let words: Vec<String> =
        title.split_whitespace().filter(|word| *word != "및").map(stem).collect();
    let Some((first, others)) = words.split_first() else { return false };
    let joins = |c: char| c.is_whitespace() || c == '및' || c == '·' || JOINING.contains(&c);
    question.match_indices(first.as_str()).any(|(at, _)| {
        let mut rest = question.get(at + first.len()..).unwrap_or_default();
        others.iter().all(|word| {
            let next = rest.trim_start_matches(joins).strip_prefix(word.as_str());
            rest = next.unwrap_or_default();
            next.is_some()
        })
    })
}

/// Particles that join the words of a title.
const JOINING: [char; 3] = ['의', '과', '와'];

/// Words of titles that stand in every question.
const COMMON: [&str; 14] = [
    "계약",
    "계약의",
    "계약서",
    "관한",
    "대한",
    "사항",
    "기타",
    "및",
    "경우",
    "조항",
    "갑의",
    "을의",
    "의무",
    "일",
];
