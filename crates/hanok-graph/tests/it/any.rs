//! Graphs of different types behind one door that speaks JSON.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use hanok_checkpoint::{InMemoryCheckpointer, Select};
use hanok_core::{Answerer, BoxFuture, Clock, Ids, Tenant, Timestamp};
use hanok_graph::{
    AnyApp, AnyInput, AnyThread, AnyUpdate, App, BoxError, Caller, Context, END, EditPlace, Graph,
    Input, Mode, NewAnswer, Outcome, RunError, RunSettings, Runtime, START, Snapshot, State,
    ThreadKey,
};
use hanok_sqlite::Sqlite;
use hanok_state::{Json, List, Message, Messages};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

/// A desk that answers, and asks before it pays.
#[derive(State, Clone, Debug, Default)]
struct Desk {
    messages: Messages,
    facts: Json,
    #[state(private)]
    draft: String,
}

/// What a desk works with: who sits there.
struct Clerk(String);

async fn answer(desk: Snapshot<Desk>, cx: Context<Clerk>) -> Result<DeskUpdate, BoxError> {
    let asked = desk.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
    let said = format!("{}: {asked}?", cx.services().0);
    let facts = Json(json!({"words": asked.split(' ').count(), "by": cx.services().0}));
    Ok(Desk::update().message(Message::assistant(said)).facts(facts).draft("a draft"))
}

async fn pay(_: Snapshot<Desk>, cx: Context<Clerk>) -> Result<DeskUpdate, BoxError> {
    let yes: bool = cx.interrupt("Pay?").await?;
    Ok(Desk::update().message(Message::assistant(if yes { "Paid." } else { "Not paid." })))
}

fn desk() -> Graph<Desk, Clerk> {
    let graph = Graph::builder("desk").node("answer", answer).node("pay", pay);
    graph.sequence([START, "answer", "pay", END]).build().unwrap()
}

/// A counter that counts as far as it is told, slowly.
#[derive(State, Clone, Debug, Default, PartialEq)]
struct Count {
    n: u32,
    to: u32,
    #[reduce(append)]
    steps: List<String>,
}

async fn step(count: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    if count.to > 1_000 {
        std::future::pending::<()>().await;
    }
    cx.custom(&count.n);
    Ok(Count::update().n(count.n + 1).push_steps(format!("step {}", count.n + 1)))
}

fn count() -> Graph<Count> {
    counting(Runtime::default())
}

fn counting(runtime: Runtime) -> Graph<Count> {
    let more = |count: &Count| if count.n < count.to { "step" } else { END };
    let graph = Graph::builder("count").node("step", step).edge(START, "step");
    graph.branch("step", more, ["step", END]).runtime(runtime).build().unwrap()
}

/// Whoever comes is a clerk, but not everybody may.
fn clerk(caller: &Caller) -> Result<Clerk, BoxError> {
    let name = caller.principal.as_ref().map(|principal| principal.name.clone());
    name.map(Clerk).ok_or_else(|| "sign in first".into())
}

fn input(json: Value) -> AnyInput {
    from_value(json).unwrap()
}

fn ada() -> Caller {
    Caller::new(Tenant::try_from("acme").unwrap()).principal(Answerer::new("ada", "test"))
}

fn run() -> RunSettings {
    RunSettings::default()
}

async fn now(thread: &dyn AnyThread) -> Value {
    thread.state(None).await.unwrap().unwrap().to_json().unwrap()
}

