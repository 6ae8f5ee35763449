//! The tool `legal_search`: articles of the law by what they are about, or by their number.

mod index;
mod refer;

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Effect};
use hanok_model::{FnTool, InvalidSpec, ToolError, ToolOutput};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::index::Index;
use self::refer::{Named, Reference};
use crate::data::Law;
use crate::data::law::LawArticle;

/// The longest question, in bytes.
const LONGEST: usize = 4_000;

/// The longest name of a law and number of an article, in bytes.
const LONGEST_NAME: usize = 200;

/// How many articles are answered by a search.
const SHOWN: usize = 4;

/// How many letters a question has at least that asks for more than the articles that it names.
const MORE: usize = 12;

/// How many articles are answered at most, with those of the numbers that were asked for.
const MOST: usize = 8;

const DESCRIPTION: &str = "주택·상가 임대차와 부동산 중개에 관한 법 조문(주택임대차보호법, 상가건물 임대차보호법과 그 시행령, \
민법의 임대차, 공인중개사법)의 요지를 말이나 조 번호로 찾습니다. 자료에 없는 조문은 없다고 알립니다. \
법령의 원문이 아니라 간추린 글이며, 판례와 세금·대출 규정을 찾거나 증액률과 금액을 계산하는 데에는 쓰지 않습니다. \
이런 말에 씁니다: 법에, 법으로, 법률, 조문, 법적, 상한, 대항력, 확정일자, 갱신, 묵시적, 임차권, 등기명령, 권리금, 중개보수, 복비, 최우선변제, 보장, 보호법, 전입신고, 임대차보호법.";

/// What the tool takes. The comments are for models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LawQuestion {
    /// 사용자의 질문 그대로, 또는 찾을 말: "집주인이 보증금을 안 돌려줘요".
    #[serde(default)]
    pub query: Option<String>,
    /// 법의 이름을 알 때: "주택임대차보호법". 모르면 비웁니다.
    #[serde(default)]
    pub law: Option<String>,
    /// 조 번호를 알 때: "제7조의2". 모르면 비웁니다.
    #[serde(default)]
    pub article: Option<String>,
}

/// What the tool answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LawAnswer {
    /// The day of which the summaries are.
    #[schemars(with = "String")]
    pub as_of: Date,
    /// What the texts are.
    pub source: String,
    /// The articles: those of the numbers that were asked for, then the best of the search.
    pub articles: Vec<FoundArticle>,
    /// What was asked for by its number or name and is not in the data.
    pub absent: Vec<Absent>,
}

/// An article that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundArticle {
    /// The law.
    pub law: String,
    /// The number: `제7조의2`.
    pub article: String,
    /// The title.
    pub title: String,
    /// What it says, in short.
    pub text: String,
    /// The day from which it holds as it is described.
    #[schemars(with = "String")]
    pub effective: Date,
    /// `주택임대차보호법 제7조(차임 등의 증감청구권)`.
    pub cited: String,
    /// How it was found.
    pub by: By,
}

/// How an article was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By its number.
    Number,
    /// By the words of the question.
    Words,
}

/// A law or an article that is not in the data. Whether it exists is not said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Absent {
    /// The law, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// The number of the article, if one was named: `제7조의9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub article: Option<String>,
}

impl Absent {
    /// `주택임대차보호법 제99조`.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = [self.law.as_deref(), self.article.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// A search in the law, whose index is built once. Clones share it.
#[derive(Debug, Clone)]
pub struct LawSearch {
    law: Arc<Law>,
    index: Arc<Index>,
}

impl LawSearch {
    /// A search in `law`. Builds the index, which blocks for some milliseconds.
    #[must_use]
    pub fn new(law: Arc<Law>) -> Self {
        let index = Arc::new(Index::new(&law));
        Self { law, index }
    }

