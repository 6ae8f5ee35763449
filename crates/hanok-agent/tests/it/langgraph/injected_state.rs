//! Tools that see the run: its state, its store, its services and the call.

use std::sync::Arc;

use hanok_agent::{
    AgentBuildError, AgentState, HasAgent, Protocol, ReactAgent, ToolCallError, ToolNode,
};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, Put, SharedStore, Store};
use hanok_core::{Call, ItemKey, Labels, Need, Stored, Tenant, ThreadKey, Timestamp};
use hanok_graph::{END, Graph, RunError, START};
use hanok_model::{
    Exchange, FnTool, FromCall, FromState, InjectedTool, ScriptedModel, Services, SharedTool, Tool,
    ToolError, ToolOutput, ToolSpec, tool,
};
use hanok_state::{Arguments, State, StateUpdate, ToolCall};
use serde_json::json;

use super::{Trip, asked, calls, graph, make, node, pair, results, shared};

/// Tells where the trip goes.
#[tool(effect = pure)]
async fn whole(_nights: u32, trip: FromState<Trip>) -> String {
    trip.city.clone().unwrap_or_else(|| "nowhere".into())
}

/// A field of the state.
struct City(Option<String>);

impl FromCall for City {
    fn needs() -> Vec<Need> {
        FromState::<Trip>::needs()
    }

    fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(FromState::<Trip>::from_call(call)?.city.clone()))
    }
}

/// Tells the weather of the trip.
#[tool(effect = pure)]
async fn weather(#[from_call] city: City) -> String {
    city.0.map_or_else(|| "no city is given".into(), |city| format!("it is sunny in {city}"))
}

/// Tells who spoke first.
#[tool(effect = pure)]
async fn first(trip: FromState<Trip>) -> String {
    trip.talk.iter().next().map(|message| message.text().into_owned()).unwrap_or_default()
}

/// LangGraph: tool_node_inject_state, of both suites. A field is an extractor of one's own.
#[tokio::test]
async fn a_tool_sees_the_state_a_field_and_the_conversation() {
    let tools = graph(node([shared(whole), shared(weather), shared(first)]));
    let of = [
        calls("whole", "1", json!({"_nights": 1})),
        calls("weather", "2", json!({})),
        calls("first", "3", json!({})),
    ];
    let input = Trip::update().talk_message("hi?").and(asked(of)).city(Some("Busan".into()));
    let trip = tools.invoke(input, ()).await.unwrap().done().unwrap();
    let want = [pair("1", "Busan"), pair("2", "it is sunny in Busan"), pair("3", "hi?")];
    assert_eq!(results(&trip.talk), want);
    let shown = [whole.spec(), weather.spec()].map(|spec| spec.schema()["properties"].clone());
    assert_eq!(shown[0].as_object().unwrap().len(), 1);
    assert_eq!(shown[1], json!({}));
}

/// LangGraph: tool_node_inject_state, its state without the field. It is another type here: the run fails, and the model, which
/// cannot help it, reads nothing.
#[tokio::test]
async fn a_state_that_a_tool_needs_and_the_graph_has_not_fails_the_run() {
    let model = ScriptedModel::new([]);
    let agent = ReactAgent::builder("guide", "", model).tool(whole).build().unwrap_err();
    assert!(matches!(agent, AgentBuildError::Need { .. }), "{agent}");

    let asks =
        hanok_state::Message::assistant("").with_tool_calls([calls("weather", "1", json!({}))]);
    let graph = Graph::<AgentState>::builder("own").node("tools", node([shared(weather)]));
    let graph = graph.edge(START, "tools").edge("tools", END).build().unwrap();
    let error = graph.invoke(AgentState::update().message(asks), ()).await.unwrap_err();
    let cause = error.downcast_ref::<ToolCallError>().unwrap();
    let ToolCallError::Failed { source: ToolError::NotProvided { need }, .. } = cause else {
        panic!("{cause:?}")
    };
    assert_eq!(*need, Need::of::<Trip>());
}

/// LangGraph: injected_state_not_required_field_missing_injects_none, injected_state_not_required_field_present_works.
#[tokio::test]
async fn a_field_that_nobody_has_set_is_none() {
    for (city, want) in
        [(None, "no city is given"), (Some("San Francisco"), "it is sunny in San Francisco")]
    {
        let input = asked([calls("weather", "1", json!({}))]).city(city.map(str::to_owned));
        let graph = graph(node([shared(weather)]));
        let trip = graph.invoke(input, ()).await.unwrap().done().unwrap();
        assert_eq!(results(&trip.talk), [pair("1", want)]);
    }
}

