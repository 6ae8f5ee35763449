//! The five examples behind one address, offline: OpenAI's clients see five models, LangGraph's five assistants.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::Parser;
use hanok_graph::{Graph, SystemIds};
use hanok_server::{Server, TokenFile, checkpoint::SharedCheckpointer};
use kit::{OfflineModel, Talk, brain, failure::Failure};

/// Serves the five examples: chat, rag, contract, real-estate and orchestrator.
///
/// The first start makes a file of tokens and prints one, which is shown once: only its hash is kept. With OPENAI_BASE_URL or
/// OPENAI_API_KEY set (and OPENAI_MODEL) they ask that server's model, built with `-F server`; without them an offline model of rules
/// answers.
///
/// Exit: 0 told to end, 1 failed, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "serve", version, verbatim_doc_comment)]
struct Options {
    /// Where it listens
    #[arg(long, env = "HANOK_ADDRESS", value_name = "HOST:PORT", default_value = "127.0.0.1:2024")]
    address: String,

    /// A file that keeps threads and runs. Without one nothing outlives the program
    #[arg(long, env = "HANOK_DB", value_name = "FILE")]
    db: Option<PathBuf>,

    /// The file of tokens
    #[arg(long, env = "HANOK_TOKENS", value_name = "FILE", default_value = "tokens.jsonl")]
    tokens: PathBuf,

    /// Let everybody in, on this machine alone
    #[arg(long, env = "HANOK_NO_AUTH", conflicts_with = "tokens")]
    no_auth: bool,

    /// A host by which it is known, beside this machine. May stand several times
    #[arg(long, env = "HANOK_HOST", value_name = "NAME")]
    host: Vec<String>,

    /// A page that may ask it, such as http://localhost:3000. May stand several times
    #[arg(long, env = "HANOK_ORIGIN", value_name = "ORIGIN")]
    origin: Vec<String>,
}

fn main() -> ExitCode {
    // As a child of itself the program is the sample MCP server.
    if std::env::args().nth(1).as_deref() == Some(desk::ARGUMENT) {
        return if desk::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let options: Options = kit::command_line();
    let served = tokio::runtime::Runtime::new().map_err(Failure::wiring);
    match served.and_then(|runtime| runtime.block_on(run(options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.line());
            ExitCode::from(failure.code())
        }
    }
}

async fn run(options: Options) -> Result<(), Failure> {
    let (logs, items) = kit::stores(options.db.as_deref()).await?;
    let mut server = Server::new(items.clone());
    let mut token = None;
    server = match options.no_auth {
        true => server.no_auth(),
        false => {
            let made = TokenFile::open_or_make(&options.tokens, &SystemIds);
            let (file, made) = made.map_err(Failure::wiring)?;
            if let Some(made) = &made {
                println!("token (shown once): {made}");
            }
            token = made;
            server.authenticate(file)
        }
    };
    server = options.host.into_iter().fold(server, Server::host);
    server = options.origin.into_iter().fold(server, Server::origin);
    let rules = OfflineModel::new().aliases(kit::aliases(desk::CUES));
    let brain = brain::choose_or(rules).await?.dated();

    let of = |name: &str| [name.to_owned()];
    let chat_options = chat::Options::parse_from(of("chat"));
    let chat = chat::Chat::build(&brain, &chat_options, None).await?;
    let graph = chat.graph()?;
    server = served(server, "chat", &graph, &logs, chat);

    let tools = rag::agents::Tools::open(None, None).await?;
    let office = rag::Office(rag::agents::supervisor(&brain, &tools)?);
    let graph = office.0.graph().clone();
    server = served(server, "rag", &graph, &logs, office);

    let contract_options = contract::Options::parse_from(of("contract"));
    let book = contract::Book::open(&contract_options).await?;
    let expert = contract::Expert::new(brain.model.clone(), book, &contract_options)?;
    let graph = expert.graph()?;
    server = served(server, "contract", &graph, &logs, expert);

    let estate_options = real_estate::Options::parse_from(of("real-estate"));
    let estate = real_estate::app::open(brain.model.clone(), &estate_options).await?;
    let graph = estate.supervisor.graph().clone();
    let talking = real_estate::Talking::new(estate.supervisor, estate.memory);
    server = served(server, "real-estate", &graph, &logs, talking);

    let plan_options = orchestrator::Options::parse_from(of("orchestrator"));
    let client = orchestrator::connect(&plan_options, None).await?;
    let planner = orchestrator::open_on(
        brain.model.clone(),
        client.clone(),
        &plan_options,
        logs.clone(),
        items,
    );
    let planner = planner.await?;
    let talking = orchestrator::Talking::new(&planner);
    server = served(server, "orchestrator", &planner.graph, &logs, talking);

    let server = server.start().map_err(Failure::wiring)?;
    let listener = server.listen(&options.address).await.map_err(Failure::wiring)?;
    let address = listener.local_addr().map_err(Failure::wiring)?;
    told(&format!("http://{address}"), token.as_deref(), options.no_auth);
    server.run_on(listener).await;
    client.close().await;
    Ok(())
}

/// Serves an example: what a user says begins a turn as its terminal begins one.
fn served<T: Talk + 'static>(
    server: Server,
    name: &str,
    graph: &Graph<T::State>,
    logs: &SharedCheckpointer,
    talk: T,
) -> Server {
    let talk = Arc::new(talk);
    let server = server.graph(name, graph.checkpointer(logs.clone()), |_caller| Ok(()));
    server.asking(name, move |words| talk.ask(words))
}

/// Tells the address, the token, and three commands to try.
fn told(address: &str, token: Option<&str>, no_auth: bool) {
    println!("{address}");
    let header = if no_auth { "" } else { " -H \"x-api-key: $TOKEN\"" };
    println!("try:");
    println!("  export TOKEN={}", token.unwrap_or("…"));
    println!(
        "  curl -s {address}/v1/chat/completions{header} -H 'content-type: application/json' \\\n    -d '{{\"model\": \"rag\", \"messages\": [{{\"role\": \"user\", \"content\": \"연차휴가는 며칠인가요?\"}}]}}'"
    );
    println!(
        "  curl -sN {address}/runs/stream{header} -H 'content-type: application/json' \\\n    -d '{{\"assistant_id\": \"rag\", \"stream_mode\": \"messages-tuple\", \"input\": {{\"messages\": \"안녕하세요\"}}}}'"
    );
    println!("  curl -s {address}/v1/models{header}");
}
