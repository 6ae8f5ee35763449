//! Processes that are killed with SIGKILL while they run a graph.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod payments;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use hanok_checkpoint::{Checkpointer, SharedCheckpointer};
use hanok_core::{BoxError, Tenant, ThreadKey};
use hanok_graph::{App, Durability, Outcome, Pending, Resolution, RunError};
use hanok_state::State;

pub use payments::{Order, OrderUpdate, Payments};

use crate::{
    block_on,
    scatter::{STEP, scattered},
};

/// The variables of a child process: the thread that it runs, the file of its ledger, and its durability.
const THREAD: &str = "HANOK_TESTKIT_THREAD";
const LEDGER: &str = "HANOK_TESTKIT_LEDGER";
const DURABILITY: &str = "HANOK_TESTKIT_DURABILITY";

/// The ledger of what a graph did to the world, in a file that outlives the process: for the nodes of a graph that is killed.
#[derive(Debug, Clone)]
pub struct Ledger(PathBuf);

impl Ledger {
    /// The ledger in the file at `path`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self(path.as_ref().to_owned())
    }

    /// Notes that something of `kind` was done under `key`, and what it gave. Neither may hold a line break, and the first
    /// two no space.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn note(&self, kind: &str, key: &str, gave: &str) -> Result<(), BoxError> {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.0)?;
        // One write, so that a killed process leaves a whole line or none.
        Ok(file.write_all(format!("{kind} {key} {gave}\n").as_bytes())?)
    }

    /// The results of every key of `kind`, one each time it was done.
    pub fn of(&self, kind: &str) -> BTreeMap<String, Vec<String>> {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            if let (Some(said), Some(key), Some(gave)) = (words.next(), words.next(), words.next())
                && said == kind
            {
                of.entry(key).or_default().push(gave);
            }
        }
        of
    }

    fn lines(&self) -> usize {
        fs::read_to_string(&self.0).unwrap_or_default().lines().count()
    }
}

/// Kills processes that run a graph, over and over, and goes on with what they leave.
///
/// The process is the test itself: a test of its own calls [`Kills::child`], and does nothing unless it was started by
/// [`Kills::round`].
#[derive(Debug, Clone, Copy)]
pub struct Kills<S: State> {
    /// The name of the test that calls [`Kills::child`].
    pub child: &'static str,
    /// The graph, on a store.
    pub app: fn(SharedCheckpointer, Durability) -> App<S, Ledger>,
    /// The input that a thread begins with.
    pub input: fn() -> S::Update,
    /// The kind in the [`Ledger`] of calls that may not be repeated: their doubts are settled by what stands there.
    pub once: &'static str,
}

/// The outcome of one round.
#[derive(Debug, Clone)]
pub struct Killed<S> {
    /// Which round it was, from 0.
    pub round: u64,
    /// The state at the end.
    pub state: S,
    /// True when the run was cut off, and not done before it was killed.
    pub cut_off: bool,
    /// The keys of the calls that were in doubt.
    pub doubted: BTreeSet<String>,
    /// The ledger of what was done to the world.
    pub ledger: Ledger,
}

impl<S: State + std::fmt::Debug> Kills<S> {
    /// Runs a thread to its end, if this process was started to be killed.
    pub fn child<F: Future<Output = SharedCheckpointer>>(&self, store: impl FnOnce() -> F) {
        let (Ok(thread), Some(ledger)) = (env::var(THREAD), env::var_os(LEDGER)) else { return };
        block_on(async {
            let durability = match env::var(DURABILITY).as_deref() {
                Ok("async") => Durability::Async,
                Ok("exit") => Durability::Exit,
                _ => Durability::Sync,
            };
            let app = (self.app)(store().await, durability);
            let ledger = Ledger(ledger.into());
            #[allow(clippy::print_stdout, reason = "whoever kills it waits for this line")]
            {
                println!("said: ready");
            }
            self.finish(&app, &thread, &ledger).await;
        });
    }

    /// A run that nobody kills.
    pub fn quiet(&self, store: SharedCheckpointer, folder: &Path) -> Killed<S> {
        let ledger = Ledger(folder.join("quiet"));
        let (state, doubted) =
            block_on(self.finish(&(self.app)(store, Durability::Sync), "quiet", &ledger));
        Killed { round: 0, state, cut_off: false, doubted, ledger }
    }

