use super::*;

#[test]
fn the_articles_are_of_six_laws_and_in_force() {
    let law = Law::shipped().unwrap();
    let counts: Vec<(&str, usize)> = law
        .laws()
        .into_iter()
        .map(|name| (name, law.articles().iter().filter(|article| article.law == name).count()))
        .collect();
    assert_eq!(
        counts,
        [
            ("주택임대차보호법", 23),
            ("주택임대차보호법 시행령", 4),
            ("상가건물 임대차보호법", 15),
            ("상가건물 임대차보호법 시행령", 3),
            ("민법", 27),
            ("공인중개사법", 8),
        ]
    );
    assert!(law.origin.source.contains("원문이 아닙니다"));
}

#[test]
fn an_article_is_the_one_of_its_number_and_no_other() {
    let law = Law::shipped().unwrap();
    let title = |name, number: &str| {
        law.article(name, number.parse().unwrap()).map(|article| article.title.as_str())
    };
    assert_eq!(title("주택임대차보호법", "7"), Some("차임 등의 증감청구권"));
    assert_eq!(title("주택임대차보호법", "7의2"), Some("월차임 전환 시 산정률의 제한"));
    assert_eq!(title("주택임대차보호법", "7의3"), None);
    assert_eq!(title("주택임대차보호법 시행령", "7"), None);
    assert_eq!(title("없는 법", "7"), None);
    let article = law.article("상가건물 임대차보호법 시행령", ArticleNumber::new(4)).unwrap();
    assert_eq!(article.cited(), "상가건물 임대차보호법 시행령 제4조(차임 등 증액청구의 기준)");
    assert_eq!(article.parent(), "상가건물 임대차보호법");
}

/// The articles that answers about leases are made of.
#[test]
fn the_articles_that_are_asked_about_most_are_there() {
    let law = Law::shipped().unwrap();
    for (name, numbers) in [
        ("주택임대차보호법", "3 3의2 3의3 4 6 6의2 6의3 7 7의2 8 10 10의2"),
        ("주택임대차보호법 시행령", "8 9 10 11"),
        ("상가건물 임대차보호법", "2 3 5 9 10 10의2 10의3 10의4 10의8 11 12"),
        (
            "민법",
            "618 619 620 621 622 623 624 625 626 627 628 629 630 635 636 637 638 639 640 643 644 \
             645 646 647 652 653 654",
        ),
        ("공인중개사법", "25 26 29 30 31 32 33"),
    ] {
        for number in numbers.split_whitespace() {
            assert!(law.article(name, number.parse().unwrap()).is_some(), "{name} {number}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let first = SHIPPED.lines().nth(1).unwrap();
    for (from, to, want) in [
        ("\"as_of\": \"2026-02-15\"", "\"as_of\": \"2026\"", "l.jsonl:1: `2026` is no day"),
        ("\"as_of\"", "\"asof\"", "l.jsonl:1: unknown field `asof`"),
        ("\"article\": 1,", "\"article\": 0,", "l.jsonl:2: `article` is 0; write 1 to 9999"),
        ("\"article\": 1,", "\"article\": -1,", "l.jsonl:2: invalid value: integer `-1`"),
        ("\"article\": 1,", "\"article\": 10000,", "l.jsonl:2: `article` is 10000"),
        ("\"branch\": 0,", "\"branch\": 1,", "l.jsonl:2: `branch` is 1; write 0, or the number"),
        ("\"branch\": 0,", "", "l.jsonl:2: missing field `branch`"),
        ("\"branch\": 0,", "\"branch\": 0, \"page\": 1,", "l.jsonl:2: unknown field `page`"),
        ("\"title\": \"목적\"", "\"title\": \" \"", "l.jsonl:2: `title` is empty"),
        ("\"title\": \"목적\"", "\"title\": \"목\\n적\"", "l.jsonl:2: `title` has a control"),
        ("\"2008-03-21\"", "\"2008-02-30\"", "l.jsonl:2: `2008-02-30` is no day"),
        ("\"2008-03-21\"", "\"2030-01-01\"", "l.jsonl:2: the article holds from 2030-01-01"),
        ("\"words\": [\"주임법\",", "\"words\": [\"\",", "l.jsonl:2: `words` is empty"),
        (
            "\"article\": 2,",
            "\"article\": 1,",
            "l.jsonl:3: 주택임대차보호법 제1조 stands in line 2",
        ),
        (first, "{", "l.jsonl:2: EOF while parsing"),
    ] {
        assert!(SHIPPED.contains(from), "{from}");
        let error = Law::parse("l.jsonl", &SHIPPED.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().starts_with(want), "{error}\n{want}");
    }
    let head = SHIPPED.lines().next().unwrap();
    for (text, want) in [
        (String::new(), "l.jsonl: the file is empty"),
        (head.to_owned(), "l.jsonl: there is no row behind the first line"),
        (
            format!("{head}\n{}", first.replace("국민의 주거생활", &"가".repeat(LONGEST))),
            "l.jsonl:2: `text` has 24",
        ),
    ] {
        let error = Law::parse("l.jsonl", &text).unwrap_err();
        assert!(error.to_string().starts_with(want), "{error}\n{want}");
    }
}

#[test]
fn laws_are_known_by_the_names_that_people_give_them() {
    let law = Law::shipped().unwrap();
    for (text, want) in [
        ("주택임대차보호법 제3조", "주택임대차보호법"),
        ("주택 임대차 보호법에서", "주택임대차보호법"),
        ("주임법이랑 상임법", "주택임대차보호법, 상가건물 임대차보호법"),
        ("상가건물임대차보호법은", "상가건물 임대차보호법"),
        ("주임법 시행령 9조", "주택임대차보호법 시행령"),
        ("시행령 제11조", "(시행령)"),
        ("상임법 시행규칙", "!상가건물 임대차보호법 시행규칙"),
        ("중개사법 32조", "공인중개사법"),
        ("민법상 임대차", "민법"),
        ("형법과 민법", "!형법, 민법"),
        ("국민법정, 보상법, 방법", ""),
        ("", ""),
    ] {
        let mentions = law.mentions(text).into_iter().map(|mention| {
            assert!(text.get(mention.at.clone()).is_some(), "{text}");
            match mention.law {
                Mentioned::Known(law) => law,
                Mentioned::Decrees => "(시행령)".to_owned(),
                Mentioned::Unknown(law) => format!("!{law}"),
            }
        });
        assert_eq!(mentions.collect::<Vec<_>>().join(", "), want, "{text}");
    }
}
