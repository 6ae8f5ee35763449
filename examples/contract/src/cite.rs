//! Which of what was read an answer names.

use hanok_documents::ArticleMention;

use crate::{Book, Material, Origin, event::Cited};

/// How many pieces are named where the answer names none itself.
const MOST: usize = 3;

/// What an answer begins with that found nothing.
const NOTHING: [&str; 5] = ["못했습니다", "찾을 수 없", "자료에 없", "정보가 없", "내용이 없"];

/// In how many characters at the beginning that is said.
const BEGIN: usize = 80;

/// What of `collected` the answer `text` is taken from: what it names, or else what was asked for, or else the best that was
/// found. Nothing, where it says that it found nothing.
pub(crate) fn of(text: &str, collected: &[Material]) -> Vec<Material> {
    let mut cited: Vec<Material> = Vec::new();
    for named in ArticleMention::cited(text) {
        let (origin, key) = (Origin::of(&named), named.number.key());
        let fits = |it: &&Material| it.origin == origin && it.article.as_ref() == Some(&key);
        for material in collected.iter().filter(fits) {
            if !cited.contains(material) {
                cited.push(material.clone());
            }
        }
    }
    if cited.is_empty() && !finds_nothing(text) {
        let asked: Vec<&Material> = collected.iter().filter(|it| it.named).collect();
        let best = if asked.is_empty() { collected.iter().take(1).collect() } else { asked };
        cited.extend(best.into_iter().take(MOST).cloned());
    }
    cited
}

/// Whether the answer `text` begins by saying that it found nothing.
pub(crate) fn finds_nothing(text: &str) -> bool {
    let begin: String = text.chars().take(BEGIN).collect();
    NOTHING.iter().any(|words| begin.contains(words))
}

/// The articles that `text` names and neither contract has: `계약서 제88조`.
pub(crate) fn invented(text: &str, book: &Book) -> Vec<String> {
    let lacks = |it: &ArticleMention| {
        book.paper(Origin::of(it)).is_some_and(|paper| paper.contract.lacks(it))
    };
    let named = ArticleMention::all(text).into_iter().filter(lacks);
    named.map(|it| format!("{} {}", Origin::of(&it).name(), it.number)).collect()
}

/// The line that names what the answer was taken from.
pub(crate) fn line(cited: &[Material]) -> Option<String> {
    let mut parts = Vec::new();
    for origin in [Origin::Contract, Origin::Standard] {
        let labels: Vec<&str> =
            cited.iter().filter(|it| it.origin == origin).map(|it| it.label.as_str()).collect();
        if !labels.is_empty() {
            parts.push(format!("{} {}", origin.name(), labels.join(", ")));
        }
    }
    (!parts.is_empty()).then(|| format!("근거: {}", parts.join(" / ")))
}

/// For programs.
pub(crate) fn told(cited: &[Material]) -> Vec<Cited> {
    let one = |it: &Material| Cited {
        origin: it.origin,
        article: it.article.clone(),
        label: it.label.clone(),
    };
    cited.iter().map(one).collect()
}
