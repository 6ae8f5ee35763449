//! Asks the questions about the sample contracts, and prints how many answers name the right articles:
//! `cargo run --example contract-questions -F documents`, with the model that the environment names or the offline one.

use std::{collections::BTreeMap, process::ExitCode};

use clap::Parser;
use contract::{
    Book, ContractState, Expert, Options,
    questions::{Kind, Question, cited},
};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{Input, Thread};
use kit::{Screen, brain, failure};

/// How many questions are asked, and with which parts.
#[derive(Debug, Parser)]
#[command(name = "contract-questions")]
struct Asked {
    /// Ask every Nth question only, for a slow model
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Print each question with what came of it
    #[arg(long)]
    each: bool,

    /// A folder with the sentence encoder's files
    #[arg(long, value_name = "FOLDER")]
    encoder: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let screen = Screen::new(false).telling();
    failure::exit(&screen, run(&Asked::parse(), &screen).await)
}

async fn run(asked: &Asked, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose().await?;
    screen.tell(&brain.note());
    let mut counts: BTreeMap<Kind, (u32, u32)> = BTreeMap::new();
    let mut talk: Option<(Expert, Thread<ContractState>)> = None;
    for (at, question) in (0_u32..).zip(Question::all()) {
        let skipped = !at.is_multiple_of(asked.every);
        if skipped || question.follows() && talk.is_none() {
            talk = None;
            continue;
        }
        let (expert, thread) = match talk.take().filter(|_| question.follows()) {
            Some(talk) => talk,
            None => opened(&question, asked, &brain).await?,
        };
        let ended = thread.run(Input::New(expert.ask(question.text)), ()).await;
        if let Err(error) = &ended {
            screen.tell(&format!("{}: {error}", question.text));
        }
        let state = ended.ok().and_then(|ended| ended.done().ok());
        let right = state.as_ref().is_some_and(|state| question.is_right(state));
        let (good, all) = counts.entry(question.kind).or_default();
        *good += u32::from(right);
        *all += 1;
        if asked.each {
            let answer =
                state.as_ref().and_then(|state| state.answer.as_deref()).unwrap_or_default();
            let given = state.as_ref().map(cited).unwrap_or_default().join(",");
            let mark = if right { "o" } else { "x" };
            let answer = answer.replace('\n', " ");
            screen.answer(&format!(
                "{mark} {} [{}] -> [{given}] {answer}\n",
                question.text, question.articles
            ))?;
        }
        talk = Some((expert, thread));
    }
    screen.answer("| kind of question | right | of |\n| --- | --- | --- |\n")?;
    for (kind, (right, of)) in counts {
        let name = match kind {
            Kind::Names => "names an article or its title",
            Kind::Plain => "names neither",
            Kind::Missing => "names one that is not there",
            Kind::Scope => "is about something else",
        };
        screen.answer(&format!("| {name} | {right} | {of} |\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A conversation about the contract of `question`.
async fn opened(
    question: &Question,
    asked: &Asked,
    brain: &brain::Brain,
) -> Result<(Expert, Thread<ContractState>), failure::Failure> {
    let mut words =
        vec!["contract".to_owned(), "--contract".to_owned(), question.file().display().to_string()];
    if let Some(folder) = &asked.encoder {
        words.extend(["--encoder".to_owned(), folder.clone()]);
    }
    let options = Options::try_parse_from(words).map_err(failure::Failure::wiring)?;
    let expert = Expert::new(brain.model.clone(), Book::open(&options).await?, &options)?;
    let app = expert.graph()?.checkpointer(SharedCheckpointer::new(InMemoryCheckpointer::new()));
    let key = ThreadKey::new(Tenant::default(), "questions").map_err(failure::Failure::Thread)?;
    let thread = app.thread(key);
    Ok((expert, thread))
}
