//! The store that the command works on.

use hanok_checkpoint::{
    AppendId, CheckpointError, Checkpointer, Life, Log, SharedCheckpointer, SharedStore,
    ThreadItems, Which,
};
use hanok_core::{Clock, Ids, Tenant, ThreadKey, Timestamp};
use hanok_graph::{SystemIds, TokioClock};
use hanok_sqlite::Sqlite;

use crate::{
    arguments::{CommandLine, Verb},
    failure::Failure,
};

pub(crate) struct Place {
    pub(crate) store: SharedCheckpointer,
    /// The store across threads in the same database.
    memory: SharedStore,
    /// The same store, where it is a SQLite file.
    pub(crate) sqlite: Option<Sqlite>,
    pub(crate) tenant: Tenant,
}

impl Place {
    pub(crate) async fn open(arguments: &CommandLine) -> Result<Self, Failure> {
        let tenant = Tenant::new(&arguments.tenant)?;
        let (store, memory, sqlite) = match &arguments.db {
            Some(file) => {
                // A name that was mistyped makes no new store.
                if !matches!(arguments.verb, Verb::Import { .. }) && !file.exists() {
                    return Err(Failure::NoFile(file.display().to_string()));
                }
                let sqlite = Sqlite::open(file).await?;
                let memory = SharedStore::new(sqlite.clone());
                (SharedCheckpointer::new(sqlite.clone()), memory, Some(sqlite))
            }
            None => {
                let (store, memory) = postgres(arguments).await?;
                (store, memory, None)
            }
        };
        Ok(Self { store: unlocked(store, arguments)?, memory, sqlite, tenant })
    }

    pub(crate) fn key(&self, thread: &str) -> Result<ThreadKey, Failure> {
        Ok(ThreadKey::new(self.tenant.clone(), thread)?)
    }

    pub(crate) fn log(&self, thread: &str) -> Result<Log, Failure> {
        Ok(Log::new(self.store.clone(), self.key(thread)?))
    }

    /// The log of one thread that is there, or of all of the tenant.
    pub(crate) async fn logs(&self, thread: Option<String>) -> Result<Vec<Log>, Failure> {
        Ok(self.listed(thread).await?.into_iter().map(|(log, _)| log).collect())
    }

    /// The same, with why its row cannot be read.
    pub(crate) async fn listed(
        &self,
        thread: Option<String>,
    ) -> Result<Vec<(Log, Option<String>)>, Failure> {
        let Some(thread) = thread else {
            let all = self.store.all_threads(&Which::Of(self.tenant.clone())).await?;
            let log = |thread| Log::new(self.store.clone(), thread);
            return Ok(all.into_iter().map(|info| (log(info.thread), info.damage)).collect());
        };
        let log = self.log(&thread)?;
        self.there(&log).await?;
        Ok(vec![(log, None)])
    }

    /// What this life of `thread` has in the store across threads.
    pub(crate) fn items(&self, thread: &ThreadKey, life: Life) -> ThreadItems {
        let (memory, codec) = (self.memory.clone(), self.store.codec().clone());
        ThreadItems::new(memory, codec, thread.clone(), life)
    }

    /// Begins the thread `to` of `log` by `begin`, an append of this id, with all that `log` has there.
    pub(crate) async fn begin_with_items<T>(
        &self,
        log: &Log,
        to: &ThreadKey,
        id: AppendId,
        begin: impl Future<Output = Result<T, CheckpointError>>,
    ) -> Result<T, Failure> {
        let Some(head) = self.store.head(log.thread()).await? else { return Ok(begin.await?) };
        let copies = self.items(to, Life::new(id.0));
        let items = self.items(log.thread(), head.life);
        Ok(items.copy_to_new(&copies, &|_| true, now(), begin).await?)
    }

    /// Removes what a removed thread had there. What one that was begun anew has stays.
    pub(crate) async fn forget_items(&self, thread: &ThreadKey) -> Result<(), Failure> {
        let log = Log::new(self.store.clone(), thread.clone());
        Ok(ThreadItems::forget_removed(&self.memory, &log, now()).await?)
    }

    pub(crate) async fn there(&self, log: &Log) -> Result<(), Failure> {
        let head = self.store.head(log.thread()).await?;
        let missing = || Failure::NoThread(log.thread().to_string());
        head.map(|_| ()).ok_or_else(missing)
    }
}

/// The store with its keys, if any are named.
#[cfg(feature = "encryption")]
fn unlocked(
    store: SharedCheckpointer,
    arguments: &CommandLine,
) -> Result<SharedCheckpointer, Failure> {
    let named = std::env::var_os("HANOK_KEYS").filter(|file| !file.is_empty());
    let file = arguments.keys.clone().or_else(|| named.map(Into::into));
    Ok(match file {
        Some(file) => store.with_codec(crate::keys::codec(&file)?),
        None => store,
    })
}

#[cfg(not(feature = "encryption"))]
fn unlocked(store: SharedCheckpointer, _: &CommandLine) -> Result<SharedCheckpointer, Failure> {
    Ok(store)
}

#[cfg(feature = "postgres")]
async fn postgres(arguments: &CommandLine) -> Result<(SharedCheckpointer, SharedStore), Failure> {
    let url = arguments.postgres.clone().or_else(|| std::env::var("HANOK_POSTGRES").ok());
    let url = url.filter(|url| !url.is_empty()).ok_or(Failure::NoStore)?;
    let config = hanok_postgres::Config::new(url).schema(&*arguments.schema).connections(2);
    let postgres = hanok_postgres::Postgres::connect(config).await?;
    Ok((SharedCheckpointer::new(postgres.clone()), SharedStore::new(postgres)))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &CommandLine) -> Result<(SharedCheckpointer, SharedStore), Failure> {
    Err(Failure::NoStore)
}

pub(crate) fn now() -> Timestamp {
    TokioClock.now()
}

pub(crate) fn id() -> AppendId {
    AppendId(SystemIds.id())
}
