//! What a run of the program works with: its graph, its threads, its servers and its memory.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hanok_agent::{Decision, Gate, StandingApprovals, StandingScope};
use hanok_checkpoint::{Consumer, SharedCheckpointer, SharedStore};
use hanok_core::{Call, Chain, Clock as _};
use hanok_graph::{App, Graph, TokioClock};
use hanok_learning::{Learner, Memories};
use hanok_mcp::{
    Elicitation, ElicitationAnswer, Elicitor, McpClient, McpClientBuilder, McpConfig, McpError,
};
use hanok_model::{Semantic, SharedModel};
use kit::{AtOnce, failure::Failure};
use serde_json::{Map, Value, json};

use crate::{
    Options,
    asking::Background,
    memory::{Memory, TOPIC},
    orchestrator::Orchestrator,
    results::Results,
    servers::Servers,
    state::OrchestratorState,
    wording,
};

/// How often what turns teach is looked for.
const PAUSE: Duration = Duration::from_millis(200);

/// What a run works with.
#[derive(Debug)]
pub struct Opened {
    /// The graph of a turn.
    pub graph: Graph<OrchestratorState>,
    /// Its parts.
    pub parts: Orchestrator,
    /// The memories, where something is learned.
    pub memories: Memories,
    /// The store of the threads.
    pub threads: SharedCheckpointer,
    /// The store of what is too large for them.
    pub store: SharedStore,
    /// What learns after the answers.
    pub learner: Pupil,
    /// What a reader should know first.
    pub about: String,
}

/// The learner, if there is a user to learn of.
#[derive(Debug, Clone)]
pub struct Pupil(Option<Arc<Learner>>);

impl Opened {
    /// The graph on its stores.
    #[must_use]
    pub fn app(&self) -> App<OrchestratorState> {
        self.graph.checkpointer(self.threads.clone()).remembering(self.store.clone())
    }
}

impl Pupil {
    /// Does `work`, and learns beside it what turns teach; first what waits from before, and at last what is left.
    ///
    /// # Errors
    ///
    /// [`Failure`] of the work, or of the store.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match &self.0 {
            None => work.await,
            Some(learner) => {
                let done = learner.beside(&TokioClock, PAUSE, work).await;
                done.map_err(Failure::wiring)?
            }
        }
    }

    /// The learner, if there is one.
    #[must_use]
    pub fn learner(&self) -> Option<&Learner> {
        self.0.as_deref()
    }
}

/// The sample server as `mcpServers` name one: `program`, which is this one, started with `env`. Its tools have the words by which people
/// ask for them.
#[must_use]
pub fn sample_server(program: &Path, env: &Value) -> Value {
    let known = |(tool, words): (&str, Vec<&str>)| (tool.to_owned(), json!({"aliases": words}));
    let tools: Map<_, _> = kit::aliases(desk::CUES).map(known).collect();
    json!({
        "command": program, "args": [desk::ARGUMENT], "env": env, "required": true, "trust": "annotations",
        "tools": tools,
    })
}

/// The configuration of the sample server: this very program, with its data in `folder`.
///
/// # Errors
///
/// [`Failure`] when the program's own file is not to be found.
fn sample_config(folder: Option<PathBuf>) -> Result<McpConfig, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::unreadable("프로그램을", error))?;
    let mut env: Map<String, Value> = [desk::NOW, desk::REPORT_MILLIS, desk::OLD]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?.into())))
        .collect();
    let folder = folder.map(|folder| folder.display().to_string());
    env.extend(folder.map(|folder| (desk::FOLDER.to_owned(), folder.into())));
    let config = json!({"mcpServers": {"desk": sample_server(&program, &env.into())}});
    McpConfig::reader().parse(&config.to_string()).map_err(Failure::wiring)
}

/// Connects to the servers that `options` name, or to the sample server. What they ask within a call is put `at_once`, where somebody
/// can be asked.
///
/// # Errors
///
/// [`Failure::Usage`] for a configuration that makes no sense and differences where none is allowed, [`Failure::Unusable`] for a required
/// server that cannot be reached.
pub async fn connect(options: &Options, at_once: Option<AtOnce>) -> Result<McpClient, Failure> {
    let elicitor = at_once.map(Person);
    let Some(path) = &options.mcp else {
        let folder = options.talk.db.as_ref().map(|db| match is_postgres(db) {
            true => PathBuf::from("orchestrator.desk"),
            false => db.with_extension("desk"),
        });
        let builder = asking(McpClient::builder(sample_config(folder)?), elicitor);
        let client = builder.connect().await.map_err(Failure::wiring)?;
        // Its tools are this program's own.
        client.approve(&client.pending()).map_err(Failure::wiring)?;
        return Ok(client);
    };
    let config =
        McpConfig::read(path).map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
    let builder = asking(McpClient::builder(config), elicitor);
    let builder = if options.locked { builder.locked() } else { builder };
    let client = builder.connect().await.map_err(|error| match error {
        McpError::Locked { .. } => Failure::Usage(Chain(&error).to_string()),
        error => Failure::Unusable { what: "도구의 서버를", source: error.into() },
    })?;
    if options.accept {
        let approved = client.approve(&client.pending());
        approved.map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
    }
    Ok(client)
}

fn asking(builder: McpClientBuilder, person: Option<Person>) -> McpClientBuilder {
    match person {
        Some(person) => builder.elicitor(person),
        None => builder,
    }
}

/// Whoever types, for servers that wait for an answer within a call.
#[derive(Debug)]
struct Person(AtOnce);

