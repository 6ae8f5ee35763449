//! Which of what was read an answer names.

use hanok_documents::ArticleMention;

use crate::{Book, Material, Origin};

/// How many pieces are named where the answer names none itself.
const MOST: usize = 3;

/// What an answer says at its beginning, in so many characters, that found nothing.
const NOTHING: [&str; 5] = ["못했습니다", "찾을 수 없", "자료에 없", "정보가 없", "내용이 없"];
const BEGIN: usize = 80;

/// What of `collected` the answer `text` is taken from: what it names, or else what was asked for, or else the best that was
/// found. Nothing, where it says that it found nothing.
pub(crate) fn of(text: &str, collected: &[Material]) -> Vec<Material> {
    let mut cited: Vec<&Material> = Vec::new();
    for named in ArticleMention::cited(text) {
        let (origin, key) = (Origin::of(&named), named.number.key());
        let fits = collected.iter().filter(|it| it.is_article(origin, &key));
        cited.extend(fits.filter(|it| !cited.contains(it)).collect::<Vec<_>>());
    }
    if cited.is_empty() && !finds_nothing(text) {
        cited = collected.iter().filter(|it| it.named).take(MOST).collect();
        cited.extend(collected.first().filter(|_| cited.is_empty()));
    }
    cited.into_iter().cloned().collect()
}

/// Whether the answer `text` begins by saying that it found nothing.
pub(crate) fn finds_nothing(text: &str) -> bool {
    let begin: String = text.chars().take(BEGIN).collect();
    NOTHING.iter().any(|words| begin.contains(words))
}

/// The articles that `text` names and neither contract has: `계약서 제88조`.
pub(crate) fn invented(text: &str, book: &Book) -> Vec<String> {
    let named = ArticleMention::all(text).into_iter().filter(|it| book.lacks(it));
    named.map(|it| format!("{} {}", Origin::of(&it).name(), it.number)).collect()
}

/// The line that names what the answer was taken from.
pub(crate) fn line(cited: &[Material]) -> Option<String> {
    let of = |origin: Origin| {
        let labels: Vec<&str> =
            cited.iter().filter(|it| it.origin == origin).map(|it| it.label.as_str()).collect();
        (!labels.is_empty()).then(|| format!("{} {}", origin.name(), labels.join(", ")))
    };
    let parts: Vec<String> =
        [Origin::Contract, Origin::Standard].into_iter().filter_map(of).collect();
    (!parts.is_empty()).then(|| format!("근거: {}", parts.join(" / ")))
}