/// The texts of a conversation's JSON.
fn texts(state: &Value) -> Vec<&str> {
    let messages = state["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

/// Two graphs of different types in one list, on one file: run, streamed, asked, answered, edited, rewound, forked, cancelled and deleted.
#[tokio::test]
async fn graphs_of_different_types_are_spoken_to_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let desk = desk().checkpointer(store.clone()).any(clerk);
    let count = count().checkpointer(store).any(|_| Ok(()));
    let apps: Vec<Arc<dyn AnyApp>> = vec![Arc::new(desk), Arc::new(count)];
    assert_eq!(apps.iter().map(|app| app.name()).collect::<Vec<_>>(), ["desk", "count"]);
    let [desk, count] = apps.as_slice() else { unreachable!() };
    let fields: Vec<_> = desk.structure().output;
    assert_eq!(fields, ["messages", "facts"]);

    // Run: the desk asks. Its state is JSON, and what is private does not show.
    let hers = desk.thread(&ada(), "t1").unwrap();
    let said = input(json!({"new": {"messages": [["human", "how much"]]}}));
    let Outcome::Interrupted(asked) = hers.run(said, run()).await.unwrap() else { panic!() };
    let state = asked.state.to_json().unwrap();
    assert_eq!(texts(&state), ["how much", "ada: how much?"]);
    assert_eq!(state["messages"][0]["type"], "human");
    assert_eq!(state["facts"], json!({"words": 2, "by": "ada"}));
    assert_eq!(state.get("draft"), None);
    assert_eq!(now(&*hers).await, state);

    // Asked and answered: in the caller's name, first without a run, then with one.
    let views = hers.views(None).await.unwrap();
    assert_eq!(
        (views[0].next.as_slice(), views[0].requests.len()),
        (["pay".to_owned()].as_slice(), 1)
    );
    let opened = hers.log().open(None).await.unwrap().unwrap();
    let (read, seen) = hers.read(opened).await.unwrap();
    assert_eq!((read.unwrap().to_json().unwrap(), seen), (state, views.clone()));
    let id = views[0].requests[0].id.clone();
    hers.answer(vec![NewAnswer::new(id.clone(), &true).unwrap()]).await.unwrap();
    let again = hers.answer(vec![NewAnswer::new(id, &false).unwrap()]).await.unwrap_err();
    assert_eq!((again.code(), again.status()), ("HNK-212", 409));
    let done = hers.run(AnyInput::Resume, run()).await.unwrap().done().unwrap();
    assert_eq!(texts(&done.to_json().unwrap()).last(), Some(&"Paid."));

    // Streamed: the other graph, by the same handle of another type; events are JSON.
    let counts = count.thread(&ada(), "c1").unwrap();
    let settings = RunSettings { modes: Some(vec![Mode::Custom, Mode::Values]), ..run() };
    let mut events = counts.stream(input(json!({"new": {"to": 2}})), settings).await.unwrap();
    let mut lines = Vec::new();
    while let Some(event) = events.next().await {
        let json = serde_json::to_value(&event).unwrap();
        lines.push(format!("{} {}", json["event"].as_str().unwrap(), json["data"]["n"]));
    }
    assert_eq!(events.outcome().await.unwrap().done().unwrap().get::<Count>().unwrap().n, 2);
    assert_eq!(
        lines,
        ["values 0", "custom null", "values 1", "custom null", "values 2", "ended null"]
    );

    // Followed: by a reader who comes after it.
    let mut follow = counts.follow(None, Some(&[Mode::Updates]));
    let first = serde_json::to_value(follow.next().await.unwrap()).unwrap();
    assert_eq!(first["data"], json!({"n": {"set": 1}, "steps": {"append": ["step 1"]}}));

    // Edited: all faults at once, nothing that is private, and then what fits.
    let wrong = json!({"messages": [{"role": "nobody"}], "draft": "mine", "fact": 1});
    let refused =
        hers.edit(AnyUpdate::from_json(wrong), EditPlace::Nobody, None).await.unwrap_err();
    let RunError::Json(invalid) = &refused else { panic!("another error: {refused}") };
    let pointers: Vec<_> = invalid.faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, ["/messages/0", "/fact", "/draft"]);
    assert_eq!((refused.code(), refused.status()), ("HNK-230", 422));
    let before = hers.log().history(None, 1).await.unwrap()[0].position;
    let edit = AnyUpdate::from_json(json!({"facts": {"words": 0}}));
    hers.edit(edit, EditPlace::Nobody, None).await.unwrap();
    assert_eq!(now(&*hers).await["facts"], json!({"words": 0}));

    // Rewound and forked: both have what was before the edit.
    hers.fork(None, "t2").await.unwrap();
    hers.rewind(before).await.unwrap();
    assert_eq!(now(&*hers).await, done.to_json().unwrap());
    let forked = desk.thread(&ada(), "t2").unwrap();
    assert_eq!(now(&*forked).await["facts"], json!({"words": 0}));
    let sources = forked.checkpoints(Select::all().limit(1)).await.unwrap();
    assert_eq!(sources.len(), 1);

    // Cancelled: a run that would not end.
    let endless = count.thread(&ada(), "c2").unwrap();
    let events = endless.stream(input(json!({"new": {"to": 2_000}})), run()).await.unwrap();
    assert!(endless.cancel(None).await.unwrap() && count.running() > 0);
    assert!(matches!(events.outcome().await.unwrap(), Outcome::Cancelled(_)));
    assert!(!endless.cancel(None).await.unwrap());

    // Deleted; and nobody but the tenant's own has reached any of it.
    let stranger = Caller::new(Tenant::try_from("other").unwrap());
    assert!(desk.thread(&stranger, "t1").unwrap().state(None).await.unwrap().is_none());
    let refused = desk.thread(&stranger, "t1").unwrap();
    let refused = refused.run(input(json!({"new": {}})), run()).await.unwrap_err();
    assert_eq!((refused.code(), refused.status()), ("HNK-232", 403));
    assert_eq!(refused.to_string(), "the caller is not admitted: sign in first");
    let refused = desk.thread(&stranger, "t1").unwrap().answer(Vec::new()).await.unwrap_err();
    assert!(matches!(refused, RunError::NotAdmitted(_)));
    assert!(hers.delete().await.unwrap() && !hers.delete().await.unwrap());
    let name = desk.thread(&ada(), "a\nb").err().unwrap();
    assert_eq!((name.code(), name.status()), ("HNK-231", 422));
    count.shutdown(Duration::ZERO).await;
    let refused = counts.stream(AnyInput::Resume, run()).await.unwrap_err();
    assert_eq!((refused.code(), refused.status()), ("HNK-207", 503));
}