impl Elicitor for Person {
    async fn elicit(&self, question: &Elicitation) -> ElicitationAnswer {
        let Ok(shown) = serde_json::to_value(question) else { return ElicitationAnswer::Cancel };
        let decision = self.0.ask(&shown).await;
        let decision = decision.and_then(|it| serde_json::from_value::<Decision>(it).ok());
        decision.map_or(ElicitationAnswer::Cancel, Into::into)
    }
}

/// True for the address of a PostgreSQL, and no file.
fn is_postgres(db: &Path) -> bool {
    let db = db.to_string_lossy();
    ["postgres://", "postgresql://"].iter().any(|scheme| db.starts_with(scheme))
}

#[cfg(feature = "postgres")]
async fn postgres(db: &Path) -> Result<(SharedCheckpointer, SharedStore), Failure> {
    let config = hanok_postgres::Config::new(db.to_string_lossy().into_owned());
    let postgres = hanok_postgres::Postgres::connect(config).await.map_err(Failure::wiring)?;
    Ok((SharedCheckpointer::new(postgres.clone()), SharedStore::new(postgres)))
}

#[cfg(not(feature = "postgres"))]
#[expect(clippy::unused_async, reason = "it stands in the place of one that connects")]
async fn postgres(_: &Path) -> Result<(SharedCheckpointer, SharedStore), Failure> {
    let how = "cargo run --example orchestrator --package orchestrator --features postgres";
    Err(Failure::Usage(format!(
        "이 프로그램은 PostgreSQL 없이 만들어졌습니다. `{how}`로 실행하세요."
    )))
}

/// Opens what `options` name, with `model` in all its parts and the tools of `client`.
///
/// # Errors
///
/// [`Failure`] for a file that cannot be used, and for parts that do not fit.
pub async fn open(
    model: SharedModel,
    client: McpClient,
    options: &Options,
) -> Result<Opened, Failure> {
    let (threads, store) = match &options.talk.db {
        Some(db) if is_postgres(db) => postgres(db).await?,
        file => kit::stores(file.as_deref()).await?,
    };
    open_on(model, client, options, threads, store).await
}

/// Opens what `options` name over these stores.
///
/// # Errors
///
/// As those of [`open`].
pub async fn open_on(
    model: SharedModel,
    client: McpClient,
    options: &Options,
    threads: SharedCheckpointer,
    store: SharedStore,
) -> Result<Opened, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let (gates, detection) =
        (options.gates(kit::somebody_types(), variable)?, options.detection(variable)?);
    let user = options.learns_of(variable)?;
    let embedder = kit::meaning::embedder()?;
    let config = options.mcp.as_deref().unwrap_or(Path::new(""));
    let config = config.canonicalize().unwrap_or_else(|_| config.to_owned());
    let (of_tools, now) = (embedder.clone(), TokioClock.now());
    let servers = Servers::new(client, store.clone(), of_tools, detection, &config, now);
    let servers = servers.await.map_err(Failure::wiring)?;
    let semantic =
        embedder.map(|embedder| Semantic::new(store.clone(), embedder, Call::detached()));
    let remembering = semantic.map_or(store.clone(), SharedStore::new);
    let memories = Memories::new(remembering).orchestration();
    let learner = match user {
        None => None,
        Some(_) => {
            let outbox = Consumer::new(threads.clone(), "learner", TOPIC);
            let learner = Arc::new(Learner::new(outbox, memories.clone()));
            learner.register().await.map_err(Failure::wiring)?;
            Some(learner)
        }
    };
    let always = StandingApprovals::new(store.clone()).scope(scope(options));
    let results = options.results.clone().map(Results::open).transpose();
    let results = results.map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
    let parts = Orchestrator {
        model,
        memory: Memory::new(memories.clone(), user, options.learned_approvals),
        servers,
        gates,
        always,
        background: Background {
            personal: options.personal.clone(),
            domain: options.domain.clone(),
        },
        results,
    };
    let graph = parts.clone().graph().map_err(Failure::wiring)?;
    let about = about(&parts, user);
    Ok(Opened { graph, parts, memories, threads, store, learner: Pupil(learner), about })
}

/// For whom somebody says "always": for the user, or else for the thread.
#[must_use]
pub fn scope(options: &Options) -> StandingScope {
    match options.user.as_deref().filter(|user| !user.is_empty()) {
        Some(user) => StandingScope::User(user.to_owned()),
        None => StandingScope::Thread(options.talk.thread.clone()),
    }
}

/// What a reader should know first: who is learned of, which tools there are and are not, and what the configuration may not mean.
fn about(parts: &Orchestrator, user: Option<&str>) -> String {
    let client = parts.servers.client();
    let mut lines = vec![match user {
        Some(user) => format!("사용자 {user}: 결정과 결과에서 배웁니다."),
        None => "아무것도 배우지 않습니다(--user 이름을 주면 배웁니다).".to_owned(),
    }];
    if !parts.gates.asks(&Gate::Tool) && !parts.gates.asks(&Gate::Step) {
        lines.push("쓰는 도구도 묻지 않고 부릅니다(--gates가 그렇게 정했습니다).".to_owned());
    }
    let tools = parts.servers.offer().iter().len();
    lines.push(format!("쓸 수 있는 도구 {tools}개(/tools)."));
    let pending = client.pending().len();
    if pending > 0 {
        lines.push(wording::pending(pending));
    }
    let warning = |it: &hanok_mcp::ConfigFault| format!("설정에서 살펴볼 것: {it}");
    lines.extend(client.warnings().iter().map(warning));
    for status in client.status() {
        if let Some(error) = &status.error {
            lines.push(format!("서버 `{}`을(를) 쓸 수 없습니다: {error}", status.server));
        }
    }
    lines.join("\n")
}
