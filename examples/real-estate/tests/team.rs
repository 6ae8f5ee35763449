//! Which teams and tools the offline model chooses for eighty questions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::collections::BTreeSet;

use clap::Parser;
use hanok_agent::{ChoiceKind, Choices, ChosenBy, choices_of};
use hanok_graph::ThreadKey;
use real_estate::{Options, open};
use terminal::brain;

const QUESTIONS: &str = include_str!("team_questions.tsv");

/// Those that have to be right of the eighty.
const LEAST: usize = 72;

fn set(names: &str) -> BTreeSet<String> {
    names.split_whitespace().map(str::to_owned).collect()
}

/// The tools that are chosen for `question`, and those of them by a rule because a model chose none.
async fn chosen(question: &str, number: usize) -> (BTreeSet<String>, BTreeSet<String>) {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let options = Options::parse_from(["real-estate", "--out", out]);
    let opened = open(brain::offline().model, &options).await.unwrap();
    let app = opened.supervisor.graph().checkpointer(opened.threads);
    let thread = app.thread(ThreadKey::named(&number.to_string()).unwrap());
    thread.invoke(opened.supervisor.ask(question), ()).await.unwrap();
    let entries = choices_of(&thread.log()).await.unwrap();
    let (mut all, mut fallback) = (BTreeSet::new(), BTreeSet::new());
    for (choice, _) in Choices::of(&entries).kind(ChoiceKind::Tools).iter() {
        all.extend(choice.chosen.iter().cloned());
        if matches!(choice.by, ChosenBy::Fallback { .. }) {
            fallback.extend(choice.chosen.iter().cloned());
        }
    }
    let state = thread.state(None).await.unwrap().unwrap();
    let plan = state.plan.unwrap();
    if plan.steps.iter().any(|step| step.team == "document") {
        all.insert("lease_contract_generator".to_owned());
        if plan.by_rules {
            fallback.insert("lease_contract_generator".to_owned());
        }
    }
    (all, fallback)
}

#[tokio::test]
async fn the_right_tools_are_chosen_for_eighty_questions() {
    let lines = QUESTIONS.lines().filter(|line| !line.starts_with('#'));
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for (number, line) in lines.enumerate() {
        let mut parts = line.split('\t');
        let question = parts.next().unwrap();
        let (must, may) = (set(parts.next().unwrap()), set(parts.next().unwrap_or_default()));
        let (chosen, fallback) = chosen(question, number).await;
        // By a fallback only what reads is called.
        assert!(!fallback.contains("lease_contract_generator"), "{question}");
        all += 1;
        let allowed: BTreeSet<_> = must.union(&may).cloned().collect();
        match must.is_subset(&chosen) && chosen.is_subset(&allowed) {
            true => right += 1,
            false => wrong.push(format!("{question}\n    wants {must:?}, has {chosen:?}")),
        }
    }
    println!("{right} of {all} right\n{}", wrong.join("\n"));
    assert_eq!(all, 80);
    assert!(right >= LEAST, "{right} of {all} are right:\n{}", wrong.join("\n"));
}
