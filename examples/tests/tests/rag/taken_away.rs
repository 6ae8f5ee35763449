//! What is answered where the passages that have the answer are taken away.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use example_tests::questions::{Kind, Question, Verdict};
use hanok_core::Call;
use hanok_documents::{Library, LoadOptions};
use hanok_model::{ChatModel, ChatRequest};
use hanok_retrieval::{Query, Retriever};
use hanok_state::Message;
use kit::{brain, everyday, passages::observation};

/// How many passages are searched, and how many of the rest are shown.
const SEARCHED: usize = 12;
const SHOWN: usize = 5;

fn questions() -> impl Iterator<Item = Question> {
    let lines = [include_str!("asked/questions.tsv"), include_str!("../chat/asked/questions.tsv")];
    let all = lines.into_iter().flat_map(|lines| Question::all(lines, false));
    all.filter(|it| [Kind::Words, Kind::Everyday].contains(&it.kind))
}

/// Everybody who reads the rest can see that it is something else, and so does the model: at most one of forty is answered as if it
/// were not.
#[tokio::test]
async fn what_is_taken_away_is_not_answered_with_confidence() {
    let library = Library::open(LoadOptions::new(), rag::agents::sample_documents()).unwrap();
    let model = brain::offline().model;
    let (mut all, mut wrong) = (0, Vec::new());
    for question in questions() {
        let query = Query::new(question.text).limit(SEARCHED).synonyms(everyday());
        let mut hits = Retriever::search(&library, &query).await.unwrap();
        hits.retain(|hit| question.verdict(&hit.passage.text) != Verdict::Right);
        hits.truncate(SHOWN);
        let passages = observation(question.text, &hits);
        let data = format!("<data-0123456789abcdef>\n{passages}\n</data-0123456789abcdef>");
        let request = ChatRequest::new([Message::user(data), Message::user(question.text)]);
        let reply = model.chat(request, &Call::detached()).await.unwrap();
        let answer = reply.message.text();
        all += 1;
        if question.verdict(&answer) == Verdict::Wrong {
            wrong.push(format!("{}\n    {}", question.text, answer.replace('\n', " ")));
        }
    }
    assert!(all > 100, "{all} questions");
    assert!(wrong.len() * 40 <= all, "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}
