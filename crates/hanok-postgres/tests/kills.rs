//! Processes that are killed while they run a graph, with and without their server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and a child speaks through its output"
)]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use hanok_checkpoint::{Checkpointer, Memory, SharedCheckpointer};
use hanok_graph::{
    App, BoxError, Context, Doubt, END, Graph, NotMade, Outcome, Pending, Resolution, RunError,
    START, Snapshot,
};
use hanok_postgres::Postgres;
use hanok_state::{List, State};
use hanok_testkit::block_on;
use postgres_for_tests::{Installation, Server, Stop};
use support::{config, given, key, schema};

const ROUNDS: u64 = 50;

/// How many payments a run makes.
const PAYMENTS: u32 = 6;

/// Where a child is to run which thread, and where it writes down what it does to the world.
const URL: &str = "HANOK_POSTGRES_TEST_URL";
const SCHEMA: &str = "HANOK_POSTGRES_TEST_SCHEMA";
const THREAD: &str = "HANOK_POSTGRES_TEST_THREAD";
const WORLD: &str = "HANOK_POSTGRES_TEST_WORLD";

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Order {
    n: u32,
    total: u32,
    #[reduce(append)]
    receipts: List<String>,
}

/// What was done to the world, line by line: what kind, its key, what it gave.
#[derive(Debug, Clone)]
struct World(PathBuf);

impl World {
    fn note(&self, kind: &str, key: &str, gave: &str) -> Result<(), BoxError> {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.0)?;
        // One write, so that a killed process leaves a whole line or none.
        Ok(file.write_all(format!("{kind} {key} {gave}\n").as_bytes())?)
    }

    fn lines(&self) -> Vec<[String; 3]> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let words = |line: &str| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            [(); 3].map(|()| words.next().unwrap())
        };
        text.lines().map(words).collect()
    }

    /// What every key of `kind` gave, and how often.
    fn of(&self, kind: &str) -> BTreeMap<String, Vec<String>> {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for [said, key, gave] in self.lines() {
            if said == kind {
                of.entry(key).or_default().push(gave);
            }
        }
        of
    }
}

/// Asks a price, which may be asked twice, and pays it, which may not.
async fn pay(order: Snapshot<Order>, cx: Context<World>) -> Result<OrderUpdate, BoxError> {
    let (n, world) = (order.n, cx.services());
    let call = cx.call("step", "price", "{}").key().to_string();
    let price: u32 = cx
        .step("price", || async move { world.note("price", &call, "asked").map(|()| 10 + n) })
        .await?;
    let arguments = format!(r#"{{"amount":{price}}}"#);
    let bank = async |call: hanok_core::Call| -> Result<String, BoxError> {
        let receipt = format!("receipt of {price}");
        let paid = world.note("paid", &call.key().to_string(), &receipt);
        paid.map_err(NotMade)?;
        Ok(receipt)
    };
    let receipt: String = cx.once("pay", &arguments, Doubt::Ask, bank).await?;
    Ok(Order::update().n(n + 1).total(order.total + price).push_receipts(receipt))
}

fn app(store: impl Checkpointer) -> App<Order, World> {
    Graph::<Order, World>::builder("order")
        .node("pay", pay)
        .edge(START, "pay")
        .branch("pay", |order: &Order| if order.n < PAYMENTS { "pay" } else { END }, ["pay", END])
        .build()
        .unwrap()
        .checkpointer(SharedCheckpointer::new(store))
}

/// Runs a thread to its end, whether it began or not, and settles doubts by what is known of the world.
async fn finish(app: &App<Order, World>, thread: &str, world: &World) -> (Order, BTreeSet<String>) {
    let thread = app.thread(key(thread));
    let mut doubted = BTreeSet::new();
    let mut outcome = loop {
        let begun = match app.store().head(thread.key()).await.unwrap() {
            None => thread.invoke(Order::update(), world.clone()).await,
            Some(_) => thread.resume(world.clone()).await,
        };
        match begun {
            // What a killed process had sent may arrive after its death.
            Err(RunError::Conflict { .. }) => {}
            begun => break begun.unwrap(),
        }
    };
    loop {
        let pending = match outcome {
            Outcome::Done(order) => return (order, doubted),
            Outcome::InDoubt(pending) => pending,
            other => panic!("{other:?}"),
        };
        let [Pending { id, doubt: Some(doubt), .. }] = &pending[..] else { panic!("{pending:?}") };
        let resolution = match world.of("paid").get(&doubt.key) {
            Some(receipts) => Resolution::made(&receipts[0]).unwrap(),
            None => Resolution::NotMade,
        };
        doubted.insert(doubt.key.clone());
        outcome = thread.settle(id.clone(), resolution, world.clone()).await.unwrap();
    }
}

/// This is what a child runs; in a parent it does nothing.
#[test]
fn child() {
    let Ok(url) = env::var(URL) else { return };
    let world = World(env::var_os(WORLD).unwrap().into());
    let config = config(&url).schema(env::var(SCHEMA).unwrap());
    block_on(async {
        let store = Postgres::connect(config).await.unwrap();
        println!("said: ready");
        finish(&app(store), &env::var(THREAD).unwrap(), &world).await;
    });
}

fn spawn(url: &str, schema: &str, thread: &str, world: &World) -> Child {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .envs([(URL, url), (SCHEMA, schema), (THREAD, thread)])
        .env(WORLD, &world.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("said: ready")), "{thread}");
    // Its output stays open until it is killed.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn world(folder: &Path, name: &str) -> World {
    World(folder.join(name))
}