/// The state of an agent that plans a trip.
#[derive(State, HasAgent, Clone, Debug, Default)]
struct Guide {
    #[reduce(nested)]
    agent: AgentState,
    city: Option<String>,
    season: Season,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Season(String);

impl Default for Season {
    fn default() -> Self {
        Self("spring".into())
    }
}

/// Tells the weather where the agent is.
#[tool(effect = pure)]
async fn agent_weather(guide: FromState<Guide>) -> String {
    let city = guide.city.as_deref().unwrap_or("no city");
    format!("{} in {city}", guide.season.0)
}

async fn ask_guide(input: impl FnOnce(GuideUpdate) -> GuideUpdate) -> Guide {
    let model = ScriptedModel::new([
        Exchange::calls([calls("agent_weather", "1", json!({}))]),
        Exchange::says("done"),
    ]);
    let agent = ReactAgent::builder("guide", "Plans trips", model.clone())
        .state::<Guide>()
        .protocol(Protocol::Native)
        .tool(agent_weather)
        .build()
        .unwrap();
    let outcome = agent.graph().invoke(input(agent.ask("weather?")), ()).await.unwrap();
    model.finished().unwrap();
    outcome.done().unwrap()
}

/// LangGraph: create_react_agent_injected_state_not_required_field_missing, …_present.
#[tokio::test]
async fn a_field_of_an_agents_state_may_be_missing() {
    let guide = ask_guide(|input| input).await;
    assert_eq!(results(&guide.agent.messages), [pair("1", "spring in no city")]);
    let guide = ask_guide(|input| input.city(Some("San Francisco".into()))).await;
    assert_eq!(results(&guide.agent.messages), [pair("1", "spring in San Francisco")]);
}

/// LangGraph: pydantic_state_with_default_field_missing_works, …_present_works.
#[tokio::test]
async fn a_field_has_its_default_until_it_is_set() {
    let guide = ask_guide(|input| input.city(Some("Jeju".into()))).await;
    assert_eq!(results(&guide.agent.messages), [pair("1", "spring in Jeju")]);
    let guide = ask_guide(|input| input.season(Season("autumn".into()))).await;
    assert_eq!(results(&guide.agent.messages), [pair("1", "autumn in no city")]);
}

fn key() -> ItemKey {
    ItemKey::new(Tenant::default(), Labels::new(["test"]).unwrap(), "key").unwrap()
}

async fn filled() -> SharedStore {
    let store = SharedStore::new(InMemoryStore::new());
    let put = Put::new(Stored::encode("from the store").unwrap());
    store.put(&key(), put, Timestamp(1)).await.unwrap();
    store
}

async fn read(store: &SharedStore, call: &Call) -> String {
    let item = store.get(&key(), call.clock().now()).await.unwrap().unwrap();
    item.value.decode().unwrap()
}

/// Remembers.
#[tool(effect = pure)]
async fn remember(some: u32, store: SharedStore, call: Call) -> String {
    format!("{some}, {}", read(&store, &call).await)
}

/// Remembers where.
#[tool(effect = pure)]
async fn remember_city(some: u32, store: SharedStore, trip: FromState<Trip>, call: Call) -> String {
    format!("{some}, {}, {:?}", read(&store, &call).await, trip.city)
}

/// LangGraph: tool_node_inject_store, of both suites. Without a store the run fails, there and here.
#[tokio::test]
async fn a_tool_sees_the_store_of_the_run() {
    let tools = || node([shared(remember), shared(remember_city)]);
    let of = || {
        let some = json!({"some": 1});
        asked([calls("remember", "1", some.clone()), calls("remember_city", "2", some)])
            .city(Some("Busan".into()))
    };
    let app = graph(tools()).checkpointer(InMemoryCheckpointer::new());
    let key = || ThreadKey::named("t").unwrap();
    let thread = app.remembering(filled().await).thread(key());
    let trip = thread.invoke(of(), ()).await.unwrap().done().unwrap();
    let want = [pair("1", "1, from the store"), pair("2", "1, from the store, Some(\"Busan\")")];
    assert_eq!(results(&trip.talk), want);

    let error = app.thread(key()).invoke(of(), ()).await.unwrap_err();
    assert!(hanok_core::Chain(&error).to_string().contains("SharedStore"), "{error:?}");
}

/// What a run is given.
struct Traveller(&'static str);

/// Tells everything.
#[tool(effect = pure)]
async fn everything(
    x: u32,
    trip: FromState<Trip>,
    #[from_call] city: City,
    store: SharedStore,
    traveller: Services<Traveller>,
    call: Call,
) -> String {
    let id = call.id().unwrap_or_default().to_owned();
    let read = read(&store, &call).await;
    format!("{x} {} {:?} {read} {} {id}", trip.days, city.0, traveller.0)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    x: u32,
}

/// The same by hand.
async fn by_hand(Number { x }: Number, call: Call) -> Result<ToolOutput, ToolError> {
    let (trip, store) = (FromState::<Trip>::from_call(&call)?, SharedStore::from_call(&call)?);
    let traveller = Services::<Traveller>::from_call(&call)?;
    let id = call.id().unwrap_or_default().to_owned();
    let read = read(&store, &call).await;
    Ok(format!("{x} {} {:?} {read} {} {id}", trip.days, trip.city, traveller.0).into())
}

/// The same as a type of its own.
#[derive(Debug)]
struct Everything(ToolSpec);

impl Tool for Everything {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effect(&self) -> hanok_core::Effect {
        hanok_core::Effect::Pure
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::of::<Trip>(), Need::of::<SharedStore>(), Need::of::<Traveller>()]
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        by_hand(arguments.decode().map_err(ToolError::arguments)?, call.clone()).await
    }
}

/// The results of these calls in a run that has everything.
async fn with_everything(tools: ToolNode, of: Vec<ToolCall>) -> Result<Trip, RunError> {
    let graph = Graph::<Trip, Traveller>::builder("trip").node("tools", tools);
    let graph = graph.edge(START, "tools").edge("tools", END).build().unwrap();
    let app = graph.checkpointer(InMemoryCheckpointer::new()).remembering(filled().await);
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let input = asked(of).city(Some("Busan".into())).days(99);
    Ok(thread.invoke(input, Traveller("kim")).await?.done().unwrap())
}

/// LangGraph: tool_node_inject_async_all_types_signature_only, …_with_decorator, …_with_schema. The call's id is a note for
/// observers: it is there in a watched run; a tool that needs an id of its call in any run takes its key.
#[tokio::test]
async fn a_tool_of_any_kind_sees_all_parts_of_the_run() {
    let typed = FnTool::new("by_hand", "Tells", by_hand).unwrap().effect(hanok_core::Effect::Pure);
    let own = Everything(ToolSpec::of::<Number>("own", "Tells").unwrap());
    for tool in [shared(everything), shared(typed), shared(own)] {
        let name = tool.spec().name().to_owned();
        let trip =
            with_everything(node([tool]), vec![calls(&name, "call-7", json!({"x": 42}))]).await;
        let want = r#"42 99 Some("Busan") from the store kim call-7"#;
        assert_eq!(results(&trip.unwrap().talk), [pair("call-7", want)], "{name}");
    }
}

/// Tells who travels.
#[tool(effect = pure)]
async fn who(traveller: Services<Traveller>) -> String {
    traveller.0.to_owned()
}

/// LangGraph: tool_node_tool_runtime_generic.
#[tokio::test]
async fn a_tool_sees_the_services_by_their_type() {
    let graph = Graph::<Trip, Traveller>::builder("trip").node("tools", node([shared(who)]));
    let graph = graph.edge(START, "tools").edge("tools", END).build().unwrap();
    let input = asked([calls("who", "1", json!({}))]);
    let trip = graph.invoke(input, Traveller("kim")).await.unwrap().done().unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "kim")]);
}

