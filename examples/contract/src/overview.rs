//! Questions about a contract as a whole, which need no model: how many articles it has, who its parties are, what it is about in
//! short, and where it differs from the standard one.

use std::{collections::BTreeSet, fmt::Write};

use hanok_documents::{Article, ArticleMention, Contract};

use crate::{Book, Material, Origin, book::Paper, cite, question, suggest};

/// The most characters of an article in a summary.
const SHORT: usize = 90;

/// The most characters of the preamble that are quoted.
const PREAMBLE: usize = 600;

/// What a word of a question begins with that names no part of the contract, in a question that compares all of it.
const OF_WHOLE: [&str; 33] = [
    "어때",
    "표준",
    "계약서",
    "이",
    "우리",
    "내",
    "뭐",
    "무엇",
    "무슨",
    "어디",
    "어떤",
    "어느",
    "어떻게",
    "달라",
    "다른",
    "다르",
    "차이",
    "비교",
    "전체",
    "모두",
    "다",
    "조항",
    "점",
    "부분",
    "불리",
    "유리",
    "을",
    "갑",
    "독소",
    "알려",
    "설명",
    "말해",
    "있",
];

/// Units of the numbers that are compared; of two that begin alike, the longer one first.
const UNITS: [&str; 16] = [
    "개월",
    "영업일",
    "시간",
    "만원",
    "만 원",
    "분의",
    "퍼센트",
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

/// The answer to `question`, and what it is taken from, where it is about a contract of `book` as a whole.
pub(crate) fn answer(question: &str, book: &Book) -> Option<(String, Vec<Material>)> {
    if !ArticleMention::all(question).is_empty() {
        return wording(question, book);
    }
    let paper = &book.user;
    if counts(question) {
        return Some((count(&paper.contract), Vec::new()));
    }
    if asks_parties(question) {
        return parties(paper);
    }
    let titled = !suggest::titles(question, &paper.contract).is_empty();
    if question.contains("요약") && !titled {
        return (!paper.contract.articles.is_empty()).then(|| (summary(paper), Vec::new()));
    }
    (question::asks_standard(question) && compares_whole(question)).then(|| {
        let text = match &book.standard {
            Some(standard) => compared(paper, standard),
            None => "비교할 표준계약서가 없습니다. --standard로 파일을 줄 수 있습니다.".to_owned(),
        };
        (text, Vec::new())
    })
}

/// What stands beside the number of an article in a question that asks for nothing but its wording.
const PLAIN: [&str; 25] = [
    "내용",
    "뭐",
    "무엇",
    "뭔",
    "알려",
    "보여",
    "읽어",
    "말해",
    "원문",
    "전문",
    "그대로",
    "조항",
    "조문",
    "좀",
    "줘",
    "주세요",
    "써",
    "적혀",
    "있어",
    "있나",
    "랑",
    "과",
    "와",
    "하고",
    "계약서",
];

/// The same in English, whole words.
#[rustfmt::skip]
const PLAIN_ENGLISH: [&str; 20] = [
    "article", "articles", "art", "what", "does", "do", "is", "in", "say", "show", "me", "read", "quote", "the", "text", "wording", "of",
    "and", "please", "contract",
];

/// The wording of the articles that `question` names by their numbers, where it asks for nothing else and all of them are there: no
/// model is needed to read it.
fn wording(question: &str, book: &Book) -> Option<(String, Vec<Material>)> {
    let is_number = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
    let is_plain = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.is_empty()
            || word.contains(is_number) && !word.contains('항')
            || word == "제"
            || word == "조"
            || PLAIN.iter().any(|it| word.starts_with(it))
            || PLAIN_ENGLISH.contains(&word.to_lowercase().as_str())
    };
    if !question.split_whitespace().all(is_plain) {
        return None;
    }
    let mut materials = Vec::new();
    for named in ArticleMention::all(question) {
        let found = book.paper(Origin::of(&named)).map(|paper| paper.numbered(named.number));
        materials.extend(found.filter(|found| !named.of_law && !found.is_empty())?);
    }
    let texts: Vec<String> =
        materials.iter().map(|it| format!("{}\n{}", it.label, it.text)).collect();
    let line = cite::line(&materials)?;
    Some((format!("{}\n\n{line}", texts.join("\n\n")), materials))
}

