//! What a run of the program works with: its graph, its threads, its servers and its memory.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use hanok_agent::{Decision, Gate, StandingApprovals, StandingScope};
use hanok_checkpoint::{Consumer, SharedCheckpointer, SharedStore};
use hanok_core::{Call, Chain, Clock as _};
use hanok_graph::{App, Graph, TokioClock};
use hanok_learning::{Learner, Memories};
use hanok_mcp::{
    Elicitation, ElicitationAnswer, Elicitor, IndexedClient, McpClient, McpConfig, McpError,
};
use hanok_model::{Semantic, SharedModel};
use kit::{AtOnce, failure::Failure};
use serde_json::{Map, Value, json};

use crate::{
    Options,
    memory::{Memory, TOPIC},
    orchestrator::Orchestrator,
    results::Results,
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
    /// The store of the threads.
    pub threads: SharedCheckpointer,
    /// The store of what is too large for them.
    pub store: SharedStore,
    /// What learns after the answers, if there is a user to learn of.
    pub learner: Option<Learner>,
    /// For whom somebody says "always": for the user, or else for the thread.
    pub scope: StandingScope,
    /// What a reader should know first.
    pub about: String,
}

impl Opened {
    /// The graph on its stores.
    #[must_use]
    pub fn app(&self) -> App<OrchestratorState> {
        self.graph.checkpointer(self.threads.clone()).remembering(self.store.clone())
    }

    /// Does `work`, and learns beside it what turns teach; first what waits from before, and at last what is left.
    ///
    /// # Errors
    ///
    /// [`Failure`] of the work, or of the store.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match &self.learner {
            None => work.await,
            Some(learner) => {
                learner.beside(&TokioClock, PAUSE, work).await.map_err(Failure::wiring)?
            }
        }
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
fn sample_config(folder: Option<PathBuf>) -> Result<McpConfig, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::unreadable("프로그램을", error))?;
    let passed = [desk::NOW, desk::REPORT_MILLIS, desk::OLD].into_iter();
    let mut env: Map<String, Value> = passed
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?.into())))
        .collect();
    env.extend(folder.map(|it| (desk::FOLDER.to_owned(), it.display().to_string().into())));
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
    let config = match (&options.mcp, &options.talk.db) {
        (Some(path), _) => McpConfig::read(path).map_err(|error| usage(&error))?,
        (None, Some(db)) if is_postgres(db) => sample_config(Some("orchestrator.desk".into()))?,
        (None, db) => sample_config(db.as_ref().map(|db| db.with_extension("desk")))?,
    };
    let mut builder = McpClient::builder(config);
    if let Some(at_once) = at_once {
        builder = builder.elicitor(Person(at_once));
    }
    if options.locked {
        builder = builder.locked();
    }
    let client = builder.connect().await.map_err(|error| match error {
        McpError::Locked { .. } => usage(&error),
        error if options.mcp.is_none() => Failure::wiring(error),
        error => Failure::Unusable { what: "도구의 서버를", source: error.into() },
    })?;
    // The tools of the sample server are this program's own.
    if options.accept || options.mcp.is_none() {
        client.approve(&client.pending()).map_err(|error| usage(&error))?;
    }
    Ok(client)
}

pub(crate) fn usage(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::Usage(Chain(error).to_string())
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
    let (user, embedder) = (options.learns_of(), kit::meaning::embedder()?);
    let config = options.mcp.as_deref().unwrap_or(Path::new(""));
    let config = config.canonicalize().unwrap_or_else(|_| config.to_owned());
    let (of_tools, now) = (embedder.clone(), TokioClock.now());
    let servers = IndexedClient::new(client, store.clone(), of_tools, &config, now).await;
    let mut servers = servers.map_err(Failure::wiring)?;
    if let Some(every) = options.detection() {
        servers = servers.look_every(every);
    }
    let semantic =
        embedder.map(|embedder| Semantic::new(store.clone(), embedder, Call::detached()));
    let memories = Memories::new(semantic.map_or(store.clone(), SharedStore::new)).orchestration();
    let outbox = Consumer::new(threads.clone(), "learner", TOPIC);
    let learner = user.map(|_| Learner::new(outbox, memories.clone()));
    if let Some(learner) = &learner {
        learner.register().await.map_err(Failure::wiring)?;
    }
    let scope = match options.user.as_deref().filter(|user| !user.is_empty()) {
        Some(user) => StandingScope::User(user.to_owned()),
        None => StandingScope::Thread(options.talk.thread.clone()),
    };
    let results = options.results.clone().map(Results::open).transpose();
    let parts = Orchestrator {
        model,
        servers,
        gates: options.gates(kit::somebody_types()),
        memory: Memory::new(memories, user, options.learned_approvals),
        always: StandingApprovals::new(store.clone()).scope(scope.clone()),
        background: options.background.clone(),
        results: results.map_err(|error| usage(&error))?,
    };
    let graph = parts.clone().graph().map_err(Failure::wiring)?;
    let about = about(&parts);
    Ok(Opened { graph, parts, threads, store, learner, scope, about })
}

/// What a reader should know first: who is learned of, which tools there are and are not, and what the configuration may not mean.
fn about(parts: &Orchestrator) -> String {
    let client = parts.servers.client();
    let mut lines = vec![match &parts.memory.user {
        Some(user) => format!("사용자 {user}: 결정과 결과에서 배웁니다."),
        None => "아무것도 배우지 않습니다(--user 이름을 주면 배웁니다).".to_owned(),
    }];
    if !parts.gates.asks(&Gate::Tool) && !parts.gates.asks(&Gate::Step) {
        lines.push("쓰는 도구도 묻지 않고 부릅니다(--gates가 그렇게 정했습니다).".to_owned());
    }
    lines.push(format!("쓸 수 있는 도구 {}개(/tools).", client.offer().len()));
    match client.pending().len() {
        0 => {}
        pending => lines.push(wording::pending(pending)),
    }
    lines.extend(client.warnings().iter().map(|it| format!("설정에서 살펴볼 것: {it}")));
    let lost = client.status().into_iter().filter_map(|it| Some((it.server, it.error?)));
    lines.extend(
        lost.map(|(server, error)| format!("서버 `{server}`을(를) 쓸 수 없습니다: {error}")),
    );
    lines.join("\n")
}
