//! The four tools. All of them only read.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_documents::{ArticleMention, ArticleNumber};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Absent, Book, Material, Missing, Origin};

/// How many pieces a search shows.
const FOUND: usize = 4;

/// How many topics are looked up in the standard contract at once.
const TOPICS: usize = 12;

/// The names of the tools that read articles.
pub(crate) const BY_INDEX: &str = "get_article_by_index";
pub(crate) const BY_TITLE: &str = "get_article_by_title";

/// The name of the tool that searches.
pub(crate) const HYBRID_SEARCH: &str = "hybrid_search";

/// The name of the tool that compares.
pub(crate) const LOOKUP_STANDARD: &str = "lookup_standard_contract";

/// What a call found, for the program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lookup {
    pub(crate) materials: Vec<Material>,
    pub(crate) absent: Vec<Absent>,
}

impl Lookup {
    fn found(materials: Vec<Material>, absent: impl FnOnce() -> Absent) -> Self {
        let absent = if materials.is_empty() { vec![absent()] } else { Vec::new() };
        Self { materials, absent }
    }

    /// What the model reads, and the same for the program.
    fn output(self) -> ToolOutput {
        let text = match self.materials.is_empty() {
            true => self.absent.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n"),
            false => self.materials.iter().map(Material::shown).collect::<Vec<_>>().join("\n\n"),
        };
        let data = serde_json::to_value(&self).unwrap_or(Value::Null);
        ToolOutput::new(text).data(data)
    }
}

impl Material {
    /// As a model reads it.
    pub(crate) fn shown(&self) -> String {
        let Self { origin, label, text, .. } = self;
        // A line of the contract is not to pass for the name of a source.
        let labelled = |line: &str| {
            ["제목", "내용", "출처", "근거"].iter().any(|it| line.trim_start().starts_with(it))
        };
        let line =
            |line: &str| if labelled(line) { format!("“{line}”") } else { line.to_owned() };
        let text = text.lines().map(line).collect::<Vec<_>>().join("\n");
        format!("제목: {label}\n내용: {text}\n출처: {} {label}", origin.name())
    }
}

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
struct Standard {
    /// 표준계약서에서 찾을 조 제목이나 주제. 예: 해지. 비우면 이미 찾은 조항에 대응하는 표준 조항을 찾는다
    #[serde(default)]
    topic: Option<String>,
}

/// The tools over `book`.
///
/// # Errors
///
/// None that a caller could cause: names and arguments are fixed.
pub(crate) fn tools(book: &Arc<Book>) -> Result<Vec<SharedTool>, InvalidSpec> {
    let give =
        |tool: FnTool| SharedTool::new(tool.effect(Effect::Pure).timeout(Duration::from_secs(20)));
    let (one, two, three, four) = (book.clone(), book.clone(), book.clone(), book.clone());
    Ok(vec![
        give(FnTool::new(
            HYBRID_SEARCH,
            "계약서에서 질문과 맞는 조항을 찾는다. 조 번호나 제목을 모를 때 쓴다.",
            move |Search { query }, call| {
                let book = one.clone();
                async move { Ok(book.searched(&query, &call).await?.output()) }
            },
        )?),
        give(FnTool::new(
            BY_INDEX,
            "계약서의 조를 번호로 읽는다.",
            move |ByIndex { article }, _| {
                let book = two.clone();
                async move { Ok(book.by_index(&article)?.output()) }
            },
        )?),
        give(FnTool::new(
            BY_TITLE,
            "계약서의 조를 제목으로 읽는다.",
            move |ByTitle { title }, _| {
                let book = three.clone();
                async move { Ok(book.by_title(&title).output()) }
            },
        )?),
        give(FnTool::new(
            LOOKUP_STANDARD,
            "표준계약서의 조항을 찾는다. 계약서를 표준과 비교할 때 쓴다.",
            move |Standard { topic }, call| {
                let book = four.clone();
                async move {
                    Ok(book.standard(topic.as_deref().unwrap_or_default(), &call).await?.output())
                }
            },
        )?),
    ])
}

impl Book {
    async fn searched(&self, query: &str, call: &Call) -> Result<Lookup, ToolError> {
        let found = self.search(Origin::Contract, query, FOUND, call);
        let found = found.await.map_err(ToolError::failed)?;
        let absent = "계약서에서 이 말과 맞는 조항을 찾지 못했습니다.";
        Ok(Lookup::found(found, || Absent::new(Missing::Found, absent)))
    }

    fn by_index(&self, article: &str) -> Result<Lookup, ToolError> {
        let number: ArticleNumber = article.parse().map_err(ToolError::arguments)?;
        Ok(Lookup::found(self.user.numbered(number), || self.user.lacks(number)))
    }

    fn by_title(&self, title: &str) -> Lookup {
        let absent = "이런 제목의 조는 이 계약서에 없습니다.";
        Lookup::found(self.user.titled(title), || Absent::new(Missing::Found, absent))
    }

    /// The standard articles about `topics`, one a line: by number, by title, or else by a search.
    async fn standard(&self, topics: &str, call: &Call) -> Result<Lookup, ToolError> {
        let Some(standard) = &self.standard else {
            let absent = "비교할 표준계약서가 없습니다.";
            return Ok(Lookup::found(Vec::new(), || Absent::new(Missing::Counterpart, absent)));
        };
        let mut lookup = Lookup::default();
        for topic in topics.lines().map(str::trim).filter(|topic| !topic.is_empty()).take(TOPICS) {
            let numbers: Vec<_> =
                ArticleMention::all(topic).into_iter().map(|it| it.number).collect();
            let mut found: Vec<Material> = Vec::new();
            for number in &numbers {
                let of = standard.numbered(*number);
                lookup.absent.extend(of.is_empty().then(|| standard.lacks(*number)));
                found.extend(of);
            }
            if numbers.is_empty() {
                found = standard.titled(topic);
                if found.is_empty() {
                    let search = self.search(Origin::Standard, topic, 1, call);
                    found = search.await.map_err(ToolError::failed)?;
                }
                if found.is_empty() {
                    let absent = "표준계약서에는 이에 대응하는 조항이 없습니다.";
                    lookup.absent.push(Absent::new(Missing::Counterpart, absent));
                }
            }
            lookup.materials.extend(found);
        }
        if lookup.materials.is_empty() && lookup.absent.is_empty() {
            let absent =
                "표준계약서에서 무엇을 찾을지 알 수 없습니다. topic에 조 제목이나 주제를 적으세요.";
            lookup.absent.push(Absent::new(Missing::Found, absent));
        }
        Ok(lookup)
    }
}
