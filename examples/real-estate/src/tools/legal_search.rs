//! Articles of laws, found by their words or by their numbers. The search is that of `hanok-retrieval`.

use std::sync::Arc;

use hanok_checkpoint::Vector;
use hanok_core::BoxError;
use hanok_retrieval::{Document, MemoryIndex, Mode, NgramEmbedder, Query, Splitter, Terms};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Answer;
use crate::data::{Article, Data};

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Asked {
    /// 찾을 내용: 질문 그대로, 법 이름과 조 번호까지.
    query: String,
}

/// How many articles are shown.
const SHOWN: usize = 3;

/// The least share of a question's words, and the least likeness of letters, that an article has to have.
const COVERED: f32 = 0.2;
const ALIKE: f32 = 0.25;

/// The search in the law. Clones are the same.
#[derive(Debug, Clone)]
pub struct LawSearch {
    index: Arc<MemoryIndex>,
    letters: NgramEmbedder,
}

/// A law that a text names.
#[derive(Debug, Clone, PartialEq)]
enum Named {
    Known(String),
    Unknown(String),
}

impl LawSearch {
    /// The search over the articles of `data`.
    #[must_use]
    pub fn new(data: &Data) -> Self {
        let letters = NgramEmbedder::default();
        let passages = data.law.rows.iter().enumerate().flat_map(|(at, article)| {
            let Article { law, title, words, text, .. } = article;
            let text = format!("{title}\n{}\n{text}", words.join(", "));
            let document = Document::new(law.as_str(), &text).with("at", at.to_string());
            let document = document.with("law", parent(law));
            // An article is one passage.
            let mut passages = Splitter::new().max_chars(usize::MAX).split(&document);
            for passage in &mut passages {
                passage.vector = Vector::new(&letters.vector(&passage.text)).ok();
            }
            passages
        });
        let index = Arc::new(MemoryIndex::new(passages.collect::<Vec<_>>(), Terms::default()));
        Self { index, letters }
    }

    pub(super) fn answer(&self, asked: &Asked, data: &Data) -> Result<Answer, BoxError> {
        let (found, absent) = self.find(&asked.query, data)?;
        let mut lines: Vec<String> =
            absent.iter().map(|name| format!("이 자료에 없습니다: {name}.")).collect();
        if found.is_empty() && absent.is_empty() {
            lines.push("질문에 맞는 조문을 이 자료에서 찾지 못했습니다.".to_owned());
        } else if !found.is_empty() {
            lines.push("관련 조항을 옮깁니다. 결론은 조문을 읽고 판단하셔야 합니다.".to_owned());
        }
        for (place, Article { law, article, title, text, effective, .. }) in (1..).zip(&found) {
            lines.push(format!("[{place}] {law} {article}({title}), {effective} 시행\n{text}"));
        }
        let articles: Vec<_> =
            found.iter().map(|it| json!({"law": it.law, "article": it.article})).collect();
        Ok(Answer { source: Some(data.law.origin.clone()), data: json!(articles), lines })
    }

    /// The articles that `query` names by their numbers, or else those that its words are about; and the names of what is absent.
    ///
    /// # Errors
    ///
    /// What the index says.
    pub fn find<'d>(
        &self,
        query: &str,
        data: &'d Data,
    ) -> Result<(Vec<&'d Article>, Vec<String>), BoxError> {
        let articles = &data.law.rows;
        let mentioned = mentioned(query, data);
        let (mut found, mut absent) = (Vec::new(), Vec::new());
        for (start, number) in numbers(query) {
            let before = query.get(..start).unwrap_or_default();
            let law = law_before(before, data).or_else(|| mentioned.clone());
            let is_it = |article: &&Article| {
                article.article == number
                    && law.as_ref().is_none_or(|law| *law == Named::Known(article.law.clone()))
            };
            let before = found.len();
            found.extend(articles.iter().filter(is_it));
            if found.len() == before {
                let name = match law {
                    Some(Named::Known(law) | Named::Unknown(law)) => format!("{law} {number}"),
                    None => number,
                };
                absent.push(name);
            }
        }
        if let (Some(Named::Unknown(name)), true) = (&mentioned, absent.is_empty()) {
            absent.push(name.clone());
        }
        if found.is_empty() && absent.is_empty() {
            let ask =
                Query::new(query).limit(2 * SHOWN).min_coverage(COVERED).min_similarity(ALIKE);
            let ask = match Vector::new(&self.letters.vector(query)) {
                Ok(vector) => ask.mode(Mode::Hybrid).vector(vector),
                Err(_no_letters) => ask,
            };
            let ask = match &mentioned {
                Some(Named::Known(law)) => ask.only("law", parent(law)),
                _ => ask,
            };
            for hit in self.index.ask(&ask)? {
                let at = hit.passage.metadata.get("at").and_then(|at| at.parse::<usize>().ok());
                found.extend(at.and_then(|at| articles.get(at)));
            }
            // Who does not speak of a shop means a home.
            let is_shop =
                ["상가", "가게", "점포", "권리금", "장사"].iter().any(|it| query.contains(it));
            found.sort_by_key(|article| !is_shop && article.law.contains("상가"));
            found.truncate(SHOWN);
        }
        Ok((found, absent))
    }
}

