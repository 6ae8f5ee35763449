//! Where a contract differs from the standard one as a whole: which articles are about the same, and the figures that only one has.

use std::collections::BTreeSet;

use hanok_documents::{Article, Contract};

use crate::{Book, book::Paper, question, suggest};

/// What a word of a question begins with that names no part of the contract, in a question that compares all of it.
#[rustfmt::skip]
const OF_WHOLE: [&str; 33] = [
    "어때", "표준", "계약서", "이", "우리", "내", "뭐", "무엇", "무슨", "어디", "어떤", "어느", "어떻게", "달라", "다른", "다르", "차이", "비교", "전체", "모두",
    "다", "조항", "점", "부분", "불리", "유리", "을", "갑", "독소", "알려", "설명", "말해", "있",
];

/// Units of the figures that are compared; of two that begin alike, the longer one first.
const UNITS: [&str; 15] = [
    "개월",
    "영업일",
    "시간",
    "만원",
    "만 원",
    "분의",
    "%",
    "일",
    "년",
    "원",
    "회",
    "배",
    "주",
    "명",
    "부",
];

/// The differences, where `question` asks for all of them.
pub(crate) fn answer(question: &str, book: &Book) -> Option<String> {
    let names_part = || !suggest::titles(question, &book.user.contract).is_empty();
    if !question::asks_standard(question) || !is_of_whole(question) || names_part() {
        return None;
    }
    Some(match &book.standard {
        Some(standard) => compared(&book.user, standard),
        None => "비교할 표준계약서가 없습니다. --standard로 파일을 줄 수 있습니다.".to_owned(),
    })
}

/// Whether `question` compares two contracts and names no part of them.
fn is_of_whole(question: &str) -> bool {
    question.split_whitespace().all(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.is_empty() || OF_WHOLE.iter().any(|it| word.starts_with(it))
    })
}

/// Where two contracts differ: by the figures of the articles that are about the same, and by those that only one has.
fn compared(user: &Paper, standard: &Paper) -> String {
    let (ours, theirs) = (&user.contract, &standard.contract);
    let mut pairs: Vec<(&Article, Vec<&Article>)> = Vec::new();
    let mut own = Vec::new();
    for (article, counterpart) in ours.articles.iter().zip(ours.counterparts(theirs)) {
        let Some(other) = counterpart else {
            own.push(article.label());
            continue;
        };
        match pairs.iter_mut().find(|(known, _)| known.span == other.span) {
            Some((_, articles)) => articles.push(article),
            None => pairs.push((other, vec![article])),
        }
    }
    let lines = pairs.iter().filter_map(|(other, articles)| {
        let ours: BTreeSet<_> = articles.iter().flat_map(|it| figures(ours, it)).collect();
        let theirs = figures(theirs, other);
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            listed(&a.difference(b).cloned().collect::<Vec<_>>())
        };
        let labels: Vec<_> = articles.iter().map(|it| it.label()).collect();
        let (labels, other) = (labels.join(", "), other.label());
        (ours != theirs).then(|| {
            let (ours, theirs) = (only(&ours, &theirs), only(&theirs, &ours));
            format!(
                "- {labels} ↔ 표준계약서 {other}: 이 계약서에만 {ours}; 표준계약서에만 {theirs}"
            )
        })
    });
    let differing: Vec<String> = lines.collect();
    let lacks = |it: &&Article| pairs.iter().all(|(known, _)| known.span != it.span);
    let lacking: Vec<_> = theirs.articles.iter().filter(lacks).map(Article::label).collect();
    let differing = if differing.is_empty() { "- 없음".to_owned() } else { differing.join("\n") };
    format!(
        "같은 것을 다루는 조끼리 견주었습니다. 어느 쪽에 유리한지는 판단하지 않습니다. 한 조를 자세히 보려면 그 제목으로 물어보세요.\n\
         숫자가 다른 조:\n{differing}\n이 계약서에만 있는 조: {}\n표준계약서에만 있는 조: {}",
        listed(&own),
        listed(&lacking)
    )
}

fn listed(labels: &[String]) -> String {
    if labels.is_empty() { "없음".to_owned() } else { labels.join(", ") }
}

/// The numbers of an article with their units: `30일`, `1,000분의 1.5`, `5%`.
fn figures(contract: &Contract, article: &Article) -> BTreeSet<String> {
    let text = contract.without_pages(&article.body).replace("퍼센트", "%");
    let mut found = BTreeSet::new();
    let mut rest = text.as_str();
    while let Some((number, after)) = next_number(rest) {
        rest = after;
        let after = after.trim_start();
        let Some(unit) = UNITS.iter().find(|unit| after.starts_with(**unit)) else { continue };
        let of = after.strip_prefix("분의").and_then(next_number);
        found.insert(match of {
            Some((of, behind)) => {
                rest = behind;
                format!("{number}분의 {of}")
            }
            None => format!("{number}{unit}"),
        });
    }
    found
}

/// The next number of `text`, and what stands behind it.
fn next_number(text: &str) -> Option<(&str, &str)> {
    let from = text.get(text.find(|c: char| c.is_ascii_digit())?..)?;
    let is_of = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let (number, behind) = from.split_at_checked(from.find(|c| !is_of(c)).unwrap_or(from.len()))?;
    Some((number.trim_end_matches(['.', ',']), behind))
}

#[cfg(test)]
mod tests {
    use hanok_retrieval::{Document, MemoryStore, SharedDocumentStore};

    use super::*;

    #[test]
    fn a_comparison_of_all_names_no_part() {
        for (question, want) in [
            ("표준계약서와 뭐가 달라?", true),
            ("표준이랑 비교해서 을한테 불리한 조항이 뭐야?", true),
            ("대금 지급을 표준계약서와 비교해줘", false),
            ("계약을 언제 그만둘 수 있는지 표준과 비교해줘", false),
        ] {
            assert_eq!(is_of_whole(question), want, "{question}");
        }
    }

    /// Payment terms are compared with payment terms, wherever they stand.
    #[tokio::test]
    async fn articles_about_the_same_are_compared() {
        let contract = "제1조(목적) 정한다.\n\n제2조(대금) 대금은 100원으로 한다.\n\n\
                        제3조(지급의 시기) 갑은 잔금과 중도금을 검수 뒤 20일 안에 지급하고, 늦으면 1,000분의 1.5를 더한다.\n";
        let standard = "제1조(목적) 정한다.\n\n제5조(해지) 해지한다.\n\n\
                        제9조(대금) 갑은 중도금과 잔금을 검수 뒤 15일 안에 지급하고, 늦으면 연 12퍼센트를 더한다.\n";
        let store = SharedDocumentStore::new(MemoryStore::default());
        let (contract, standard) =
            (Document::new("a.md", contract), Document::new("b.md", standard));
        let book = Book::of_texts(contract, Some(standard), store).await.unwrap();
        let said = answer("표준계약서와 뭐가 달라?", &book).unwrap();
        let pair = "- 제2조(대금), 제3조(지급의 시기) ↔ 표준계약서 제9조(대금): 이 계약서에만 1,000분의 1.5, 100원, 20일; 표준계약서에만 12%, 15일";
        assert!(said.contains(pair), "{said}");
        assert!(said.ends_with("표준계약서에만 있는 조: 제5조(해지)"), "{said}");
    }
}
