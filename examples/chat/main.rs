//! A conversation that remembers: a router, documents, tools, and summaries of what was said long ago.

use std::process::ExitCode;

use chat::{Chat, Options};
use kit::{Screen, Session, Talk, brain, command_line, failure};

#[tokio::main]
async fn main() -> ExitCode {
    let options: Options = command_line();
    let screen = Screen::new(options.talk.trace).telling();
    failure::exit(&screen, run(&options, &screen).await)
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose().await?.dated();
    let chat = Chat::build(&brain, options, options.meaning.open()?).await?;
    let graph = chat.graph()?;
    if options.talk.graph {
        screen.answer(&chat.drawing())?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.notes(&brain, &options.talk);
    Session::open(chat, &graph, &options.talk).await?.run(&options.talk, screen).await
}