    /// The articles that answer a question.
    ///
    /// - An article that is named by its number is looked up by that: 제7조의2 is not 제7조. Without a law it is looked up in all.
    ///   What else the question says is searched, too.
    /// - What is named and not there stands in [`LawAnswer::absent`]. Where nothing else was named, there is no article in its place.
    /// - A law that is named without a number, or by `law`, is the one that is searched, with its decree.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] when nothing is asked, when it is too long, or when a number is not understood.
    pub fn search(&self, question: &LawQuestion) -> Result<LawAnswer, ToolError> {
        let words = input("query", question.query.as_deref(), LONGEST)?;
        let law = input("law", question.law.as_deref(), LONGEST_NAME)?;
        let number = input("article", question.article.as_deref(), LONGEST_NAME)?;
        if words.is_empty() && number.is_empty() {
            return Err(ToolError::arguments(
                "찾을 것이 없습니다: `query`에 질문을, 또는 `article`에 조 번호를 적어 주십시오",
            ));
        }
        let Named { references, scope, mut absent, rest } =
            refer::named(&self.law, words, law, number).map_err(ToolError::arguments)?;
        let ranked = self.index.ranked(&rest, &scope, &self.law).map_err(ToolError::failed)?;
        let mut found: Vec<(&LawArticle, By)> = Vec::new();
        for reference in &references {
            let exact = self.exact(reference, &ranked);
            if exact.is_empty() {
                absent.push(reference.absent());
            }
            found.extend(exact.into_iter().map(|article| (article, By::Number)));
        }
        let asks_more = rest.chars().filter(|c| c.is_alphanumeric()).count() >= MORE;
        let is_searched = match references.as_slice() {
            [] => absent.is_empty(),
            _ => asks_more && !found.is_empty(),
        };
        if is_searched {
            let places = ranked.iter().filter_map(|place| self.law.articles().get(*place));
            found.extend(places.take(SHOWN).map(|article| (article, By::Words)));
        }
        let mut articles: Vec<FoundArticle> = Vec::new();
        for (article, by) in found {
            let one = FoundArticle::new(article, by);
            if articles.len() < MOST && !articles.iter().any(|known| known.cited == one.cited) {
                articles.push(one);
            }
        }
        let mut once: Vec<Absent> = Vec::new();
        for one in absent {
            if !once.contains(&one) {
                once.push(one);
            }
        }
        let origin = &self.law.origin;
        Ok(LawAnswer { as_of: origin.as_of, source: origin.source.clone(), articles, absent: once })
    }

    /// The articles of a number: those that the words of the question fit come first.
    fn exact(&self, reference: &Reference, ranked: &[usize]) -> Vec<&LawArticle> {
        let articles = self.law.articles().iter().enumerate();
        let mut exact: Vec<(usize, &LawArticle)> =
            articles.filter(|article| reference.names(article.1)).collect();
        exact.sort_by_key(|(place, _)| {
            ranked.iter().position(|one| one == place).unwrap_or(usize::MAX)
        });
        exact.into_iter().map(|article| article.1).collect()
    }
}

impl FoundArticle {
    fn new(article: &LawArticle, by: By) -> Self {
        Self {
            law: article.law.clone(),
            article: article.number.to_string(),
            title: article.title.clone(),
            text: article.text.clone(),
            effective: article.effective,
            cited: article.cited(),
            by,
        }
    }
}

fn input<'a>(name: &str, text: Option<&'a str>, most: usize) -> Result<&'a str, ToolError> {
    let text = text.unwrap_or_default().trim_matches(|c: char| c.is_whitespace() || c.is_control());
    if text.len() > most {
        let particle = if name == "article" { "이" } else { "가" };
        let reason =
            format!("`{name}`{particle} {most}바이트보다 깁니다. 물으려는 부분만 보내 주십시오");
        return Err(ToolError::arguments(reason));
    }
    Ok(text)
}

/// The tool, which searches `law`. Builds the index.
///
/// Effect: pure. Time-out: 10 s.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn legal_search(law: Arc<Law>) -> Result<FnTool, InvalidSpec> {
    let search = LawSearch::new(law);
    let run = move |question: LawQuestion, _call: Call| {
        let answer = search.search(&question).and_then(|answer| output(&answer));
        std::future::ready(answer)
    };
    let tool = FnTool::new("legal_search", DESCRIPTION, run)?;
    Ok(tool.effect(Effect::Pure).timeout(Duration::from_secs(10)))
}

fn output(answer: &LawAnswer) -> Result<ToolOutput, ToolError> {
    let mut lines: Vec<String> = Vec::new();
    for absent in &answer.absent {
        let name = absent.name();
        lines.push(format!("이 자료에 없습니다: {name}."));
    }
    for (place, article) in (1..).zip(&answer.articles) {
        let FoundArticle { cited, text, effective, .. } = article;
        lines.push(format!("[{place}] {cited}, {effective} 시행\n{text}"));
    }
    if answer.articles.is_empty() && answer.absent.is_empty() {
        lines.push("질문에 맞는 조문을 이 자료에서 찾지 못했습니다.".to_owned());
    }
    lines.push(format!("{} 기준. {}.", answer.as_of, answer.source));
    let data = serde_json::to_value(answer).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(lines.join("\n")).data(data))
}