/// The schemas of a graph are told where its state has one.
#[cfg(feature = "schema")]
#[test]
fn a_graph_tells_its_schemas() {
    #[derive(State, Clone, Debug, Default, schemars::JsonSchema)]
    struct Named {
        name: String,
    }
    async fn greet(_: Snapshot<Named>, _: Context) -> Result<NamedUpdate, BoxError> {
        Ok(Named::update().name("Ada"))
    }
    let graph =
        Graph::<Named>::builder("named").node("greet", greet).sequence([START, "greet", END]);
    let app = graph.build().unwrap().checkpointer(InMemoryCheckpointer::new());
    assert!(app.any(|_| Ok(())).schemas().input.is_none());
    let described = app.any(|_| Ok(())).described();
    let input = described.schemas().input.clone().unwrap();
    assert_eq!(input["properties"]["name"]["type"], "string");
}

/// What a test does to a thread, by whichever door.
#[derive(Debug, Clone)]
enum Step {
    Run(u32),
    Wrong,
    Resume,
    Edit(u32),
    Rewind(usize),
    Fork,
    Delete,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5_u32).prop_map(Step::Run),
        1 => Just(Step::Wrong),
        1 => Just(Step::Resume),
        2 => (0..9_u32).prop_map(Step::Edit),
        2 => (0..6_usize).prop_map(Step::Rewind),
        1 => Just(Step::Fork),
        1 => Just(Step::Delete),
    ];
    prop::collection::vec(step, 1..8)
}

