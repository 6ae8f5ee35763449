//! The four tools. All of them only read.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_documents::{Article, ArticleMention, ArticleNumber, Comparison};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::{Book, Material, Origin, book::Paper};

/// How many pieces a search shows.
const FOUND: usize = 4;

/// How many topics are looked up in the standard contract at once.
const TOPICS: usize = 12;

/// The names of the tools.
pub(crate) const HYBRID_SEARCH: &str = "hybrid_search";
pub(crate) const BY_INDEX: &str = "get_article_by_index";
pub(crate) const BY_TITLE: &str = "get_article_by_title";
pub(crate) const LOOKUP_STANDARD: &str = "lookup_standard_contract";
pub(crate) const NAMES: [&str; 4] = [HYBRID_SEARCH, BY_INDEX, BY_TITLE, LOOKUP_STANDARD];

/// The topic of a comparison of the two contracts as a whole.
pub(crate) const WHOLE: &str = "전체";

/// The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// 찾을 말. 질문의 핵심 낱말들
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ByIndex {
    /// 조 번호. 예: 5, 7의2
    article: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ByTitle {
    /// 조 제목이나 그 일부. 예: 해지
    title: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Lookup {
    /// 표준계약서에서 찾을 조 제목이나 주제. 예: 해지. 비우면 이미 찾은 조항에 대응하는 표준 조항을, `전체`면 표준계약서와의 차이를 모두 찾는다
    #[serde(default)]
    topic: Option<String>,
}

/// The tools over `book`.
///
/// # Errors
///
/// None that a caller could cause: names and arguments are fixed.
pub(crate) fn tools(book: &Arc<Book>) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![
        tool(
            book,
            HYBRID_SEARCH,
            "계약서에서 질문과 맞는 조항을 찾는다. 조 번호나 제목을 모를 때 쓴다.",
            |book, Search { query }, call| async move {
                let found = book.user.search(&query, FOUND, &call).await;
                let found = found.map_err(ToolError::failed)?;
                Ok(output(&found, "계약서에서 이 말과 맞는 조항을 찾지 못했습니다."))
            },
        )?,
        tool(
            book,
            BY_INDEX,
            "계약서의 조를 번호로 읽는다.",
            |book, ByIndex { article }, _| async move {
                let number: ArticleNumber = article.parse().map_err(ToolError::arguments)?;
                Ok(output(&book.user.numbered(number), &book.user.without(number)))
            },
        )?,
        tool(
            book,
            BY_TITLE,
            "계약서의 조를 제목으로 읽는다.",
            |book, ByTitle { title }, _| async move {
                let absent = "이런 제목의 조는 이 계약서에 없습니다.";
                Ok(output(&book.user.titled(&title), absent))
            },
        )?,
        tool(
            book,
            LOOKUP_STANDARD,
            "표준계약서의 조항을 찾는다. 계약서를 표준과 비교할 때 쓴다.",
            |book, Lookup { topic }, call| async move {
                book.of_standard(&topic.unwrap_or_default(), &call).await
            },
        )?,
    ])
}

fn tool<A, F>(
    book: &Arc<Book>,
    name: &str,
    description: &str,
    run: fn(Arc<Book>, A, Call) -> F,
) -> Result<SharedTool, InvalidSpec>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let book = book.clone();
    let tool = FnTool::new(name, description, move |asked, call| run(book.clone(), asked, call))?;
    Ok(SharedTool::new(tool.effect(Effect::Pure).timeout(Duration::from_secs(20))))
}

/// What was found, for the program as well; without anything, `absent`.
fn output(found: &[Material], absent: &str) -> ToolOutput {
    let labels: Vec<&str> = found.iter().map(|it| it.label.as_str()).collect();
    let text = if labels.is_empty() { absent.to_owned() } else { labels.join(", ") };
    ToolOutput::new(text).data(json!(found))
}

impl Book {
    /// The standard articles about `topics`, one a line: by number, by title, or else by a search.
    async fn of_standard(&self, topics: &str, call: &Call) -> Result<ToolOutput, ToolError> {
        let Some(standard) = &self.standard else {
            return Ok(output(&[], "비교할 표준계약서가 없습니다."));
        };
        let topics = topics.lines().map(str::trim).filter(|topic| !topic.is_empty());
        let mut found: Vec<Material> = Vec::new();
        let mut absent = "무엇을 찾을지 알 수 없습니다. topic에 조 제목이나 주제를 적으세요.";
        for topic in topics.take(TOPICS) {
            absent = "표준계약서에는 이에 대응하는 조항이 없습니다.";
            let numbers = ArticleMention::all(topic);
            let of = numbers.iter().flat_map(|it| standard.numbered(it.number));
            let mut of: Vec<Material> = of.chain(standard.titled(topic)).collect();
            if topic == WHOLE {
                of = vec![compared(&self.user, standard)];
            } else if of.is_empty() && numbers.is_empty() {
                of = standard.search(topic, 1, call).await.map_err(ToolError::failed)?;
            }
            found.extend(of);
        }
        Ok(output(&found, absent))
    }
}

/// Where the contract differs from the standard one.
fn compared(user: &Paper, standard: &Paper) -> Material {
    let listed = |items: Vec<String>| match items.is_empty() {
        true => "없음".to_owned(),
        false => items.join(", "),
    };
    let labels =
        |articles: Vec<&Article>| listed(articles.into_iter().map(Article::label).collect());
    let Comparison { differing, own, lacking, .. } = user.contract.compare(&standard.contract);
    let lines = differing.into_iter().map(|it| {
        let (ours, other) = (listed(it.figures), listed(it.counterpart_figures));
        let (articles, counterpart) = (labels(it.articles), it.counterpart.label());
        format!("- 표준계약서 {counterpart} ↔ 이 계약서 {articles}: 이 계약서에만 {ours}; 표준계약서에만 {other}\n")
    });
    let (lines, own, lacking) = (lines.collect::<String>(), labels(own), labels(lacking));
    Material {
        origin: Origin::Standard,
        article: None,
        label: "표준계약서와의 차이".to_owned(),
        text: format!(
            "표준계약서와 비교해서 다른 점입니다. 누구에게 유리하고 불리한 조항인지는 판단하지 않습니다.\n숫자가 다른 조:\n{lines}\
             이 계약서에만 있는 조: {own}\n표준계약서에만 있는 조: {lacking}"
        ),
        named: true,
    }
}
