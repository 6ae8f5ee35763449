//! How well the search in the law answers: the questions of `law_questions.tsv`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::HashSet;

use real_estate::{data::Data, tools::legal_search::LawSearch};

/// The least of the eighty questions that are answered.
const LEAST: usize = 72;

const QUESTIONS: &str = include_str!("law_questions.tsv");

/// The questions with their answers. A row without a tab is none, and the tests count them.
fn questions() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = QUESTIONS.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|row| row.split_once('\t'));
    rows.map(|(question, answers)| (question, answers.split(", ").collect())).collect()
}

/// What is found for a question, and what is said to be absent with `!`.
fn found(search: &LawSearch, data: &Data, question: &str) -> Vec<String> {
    let (found, absent) = search.find(question, data).unwrap();
    let found = found.iter().map(|article| format!("{} {}", article.law, article.article));
    found.chain(absent.iter().map(|name| format!("!{name}"))).collect()
}

#[test]
fn the_right_article_is_among_the_first_three() {
    let data = Data::open(None).unwrap();
    let search = LawSearch::new(&data);
    let questions = questions();
    assert_eq!(questions.len(), 80);
    let (mut right, mut first) = (0, 0);
    for (question, wanted) in &questions {
        let found = found(&search, &data, question);
        match found.iter().position(|name| wanted.contains(&name.as_str())) {
            Some(place) => {
                right += 1;
                first += usize::from(place == 0);
            }
            None => println!("{question}\n  wanted {wanted:?}\n  found {found:?}"),
        }
    }
    println!(
        "{right} of 80 questions have the right article among the first three, {first} have it first"
    );
    assert!(right >= LEAST, "{right} of 80 are right, and at least {LEAST} have to be");
}

#[test]
fn an_article_is_found_by_its_number_and_by_no_near_one() {
    let data = Data::open(None).unwrap();
    let search = LawSearch::new(&data);
    for (text, want) in [
        ("주택임대차보호법 제7조의2", "주택임대차보호법 제7조의2"),
        ("주택임대차보호법 제7조", "주택임대차보호법 제7조"),
        ("주임법 7조", "주택임대차보호법 제7조"),
        ("주임법 7조의3", "!주택임대차보호법 제7조의3"),
        ("민법의 제 640 조", "민법 제640조"),
        ("제999조", "!제999조"),
        ("주임법 시행령 9조", "주택임대차보호법 시행령 제9조"),
        ("민법 618조와 주임법 3조", "민법 제618조, 주택임대차보호법 제3조"),
        ("「형법」 제347조", "!형법 제347조"),
        ("외국환거래법 제3조", "!외국환거래법 제3조"),
        ("소득세법상 비과세", "!소득세법"),
        ("제3조를 주택임대차보호법에서 찾아줘", "주택임대차보호법 제3조"),
    ] {
        assert_eq!(found(&search, &data, text).join(", "), want, "{text}");
    }
}

/// A word of the index that is a question would make the score its own answer.
#[test]
fn no_question_stands_in_the_index() {
    let data = Data::open(None).unwrap();
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let asked: HashSet<String> = questions().iter().map(|row| plain(row.0)).collect();
    for word in data.law.rows.iter().flat_map(|article| &article.words) {
        assert!(!asked.contains(&plain(word)), "{word}");
        assert!(word.chars().count() <= 24, "{word} is no word for something, but a sentence");
    }
}
