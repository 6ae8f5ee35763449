//! How well a catalogue of 500 tools of 25 servers is searched, by 200 questions of our own, half of them in Korean.
//!
//! Of ten kinds there are several servers whose tools do nearly the same: mail, calendars, issues, files, chats, pages, customers,
//! payments, databases, monitoring. `cargo xtask evaluate tools` prints the table. With an encoder of sentences where
//! `HANOK_TEST_ENCODER` names the folder of its files; without it the row says so.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and prints its table"
)]

mod choice;
mod data;

use std::collections::BTreeMap;

use example_tests::cached;
use hanok_agent::{IndexedTool, ToolIndex, ToolQuery};
use hanok_checkpoint::{InMemoryStore, SharedStore};
use hanok_core::{Call, Labels, Timestamp};
use hanok_encoder::SentenceEncoder;
use hanok_model::{ChatRequest, SharedEmbedder, TokenCounter, ToolSpec};
use hanok_state::Message;

use self::data::{Question, later, questions, tools};

const NOW: Timestamp = Timestamp(0);

/// The most questions that a server's model is asked.
const SAMPLE: usize = 40;

/// The tools of a search.
const FOUND: usize = 5;

async fn index(tools: &[IndexedTool], embedder: Option<SharedEmbedder>) -> ToolIndex {
    let store = SharedStore::new(InMemoryStore::new());
    let index = ToolIndex::new(store, &Labels::new(["catalogue"]).unwrap()).unwrap();
    let index = match embedder {
        Some(embedder) => index.embedder(embedder, Call::detached()),
        None => index,
    };
    let update = index.update(tools, NOW).await.unwrap();
    assert!(update.not_embedded.is_none(), "{:?}", update.not_embedded);
    index
}

/// The tools that are found for each question, the best first.
async fn searched(index: &ToolIndex, questions: &[Question]) -> Vec<Vec<ToolSpec>> {
    let mut all = Vec::new();
    for question in questions {
        let query = ToolQuery::new(&question.text).limit(FOUND);
        let recommended = index.recommend(&query, NOW).await.unwrap();
        assert!(recommended.without_meaning.is_none());
        all.push(recommended.tools.into_iter().map(|tool| tool.spec).collect());
    }
    all
}

/// The share of those questions that have a right tool among the first `most`.
fn share(
    questions: &[Question],
    found: &[Vec<ToolSpec>],
    most: usize,
    fits: impl Fn(&Question) -> bool,
) -> f64 {
    let of: Vec<_> = questions.iter().zip(found).filter(|(question, _)| fits(question)).collect();
    let right = of.iter().filter(|(question, found)| {
        found.iter().take(most).any(|spec| question.is_right(spec.name()))
    });
    right.count() as f64 / of.len() as f64
}

/// Prints the shares that are found of `questions`; of a kind that none of them is, nothing.
fn print_row(row: &str, questions: &[Question], found: &[Vec<ToolSpec>]) {
    let of = |most, is_exact, korean| {
        let share =
            share(questions, found, most, |it| it.is_exact == is_exact && it.is_korean == korean);
        if share.is_nan() { String::new() } else { format!("{share:.3}") }
    };
    let figures =
        [of(1, true, false), of(1, true, true), of(FOUND, false, false), of(FOUND, false, true)];
    println!("| {row} | {} |", figures.join(" | "));
}

/// The prompt tokens of a request that offers these tools, on average.
fn tokens<'t>(requests: impl Iterator<Item = (&'t Question, &'t [ToolSpec])>) -> f64 {
    let counter = TokenCounter::for_model("gpt-4o");
    let counts: Vec<_> = requests
        .map(|(question, tools)| {
            let request = ChatRequest::new([Message::user(question.text.as_str())]);
            counter.request(&request.tools(tools.iter().cloned()))
        })
        .collect();
    counts.iter().sum::<u64>() as f64 / counts.len() as f64
}

