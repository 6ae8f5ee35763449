//! A question in Korean, answered out of real documents, through a supervisor and three agents.

use std::process::ExitCode;

use clap::Parser;
use rag::{Options, Screen, Session, agents, brain, failure};

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let screen = Screen::new(options.trace);
    failure::exit(&screen, run(&options, &screen).await)
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose().await?;
    let tools = agents::Tools::open(options.docs.as_deref())?;
    let supervisor = agents::supervisor(&brain, &tools)?;
    if options.graph {
        return screen.graph(&supervisor);
    }
    screen.notes(&brain, &tools, options);
    let session = Session::open(supervisor, options).await?;
    if options.resume {
        return session.resume(screen).await;
    }
    match options.question() {
        Some(question) => session.ask(&question, screen).await,
        None => session.converse(screen).await,
    }
}