/// Whether the number of articles is asked for.
fn counts(question: &str) -> bool {
    let joined: String = question.split_whitespace().collect();
    let articles = ["조항", "조문", "조가", "조는", "몇조"].iter().any(|it| joined.contains(it));
    articles && ["몇개", "몇조", "개수", "갯수"].iter().any(|it| joined.contains(it))
}

fn count(contract: &Contract) -> String {
    let labels: Vec<String> = contract.articles.iter().map(Article::label).collect();
    match (labels.first(), labels.last()) {
        (Some(first), Some(last)) => {
            format!("이 계약서의 조는 모두 {}개입니다: {first}부터 {last}까지.", labels.len())
        }
        _ => "이 계약서는 조로 나뉘어 있지 않습니다.".to_owned(),
    }
}

/// Whether the parties are asked for: `갑이 누구야?`.
fn asks_parties(question: &str) -> bool {
    let party = ["갑", "을", "당사자", "임대인", "임차인", "발주", "수급", "집주인", "세입자"];
    ["누구", "누가 "].iter().any(|it| question.contains(it))
        && question.split_whitespace().any(|word| party.iter().any(|it| word.starts_with(it)))
        && question.split_whitespace().count() <= 4
}

/// The parties, as the preamble names them.
fn parties(paper: &Paper) -> Option<(String, Vec<Material>)> {
    let preamble = paper.contract.text(&paper.contract.preamble);
    let names =
        |line: &&str| ["갑", "을", "임대인", "임차인", "당사자"].iter().any(|it| line.contains(it));
    let lines: Vec<&str> = preamble
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .filter(names)
        .collect();
    let text: String = lines.join("\n").chars().take(PREAMBLE).collect();
    let material = Material {
        origin: Origin::Contract,
        article: None,
        label: "전문".to_owned(),
        text: text.clone(),
        named: true,
    };
    (!text.is_empty()).then(|| (format!("{text}\n\n근거: 계약서 전문"), vec![material]))
}

/// Each article with the beginning of what it says.
fn summary(paper: &Paper) -> String {
    let contract = &paper.contract;
    let mut text =
        String::from("조마다 첫머리를 옮겼습니다. 조 번호로 물으면 그 조를 다 보여 드립니다.");
    for article in &contract.articles {
        let body = contract.without_pages(&article.body);
        let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = line.char_indices().nth(SHORT).map(|(at, _)| at);
        let cut = if end.is_some() { "…" } else { "" };
        let begin = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {}: {begin}{cut}", article.label());
    }
    text
}

/// Whether `question` compares two contracts and names no part of them.
fn compares_whole(question: &str) -> bool {
    question.split_whitespace().all(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.is_empty() || OF_WHOLE.iter().any(|it| word.starts_with(it))
    })
}