/// P1, P3, P4, P5, P9: fifty deaths, ten of them with the server.
#[test]
fn killed_runs_end_where_a_quiet_run_ends_and_pay_each_thing_once() {
    let Some(installation) = given(Installation::newest()) else { return };
    let server = Server::start(&installation, &[]).unwrap();
    let (url, schema) = (server.url("postgres"), schema());
    let folder = tempfile::tempdir().unwrap();
    let quiet = world(folder.path(), "quiet");
    let (want, _) = block_on(finish(&app(Memory::new()), "quiet", &quiet));
    assert_eq!((want.n, quiet.of("paid").len()), (PAYMENTS, PAYMENTS as usize));

    let store = block_on(Postgres::connect(config(&url).schema(&schema))).unwrap();
    let app = app(store.clone());
    let (mut random, mut unfinished, mut doubts) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    for round in 0..ROUNDS {
        let (name, world) = (format!("round {round}"), world(folder.path(), &round.to_string()));
        let mut child = spawn(&url, &schema, &name, &world);
        // Somewhere in the run: after so many lines, and a little later.
        let lines = (round % u64::from(2 * PAYMENTS)) as usize;
        while world.lines().len() < lines && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(100));
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % 4_000));
        let with_server = round % 5 == 4;
        if with_server {
            server.stop(Stop::Immediate).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if with_server {
            server.up().unwrap();
        }

        let before = block_on(store.head(&key(&name))).unwrap();
        unfinished += u32::from(before.is_none_or(|head| head.claim.is_some()));
        let (order, doubted) = block_on(finish(&app, &name, &world));
        assert_eq!(order, want, "{name}");
        let paid = world.of("paid");
        assert_eq!(paid.len(), PAYMENTS as usize, "{name}");
        for (key, receipts) in paid {
            assert_eq!(receipts.len(), 1, "{name}: {key} was paid more than once");
        }
        // A price may be asked again only by the step that was cut off.
        let prices = world.of("price");
        let asked: usize = prices.values().map(Vec::len).sum();
        assert!(prices.len() == PAYMENTS as usize && asked <= PAYMENTS as usize + 1, "{name}");
        assert!(doubted.len() <= 1, "{name}: {doubted:?}");
        doubts += doubted.len();
        let done = block_on(store.head(&key(&name))).unwrap().unwrap();
        assert!(done.claim.is_none(), "{name}");
    }
    // The deaths were in the middle.
    assert!(unfinished >= 20, "{unfinished}");
    eprintln!("{unfinished} of {ROUNDS} runs were cut off, {doubts} payments were in doubt");
}
