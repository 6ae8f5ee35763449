//! What the nodes of the scenarios do.

use std::{pin::pin, time::Duration};

use futures::future::{Either, select};
use hanok_core::{BoxFuture, Change, Charge, Fields, LostCall, Stored};
use hanok_graph::{BoxError, Context, Doubt, END, Failure, Graph, START, Snapshot, StepError};
use hanok_simulation::Effects;
use hanok_state::{List, Map, Message, Messages, State};

fn largest(value: &u64, write: u64) -> u64 {
    *value.max(&write)
}

/// The state of all scenarios, in its newest version.
#[derive(State, Debug, Clone, Default, PartialEq)]
#[state(version = 2, upgrade = in_cents)]
pub struct S {
    /// What was said.
    pub messages: Messages,
    /// Who ran, in order.
    #[reduce(append)]
    pub log: List<String>,
    /// What nodes gave.
    #[reduce(merge)]
    pub map: Map<String, String>,
    /// The largest input of a send.
    #[reduce(with = largest)]
    pub best: u64,
    /// Counts rounds. Was called `number`.
    #[state(alias = "number")]
    pub n: u32,
    /// Was in whole euros, as `euros`, in version 1.
    pub cents: u64,
    /// A state within.
    #[reduce(nested)]
    pub part: Part,
}

/// A state within the state of all scenarios, in its newest version.
#[derive(State, Debug, Clone, PartialEq)]
#[state(version = 2, upgrade = as_text)]
pub struct Part {
    /// What was done. Was called `facts`.
    #[reduce(append)]
    #[state(alias = "facts")]
    pub known: List<String>,
    /// Was a number in version 1.
    pub count: String,
    /// Is new.
    pub mood: String,
}

impl Default for Part {
    fn default() -> Self {
        Self { known: List::default(), count: "0".to_owned(), mood: "calm".to_owned() }
    }
}

fn in_cents(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    if let Some(euros) = fields.take("euros") {
        let euros: u64 = euros.to_stored().decode()?;
        fields.apply("cents", &Change::Set(Stored::encode(&(euros * 100))?))?;
    }
    Ok(())
}

fn as_text(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    if let Some(count) = fields.take("count") {
        let count: u32 = count.to_stored().decode()?;
        fields.apply("count", &Change::Set(Stored::encode(&count.to_string())?))?;
    }
    Ok(())
}

pub(crate) type Ran = Result<SUpdate, BoxError>;
pub(crate) type Cx = Context<Effects>;

/// Takes a while: some time, or turns of others.
async fn a_while(cx: &Cx) {
    let runtime = cx.runtime();
    let dice = runtime.rng.bits();
    if dice & 3 == 0 {
        runtime.clock.sleep(Duration::from_millis(dice >> 8 & 31)).await;
    }
}

/// Begins a node: the ledger is told, and some time passes.
pub(crate) async fn begin(cx: &Cx) {
    cx.services().started(cx);
    a_while(cx).await;
}

pub(crate) fn says(text: impl Into<String>) -> SUpdate {
    S::update().push_log(text.into())
}

/// Says its name, and what a send gave it.
pub(crate) async fn work(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let input: Option<u64> = cx.input()?;
    let said = input.map_or_else(|| cx.node().to_owned(), |n| format!("{}#{n}", cx.node()));
    Ok(says(said).best(input.unwrap_or_default()))
}

/// Counts a round, and says which.
pub(crate) async fn count(state: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    Ok(says(format!("{}@{}", cx.node(), state.log.len())).n(state.n + 1))
}

/// Says its name in a message.
pub(crate) async fn speak(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    Ok(says(cx.node()).message(Message::assistant(cx.node())))
}

/// Does three things once each.
pub(crate) async fn steps(_: Snapshot<S>, cx: Cx) -> Ran {
    Ok(S::update().log(three(&cx).await?))
}

/// Does three things once each; what they gave.
pub(crate) async fn three(cx: &Cx) -> Result<Vec<String>, BoxError> {
    begin(cx).await;
    let mut gave = Vec::new();
    for name in ["one", "two", "three"] {
        let work = || async {
            cx.services().worked(cx, name);
            a_while(cx).await;
            Ok::<_, BoxError>(format!("{}.{name}", cx.node()))
        };
        gave.push(cx.step(name, work).await?);
    }
    Ok(gave)
}

