//! Which teams and tools are chosen for eighty questions: offline for all of them, and by a server's model for a fixed sample.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod claims;

use std::{collections::BTreeSet, path::PathBuf};

use clap::Parser;
use example_tests::cached::Cached;
use hanok_agent::{ChoiceKind, Choices, ChosenBy, choices_of};
use hanok_graph::ThreadKey;
use hanok_model::{ChatModel as _, SharedModel};
use hanok_testkit::{is_full, sampled};
use kit::brain;
use real_estate::{Options, app};

use self::claims::Claims;

const QUESTIONS: &str = include_str!("questions.tsv");

/// The number of questions.
const ALL: usize = 80;
/// Those that have to be right of them offline.
const LEAST: usize = 72;
/// The questions that a server's model is asked: every fifth or sixth.
const SAMPLE: usize = 15;

/// What stands before figures that no tool gave.
const MARK: &str = "확인되지 않은 수치";

/// The variable that names the folder of a server's replies.
const FOLDER: &str = "HANOK_EVALUATE_CACHE";

/// A question, and the tools that must and that may be called for it.
struct Question {
    text: &'static str,
    must: BTreeSet<String>,
    may: BTreeSet<String>,
}

impl Question {
    fn all() -> Vec<Self> {
        let lines = QUESTIONS.lines().filter(|line| !line.starts_with('#'));
        let question = |line: &'static str| {
            let mut parts = line.split('\t');
            let text = parts.next().unwrap();
            let (must, may) = (set(parts.next().unwrap()), set(parts.next().unwrap_or_default()));
            Self { text, must, may }
        };
        lines.map(question).collect()
    }
}

fn set(names: &str) -> BTreeSet<String> {
    names.split_whitespace().map(str::to_owned).collect()
}

/// What was chosen for a question.
struct Chosen {
    tools: BTreeSet<String>,
    /// Those of them that a rule chose because a model chose none.
    fallback: BTreeSet<String>,
    /// The lowest confidence that was claimed for a choice, if no rule made one.
    claimed: Option<f64>,
    /// The line of the answer that names figures which no tool gave, if there is one.
    marked: Option<String>,
}

/// What is chosen for `question`, with its documents in `out`.
async fn chosen(model: SharedModel, question: &str, out: &str) -> Chosen {
    let options = Options::parse_from(["real-estate", "--out", out]);
    let opened = app::open(model, &options).await.unwrap();
    let app = opened.supervisor.graph().checkpointer(opened.threads);
    let thread = app.thread(ThreadKey::named("t").unwrap());
    thread.invoke(opened.supervisor.ask(question), ()).await.unwrap();
    let entries = choices_of(&thread.log()).await.unwrap();
    let (mut tools, mut fallback) = (BTreeSet::new(), BTreeSet::new());
    let (mut claimed, mut is_by_rule) = (1.0_f64, false);
    for (choice, _) in Choices::of(&entries).iter() {
        let is_fallback = matches!(choice.by, ChosenBy::Fallback { .. });
        is_by_rule |= is_fallback;
        if matches!(choice.by, ChosenBy::Model { .. }) {
            claimed = claimed.min(choice.confidence);
        }
        if choice.kind == ChoiceKind::Tools {
            tools.extend(choice.chosen.iter().cloned());
            if is_fallback {
                fallback.extend(choice.chosen.iter().cloned());
            }
        }
    }
    let state = thread.state(None).await.unwrap().unwrap();
    let answer = state.answer.unwrap_or_default();
    let marked = answer.lines().find(|line| line.contains(MARK)).map(str::to_owned);
    let plan = state.plan.unwrap();
    if plan.steps.iter().any(|step| step.team == "document") {
        tools.insert("lease_contract_generator".to_owned());
        if plan.by_rules {
            fallback.insert("lease_contract_generator".to_owned());
        }
    }
    Chosen { tools, fallback, claimed: (!is_by_rule).then_some(claimed), marked }
}

/// Asks `questions`, prints what is wrong and how sure it was, and returns how many are right, and the figures that were marked.
async fn right(model: &SharedModel, questions: &[Question]) -> (usize, Vec<String>) {
    let (mut right, mut wrong, mut claims) = (0, Vec::new(), Claims::default());
    let mut all_marked = Vec::new();
    for Question { text, must, may } in questions {
        let folder = tempfile::tempdir().unwrap();
        let Chosen { tools, fallback, claimed, marked } =
            chosen(model.clone(), text, folder.path().to_str().unwrap()).await;
        all_marked.extend(marked.map(|line| format!("{text}: {line}")));
        // By a fallback only what reads is called.
        assert!(!fallback.contains("lease_contract_generator"), "{text}");
        let allowed: BTreeSet<_> = must.union(may).cloned().collect();
        let is_right = must.is_subset(&tools) && tools.is_subset(&allowed);
        claims.add(claimed, is_right);
        match is_right {
            true => right += 1,
            false => wrong.push(format!("{text}\n    wants {must:?}, has {tools:?}")),
        }
    }
    println!("{right} of {} right\n{}\n\n{claims}", questions.len(), wrong.join("\n"));
    println!(
        "{} answers with figures that no tool gave\n{}",
        all_marked.len(),
        all_marked.join("\n")
    );
    (right, all_marked)
}

/// B127: offline an answer is made of what the tools say, so no figure of it is marked.
#[tokio::test]
async fn the_right_tools_are_chosen_for_eighty_questions() {
    let questions = Question::all();
    assert_eq!(questions.len(), ALL);
    let questions = sampled(questions);
    let (right, marked) = right(&SharedModel::new(app::rules()), &questions).await;
    // What is wrong may be among a sample more often than its share.
    let least = if is_full() { LEAST } else { (questions.len() * LEAST / ALL).saturating_sub(2) };
    assert!(right >= least, "{right} of {} are right", questions.len());
    assert_eq!(marked, [""; 0]);
}

/// The sample, with the model of the server that the environment names. A second run asks it nothing.
#[tokio::test]
#[ignore = "asks a server: cargo xtask evaluate team --model"]
async fn a_sample_is_chosen_for_by_a_server_s_model() {
    let brain = brain::choose().await.unwrap();
    assert!(!brain.offline, "name a server in OPENAI_BASE_URL, and its model in OPENAI_MODEL");
    let model = Cached::new(brain.model, &folder());
    let mut all = Question::all().into_iter().enumerate();
    let sample: Vec<_> = (0..SAMPLE)
        .filter_map(|n| all.find(|(number, _)| *number == n * ALL / SAMPLE))
        .map(|(_, question)| question)
        .collect();
    assert_eq!(sample.len(), SAMPLE);
    right(&SharedModel::new(model.clone()), &sample).await;
    let (made, repeated) = model.requests();
    println!(
        "{}: {made} requests made, {repeated} answered from {}",
        model.name(),
        folder().display()
    );
}

/// The folder of the replies: the one that is named, else one among the user's caches.
fn folder() -> PathBuf {
    if let Some(named) = std::env::var_os(FOLDER) {
        return named.into();
    }
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let caches = caches.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    caches.unwrap().join("hanok").join("evaluate-team")
}
