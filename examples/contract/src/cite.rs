//! Which of what was read an answer names.

use hanok_retrieval::ArticleNumber;

use crate::{Material, Origin, event::Cited, question};

/// How many characters before an article's number say whose it is.
const NEAR: usize = 24;

/// How many pieces are named where the answer names none itself.
const MOST: usize = 3;

/// What of `collected` the answer `text` is taken from: what it names, or else what was asked for, or else the best that was
/// found.
pub(crate) fn of(text: &str, collected: &[Material]) -> Vec<Material> {
    let mut cited: Vec<Material> = Vec::new();
    let mut add = |material: &Material| {
        if !cited
            .iter()
            .any(|known| (known.origin, &known.label) == (material.origin, &material.label))
        {
            cited.push(material.clone());
        }
    };
    for (origin, number) in named(text) {
        let key = number.key();
        let of = |origin| {
            let fits = |it: &&Material| it.origin == origin && it.article.as_ref() == Some(&key);
            collected.iter().filter(fits).collect::<Vec<_>>()
        };
        let other = match origin {
            Origin::Contract => Origin::Standard,
            Origin::Standard => Origin::Contract,
        };
        let found = of(origin);
        let found = if found.is_empty() { of(other) } else { found };
        found.into_iter().for_each(&mut add);
    }
    if cited.is_empty() {
        let asked: Vec<&Material> = collected.iter().filter(|it| it.named).collect();
        let best = if asked.is_empty() { collected.iter().take(1).collect() } else { asked };
        best.into_iter().take(MOST).cloned().for_each(|it| cited.push(it));
    }
    cited
}

/// The articles that `text` names, each with whose it is: the words since the one before say so, or it is of the same contract.
fn named(text: &str) -> Vec<(Origin, ArticleNumber)> {
    let mut named = Vec::new();
    let (mut origin, mut from) = (Origin::Contract, 0);
    for (at, _) in text.match_indices('제') {
        let head: String = text.get(at..).into_iter().flat_map(str::chars).take(NEAR).collect();
        // Not the number of a later one: `제2항과 제5조`.
        let own = head.chars().skip(1).find(|c| !c.is_whitespace()).is_some_and(char::is_numeric);
        let Some(number) = question::articles(&head).into_iter().next().filter(|_| own) else {
            continue;
        };
        if !head.contains('조') || head.find('조') > head.find('항').or(Some(usize::MAX)) {
            continue;
        }
        origin = whose(text.get(from..at).unwrap_or_default()).unwrap_or(origin);
        from = at;
        if !named.contains(&(origin, number)) {
            named.push((origin, number));
        }
    }
    named
}

/// Whose contract `words` speak of last.
fn whose(words: &str) -> Option<Origin> {
    let standard = words.rfind("표준");
    let own = ["계약서", "이 계약", "우리 계약"].iter().filter_map(|name| {
        let mut places = words.rmatch_indices(name).map(|(at, _)| at);
        places.find(|at| {
            let before = words.get(..*at).unwrap_or_default().trim_end();
            !OF_STANDARD.iter().any(|name| before.ends_with(name))
        })
    });
    match (standard, own.max()) {
        (Some(standard), Some(own)) if own > standard => Some(Origin::Contract),
        (Some(_), _) => Some(Origin::Standard),
        (None, Some(_)) => Some(Origin::Contract),
        (None, None) => None,
    }
}

/// What a standard contract's name ends with before `계약서`.
const OF_STANDARD: [&str; 5] = ["표준", "표준용역", "표준 용역", "표준임대차", "표준 임대차"];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_is_of_the_contract_that_was_named_last() {
        for (text, want) in [
            ("제5조는 14일, 표준계약서 제6조는 30일입니다.", "계약서 제5조, 표준계약서 제6조"),
            ("표준계약서 제6조와 제7조", "표준계약서 제6조, 표준계약서 제7조"),
            ("표준 제6조. 이 계약서는 제5조", "표준계약서 제6조, 계약서 제5조"),
            (
                "출처: 계약서 제7조의2(비밀)\n출처: 표준용역계약서 제8조",
                "계약서 제7조의2, 표준계약서 제8조",
            ),
            ("제2항과 제3호, 제9조제2항", "계약서 제9조"),
            ("제출한 자료는 5조", ""),
        ] {
            let shown = named(text).into_iter().map(|(of, it)| format!("{} {it}", of.name()));
            assert_eq!(shown.collect::<Vec<_>>().join(", "), want, "{text}");
        }
    }
}