/// Makes a call that must not be repeated.
pub(crate) async fn pay(_: Snapshot<S>, cx: Cx) -> Ran {
    once(&cx, Doubt::Ask).await
}

/// Makes a call that is repeated if nobody knows whether it was made.
pub(crate) async fn pay_again(_: Snapshot<S>, cx: Cx) -> Ran {
    once(&cx, Doubt::Repeat).await
}

/// Makes a call that is given up if nobody knows whether it was made.
pub(crate) async fn pay_or_not(_: Snapshot<S>, cx: Cx) -> Ran {
    once(&cx, Doubt::GiveUp).await
}

async fn once(cx: &Cx, doubt: Doubt) -> Ran {
    match paid(cx, doubt).await {
        Ok(paid) => Ok(says(paid)),
        Err(StepError::GivenUp { .. }) => Ok(says("given up")),
        Err(error) => Err(error.into()),
    }
}

/// Makes a call once; what it gave.
pub(crate) async fn paid(cx: &Cx, doubt: Doubt) -> Result<String, StepError> {
    begin(cx).await;
    let call = |call: hanok_core::Call| async move {
        let paid = format!("{} has paid", cx.node());
        a_while(cx).await;
        cx.services().made(call.key().as_str(), &paid);
        a_while(cx).await;
        Ok::<_, BoxError>(paid)
    };
    cx.once("pay", "{\"won\":1000}", doubt, call).await
}

/// Makes a call that must not be repeated, and does not wait long for what becomes of it.
pub(crate) async fn pay_and_leave(_: Snapshot<S>, cx: Cx) -> Ran {
    match select(pin!(once(&cx, Doubt::Ask)), soon(&cx)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Ok(says("left")),
    }
}

/// Makes a call that must not be repeated, whose answer may be lost, and takes that for an answer.
pub(crate) async fn pay_unheard(_: Snapshot<S>, cx: Cx) -> Ran {
    match pay_aloud(&cx).await {
        Ok(said) => Ok(said),
        Err(_) => Ok(says("unheard")),
    }
}

/// Makes a call that must not be repeated, whose answer may be lost.
pub(crate) async fn pay_or_fail(_: Snapshot<S>, cx: Cx) -> Ran {
    pay_aloud(&cx).await
}

async fn pay_aloud(cx: &Cx) -> Ran {
    begin(cx).await;
    let call = |call: hanok_core::Call| async move {
        let paid = format!("{} has paid", cx.node());
        cx.services().made(call.key().as_str(), &paid);
        a_while(cx).await;
        match cx.runtime().rng.bits() & 1 {
            0 => Err(BoxError::from("the answer is lost")),
            _ => Ok(paid),
        }
    };
    Ok(says(cx.once("pay", "{}", Doubt::Ask, call).await?))
}

/// Runs a graph that pays, and does not wait long for its end.
pub(crate) async fn run_and_leave(_: Snapshot<S>, cx: Cx) -> Ran {
    let graph = Graph::builder("inner").node("a", pay);
    left(&cx, graph.edge(START, "a").edge("a", END).build()?).await
}

/// Runs a graph that begins a job, and does not wait long for its end.
pub(crate) async fn run_job_and_leave(_: Snapshot<S>, cx: Cx) -> Ran {
    let graph = Graph::builder("inner").node("a", job);
    left(&cx, graph.edge(START, "a").edge("a", END).build()?).await
}

async fn left(cx: &Cx, graph: Graph<S, Effects>) -> Ran {
    begin(cx).await;
    let run = cx.run_named("inner", &graph, S::update(), cx.shared_services());
    match select(pin!(run), soon(cx)).await {
        Either::Left((outcome, _)) => Ok(S::update().log(outcome?.done()?.log.iter().cloned())),
        Either::Right(_) => Ok(says("left")),
    }
}

/// Waits as long as others may take.
fn soon(cx: &Cx) -> BoxFuture<'static, ()> {
    let runtime = cx.runtime();
    runtime.clock.sleep(Duration::from_millis(runtime.rng.bits() & 31))
}

