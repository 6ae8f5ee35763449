//! Questions about a home, answered by three teams.

use std::process::ExitCode;

use kit::{Screen, Session, Talk, brain, command_line, failure};
use real_estate::{Options, Talking, app};

#[tokio::main]
async fn main() -> ExitCode {
    let options: Options = command_line();
    let screen = Screen::new(options.talk.trace).telling();
    failure::exit(&screen, run(&options, &screen).await)
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose_or(app::rules()).await?.dated();
    let opened = app::open(brain.model.clone(), options).await?;
    let talking = Talking::new(opened.supervisor.clone(), opened.memory.clone());
    if options.talk.graph {
        screen.answer(&talking.drawing())?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.notes(&brain, &options.talk);
    screen.tell(&opened.about);
    let graph = opened.supervisor.graph();
    let session = Session::on(opened.threads, talking, graph, &options.talk)?;
    opened.learner.beside(session.run(&options.talk, screen)).await
}