#[test]
fn tools_are_found_among_500() {
    hanok_testkit::block_on(async {
        let (tools, questions, later) = (tools(), questions(), later());
        let words = index(&tools, None).await;
        let by_words = searched(&words, &questions).await;
        let later_by_words = searched(&words, &later).await;
        let encoder = std::env::var_os("HANOK_TEST_ENCODER");
        let by_meaning = match &encoder {
            Some(folder) => {
                let encoder = SharedEmbedder::new(SentenceEncoder::open(folder).unwrap());
                let index = index(&tools, Some(encoder)).await;
                Some((searched(&index, &questions).await, searched(&index, &later).await))
            }
            None => None,
        };

        println!("| found | exact first | exact, Korean | recall@5 | recall@5, Korean |");
        println!("| --- | --- | --- | --- | --- |");
        print_row("keywords", &questions, &by_words);
        print_row("keywords, 80 others", &later, &later_by_words);
        match &by_meaning {
            Some((found, later_found)) => {
                print_row("and encoder", &questions, found);
                print_row("and encoder, 80 others", &later, later_found);
            }
            None => println!("| and encoder | not there: name its folder by `--encoder` | | | |"),
        }
        println!(
            "A question is found if one of its right tools is among five. 30 questions name their tool, 170 do not, and 80 others neither: \
             for tools drawn by lot.\n"
        );
        for (question, found) in
            questions.iter().zip(by_meaning.as_ref().map_or(&by_words, |(found, _)| found))
        {
            if !found.iter().any(|spec| question.is_right(spec.name())) {
                let names: Vec<_> = found.iter().map(ToolSpec::name).collect();
                println!("not found: {} -> {}", question.text, names.join(", "));
            }
        }

        let all: Vec<_> = tools.iter().map(|tool| tool.spec().clone()).collect();
        let few = tokens(questions.iter().zip(by_words.iter().map(Vec::as_slice)));
        let many = tokens(questions.iter().take(1).map(|question| (question, all.as_slice())));
        let fewer = (1.0 - few / many) * 100.0;
        println!(
            "Prompt tokens: {few:.0} with what is found, {many:.0} with 500 tools: {fewer:.1} % fewer"
        );

        for korean in [false, true] {
            let first = share(&questions, &by_words, 1, |it| it.is_exact && it.is_korean == korean);
            assert!(first >= 1.0, "a name is not found first");
        }
        assert!(fewer >= 95.0, "{fewer}");
        for (korean, least) in [(false, 0.90), (true, 0.75)] {
            let Some((found, _)) = &by_meaning else { continue };
            let recall =
                share(&questions, found, FOUND, |it| !it.is_exact && it.is_korean == korean);
            assert!(recall >= least, "{recall} of those in Korean ({korean})");
        }
    });
}

/// `cargo xtask evaluate tools --model` prints it.
#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn a_server_s_model_chooses_among_siblings() {
    let (tools, questions) = (tools(), questions());
    let found = searched(&index(&tools, None).await, &questions).await;
    let (brain, cached) = cached::chosen("tools").await;
    println!("{}\n{cached}", choice::table(&brain.model, &questions, &found, SAMPLE).await);
}

/// The set is what it says it is.
#[test]
fn every_right_tool_is_there_and_the_kinds_have_siblings() {
    let (tools, questions) = (tools(), questions());
    let servers = tools.iter().fold(BTreeMap::<_, usize>::new(), |mut servers, tool| {
        *servers.entry(data::server(tool.spec().name()).to_owned()).or_default() += 1;
        servers
    });
    assert_eq!((servers.len(), servers.values().all(|count| *count == 20)), (25, true));
    let kinds: std::collections::BTreeSet<_> =
        servers.keys().filter_map(|server| data::kind(server)).collect();
    assert_eq!(kinds.len(), 10);
    let of = |is_exact, is_korean| {
        let fits = |it: &&Question| it.is_exact == is_exact && it.is_korean == is_korean;
        questions.iter().filter(fits).count()
    };
    assert_eq!(
        [of(true, false), of(true, true), of(false, false), of(false, true)],
        [15, 15, 85, 85]
    );
    for question in questions.iter().chain(&later()) {
        let is_there = |name: &String| tools.iter().any(|tool| tool.spec().name() == name);
        assert!(question.right.iter().all(is_there), "{question:?}");
    }
}
