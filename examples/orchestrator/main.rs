//! Requests that are made clear, planned, approved and made with the tools of MCP servers.

use std::process::ExitCode;

use hanok_core::Answerer;
use kit::{
    OfflineModel, Screen, Session, Talk, at_once, brain, command_line, failure, unless_interrupted,
};
use orchestrator::{Options, Talking, connect, open};

fn main() -> ExitCode {
    // As a child of itself the program is the sample server.
    if std::env::args().nth(1).as_deref() == Some(desk::ARGUMENT) {
        return if desk::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let options: Options = command_line();
    let screen = Screen::new(options.talk.trace).telling();
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => failure::exit(&screen, runtime.block_on(run(&options, &screen))),
        Err(error) => failure::exit(&screen, Err(failure::Failure::wiring(error))),
    }
}

async fn run(options: &Options, screen: &Screen) -> Result<ExitCode, failure::Failure> {
    let offline = OfflineModel::new().aliases(kit::aliases(desk::CUES));
    let brain = brain::choose_or(offline).await?.dated_to_the_minute();
    let (at_once, questions) = at_once(screen, options.talk.json);
    // Servers that were started by then end with the program.
    let opening = unless_interrupted(async {
        let client = connect(options, at_once).await?;
        let opened = open(brain.model.clone(), client.clone(), options).await?;
        Ok::<_, failure::Failure>((client, opened))
    });
    let Some(opening) = opening.await else { return Ok(ExitCode::from(failure::INTERRUPTED)) };
    let (client, opened) = opening?;
    let talking = Talking::new(&opened);
    if options.talk.graph {
        screen.answer(&talking.drawing())?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.notes(&brain, &options.talk);
    screen.tell(&opened.about);
    let session = Session::on(opened.threads.clone(), talking, &opened.graph, &options.talk)?;
    let session = session.remembering(opened.store.clone()).at_once(questions);
    let session = session.answering_as(answerer(options));
    let ended = opened.beside(session.run(&options.talk, screen)).await;
    client.close().await;
    ended
}

/// Who answers at the gates: whoever is named, else the system's user, marked as that.
fn answerer(options: &Options) -> Answerer {
    let system = || std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    match &options.answerer {
        Some(name) => Answerer::new(name, "terminal"),
        None => {
            Answerer::new(system().unwrap_or_else(|_| "?".to_owned()), "terminal, by the system")
        }
    }
}
