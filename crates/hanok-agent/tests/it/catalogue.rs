//! An agent whose tools are those of a catalogue: what a turn offers, finds, calls and remembers.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use hanok_agent::{
    AgentBuildError, AgentError, AgentProgress, AgentState, BindingCause, IndexedTool, Interceptor,
    Protocol, ReactAgent, ReactAgentBuilder, ToolErrors, ToolIndex,
};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::{Call, Effect, Labels, Tenant, ThreadKey, Timestamp};
use hanok_graph::{EventKind, Input, Outcome, Resolution, Thread};
use hanok_model::{
    ChatRequest, Exchange, FnTool, ModelError, ScriptedModel, SharedTool, Tool as _, ToolChoice,
    ToolError, ToolSpec,
};
use hanok_state::{Arguments, ToolCall};
use serde_json::{Value, json};

use crate::support::{Ledger, call, observations};

const NOW: Timestamp = Timestamp(0);

/// What the user says: one tool fits it.
const LETTER: &str = "Please send a letter to Kim.";

fn spec(name: &str, about: &str, schema: Value) -> ToolSpec {
    ToolSpec::new(name, about, schema).unwrap()
}

/// A tool that notes its calls.
fn tool_of(spec: ToolSpec, ledger: &Ledger) -> SharedTool {
    let (name, ledger) = (spec.name().to_owned(), ledger.clone());
    let run = move |arguments: Arguments, _| {
        let value: Value = arguments.decode().unwrap();
        ledger.lock().unwrap().push(format!("{name} {value}"));
        async move { Ok(format!("done {value}").into()) }
    };
    SharedTool::new(FnTool::untyped(spec, run).effect(Effect::Pure))
}

/// 30 tools: a letter, an appointment, a clock, and 27 that have nothing to do with either.
fn specs() -> Vec<ToolSpec> {
    let to = json!({"properties": {"to": {"type": "string"}}, "required": ["to"]});
    let mut specs = vec![
        spec("mail__send", "Sends a letter", to),
        spec("calendar__create", "Puts an appointment into the diary", json!({})),
        spec("clock__now", "Tells the time", json!({})),
    ];
    specs.extend((0..27).map(|n| spec(&format!("fleet__truck_{n}"), "Locates trucks", json!({}))));
    specs
}

fn tools(ledger: &Ledger) -> Vec<SharedTool> {
    specs().into_iter().map(|spec| tool_of(spec, ledger)).collect()
}

/// The index of all tools, in which the clock is pinned.
async fn index_of(specs: &[ToolSpec]) -> ToolIndex {
    let store = SharedStore::new(InMemoryStore::new());
    let index = ToolIndex::new(store, &Labels::new(["catalogue"]).unwrap()).unwrap();
    update(&index, specs).await;
    index
}

async fn update(index: &ToolIndex, specs: &[ToolSpec]) {
    let listed: Vec<_> = specs
        .iter()
        .map(|spec| match spec.name() {
            "clock__now" => IndexedTool::new(spec.clone()).pinned(),
            _ => IndexedTool::new(spec.clone()),
        })
        .collect();
    index.update(&listed, NOW).await.unwrap();
}

fn desk(model: &ScriptedModel, ledger: &Ledger, index: &ToolIndex) -> ReactAgentBuilder {
    ReactAgent::builder("desk", "Helps", model.clone())
        .tools(tools(ledger))
        .catalogue(index.clone())
        .protocol(Protocol::Native)
}

/// A call as the model writes it in `protocol`.
fn says_call(protocol: Protocol, id: &str, name: &str, arguments: &str) -> Exchange {
    match protocol {
        Protocol::Native => calls(id, name, arguments),
        _ => Exchange::says(call(name, arguments)),
    }
}

fn calls(id: &str, name: &str, arguments: &str) -> Exchange {
    Exchange::calls([ToolCall::new(id, name, arguments)])
}

fn shown(request: &ChatRequest) -> Vec<&str> {
    request.tools.iter().map(ToolSpec::name).collect()
}

fn bound(state: &AgentState) -> Vec<&str> {
    state.bound_tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn thread(agent: &ReactAgent, log: &SharedCheckpointer) -> Thread<AgentState> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    agent.graph().checkpointer(log.clone()).thread(key)
}

async fn run(agent: &ReactAgent, text: &str) -> AgentState {
    agent.graph().invoke(agent.ask(text), ()).await.unwrap().done().unwrap()
}

