//! Parts of a contract, as a reader is shown them.

use hanok_retrieval::Passage;

use super::{Article, ArticleNumber, Contract};

/// A part of a contract, as a reader is shown it: an article, or what a search found elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// The number of the article, `None` for another part.
    pub article: Option<ArticleNumber>,
    /// [`Article::label`], or the heading of another part; empty for the preamble.
    pub label: String,
    /// What it says, without white space around it. Ends with `…` where it was cut off.
    pub text: String,
}

impl Contract {
    /// The text of `article` without its heading and without the heads, feet and numbers of pages, of at most `most` characters.
    #[must_use]
    pub fn excerpt(&self, article: &Article, most: usize) -> Excerpt {
        let text = cut(&self.without_pages(&article.body), most);
        Excerpt { article: Some(article.number), label: article.label(), text }
    }

    /// What `passages` of this contract ([`contract_passages`](crate::contract_passages)) are parts of, in their order: the whole
    /// article, once however many of its passages there are. Of an article with more than `most` characters it is the passage.
    ///
    /// ```
    /// use hanok_documents::{Contract, contract_passages};
    /// use hanok_retrieval::{Document, MemoryIndex, Query, Terms};
    ///
    /// let document = Document::new("용역.md", "제1조(목적) 정한다.\n\n제2조(해지) ① 30일 전에 알린다. ② 위약금은 없다.\n");
    /// let contract = Contract::parse(document.text.as_str());
    /// let index = MemoryIndex::new(contract_passages(&document, &contract), Terms::default());
    /// let hits = index.find(&Query::new("위약금은?"));
    /// let found = contract.excerpts(hits.into_iter().map(|hit| hit.passage), 1_000);
    /// assert_eq!(found[0].label, "제2조(해지)");
    /// assert_eq!(found[0].text, "① 30일 전에 알린다. ② 위약금은 없다.");
    /// ```
    #[must_use]
    pub fn excerpts(
        &self,
        passages: impl IntoIterator<Item = Passage>,
        most: usize,
    ) -> Vec<Excerpt> {
        let mut found: Vec<Excerpt> = Vec::new();
        for passage in passages {
            let at = passage.bytes.start;
            let article = self.articles.iter().find(|article| article.span.contains(&at));
            let excerpt = match article.map(|article| (article, self.excerpt(article, most))) {
                Some((article, excerpt))
                    if self.text(&article.body).chars().nth(most).is_none() =>
                {
                    excerpt
                }
                other => Excerpt {
                    article: other.map(|(article, _)| article.number),
                    label: passage.heading,
                    text: cut(&passage.text, most),
                },
            };
            if found.iter().all(|known| known.label != excerpt.label) {
                found.push(excerpt);
            }
        }
        found
    }
}

fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hanok_retrieval::Document;

    use super::*;
    use crate::contract_passages;

    /// What was found stands in what is shown, however long the article is.
    #[test]
    fn an_article_is_shown_once_and_one_that_is_too_long_by_the_passage() {
        let clauses: String = (1..=60)
            .map(|n| format!("② 갑은 {n}일 안에 {} 지급한다.\n", "대금을 ".repeat(20)))
            .collect();
        let text = format!(
            "이 계약은 용역의 계약이다.\n\n제1조(대금)\n{clauses}\n제2조(해지) 해지한다.\n"
        );
        let document = Document::new("용역.md", text.as_str());
        let contract = Contract::parse(document.text.as_str());
        let passages = contract_passages(&document, &contract);
        let labels = |found: &[Excerpt]| -> Vec<String> {
            found.iter().map(|excerpt| excerpt.label.clone()).collect()
        };
        let found = contract.excerpts(passages.clone(), 100_000);
        assert_eq!(labels(&found), ["", "제1조(대금)", "제2조(해지)"]);
        assert!(found[1].text.ends_with("지급한다.") && found[1].text.contains("갑은 60일"));

        let last = passages.iter().rfind(|passage| passage.heading == "제1조(대금)");
        let found = contract.excerpts(last.cloned(), 1_000);
        assert_eq!(found[0].article, Some(ArticleNumber::new(1)));
        assert!(found[0].text.contains("갑은 6"), "{}", found[0].text);
        assert!(contract.excerpt(&contract.articles[0], 10).text.ends_with('…'));
    }
}