    /// One round: starts a process with `variables` that runs under `durability`, kills it after some lines of its ledger and a little more, both of
    /// which follow from `round`, and finishes the thread from here. `around` is called with `true` before the death and
    /// with `false` after it: to take a server along.
    ///
    /// # Panics
    ///
    /// When the process cannot be started, or the thread does not end.
    pub fn round(
        &self,
        round: u64,
        store: &SharedCheckpointer,
        folder: &Path,
        durability: Durability,
        variables: &[(&str, &str)],
        mut around: impl FnMut(bool),
    ) -> Killed<S> {
        let (name, ledger) = (format!("round {round}"), Ledger(folder.join(round.to_string())));
        let mut child = self.start(&name, &ledger, durability, variables);
        let lines = (round % 12) as usize;
        while ledger.lines() < lines && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            std::thread::sleep(Duration::from_micros(100));
        }
        let pause = scattered(round.wrapping_add(1).wrapping_mul(STEP));
        std::thread::sleep(Duration::from_micros(pause % 4_000));
        around(true);
        let killed = child.kill().and_then(|()| child.wait());
        assert!(killed.is_ok(), "{name} cannot be killed: {killed:?}");
        around(false);

        let app = (self.app)(store.clone(), Durability::Sync);
        block_on(async {
            let before = store.head(&key(&name)).await.unwrap();
            let cut_off = before.is_none_or(|head| head.claim.is_some());
            let (state, doubted) = self.finish(&app, &name, &ledger).await;
            let after = store.head(&key(&name)).await.unwrap();
            assert!(after.is_some_and(|head| head.claim.is_none()), "{name}: it is still claimed");
            Killed { round, state, cut_off, doubted, ledger }
        })
    }

    fn start(
        &self,
        thread: &str,
        ledger: &Ledger,
        durability: Durability,
        variables: &[(&str, &str)],
    ) -> Child {
        let durability = match durability {
            Durability::Async => "async",
            Durability::Exit => "exit",
            Durability::Sync => "sync",
        };
        let mut child = Command::new(env::current_exe().expect("the test's own program"))
            .args(["--exact", self.child, "--nocapture"])
            .envs(variables.iter().copied())
            .env(THREAD, thread)
            .env(LEDGER, &ledger.0)
            .env(DURABILITY, durability)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process to kill");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let ready = |line: std::io::Result<String>| line.is_ok_and(|it| it.contains("said: ready"));
        assert!(lines.any(ready), "{thread}: it did not begin");
        // Its output stays open until it is killed.
        std::thread::spawn(move || lines.for_each(drop));
        child
    }

    /// Runs a thread to its end, whether it began or not, and settles doubts by what is known of the world.
    async fn finish(
        &self,
        app: &App<S, Ledger>,
        thread: &str,
        ledger: &Ledger,
    ) -> (S, BTreeSet<String>) {
        let thread = app.thread(key(thread));
        let mut doubted = BTreeSet::new();
        let mut outcome = loop {
            let begun = match app.store().head(thread.key()).await.unwrap() {
                None => thread.invoke((self.input)(), ledger.clone()).await,
                Some(_) => thread.resume(ledger.clone()).await,
            };
            match begun {
                // What a killed process had sent to a server may arrive after its death.
                Err(RunError::Conflict { .. }) => {}
                begun => break begun.unwrap(),
            }
        };
        loop {
            let pending = match outcome {
                Outcome::Done(state) => return (state, doubted),
                Outcome::InDoubt(pending) => pending,
                other => panic!("{other:?}"),
            };
            let [Pending { id, doubt: Some(doubt), .. }] = &pending[..] else {
                panic!("{pending:?}")
            };
            let made = ledger.of(self.once).remove(&doubt.key);
            let resolution = match made.as_deref() {
                Some([gave, ..]) => Resolution::made(gave).unwrap(),
                _ => Resolution::NotMade,
            };
            doubted.insert(doubt.key.clone());
            outcome = thread.settle(id.clone(), resolution, ledger.clone()).await.unwrap();
        }
    }
}

fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).expect("a name")
}
