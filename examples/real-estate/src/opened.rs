//! What a run of the program works with: its supervisor, its threads and its memory.

use std::{sync::Arc, time::Duration};

use hanok_checkpoint::{
    Consumer, InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore,
};
use hanok_core::{Call, Cancellation, Chain, Clock as _};
use hanok_graph::TokioClock;
use hanok_learning::{Episode, Learner, Memories, Preference};
use hanok_model::{ChatModel as _, Semantic, SharedModel};
use hanok_sqlite::Sqlite;
use hanok_team::TeamSupervisor;
use offline::OfflineModel;
use terminal::failure::Failure;

use crate::{
    Options,
    data::Data,
    estate::Estate,
    memory::{EstateMemory, TOPIC},
    proposer::ModelProposer,
    wording,
};

/// How often what turns teach is looked for.
const PAUSE: Duration = Duration::from_millis(200);

/// What a run works with.
#[derive(Debug)]
pub struct Opened {
    /// The supervisor over the teams.
    pub supervisor: TeamSupervisor,
    /// The store of its threads.
    pub threads: SharedCheckpointer,
    /// What is remembered of the user, if there is one.
    pub memory: Option<EstateMemory>,
    /// What learns after the answers.
    pub learner: Pupil,
    /// What a reader should know first.
    pub about: String,
}

/// The learner, if there is a user to learn of.
#[derive(Debug)]
pub struct Pupil(Option<Arc<Learner>>);

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
        let Some(learner) = &self.0 else { return work.await };
        let stop = Cancellation::default();
        self.drain().await?;
        let work = async {
            let done = work.await;
            stop.cancel();
            done
        };
        let (done, ()) = tokio::join!(work, learner.run(&TokioClock, PAUSE, &stop));
        self.drain().await?;
        done
    }

    async fn drain(&self) -> Result<(), Failure> {
        let Some(learner) = &self.0 else { return Ok(()) };
        learner.drain(TokioClock.now()).await.map(drop).map_err(Failure::wiring)
    }
}

/// The store as one that is searched by meaning, too, where the environment names an embedding model.
fn meaning(store: &SharedStore) -> Result<Option<Semantic>, Failure> {
    if std::env::var_os("OPENAI_EMBEDDING_MODEL").is_none_or(|name| name.is_empty()) {
        return Ok(None);
    }
    let embedder = terminal::meaning::embedder()?;
    Ok(Some(Semantic::new(store.clone(), embedder, Call::detached())))
}

/// Opens what `options` name, with `model` in all its parts.
///
/// # Errors
///
/// [`Failure`] for a file that cannot be used, and for parts that do not fit.
pub async fn open(model: SharedModel, options: &Options) -> Result<Opened, Failure> {
    let data = match &options.data {
        Some(folder) => Data::open(folder),
        None => Data::bundled(),
    };
    let data = Arc::new(data.map_err(|error| Failure::Usage(Chain(&error).to_string()))?);
    let (threads, store) = match &options.talk.db {
        None => (
            SharedCheckpointer::new(InMemoryCheckpointer::new()),
            SharedStore::new(InMemoryStore::new()),
        ),
        Some(path) => {
            let opened = Sqlite::open(path).await;
            let sqlite = opened.map_err(|source| Failure::Database {
                path: path.clone(),
                source: Box::new(source),
            })?;
            (SharedCheckpointer::new(sqlite.clone()), SharedStore::new(sqlite))
        }
    };
    let user = options.user.as_deref().filter(|user| !user.is_empty());
    let meaning = meaning(&store)?;
    let store = meaning.as_ref().map_or(store, |semantic| SharedStore::new(semantic.clone()));
    let memories = Memories::new(store).kind::<Preference>().kind::<Episode>();
    let (memory, learner) = match user {
        None => (None, None),
        Some(user) => {
            let outbox = Consumer::new(threads.clone(), "learner", TOPIC);
            let learner = Arc::new(Learner::new(outbox, memories.clone()));
            learner.register().await.map_err(Failure::wiring)?;
            // The offline model is rules itself, and knows less of this than those of the program.
            let by_model = (model.name() != OfflineModel::NAME).then(|| model.clone());
            let proposer = ModelProposer::new(by_model);
            let memory = EstateMemory::new(memories, meaning, proposer, learner.clone(), user);
            (Some(memory), Some(learner))
        }
    };
    let learner = Pupil(learner);
    let about = match user {
        Some(user) => format!("사용자 {user}: 하신 말씀을 기억합니다. {}", wording::NO_ADVICE),
        None => format!("--user가 없어 아무것도 기억하지 않습니다. {}", wording::NO_ADVICE),
    };
    let estate = Estate {
        model,
        data,
        out: options.out.clone(),
        timeout: Duration::from_secs(options.team_timeout),
        memory: memory.clone(),
    };
    Ok(Opened { supervisor: estate.supervisor()?, threads, memory, learner, about })
}
