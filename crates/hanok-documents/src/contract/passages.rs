//! A contract to passages for an index.

use std::ops::Range;

use super::{Article, Contract};
use hanok_retrieval::{Document, Passage, Splitter, backend::Passages};

/// The passages of `document`, whose text `contract` was parsed from: one for each article, for the preamble and for each
/// appendix. What is longer than the passages of [`Splitter::new`] is cut where its clauses begin, and a clause that is too
/// long as a splitter cuts it.
///
/// [`Passage::heading`] is [`Article::label`] or the appendix's, and empty for the preamble. To the document's metadata come
/// `kind` (`article`, `preamble` or `appendix`) and, of an article, `article` (`5`, `7의2`) and `chapter`. Ids are stable as
/// those of [`Splitter::split`], and the spans cover every character but white space.
///
/// ```
/// use hanok_documents::{Contract, contract_passages};
/// use hanok_retrieval::Document;
///
/// let document = Document::new("용역.md", "용역계약서\n\n제1조(목적) 용역의 내용을 정한다.\n\n제1조의2(정의) 용어를 정한다.\n");
/// let passages = contract_passages(&document, &Contract::parse(document.text.as_str()));
///
/// let shown: Vec<_> = passages.iter().map(|p| (p.heading.as_str(), p.metadata["kind"].as_str())).collect();
/// assert_eq!(shown, [("", "preamble"), ("제1조(목적)", "article"), ("제1조의2(정의)", "article")]);
/// assert_eq!(passages[2].metadata["article"], "1의2");
/// ```
#[must_use]
pub fn contract_passages(document: &Document, contract: &Contract) -> Vec<Passage> {
    let splitter = Splitter::new();
    let mut parts = vec![(contract.preamble.clone(), None, "", "preamble")];
    parts.extend(
        contract
            .articles
            .iter()
            .map(|article| (article.span.clone(), Some(article), "", "article")),
    );
    parts.extend(
        contract
            .appendices
            .iter()
            .map(|appendix| (appendix.span.clone(), None, appendix.label.as_str(), "appendix")),
    );
    parts.sort_by_key(|(span, ..)| span.start);

    let mut passages = Passages::new(document);
    for (span, article, label, kind) in parts {
        let heading = article.map_or_else(|| label.to_owned(), Article::label);
        let mut metadata = document.metadata.clone();
        metadata.insert("kind".to_owned(), kind.to_owned());
        if let Some(article) = article {
            metadata.insert("article".to_owned(), article.number.key());
            metadata.extend(article.chapter.clone().map(|chapter| ("chapter".to_owned(), chapter)));
        }
        for piece in pieces(&splitter, &document.text, span, article) {
            passages.push(&heading, &metadata, piece);
        }
    }
    passages.done
}

/// `span` in pieces that are short enough: whole clauses as long as they fit.
fn pieces(
    splitter: &Splitter,
    text: &str,
    span: Range<usize>,
    article: Option<&Article>,
) -> Vec<Range<usize>> {
    let clauses = article.map(|article| article.clauses.as_slice()).unwrap_or_default();
    let ends = clauses.iter().map(|clause| clause.span.start).chain([span.end]);
    let mut pieces = Vec::new();
    let (mut from, mut to) = (span.start, span.start);
    for end in ends {
        if to > from && !splitter.fits(text.get(from..end).unwrap_or_default().trim()) {
            pieces.extend(splitter.pieces(text, from..to));
            from = to;
        }
        to = end;
    }
    pieces.extend(splitter.pieces(text, from..span.end));
    pieces
}