/// Ids and times that are the same in every run of a test.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn id(&self) -> u128 {
        self.0.fetch_add(1, Ordering::SeqCst).into()
    }
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp(1_800_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn still() -> App<Count> {
    let (ids, clock) = (Arc::new(Counted::default()), Arc::new(Still));
    counting(Runtime { ids, clock, ..Runtime::default() }).checkpointer(InMemoryCheckpointer::new())
}

/// What the logs of the thread and of its fork say, and what came of each step.
async fn logs(app: &App<Count>, said: Vec<String>) -> Vec<String> {
    let mut lines = said;
    for name in ["t", "fork"] {
        let log = app.thread(ThreadKey::named(name).unwrap()).log();
        let history = log.history(None, 1_000).await.unwrap();
        // The name of a process is no part of what happened.
        lines.extend(
            history.iter().map(|entry| format!("{} {:?}", entry.position, entry.entry.body)),
        );
    }
    lines
}

fn came_of<T: std::fmt::Debug>(done: Result<T, RunError>) -> String {
    match done {
        Ok(done) => format!("{done:?}"),
        Err(error) => format!("{} {error}", error.code()),
    }
}

async fn typed(steps: &[Step]) -> Vec<String> {
    let app = still();
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let mut said = Vec::new();
    for step in steps {
        let places = thread.log().history(None, 1_000).await.unwrap();
        said.push(match step {
            Step::Run(to) => {
                let update = Count::update().n(0).to(*to);
                came_of(thread.run(Input::New(update), ()).await.map(|it| it.map(|state| state.n)))
            }
            Step::Wrong => came_of(thread.reply(&1, ()).await.map(|it| it.map(|state| state.n))),
            Step::Resume => came_of(thread.resume(()).await.map(|it| it.map(|state| state.n))),
            Step::Edit(n) => came_of(thread.edit(Count::update().n(*n).push_steps("edit")).await),
            Step::Rewind(back) => match places.get(*back) {
                Some(place) => came_of(thread.rewind(place.position).await),
                None => "nowhere".to_owned(),
            },
            Step::Fork => came_of(thread.fork(None, &ThreadKey::named("fork").unwrap()).await),
            Step::Delete => came_of(thread.delete().await.map_err(RunError::Checkpoint)),
        });
    }
    logs(&app, said).await
}

async fn erased(steps: &[Step]) -> Vec<String> {
    let app = still();
    let any: Arc<dyn AnyApp> = Arc::new(app.any(|_| Ok(())));
    let thread = any.thread(&Caller::default(), "t").unwrap();
    let n = |outcome: Outcome<hanok_graph::AnyState>| {
        outcome.map(|state| state.to_json().unwrap()["n"].as_u64().unwrap())
    };
    let mut said = Vec::new();
    for step in steps {
        let places = thread.log().history(None, 1_000).await.unwrap();
        said.push(match step {
            Step::Run(to) => {
                let new = input(json!({"new": {"n": 0, "to": to}}));
                came_of(thread.run(new, run()).await.map(n))
            }
            Step::Wrong => came_of(thread.run(input(json!({"reply": 1})), run()).await.map(n)),
            Step::Resume => came_of(thread.run(input(json!("resume")), run()).await.map(n)),
            Step::Edit(n) => {
                let edit = AnyUpdate::from_json(json!({"n": n, "steps": "edit"}));
                came_of(thread.edit(edit, EditPlace::Nobody, None).await)
            }
            Step::Rewind(back) => match places.get(*back) {
                Some(place) => came_of(thread.rewind(place.position).await),
                None => "nowhere".to_owned(),
            },
            Step::Fork => came_of(thread.fork(None, "fork").await),
            Step::Delete => came_of(thread.delete().await),
        });
    }
    logs(&app, said).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever is done to a thread through the door does what the typed calls do, and leaves the same log.
    #[test]
    fn the_door_does_what_the_typed_calls_do(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (typed, erased) = runtime.block_on(async { (typed(&steps).await, erased(&steps).await) });
        prop_assert_eq!(typed, erased);
    }
}