/// B136: a model that never searches is offered what fits what the user says.
#[tokio::test]
async fn a_turn_begins_with_the_pinned_tools_and_those_that_fit() {
    let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
    let model = ScriptedModel::new([
        calls("1", "mail__send", r#"{"to": "Kim"}"#),
        Exchange::says("sent"),
        Exchange::says("noted"),
    ]);
    let note = tool_of(spec("note", "Notes", json!({})), &ledger);
    let agent = desk(&model, &ledger, &index).tool(note).build().unwrap();
    let state = run(&agent, LETTER).await;
    assert_eq!(*ledger.lock().unwrap(), [r#"mail__send {"to":"Kim"}"#]);
    let requests = model.requests();
    // A tool that the catalogue does not list is always there.
    let want = ["note", "search_tools", "clock__now", "mail__send"];
    assert_eq!(shown(&requests[0]), want);
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(bound(&state), want);

    // The next turn has its own.
    let again = run(&agent, "An appointment for my diary").await;
    assert_eq!(bound(&again), ["note", "search_tools", "clock__now", "calendar__create"]);
    model.finished().unwrap();
}

/// B136 in part: up to 24 tools are all offered, and there is nothing to search.
#[tokio::test]
async fn a_small_catalogue_is_offered_whole() {
    for (count, is_whole) in [(24, true), (25, false)] {
        let (ledger, listed) = (Ledger::default(), &specs()[..count]);
        let index = index_of(listed).await;
        let model = ScriptedModel::new([Exchange::says("hello")]);
        let tools: Vec<_> = listed.iter().map(|spec| tool_of(spec.clone(), &ledger)).collect();
        let agent = ReactAgent::builder("desk", "Helps", model.clone())
            .tools(tools)
            .catalogue(index)
            .protocol(Protocol::Native)
            .build()
            .unwrap();
        run(&agent, "zzz").await;
        let requests = model.requests();
        let shown = shown(&requests[0]);
        assert_eq!(
            (shown.len(), shown.contains(&"search_tools")),
            match is_whole {
                true => (count, false),
                false => (2, true),
            }
        );
    }
}

/// B136: what a search finds is called in the same turn, and the tools of a request are a prefix of those of the next.
#[tokio::test]
async fn found_tools_are_appended_and_callable_in_both_protocols() {
    for protocol in [Protocol::Native, Protocol::Text] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let say = |id: &str, name: &str, arguments: &str| says_call(protocol, id, name, arguments);
        let model = ScriptedModel::new([
            say("1", "search_tools", r#"{"query": "letter", "k": 1}"#),
            say("2", "search_tools", r#"{"query": "appointment diary", "k": 1}"#),
            // The arguments are checked against the schema of what was found.
            say("3", "mail__send", "{}"),
            say("4", "mail__send", r#"{"to": "Kim"}"#),
            Exchange::says(if protocol == Protocol::Text { "Final Answer: sent" } else { "sent" }),
        ]);
        let agent = desk(&model, &ledger, &index).protocol(protocol).build().unwrap();
        let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
        let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
        let mut events = thread.stream(Input::New(agent.ask("hello")), ());
        let mut breaks = Vec::new();
        while let Some(event) = events.next().await {
            let EventKind::Custom(item) = event.kind else { continue };
            if let Ok(AgentProgress::ToolsBound { cause, names, .. }) = item.decode() {
                breaks.push((cause, names));
            }
        }
        assert_eq!(
            breaks,
            [
                (BindingCause::Turn, vec!["clock__now".to_owned()]),
                (BindingCause::Search, vec!["mail__send".to_owned()]),
                (BindingCause::Search, vec!["calendar__create".to_owned()]),
            ]
        );
        assert_eq!(*ledger.lock().unwrap(), [r#"mail__send {"to":"Kim"}"#], "{protocol:?}");
        model.finished().unwrap();
        let requests = model.requests();
        let refused = requests[3].messages.last().unwrap().text().into_owned();
        assert!(refused.contains("do not fit `mail__send`"), "{refused}");
        for pair in requests.windows(2) {
            match protocol {
                Protocol::Native => assert!(pair[1].tools.starts_with(&pair[0].tools)),
                _ => {
                    let listed = |request: &ChatRequest| {
                        let text = request.messages[0].text().into_owned();
                        text.split_once("\n\n## To call a tool").unwrap().0.to_owned()
                    };
                    assert!(listed(&pair[1]).starts_with(&listed(&pair[0])));
                }
            }
        }
        if protocol == Protocol::Native {
            let want = ["search_tools", "clock__now", "mail__send", "calendar__create"];
            assert_eq!(shown(&requests[4]), want);
        }
    }
}

/// B136 in part: a tool of the catalogue that was not offered is bound by its call.
#[tokio::test]
async fn a_call_of_a_tool_that_was_not_offered_is_judged_like_any_other() {
    for protocol in [Protocol::Native, Protocol::Text] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let say = |id: &str, name: &str, arguments: &str| says_call(protocol, id, name, arguments);
        let model = ScriptedModel::new([
            say("1", "mail__send", "{}"),
            say("2", "mail__send", r#"{"to": "Kim"}"#),
            say("3", "nothing__like_it", "{}"),
            Exchange::says(if protocol == Protocol::Text { "Final Answer: sent" } else { "sent" }),
        ]);
        let agent = desk(&model, &ledger, &index).protocol(protocol).build().unwrap();
        let state = run(&agent, "hello").await;
        assert_eq!(bound(&state), ["search_tools", "clock__now", "mail__send"]);
        assert_eq!(*ledger.lock().unwrap(), [r#"mail__send {"to":"Kim"}"#]);
        let observed = observations(&state);
        assert!(observed[0].contains("`to`"), "{observed:?}");
        // What is unknown is told the tools that were offered, and not 30.
        let unknown = &observed[2];
        assert!(unknown.contains("`mail__send`") && !unknown.contains("fleet"), "{unknown}");
    }
}

/// B136: a denied tool is neither offered nor found nor called, wherever it comes from.
#[tokio::test]
async fn denied_tools_are_never_offered_found_or_called() {
    /// Has every tool there is.
    #[derive(Debug)]
    struct Everything(Ledger);

    impl Interceptor for Everything {
        fn has_tools(&self) -> bool {
            true
        }

        async fn unregistered(
            &self,
            call: &ToolCall,
            _: &Call,
        ) -> Result<Option<SharedTool>, ToolError> {
            Ok(Some(tool_of(spec(&call.name, "Everything", json!({})), &self.0)))
        }
    }
    for protocol in [Protocol::Native, Protocol::Text] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let say = |id: &str, name: &str, arguments: &str| says_call(protocol, id, name, arguments);
        let model = ScriptedModel::new([
            say("1", "search_tools", r#"{"query": "send a letter, mail__send"}"#),
            say("2", "mail__send", r#"{"to": "Kim"}"#),
            say("3", "clock__now", "{}"),
            Exchange::says(if protocol == Protocol::Text { "Final Answer: no" } else { "no" }),
        ]);
        let agent = desk(&model, &ledger, &index)
            .protocol(protocol)
            .intercept(Everything(ledger.clone()))
            .deny(["mail__send", "clock__now"])
            .build()
            .unwrap();
        let state = run(&agent, LETTER).await;
        model.finished().unwrap();
        assert_eq!(*ledger.lock().unwrap(), Vec::<String>::new());
        assert_eq!(bound(&state), ["search_tools"]);
        let observed = observations(&state);
        assert!(observed[0].contains("No tool fits"), "{observed:?}");
        for refused in &observed[1..] {
            assert!(refused.contains("may not use the tool"), "{refused}");
        }
        for request in model.requests() {
            assert!(!shown(&request).contains(&"mail__send"));
            assert!(!request.messages[0].text().contains("mail__send"));
        }
    }
}

/// B136: the tools of a turn that goes on elsewhere come from its state, and not from a new search.
#[tokio::test]
async fn a_turn_that_goes_on_offers_the_same_tools() {
    let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
    let model = ScriptedModel::new([
        calls("1", "search_tools", r#"{"query": "appointment diary", "k": 1}"#),
        Exchange::fails(ModelError::Cancelled),
        calls("2", "calendar__create", "{}"),
        Exchange::says("done"),
    ]);
    let log = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let agent = desk(&model, &ledger, &index).build().unwrap();
    thread(&agent, &log).invoke(agent.ask(LETTER), ()).await.unwrap_err();

    // A search would find others now.
    let mut more = specs();
    more.push(spec("letters__write", "Please send a letter to Kim: writes it", json!({})));
    update(&index, &more).await;
    let found = index.recommend(&hanok_agent::ToolQuery::new(LETTER), NOW).await.unwrap();
    assert_eq!(found.tools[0].name(), "letters__write");

    let agent = desk(&model, &ledger, &index).build().unwrap();
    let state = thread(&agent, &log).resume(()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let requests = model.requests();
    assert_eq!(requests[1], requests[2]);
    assert_eq!(shown(&requests[3]), shown(&requests[1]));
    assert_eq!(bound(&state), ["search_tools", "clock__now", "mail__send", "calendar__create"]);
    assert_eq!(*ledger.lock().unwrap(), ["calendar__create {}"]);
}

/// The agent of another build, whose letters are sent in another form.
fn other_build(model: &ScriptedModel, ledger: &Ledger, index: &ToolIndex) -> ReactAgent {
    let schema = json!({"properties": {"address": {"type": "string"}}, "required": ["address"]});
    let tools = tools(ledger).into_iter().map(|tool| match tool.spec().name() {
        "mail__send" => tool_of(spec("mail__send", "Sends a parcel", schema.clone()), ledger),
        _ => tool,
    });
    let agent = ReactAgent::builder("desk", "Helps", model.clone()).tools(tools);
    agent.catalogue(index.clone()).protocol(Protocol::Native).build().unwrap()
}

/// B136: a tool that was offered is not called by another definition; the model reads so and is shown the new one.
#[tokio::test]
async fn a_tool_whose_definition_changed_is_not_called_by_the_old_one() {
    let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
    let model = ScriptedModel::new([
        Exchange::fails(ModelError::Cancelled),
        calls("1", "mail__send", r#"{"to": "Kim"}"#),
        calls("2", "mail__send", r#"{"address": "Kim"}"#),
        Exchange::says("sent"),
    ]);
    let log = SharedCheckpointer::new(InMemoryCheckpointer::new());
    // The choice of the tools is stored before the model is asked for the first time.
    let agent = desk(&model, &ledger, &index).build().unwrap();
    thread(&agent, &log).invoke(agent.ask(LETTER), ()).await.unwrap_err();

    let agent = other_build(&model, &ledger, &index);
    let state = thread(&agent, &log).resume(()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let observed = observations(&state);
    assert!(observed[0].contains("its definition is not the one"), "{observed:?}");
    assert_eq!(state.messages.iter().nth(2).unwrap().metadata()["fault"].0, json!("tool_changed"));
    assert_eq!(*ledger.lock().unwrap(), [r#"mail__send {"address":"Kim"}"#]);
    let requests = model.requests();
    let letter = |n: usize| requests[n].tools.iter().find(|spec| spec.name() == "mail__send");
    assert!(letter(0).is_some_and(|spec| spec.description() == "Sends a letter"));
    assert_eq!(letter(1), None, "the model is not shown what is not callable");
    assert!(letter(2).is_some_and(|spec| spec.description() == "Sends a parcel"));
}

/// B136 in part: a call that was made before its tool changed keeps its result.
#[tokio::test]
async fn a_result_that_is_stored_outlives_its_definition() {
    for is_gone in [false, true] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let both = [
            ToolCall::new("1", "mail__send", r#"{"to": "Kim"}"#),
            ToolCall::new("2", "clock__now", "{}"),
        ];
        let model = ScriptedModel::new([Exchange::calls(both), Exchange::says("sent")]);
        let log = SharedCheckpointer::new(InMemoryCheckpointer::new());
        // The clock stands still, and the run fails beside the letter that is sent.
        let stands = tools(&ledger).into_iter().map(|tool| match tool.spec().name() {
            "clock__now" => {
                let run = |_, _| async { Err(ToolError::failed("it stands still")) };
                SharedTool::new(FnTool::untyped(tool.spec().clone(), run).effect(Effect::Pure))
            }
            _ => tool,
        });
        let agent = ReactAgent::builder("desk", "Helps", model.clone())
            .tools(stands)
            .tool_errors(ToolErrors::propagate())
            .catalogue(index.clone())
            .protocol(Protocol::Native)
            .build()
            .unwrap();
        thread(&agent, &log).invoke(agent.ask(LETTER), ()).await.unwrap_err();

        let agent = match is_gone {
            true => {
                update(&index, &specs()[1..]).await;
                desk(&model, &ledger, &index).build().unwrap()
            }
            false => other_build(&model, &ledger, &index),
        };
        let state = thread(&agent, &log).resume(()).await.unwrap().done().unwrap();
        model.finished().unwrap();
        assert_eq!(observations(&state)[0], r#"done {"to":"Kim"}"#);
        assert_eq!(*ledger.lock().unwrap(), [r#"mail__send {"to":"Kim"}"#, "clock__now {}"]);
    }
}

/// B136 in part, P4: a call in doubt is settled by a person, though its tool left the catalogue.
#[tokio::test(start_paused = true)]
async fn a_doubt_outlives_the_tool_of_its_call() {
    for (resolution, observed) in [
        (Resolution::made("sent by hand").unwrap(), "sent by hand"),
        (Resolution::NotMade, "it is not there any more"),
    ] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let sending = ledger.clone();
        let endless = FnTool::untyped(specs()[0].clone(), move |_, _| {
            sending.lock().unwrap().push("sending".into());
            std::future::pending()
        });
        let left = tools(&ledger).into_iter().skip(1).chain([SharedTool::new(endless)]);
        let model = ScriptedModel::new([
            calls("1", "mail__send", r#"{"to": "Kim"}"#),
            Exchange::says("over"),
        ]);
        let agent = ReactAgent::builder("desk", "Helps", model.clone()).tools(left);
        let agent = agent.catalogue(index.clone()).protocol(Protocol::Native).build().unwrap();
        let thread = thread(&agent, &SharedCheckpointer::new(InMemoryCheckpointer::new()));
        let run = thread.invoke(agent.ask(LETTER), ());
        tokio::time::timeout(Duration::from_millis(500), run).await.unwrap_err();

        update(&index, &specs()[1..]).await;
        let outcome = thread.resume(()).await.unwrap();
        let Outcome::InDoubt(doubts) = outcome else { panic!("{outcome:?}") };
        let settled = thread.settle(doubts[0].id.clone(), resolution, ()).await;
        let state = settled.unwrap().done().unwrap();
        let last = observations(&state).pop().unwrap();
        assert!(last.contains(observed), "{last}");
        assert_eq!(*ledger.lock().unwrap(), ["sending"]);
    }
}

/// B136 in part: a tool that is gone from the catalogue, or from the agent, is not called; the model reads so.
#[tokio::test]
async fn a_tool_that_is_gone_is_not_called() {
    for from_index in [true, false] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let model = ScriptedModel::new([
            calls("1", "clock__now", "{}"),
            Exchange::fails(ModelError::Cancelled),
            calls("2", "mail__send", r#"{"to": "Kim"}"#),
            Exchange::says("not sent"),
        ]);
        let log = SharedCheckpointer::new(InMemoryCheckpointer::new());
        let agent = desk(&model, &ledger, &index).build().unwrap();
        thread(&agent, &log).invoke(agent.ask(LETTER), ()).await.unwrap_err();

        let mut left = tools(&ledger);
        match from_index {
            true => update(&index, &specs()[1..]).await,
            false => drop(left.remove(0)),
        }
        let agent = ReactAgent::builder("desk", "Helps", model.clone()).tools(left);
        let agent = agent.catalogue(index).protocol(Protocol::Native).build().unwrap();
        let state = thread(&agent, &log).resume(()).await.unwrap().done().unwrap();
        model.finished().unwrap();
        let last = observations(&state).pop().unwrap();
        assert!(last.contains("it is not there any more"), "{last}");
        assert_eq!(*ledger.lock().unwrap(), ["clock__now {}"]);
    }
}

/// A tool of an interceptor is bound by what the catalogue says of it, and not called as anything else.
#[tokio::test]
async fn an_interceptor_may_have_the_tools_of_a_catalogue() {
    #[derive(Debug)]
    struct Elsewhere(Ledger, Arc<Vec<ToolSpec>>);

    impl Interceptor for Elsewhere {
        fn has_tools(&self) -> bool {
            true
        }

        async fn unregistered(
            &self,
            call: &ToolCall,
            _: &Call,
        ) -> Result<Option<SharedTool>, ToolError> {
            let spec = self.1.iter().find(|spec| spec.name() == call.name);
            Ok(spec.map(|spec| tool_of(spec.clone(), &self.0)))
        }
    }
    for (same, made) in [(true, 1), (false, 0)] {
        let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
        let mut elsewhere = specs();
        if !same {
            elsewhere[0] = spec("mail__send", "Burns a letter", json!({}));
        }
        let model = ScriptedModel::new([
            calls("1", "mail__send", r#"{"to": "Kim"}"#),
            Exchange::says("over"),
        ]);
        let agent = ReactAgent::builder("desk", "Helps", model.clone())
            .catalogue(index)
            .protocol(Protocol::Native)
            .intercept(Elsewhere(ledger.clone(), Arc::new(elsewhere)))
            .build()
            .unwrap();
        let state = run(&agent, LETTER).await;
        assert_eq!(shown(&model.requests()[0]), ["search_tools", "clock__now", "mail__send"]);
        assert_eq!(ledger.lock().unwrap().len(), made, "{:?}", observations(&state));
    }
}

#[tokio::test]
async fn a_tool_that_has_to_be_called_is_offered() {
    let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
    let model =
        ScriptedModel::new([calls("1", "fleet__truck_7", "{}"), Exchange::says("it stands")]);
    let choice = ToolChoice::Tool("fleet__truck_7".into());
    let agent = desk(&model, &ledger, &index).tool_choice(choice).build().unwrap();
    run(&agent, "hello").await;
    assert!(shown(&model.requests()[0]).contains(&"fleet__truck_7"));
    assert_eq!(*ledger.lock().unwrap(), ["fleet__truck_7 {}"]);
}

#[tokio::test]
async fn an_agent_has_no_other_tool_of_the_name_of_the_search() {
    let (ledger, index) = (Ledger::default(), index_of(&specs()).await);
    let own = tool_of(spec("search_tools", "Searches", json!({})), &ledger);
    let built = desk(&ScriptedModel::new([]), &ledger, &index).tool(own).build();
    assert!(matches!(built, Err(AgentBuildError::Tools { .. })));
}

/// A catalogue that cannot be read is an error of the node, and the thread goes on later.
#[tokio::test]
async fn a_catalogue_that_cannot_be_read_is_a_typed_error() {
    let store = SharedStore::new(InMemoryStore::new());
    let labels = Labels::new(["catalogue"]).unwrap();
    let key = hanok_core::ItemKey::new(Tenant::default(), labels.child("tools").unwrap(), "x");
    let batch = hanok_checkpoint::Batch {
        writes: vec![hanok_checkpoint::Write::Put(
            key.unwrap(),
            hanok_checkpoint::Put::new(hanok_core::Stored::encode("no tool").unwrap()),
        )],
        ..Default::default()
    };
    hanok_checkpoint::Store::batch(&store, batch, NOW).await.unwrap();
    let index = ToolIndex::new(store, &labels).unwrap();
    let agent = desk(&ScriptedModel::new([]), &Ledger::default(), &index).build().unwrap();
    let failed = agent.graph().invoke(agent.ask("hello"), ()).await.unwrap_err();
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&failed);
    while let Some(error) = source {
        if let Some(AgentError::Catalogue { agent, .. }) = error.downcast_ref() {
            assert_eq!(agent, "desk");
            return;
        }
        source = error.source();
    }
    panic!("{failed:?}");
}

/// B136: of an index of many only what the agent has is offered and found, whatever stands around its calls: a model that is offered
/// what cannot be called calls it.
#[tokio::test]
async fn what_cannot_be_called_is_neither_offered_nor_found() {
    /// Watches, and has no tools.
    #[derive(Debug)]
    struct Watches;

    impl Interceptor for Watches {}

    let letters = |n| spec(&format!("letters__{n}"), "Sends a letter to Kim", json!({}));
    let listed: Vec<_> = (0..100).map(letters).chain(specs()).collect();
    for is_watched in [false, true] {
        let (ledger, index) = (Ledger::default(), index_of(&listed).await);
        let model = ScriptedModel::new([
            calls("1", "search_tools", r#"{"query": "send a letter"}"#),
            Exchange::says("over"),
        ]);
        // One more than are offered whole.
        let registered = specs().into_iter().take(24).chain([letters(99)]);
        let agent = ReactAgent::builder("desk", "Helps", model.clone())
            .tools(registered.map(|spec| tool_of(spec, &ledger)).collect::<Vec<_>>())
            .catalogue(index)
            .protocol(Protocol::Native);
        let agent = if is_watched { agent.intercept(Watches) } else { agent };
        let state = run(&agent.build().unwrap(), LETTER).await;
        let requests = model.requests();
        let offered = shown(&requests[0]);
        assert!(offered.contains(&"mail__send") && offered.contains(&"clock__now"), "{offered:?}");
        assert!(offered.iter().all(|name| !name.contains("letters") || *name == "letters__99"));
        let observed = &observations(&state)[0];
        assert!(observed.contains("mail__send") && !observed.contains("letters__1:"), "{observed}");
    }
}