/// The law of an ordinance, and of any other the law itself.
fn parent(law: &str) -> &str {
    law.strip_suffix("시행령").unwrap_or(law).trim_end()
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The names of the laws, the longest first: without spaces, and as they are written.
fn names(data: &Data) -> Vec<(String, String)> {
    let laws = data.law.rows.iter().map(|article| (compact(&article.law), article.law.clone()));
    let short = data.law.origin.short_names.iter();
    let short = short.flat_map(|(law, names)| names.iter().map(|it| (compact(it), law.clone())));
    let mut names: Vec<_> = laws.chain(short).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.0.len()));
    names.dedup();
    names
}

/// The law whose name `before` ends with.
fn law_before(before: &str, data: &Data) -> Option<Named> {
    let text = compact(before);
    let text = text.strip_suffix('의').unwrap_or(&text);
    if let Some(law) = text.strip_suffix("시행규칙") {
        let known = names(data).into_iter().find(|name| law.ends_with(&name.0));
        return known.map(|name| Named::Unknown(format!("{} 시행규칙", name.1)));
    }
    let known = names(data).into_iter().find(|name| text.ends_with(&name.0));
    let word = || before.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(' ').next();
    known.map(|name| Named::Known(name.1)).or_else(|| unknown(word()?))
}

/// The law that a text names anywhere.
fn mentioned(query: &str, data: &Data) -> Option<Named> {
    let text = compact(query);
    let known = names(data).into_iter().find(|name| text.contains(&name.0));
    let known = known.map(|name| Named::Known(name.1));
    known.or_else(|| query.split(|c: char| !c.is_alphanumeric()).find_map(unknown))
}

/// A word that names a law: with what laws that are none of these end with.
fn unknown(word: &str) -> Option<Named> {
    const ENDS: [&str; 9] =
        ["세법", "형법", "상법", "헌법", "집행법", "소송법", "등기법", "특별법", "거래법"];
    let end = ENDS.iter().find_map(|end| Some(word.find(end)? + end.len()))?;
    let law = word.get(..end)?.trim_start_matches(|c: char| !c.is_alphanumeric());
    Some(Named::Unknown(law.to_owned()))
}

/// The numbers of articles in a text, each with the place where it begins: `제7조의2`, `7조`.
fn numbers(text: &str) -> Vec<(usize, String)> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut numbers = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let begins = c.is_ascii_digit() && !before.is_ascii_digit() && !matches!(before, ',' | '.');
        before = c;
        let number = digits(text.get(at..).unwrap_or_default());
        let rest = text.get(at + number.len()..).unwrap_or_default().trim_start();
        let Some(rest) = rest.strip_prefix('조').filter(|_| begins) else { continue };
        // A sum of money.
        if rest.trim_start().starts_with(['원', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        {
            continue;
        }
        let branch = rest.strip_prefix('의').map(digits).filter(|branch| !branch.is_empty());
        let branch = branch.map(|branch| format!("의{branch}")).unwrap_or_default();
        let start = text.get(..at).unwrap_or_default().trim_end().trim_end_matches('제').len();
        numbers.push((start, format!("제{number}조{branch}")));
    }
    numbers
}
