//! A state of many fields, of lists that grow threefold in each round and of maps.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::{List, Map, Shared, State};
use serde_json::{Value, json};

use super::{DURABILITIES, thread};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const MESSAGES: usize = 300;
const KEYS: usize = 5;

/// One item of a list: a map of maps, which many lists hold.
type Item = Shared<BTreeMap<String, Shared<Value>>>;

#[derive(State, Clone, Default)]
struct Wide {
    #[reduce(append)]
    messages: List<Item>,
    #[reduce(append)]
    trigger_events: List<Item>,
    #[reduce(append)]
    categorizations: List<Item>,
    #[reduce(append)]
    responses: List<Item>,
    relevant_rules: List<Item>,
    memory_docs: List<Item>,
    autoresponse: Option<Item>,
    #[reduce(with = newer)]
    issue: Option<Item>,
    #[reduce(with = newer)]
    user_info: Option<Item>,
    #[reduce(with = newer)]
    crm_info: Option<Item>,
    #[reduce(merge)]
    slack_participants: Map<String, Shared<Value>>,
    #[reduce(merge)]
    notified_assignees: Map<String, Shared<Value>>,
    #[reduce(with = longer)]
    primary_issue_medium: Arc<str>,
    #[reduce(with = longer)]
    email_thread_id: Arc<str>,
    bot_id: Arc<str>,
}

/// The new value if there is one.
fn newer(old: &Option<Item>, new: Option<Item>) -> Option<Item> {
    new.or_else(|| old.clone())
}

/// The new text if there is one.
fn longer(old: &Arc<str>, new: Arc<str>) -> Arc<str> {
    if new.is_empty() { old.clone() } else { new }
}

/// As many letters as the suite draws.
fn letters() -> Arc<str> {
    "m".repeat(MESSAGES).into()
}

fn last(items: &List<Item>) -> Result<Item> {
    Ok(items.last().cloned().ok_or("a list is empty")?)
}

async fn one(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    let update = Wide::update().trigger_events(state.messages.iter().cloned());
    Ok(update.primary_issue_medium(letters()))
}

async fn two(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    let event = last(&state.trigger_events)?;
    Ok(Wide::update().autoresponse(Some(event.clone())).issue(Some(event)))
}

async fn three(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    let rules: List<_> = state.autoresponse.iter().cloned().collect();
    Ok(Wide::update().relevant_rules(rules))
}

async fn four(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    let events = &state.trigger_events;
    let update = Wide::update().categorizations(events.iter().cloned());
    Ok(update.responses(events.iter().cloned()).memory_docs(events.clone()))
}

async fn five(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    let last = last(&state.categorizations)?;
    let entries = || last.iter().map(|(key, value)| (key.clone(), value.clone()));
    Ok(Wide::update()
        .user_info(Some(last.clone()))
        .crm_info(Some(last.clone()))
        .email_thread_id(letters())
        .slack_participants(entries())
        .bot_id(letters())
        .notified_assignees(entries()))
}

async fn six(state: Snapshot<Wide>, _: Context) -> Result<WideUpdate> {
    Ok(Wide::update().messages(state.responses.iter().cloned()))
}

fn next(state: &Wide) -> &'static str {
    if state.messages.len() > MESSAGES { END } else { "one" }
}

fn message() -> Item {
    let key = |i: usize| i.to_string().repeat(10);
    let part =
        [json!("hi?".repeat(10)), json!(true), json!(1), json!(6_327_816_386_138_u64), json!(null)];
    let value = Value::Array((0..5).flat_map(|_| part.clone()).collect());
    let inner: Value = (0..KEYS).map(|i| (key(i), value.clone())).collect();
    Shared::new((0..KEYS).map(|i| (key(i), Shared::new(inner.clone()))).collect())
}

fn check(state: &Wide) -> Result<()> {
    let lists = [&state.messages, &state.trigger_events, &state.categorizations];
    ensure(lists.map(List::len) == [595, 277, 406], "the lists")?;
    ensure(state.slack_participants.len() == KEYS, "the maps")?;
    ensure(state.bot_id.len() == MESSAGES, "the texts")
}

fn graph() -> Result<Graph<Wide>> {
    let graph = Graph::<Wide>::builder("wide")
        .node("one", one)
        .node("two", two)
        .node("three", three)
        .node("four", four)
        .node("five", five)
        .node("six", six)
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", "three")
        .edge("two", "four")
        .join(["three", "four"], "five")
        .edge("five", "six")
        .branch("six", next, ["one", END])
        .recursion_limit(u32::MAX)
        .build()?;
    Ok(graph)
}

pub(super) fn hollow(rounds: usize) -> Result<Vec<f64>> {
    let (graph, message) = (graph()?, message());
    medians(rounds, async || {
        let input = Wide::update().push_messages(message.clone());
        let cpu = Cpu::start();
        let state = graph.invoke(input, ()).await?.done()?;
        let took = cpu.millis();
        check(&state)?;
        Ok([took])
    })
}

pub(super) fn kept(rounds: usize) -> Result<Vec<f64>> {
    let (graph, message) = (graph()?, message());
    medians(rounds, async || {
        let mut took = [0.0; 3];
        for (durability, took) in DURABILITIES.into_iter().zip(&mut took) {
            let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
            let thread = thread.durability(durability);
            let input = Wide::update().push_messages(message.clone());
            let cpu = Cpu::start();
            let state = thread.invoke(input, ()).await?.done()?;
            *took = cpu.millis();
            check(&state)?;
        }
        Ok(took)
    })
}