/// Beside LangGraph's: an argument that the service gives, made of the call.
#[tokio::test]
async fn an_argument_may_be_made_of_the_run() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Booking {
        nights: u32,
        city: String,
    }
    let book = |booking: Booking, _| async move {
        Ok(format!("{} nights in {}", booking.nights, booking.city).into())
    };
    let city = |call: &Call| {
        let trip = call.provided::<Trip>().ok_or_else(|| ToolError::failed("no trip"))?;
        Ok(json!(trip.city.clone().unwrap_or_else(|| "nowhere".into())))
    };
    let book = || FnTool::new("book", "Books", book).unwrap().effect(hanok_core::Effect::Pure);
    let book = InjectedTool::new(book()).with("city", city).unwrap();
    let of = [
        calls("book", "1", json!({"nights": 2})),
        calls("book", "2", json!({"nights": 2, "city": "Rome"})),
    ];
    let trip = make(node([SharedTool::new(book)]), of).await.unwrap();
    let [made, refused] = results(&trip.talk).try_into().unwrap();
    assert_eq!(made, pair("1", "2 nights in nowhere"));
    assert!(refused.1.contains("there is no argument `city`"), "{refused:?}");
}

/// Beside LangGraph's: what a tool does with its snapshot is its own affair.
#[tokio::test]
async fn a_tool_has_a_snapshot_and_changes_nothing_by_it() {
    let greedy = |_: Arguments, call: Call| async move {
        let trip = call.provided::<Trip>().ok_or_else(|| ToolError::failed("no trip"))?;
        let mut own = Arc::unwrap_or_clone(trip);
        own.visited.push("own".into());
        Ok(own.visited.join(" ").into())
    };
    let spec = ToolSpec::new("greedy", "Takes", json!({})).unwrap();
    let trip =
        make(node([shared(FnTool::untyped(spec, greedy))]), [calls("greedy", "1", json!({}))]);
    let trip = trip.await.unwrap();
    assert_eq!((results(&trip.talk), trip.visited.len()), (vec![pair("1", "own")], 0));
}
