//! How well questions about what a user said are answered from long-term memory: after the five abilities of LongMemEval (Wu et al.
//! 2024, arXiv:2410.10813), in Korean, for 12 users, 600 turns and 100 questions of our own.
//!
//! Three ways to put what was said into a prompt, and one reader for all three, which knows nothing but the prompt: everything, the five
//! turns that BM25 ranks first, and what `LongTerm` recalls of what a learner made of the turns. `cargo xtask evaluate memory` prints
//! the table. Milliseconds are printed and decide nothing.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and prints its table"
)]

mod judged;
mod prompts;
mod reader;

use std::{collections::BTreeMap, time::Instant};

use hanok_model::TokenCounter;
use serde::Deserialize;

use self::{
    judged::{Table, is_right},
    prompts::{Prompts, WAYS},
};

const TURNS: &str = include_str!("turns.jsonl");
const QUESTIONS: &str = include_str!("questions.jsonl");

/// A turn of a user's.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Turn {
    pub(crate) user: String,
    /// Year, month and day.
    pub(crate) day: String,
    pub(crate) thread: String,
    pub(crate) question: String,
    pub(crate) answer: String,
}

/// A question, and what its answer has to name and must not name.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    user: String,
    ability: String,
    question: String,
    expected: Vec<String>,
    wrong: Vec<String>,
}

fn lines<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn questions_about_what_was_said_are_answered_from_memory() {
    hanok_testkit::block_on(async {
        let (turns, questions) = (lines::<Turn>(TURNS), lines::<Question>(QUESTIONS));
        let prompts = Prompts::new(&turns).await;
        let counter = TokenCounter::for_model("gpt-4o");
        let mut tables: BTreeMap<&str, Table> = BTreeMap::new();
        let mut missed = Vec::new();
        for question in &questions {
            for way in WAYS {
                let started = Instant::now();
                let prompt = prompts.of(way, &question.user, &question.question).await;
                let answer = reader::read(&prompt, &question.question);
                let millis = started.elapsed().as_secs_f64() * 1e3;
                let right = is_right(question, answer.as_deref());
                let tokens = counter.text(&prompt) + counter.text(&question.question);
                tables.entry(way).or_default().add(&question.ability, right, tokens, millis);
                if !right {
                    missed.push(format!("{way}: {} -> {answer:?}", question.question));
                }
            }
        }
        println!("{}", judged::drawn(&WAYS.map(|way| (way, &tables[way]))));
        println!("Not answered:\n{}", missed.join("\n"));

        let [everything, bm25, memory] = WAYS.map(|way| &tables[way]);
        assert_eq!(memory.questions(), 100);
        for ability in ["changed", "never"] {
            let [other, another] = [everything, bm25].map(|table| table.right(ability));
            assert!(memory.right(ability) >= other.max(another), "{ability}");
        }
        assert!(memory.tokens() * 10 <= everything.tokens(), "too much is recalled");
    });
}

/// The set is what it says it is, and what is to be answered stands in it.
#[test]
fn every_expected_answer_was_said_and_what_was_never_said_was_not() {
    let (turns, questions) = (lines::<Turn>(TURNS), lines::<Question>(QUESTIONS));
    let users: std::collections::BTreeSet<_> = turns.iter().map(|turn| &turn.user).collect();
    assert_eq!((users.len(), turns.len(), questions.len()), (12, 600, 100));
    let abilities: std::collections::BTreeSet<_> =
        questions.iter().map(|it| &*it.ability).collect();
    assert_eq!(
        abilities.into_iter().collect::<Vec<_>>(),
        ["changed", "fact", "never", "several", "time"]
    );
    for question in &questions {
        let said: String = turns
            .iter()
            .filter(|turn| turn.user == question.user)
            .map(|turn| format!("[{}] {}\n", turn.day, turn.question))
            .collect();
        assert_eq!(question.expected.is_empty(), question.ability == "never", "{question:?}");
        for text in question.expected.iter().chain(&question.wrong) {
            assert!(said.contains(text.as_str()), "`{text}` of {question:?}");
        }
    }
}
