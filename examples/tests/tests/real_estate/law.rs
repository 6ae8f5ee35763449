//! How well the search in the law answers: the questions of `law_questions.tsv`.

use std::{collections::HashSet, sync::Arc};

use real_estate::data::Law;
use real_estate::tools::{Absent, LawQuestion, LawSearch};

/// The least of the eighty questions that are answered.
const LEAST: usize = 72;

const QUESTIONS: &str = include_str!("law_questions.tsv");

/// The questions with their answers. A row without a tab is none, and the tests count them.
fn questions() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = QUESTIONS.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|row| row.split_once('\t'));
    rows.map(|(question, answers)| (question, answers.split(", ").collect())).collect()
}

/// Whether the first three articles have an answer, or what is not there is said not to be, with nothing in its place; else what
/// came instead.
fn answer(search: &LawSearch, question: &str, wanted: &[&str]) -> Result<usize, String> {
    let asked = LawQuestion { query: Some(question.to_owned()), ..LawQuestion::default() };
    let answer = search.search(&asked).map_err(|error| format!("{question}\n  {error:?}"))?;
    let names: Vec<String> =
        answer.articles.iter().map(|found| format!("{} {}", found.law, found.article)).collect();
    let absent: Vec<String> = answer.absent.iter().map(Absent::name).collect();
    let place = match wanted {
        [name] if name.starts_with('!') => {
            let is_told = absent.iter().any(|absent| absent == name.trim_start_matches('!'));
            (is_told && names.is_empty()).then_some(0)
        }
        _ => names.iter().take(3).position(|name| wanted.contains(&name.as_str())),
    };
    place.ok_or_else(|| {
        format!("{question}\n  wanted {wanted:?}\n  found {names:?}, absent {absent:?}")
    })
}

#[test]
fn the_right_article_is_among_the_first_three() {
    let law = Law::shipped().unwrap();
    let search = LawSearch::new(Arc::new(law));
    let questions = questions();
    assert_eq!(questions.len(), 80);
    let (mut right, mut first) = (0, 0);
    for (question, wanted) in &questions {
        match answer(&search, question, wanted) {
            Ok(place) => {
                right += 1;
                first += usize::from(place == 0);
            }
            Err(missed) => println!("{missed}"),
        }
    }
    println!(
        "{right} of 80 questions have the right article among the first three, {first} have it first"
    );
    assert!(right >= LEAST, "{right} of 80 are right, and at least {LEAST} have to be");
}

#[test]
fn eight_questions_are_about_what_is_not_there_and_the_others_about_what_is() {
    let law = Law::shipped().unwrap();
    let there: HashSet<String> = law
        .articles()
        .iter()
        .map(|article| format!("{} {}", article.law, article.number))
        .collect();
    let questions = questions();
    let absent = questions.iter().filter(|row| row.1.iter().any(|name| name.starts_with('!')));
    assert_eq!(absent.count(), 8);
    for name in questions.iter().flat_map(|row| &row.1).filter(|name| !name.starts_with('!')) {
        assert!(there.contains(*name), "{name}");
    }
    let texts: HashSet<&str> = questions.iter().map(|row| row.0).collect();
    assert_eq!(texts.len(), 80, "a question stands twice");
}

/// A word of the index that is a question would make the score its own answer.
#[test]
fn no_question_stands_in_the_index() {
    let law = Law::shipped().unwrap();
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let asked: Vec<String> = questions().iter().map(|row| plain(row.0)).collect();
    for word in law.articles().iter().flat_map(|article| &article.words) {
        assert!(!asked.contains(&plain(word)), "{word}");
        assert!(word.chars().count() <= 24, "{word} is no word for something, but a sentence");
    }
}