/// Begins a job elsewhere, and does not wait long for what becomes of it.
pub(crate) async fn job_and_leave(state: Snapshot<S>, cx: Cx) -> Ran {
    match select(pin!(job(state, cx.clone())), soon(&cx)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Ok(says("left")),
    }
}

/// Begins a job elsewhere that must be begun once, and goes on from what it noted of it, which holds the secret of the state if there
/// is one. The line may break, and the job be lost.
pub(crate) async fn job(state: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let note = state.map.get("secret").map_or("it is begun", String::as_str).to_owned();
    let work = |call: hanok_core::Call| {
        let (cx, note) = (&cx, &note);
        async move {
            if call.noted::<String>()?.is_none() {
                cx.services().made(call.key().as_str(), &"the job is done");
                a_while(cx).await;
                call.note(note).await?;
            }
            a_while(cx).await;
            match cx.runtime().rng.bits() & 7 {
                0 | 1 => Err(BoxError::from("the line broke")),
                2 | 3 => Err(LostCall("nobody knows the job".into()).into()),
                _ => Ok("the job is done".to_owned()),
            }
        }
    };
    match cx.once("job", "{}", Doubt::Ask, work).await {
        Ok(done) => Ok(says(done)),
        Err(StepError::GivenUp { .. }) => Ok(says("given up")),
        Err(error) => Err(error.into()),
    }
}

/// Asks one thing.
pub(crate) async fn ask(_: Snapshot<S>, cx: Cx) -> Ran {
    Ok(says(answered(&cx).await?))
}

/// Asks one thing; what was answered.
pub(crate) async fn answered(cx: &Cx) -> Result<String, BoxError> {
    begin(cx).await;
    let answer: String = cx.interrupt(&format!("{}?", cx.node())).await?;
    Ok(format!("{}: {answer}", cx.node()))
}

/// Sends more than waits for one who does not read.
pub(crate) async fn chatter(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    (0..1_500u32).for_each(|n| cx.custom(&n));
    Ok(says(cx.node()))
}

/// Asks two things, one after the other, and does something once between them.
pub(crate) async fn ask_twice(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let first: String = cx.interrupt("first?").await?;
    let work = || async {
        cx.services().worked(&cx, "between");
        Ok::<_, BoxError>(first.to_uppercase())
    };
    let between = cx.step("between", work).await?;
    let second: String = cx.interrupt("second?").await?;
    Ok(says(format!("{first} {between} {second}")))
}

/// Fails so often before it goes well.
fn fail(cx: &Cx, times: usize) -> Result<(), BoxError> {
    let count = cx.services().note(&format!("{} {}", cx.node(), cx.task()));
    if count <= times { Err(format!("{} is not ready", cx.node()).into()) } else { Ok(()) }
}

/// Fails twice.
pub(crate) async fn flaky(state: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let work = || async {
        cx.services().worked(&cx, "before");
        Ok::<_, BoxError>(())
    };
    cx.step("before", work).await?;
    fail(&cx, 2)?;
    Ok(says(format!("{}@{}", cx.node(), state.log.len())))
}

/// Fails its first two runs.
pub(crate) async fn unready(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    fail(&cx, 2)?;
    Ok(says(cx.node()))
}

/// Fails for ever.
pub(crate) async fn broken(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    Err("it is broken".into())
}

/// What is done in the place of a node that failed.
pub(crate) async fn mend(_: Snapshot<S>, failure: Failure, cx: Cx) -> Ran {
    a_while(&cx).await;
    Ok(says(format!("{} mended: {}", failure.node, failure.message)))
}

/// Takes too long the first time.
pub(crate) async fn late(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    if cx.services().note(&format!("late {}", cx.task())) == 1 {
        cx.runtime().clock.sleep(Duration::from_secs(3_600)).await;
    }
    Ok(says(cx.node()))
}

/// Calls a model.
pub(crate) async fn model(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let call = cx.call("model", "small", "{}");
    call.admit(Charge::Model)?;
    call.spend().add(hanok_core::Spent { model_calls: 1, ..Default::default() });
    Ok(says(cx.node()))
}

/// Writes what its sibling writes too, until it has failed so once.
pub(crate) async fn clash(_: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let first = cx.services().note(&format!("clash {}", cx.node())) == 1;
    let said = says(cx.node());
    Ok(if first { said.n(7) } else { said })
}
