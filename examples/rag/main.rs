//! A question in Korean, answered out of real documents, through a supervisor and three agents.

use std::process::ExitCode;

use kit::{Screen, Session, Talk, brain, command_line, failure};
use rag::{
    Office, Options,
    agents::{self, Tools},
    servers::Servers,
};

#[tokio::main]
async fn main() -> ExitCode {
    let options: Options = command_line();
    let screen = Screen::new(options.talk.trace).telling();
    failure::exit(&screen, run(&options, &screen).await)
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let brain = brain::choose().await?.dated();
    let servers = Servers::connect(options, screen).await?;
    let mut tools = Tools::open(options.docs.as_deref(), options.meaning.open()?).await?;
    tools.servers = servers.tools();
    let office = Office(agents::supervisor(&brain, &tools)?);
    if options.talk.graph {
        screen.answer(&office.drawing())?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.notes(&brain, &options.talk);
    tools.notes().for_each(|note| screen.tell(&note));
    let graph = office.0.graph().clone();
    let session = Session::open(office, &graph, &options.talk).await;
    let ended = session?.run(&options.talk, screen).await;
    servers.close().await;
    ended
}
