//! Processes that take jobs out of a store of items and run a graph for each.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hanok_checkpoint::{
    Batch, Expect, Item, Put, Safety, Search, SharedStore, Store, StoreError, Version, Write,
};
use hanok_core::{BoxError, BoxFuture, ItemKey, Labels, Position, RunId, Spawned, Stored, Tenant};
use hanok_graph::{
    AnyApp, AnyInput, AnyUpdate, Caller, Context, END, Graph, NewInput, Outcome, RunSettings,
    Runtime, START, Snapshot,
};
use hanok_simulation::{Effects, World};
use hanok_state::State;

/// A job that nobody has written to for so long is taken over.
const ABANDONED: Duration = Duration::from_secs(30);

/// The rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// Jobs are written whatever is there.
    Expect,
    /// A job that was taken in is forgotten by a machine that dies.
    Safety,
}

#[derive(State, Clone, Debug, Default)]
struct Work {
    #[reduce(append)]
    done: Vec<String>,
}

async fn first(_: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
    cx.services().started(&cx);
    Ok(Work::update().done(["first".to_owned()]))
}

async fn second(_: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
    cx.services().started(&cx);
    Ok(Work::update().done(["second".to_owned()]))
}

/// A process: its store, and the task that looks for jobs.
pub(crate) struct Office {
    desk: Desk,
    _clerk: Spawned,
}

#[derive(Clone)]
struct Desk {
    broken: Broken,
    runtime: Runtime,
    store: SharedStore,
    app: Arc<dyn AnyApp>,
}

pub(crate) fn office(broken: Broken) -> impl Fn(&World) -> Result<Office, BoxError> {
    move |world| {
        let (runtime, store) = (world.runtime(), world.store());
        let desk = Desk { broken, runtime, store, app: app(world)? };
        let clerk = desk.runtime.spawner.spawn(Box::pin(desk.clone().work()));
        Ok(Office { desk, _clerk: clerk })
    }
}

/// Threads that run two nodes, one after the other.
pub(crate) fn app(world: &World) -> Result<Arc<dyn AnyApp>, BoxError> {
    let graph = Graph::builder("work").node("first", first).node("second", second);
    let graph = graph.sequence([START, "first", "second", END]).runtime(world.runtime());
    let (app, effects) = (graph.build()?.checkpointer(world.checkpointer()), world.effects());
    Ok(Arc::new(app.any(move |_| Ok(effects.clone()))))
}

pub(crate) fn key(job: u32) -> ItemKey {
    ItemKey::new(Tenant::default(), jobs(), &job.to_string()).unwrap()
}

fn jobs() -> Labels {
    Labels::new(["jobs"]).unwrap()
}

impl Office {
    /// Takes a job in; `false` when nobody knows whether it was.
    pub(crate) fn post(&self, job: u32) -> BoxFuture<'static, bool> {
        let desk = self.desk.clone();
        Box::pin(async move {
            let posted = desk.write(&key(job), "posted", Expect::Absent).await;
            matches!(posted, Ok(()) | Err(StoreError::Conflict { .. }))
        })
    }
}

impl Desk {
    async fn work(self) {
        let mut seen = BTreeMap::new();
        loop {
            // What fails is looked for again.
            drop(self.round(&mut seen).await);
            self.runtime.clock.sleep(Duration::from_secs(1)).await;
        }
    }

    async fn round(&self, seen: &mut Seen) -> Result<(), BoxError> {
        let all = Search::within(Tenant::default(), jobs());
        for hit in self.store.search(&all, self.runtime.clock.now()).await?.hits {
            if is_due(&hit.item, seen, self.runtime.clock.monotonic())? {
                self.take(&hit.item).await?;
            }
        }
        Ok(())
    }

    /// Takes a job, runs it, and writes that it is over.
    async fn take(&self, job: &Item) -> Result<(), BoxError> {
        self.write(&job.key, "taken", Expect::Version(job.version)).await?;
        let taken = self.store.get(&job.key, self.runtime.clock.now()).await?;
        let version = taken.ok_or("the job is gone")?.version;
        let run = (RunId(job.key.key().parse()?), Position::START);
        let settings =
            RunSettings { run: Some(run), new_input: NewInput::Queue, ..RunSettings::default() };
        let thread = self.app.thread(&Caller::default(), job.key.key())?;
        let ended = thread.run(AnyInput::New(AnyUpdate::default()), settings).await?;
        match ended {
            Outcome::Done(_) => self.write(&job.key, "over", Expect::Version(version)).await?,
            other => return Err(format!("{other:?}").into()),
        }
        Ok(())
    }

    async fn write(&self, key: &ItemKey, words: &str, expect: Expect) -> Result<(), StoreError> {
        let expect = if self.broken == Broken::Expect { Expect::Any } else { expect };
        let value = Stored::encode(words).unwrap();
        let is_new = words == "posted" && self.broken != Broken::Safety;
        let batch = Batch {
            writes: vec![Write::Put(key.clone(), Put::new(value).only_if(expect))],
            safety: if is_new { Safety::Machine } else { Safety::Process },
            ..Batch::default()
        };
        self.store.batch(batch, self.runtime.clock.now()).await.map(drop)
    }
}

/// The versions of jobs, and since when each is known.
type Seen = BTreeMap<ItemKey, (Version, Duration)>;

/// True for a job that waits, or that nobody has written to for long. No clock of another process counts.
fn is_due(job: &Item, seen: &mut Seen, now: Duration) -> Result<bool, BoxError> {
    let known = seen.entry(job.key.clone()).or_insert((job.version, now));
    if known.0 != job.version {
        *known = (job.version, now);
    }
    Ok(match job.value.as_str()? {
        "posted" => true,
        "taken" => now - known.1 >= ABANDONED,
        _ => false,
    })
}
