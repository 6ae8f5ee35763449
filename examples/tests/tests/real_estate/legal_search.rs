//! The tool `legal_search`, by what is asked of it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use futures::executor::block_on;
use hanok_model::{Tool, state::Arguments};
use serde_json::json;

use hanok_core::{Call, Effect};
use hanok_model::ToolError;
use real_estate::data::Law;
use real_estate::tools::{By, LawAnswer, LawQuestion, LawSearch, legal_search};
use std::{sync::Arc, time::Duration};

const SHIPPED: &str = include_str!("../../../real-estate/data/law.jsonl");

fn search() -> LawSearch {
    LawSearch::new(Arc::new(Law::shipped().unwrap()))
}

fn question(question: &str) -> LawQuestion {
    LawQuestion { query: Some(question.to_owned()), ..LawQuestion::default() }
}

fn with(mut asked: LawQuestion, law: &str, article: &str) -> LawQuestion {
    let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    (asked.law, asked.article) = (stated(law), stated(article));
    asked
}

/// How many articles are answered at most.
const MOST: usize = 8;

/// Whether the tool answers, as it does wherever the search does.
fn answers(law: &Arc<Law>, asked: &LawQuestion) -> bool {
    let tool = legal_search(law.clone()).unwrap();
    let LawQuestion { query, law, article } = asked;
    let arguments = json!({"query": query, "law": law, "article": article}).to_string();
    block_on(tool.run(&Arguments::new(arguments), &Call::detached())).is_ok()
}

/// What was found by its number, and what is absent with `!`.
fn exact(asked: &LawQuestion) -> String {
    let answer = search().search(asked).unwrap();
    let found = answer.articles.iter().filter(|found| found.by == By::Number);
    let found = found.map(|found| format!("{} {}", found.law, found.article));
    let absent = answer.absent.iter().map(|absent| format!("!{}", absent.name()));
    found.chain(absent).collect::<Vec<_>>().join(", ")
}

#[test]
fn an_article_is_found_by_its_number_and_by_no_near_one() {
    for (text, want) in [
        ("주택임대차보호법 제7조의2", "주택임대차보호법 제7조의2"),
        ("주택임대차보호법 제7조", "주택임대차보호법 제7조"),
        ("주임법 7조", "주택임대차보호법 제7조"),
        ("주임법 7조의3", "!주택임대차보호법 제7조의3"),
        ("주임법 제7조제2항은 뭐죠", "주택임대차보호법 제7조"),
        ("민법 640조", "민법 제640조"),
        ("민법의 제 640 조", "민법 제640조"),
        ("제7조의2", "주택임대차보호법 제7조의2"),
        ("제653조", "민법 제653조"),
        ("제999조", "!제999조"),
        (
            "제8조는 민법이 아니라 주임법이죠",
            "주택임대차보호법 제8조, 주택임대차보호법 시행령 제8조",
        ),
        ("시행령 제9조", "주택임대차보호법 시행령 제9조"),
        ("주임법 시행령 9조", "주택임대차보호법 시행령 제9조"),
        ("민법 618조와 주임법 3조", "민법 제618조, 주택임대차보호법 제3조"),
        ("민법 제618조, 제999조", "민법 제618조, !민법 제999조"),
        ("외국환거래법 제3조", "!외국환거래법 제3조"),
        ("「형법」 제347조", "!형법 제347조"),
        ("소득세법상 비과세", "!소득세법"),
        ("제3조를 주택임대차보호법에서 찾아줘", "주택임대차보호법 제3조"),
        ("예산이 640조 원이래요", ""),
        ("보증금 3억 5천에 월세 50", ""),
    ] {
        assert_eq!(exact(&question(text)), want, "{text}");
    }
}

#[test]
fn arguments_name_the_law_and_the_article() {
    for (text, law, article, want) in [
        ("", "주택임대차보호법", "제7조의2", "주택임대차보호법 제7조의2"),
        ("", "주임법", "7의2", "주택임대차보호법 제7조의2"),
        ("", "", "주임법 7조의2", "주택임대차보호법 제7조의2"),
        ("", "민법", "640", "민법 제640조"),
        ("", "민법", "제618조, 제623조", "민법 제618조, 민법 제623조"),
        ("월세 연체", "민법", "제999조", "!민법 제999조"),
        ("월세 연체", "도로교통법", "", "!도로교통법"),
        ("", "도로교통법", "제3조", "!도로교통법 제3조"),
        ("민법 제640조가 뭐예요", "민법", "제640조", "민법 제640조"),
        ("주임법 제3조", "주임법, 민법", "", "주택임대차보호법 제3조"),
    ] {
        assert_eq!(exact(&with(question(text), law, article)), want, "{text} {law} {article}");
    }
}

/// Nothing stands in the place of what is absent.
#[test]
fn what_is_absent_has_no_article_in_its_place() {
    for text in ["주임법 제99조", "형법 제347조 월세 사기", "소득세법 보증금"] {
        let answer = search().search(&question(text)).unwrap();
        assert!(answer.articles.is_empty() && answer.absent.len() == 1, "{text}: {answer:?}");
    }
}

/// What else a question says is searched behind the article, and a question that only names it has nothing else.
#[test]
fn an_article_comes_first_and_alone_where_nothing_else_is_asked() {
    let by = |text: &str| -> Vec<By> {
        let answer = search().search(&question(text)).unwrap();
        answer.articles.iter().map(|found| found.by).collect()
    };
    assert_eq!(by("주임법 7조의2가 무슨 내용이에요?"), [By::Number]);
    let more = by("주임법 제7조를 어겨서 월세를 더 냈는데 돌려받을 수 있나요");
    assert_eq!(more.first(), Some(&By::Number));
    assert!(more.len() > 1 && more.iter().skip(1).all(|by| *by == By::Words), "{more:?}");
}