/// Where two contracts differ, by titles and by the numbers of the articles that both have.
fn compared(user: &Paper, standard: &Paper) -> String {
    let mut differing = Vec::new();
    let (mut own, mut matched) = (Vec::new(), BTreeSet::new());
    for article in &user.contract.articles {
        let title = article.title.as_deref().unwrap_or_default();
        let Some(other) = standard.contract.by_title(title).into_iter().next() else {
            own.push(article.label());
            continue;
        };
        let other = other.article;
        matched.insert(other.number);
        let ours = numbers(&user.contract.without_pages(&article.body));
        let theirs = numbers(&standard.contract.without_pages(&other.body));
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            let only = a.difference(b).cloned().collect::<Vec<_>>().join(", ");
            if only.is_empty() { "없음".to_owned() } else { only }
        };
        if ours != theirs {
            differing.push(format!(
                "- {} ↔ 표준계약서 {}: 이 계약서에만 {}; 표준계약서에만 {}",
                article.label(),
                other.label(),
                only(&ours, &theirs),
                only(&theirs, &ours)
            ));
        }
    }
    let lacking: Vec<String> = standard
        .contract
        .articles
        .iter()
        .filter(|article| !matched.contains(&article.number))
        .map(Article::label)
        .collect();
    let listed = |labels: &[String]| match labels {
        [] => "없음".to_owned(),
        labels => labels.join(", "),
    };
    if differing.is_empty() {
        differing.push("- 없음".to_owned());
    }
    format!(
        "조의 제목을 맞추어 견주었습니다. 어느 쪽에 유리한지는 판단하지 않습니다. 한 조를 자세히 보려면 그 제목으로 물어보세요.\n\
         숫자가 다른 조:\n{}\n이 계약서에만 있는 조: {}\n표준계약서에만 있는 조: {}",
        differing.join("\n"),
        listed(&own),
        listed(&lacking)
    )
}

/// The numbers with a unit in `text`: `30일`, `1,000분의`, `5%`.
fn numbers(text: &str) -> BTreeSet<String> {
    let mut numbers = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = rest.get(at..).unwrap_or_default();
        let digits = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
        let end = from.find(|c| !digits(c)).unwrap_or(from.len());
        let (number, after) = from.split_at_checked(end).unwrap_or((from, ""));
        if let Some(unit) = UNITS.iter().find(|unit| after.trim_start().starts_with(**unit)) {
            numbers.insert(format!("{number}{unit}"));
        }
        rest = after;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_of_all_names_no_part() {
        for (question, want) in [
            ("표준계약서와 뭐가 달라?", true),
            ("표준이랑 비교해서 을한테 불리한 조항이 뭐야?", true),
            ("대금 지급을 표준계약서와 비교해줘", false),
            ("계약을 언제 그만둘 수 있는지 표준과 비교해줘", false),
        ] {
            assert_eq!(compares_whole(question), want, "{question}");
        }
    }

    #[tokio::test]
    async fn an_article_that_is_asked_for_by_number_is_quoted() {
        let contract = hanok_retrieval::Document::new(
            "a.md",
            "제1조(목적) 정한다.\n\n제2조(대금) 100원이다.\n",
        );
        let store = hanok_retrieval::MemoryStore::default();
        let store = hanok_retrieval::SharedDocumentStore::new(store);
        let book = Book::of_texts(contract, None, store).await.unwrap();
        for (question, want) in [
            ("제2조 내용이 뭐야?", Some("제2조(대금)\n100원이다.\n\n근거: 계약서 제2조(대금)")),
            ("제２조 알려줘", Some("제2조(대금)\n100원이다.\n\n근거: 계약서 제2조(대금)")),
            ("2조는?", Some("제2조(대금)\n100원이다.\n\n근거: 계약서 제2조(대금)")),
            ("Article 2?", Some("제2조(대금)\n100원이다.\n\n근거: 계약서 제2조(대금)")),
            (
                "What does article 2 say?",
                Some("제2조(대금)\n100원이다.\n\n근거: 계약서 제2조(대금)"),
            ),
            ("Is article 2 fair?", None),
            ("제2조를 쉽게 설명해줘", None),
            ("제2조의 대금은 언제 내?", None),
            ("제9조 알려줘", None),
            ("표준계약서 제2조 알려줘", None),
        ] {
            assert_eq!(answer(question, &book).map(|it| it.0).as_deref(), want, "{question}");
        }
    }

    #[test]
    fn numbers_have_their_units() {
        let text = "제5조에 따라 30일 안에 대금의 1,000분의 2를, 3 개월마다 5%를 낸다.";
        assert_eq!(
            numbers(text).into_iter().collect::<Vec<_>>(),
            ["1,000분의", "30일", "3개월", "5%"]
        );
    }
}
