//! A contract, asked in a terminal.

use std::process::ExitCode;

use contract::{Book, Expert, Options};
use kit::{Screen, Session, Talk, brain, command_line, failure};

#[tokio::main]
async fn main() -> ExitCode {
    let options: Options = command_line();
    let screen = Screen::new(options.talk.trace).telling();
    failure::exit(&screen, run(&options, &screen).await)
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose().await?.dated();
    let book = Book::open(options).await?;
    let about = book.about();
    let expert = Expert::new(brain.model.clone(), book, options)?;
    let graph = expert.graph()?;
    if options.talk.graph {
        screen.answer(&expert.drawing())?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.notes(&brain, &options.talk);
    screen.tell(&about);
    Session::open(expert, &graph, &options.talk).await?.run(&options.talk, screen).await
}