#[test]
fn a_law_that_is_named_is_the_one_that_is_searched() {
    for (asked, parent) in [
        (question("상임법에서 보증금 올리는 한도"), "상가건물 임대차보호법"),
        (with(question("보증금 올리는 한도"), "주택임대차보호법", ""), "주택임대차보호법"),
        (with(question("차임 연체"), "민법", ""), "민법"),
    ] {
        let answer = search().search(&asked).unwrap();
        assert!(!answer.articles.is_empty() && answer.absent.is_empty());
        for found in answer.articles {
            assert!(found.law.starts_with(parent), "{asked:?}: {}", found.cited);
        }
    }
}

#[test]
fn arguments_that_cannot_be_used_are_refused_with_the_reason() {
    for (asked, want) in [
        (LawQuestion::default(), "찾을 것이 없습니다"),
        (question(" \n\u{0}\t"), "찾을 것이 없습니다"),
        (with(question(""), "민법", ""), "찾을 것이 없습니다"),
        (question(&"가".repeat(1_000_000)), "`query`가 4000바이트보다 깁니다"),
        (with(question("월세"), &"법".repeat(100), ""), "`law`가 200바이트보다 깁니다"),
        (with(question("월세"), "", &"9".repeat(300)), "`article`이 200바이트보다 깁니다"),
        (with(question("월세"), "", "다섯째"), "`다섯째`에서 조 번호를 읽지 못했습니다"),
    ] {
        let error = search().search(&asked).unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{error:?}");
        let text = hanok_core::Chain(&error).to_string();
        assert!(text.contains(want), "{text}\n{want}");
    }
}

#[test]
fn no_text_panics() {
    let law = Arc::new(Law::shipped().unwrap());
    let search = LawSearch::new(law.clone());
    let mut texts: Vec<String> = [
        "제조",
        "조의2",
        "제0조",
        "제00007조",
        "제7조의",
        "7조7조7조",
        "조",
        "제",
        "의",
        "시행령",
        "시행령시행령",
        "민법민법 640조640조",
        "9999조의9999",
        "제99999999999999조",
        "\u{0}\u{1}\u{7f}월세\u{202e}",
        "제７조의２",
        "😀 제3조 😀",
        "법 제3조",
        "「」 제3조",
        "ㅈ ㅔ 7 ㅈ ㅗ",
        "제\u{300}7조",
    ]
    .map(str::to_owned)
    .to_vec();
    for unit in ["제7조의2 ", "640조", "민법", "시행령 ", "가", "\u{0}", "조1", " 1 조 의 2 ", "🏠"]
    {
        texts.push(unit.repeat(3_999 / unit.len()));
        texts.push(unit.repeat(1_000_000 / unit.len()));
    }
    for text in &texts {
        for asked in
            [question(text), with(question("월세"), text, text), with(question(text), text, "")]
        {
            if let Ok(answer) = search.search(&asked) {
                assert!(answer.articles.len() <= MOST && answers(&law, &asked));
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_text_has_an_answer_or_a_reason(
        text in "([제조의법항 0-9]|민법|주임법|시행령|\\PC|[\\x00-\\x1f]){0,40}",
    ) {
        let first = SHIPPED.lines().take(3).collect::<Vec<_>>().join("\n");
        let law = Arc::new(Law::parse("l.jsonl", &first).unwrap());
        let search = LawSearch::new(law.clone());
        if let Ok(answer) = search.search(&question(&text)) {
            proptest::prop_assert!(answer.articles.len() <= 2);
        }
        let asked = with(question("월세"), &text, &text);
        if search.search(&asked).is_ok() {
            proptest::prop_assert!(answers(&law, &asked));
        }
    }
}

#[tokio::test]
async fn the_tool_says_what_it_found_with_its_sources() {
    let tool = legal_search(Arc::new(Law::shipped().unwrap())).unwrap();
    assert_eq!(
        (Tool::effect(&tool), Tool::timeout(&tool)),
        (Effect::Pure, Duration::from_secs(10))
    );
    let mut shown = Vec::new();
    for arguments in [
        json!({"query": "집주인이 바뀌었는데 나가라고 해요"}),
        json!({"query": "주임법 7조의2"}),
        json!({"law": "주택임대차보호법", "article": "제7조의9"}),
        json!({"query": "점심 메뉴 추천해 줘"}),
    ] {
        let call = Call::detached();
        let output = tool.run(&Arguments::new(arguments.to_string()), &call).await.unwrap();
        let data: LawAnswer =
            serde_json::from_value(serde_json::to_value(&output.data).unwrap()).unwrap();
        assert_eq!(data, tool_answer(&arguments));
        shown.push(format!("{arguments}\n{}", output.text));
    }
    insta::assert_snapshot!(shown.join("\n\n----\n\n"));
}

fn tool_answer(arguments: &serde_json::Value) -> LawAnswer {
    search().search(&serde_json::from_value(arguments.clone()).unwrap()).unwrap()
}

#[tokio::test]
async fn the_data_of_an_answer_are_typed() {
    let tool = legal_search(Arc::new(Law::shipped().unwrap())).unwrap();
    let arguments = json!({"query": "민법 제640조, 제999조"}).to_string();
    let output = tool.run(&Arguments::new(arguments), &Call::detached()).await.unwrap();
    let mut data = serde_json::to_value(&output.data).unwrap();
    data["articles"].as_array_mut().unwrap().truncate(1);
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap());
    let arguments = json!({"question": "월세"}).to_string();
    assert!(tool.run(&Arguments::new(arguments), &Call::detached()).await.is_err());
}
