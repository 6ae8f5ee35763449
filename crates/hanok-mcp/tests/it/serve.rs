//! Graphs and agents as a server: their calls are threads, whoever calls and however it ends.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_agent::{Approval, Decision, ReactAgent};
use hanok_checkpoint::{AppendId, InMemoryCheckpointer, Log, SharedCheckpointer, Which};
use hanok_core::{
    Answerer, Audience, BoxError, Call, Chain, Ids, Request, RequestId, Secret, Stored, ThreadKey,
    Timestamp,
};
use hanok_graph::{
    Context, Doubt, END, Graph, NewAnswer, Outcome, START, Snapshot, SystemIds, answer,
    open_requests,
};
use hanok_mcp::{
    AttachedServer, ElicitationAnswer, GraphTool, McpClient, McpConfig, McpServer, SealKey,
    ToolSettings,
};
use hanok_model::{Exchange, ScriptedModel, Tool, ToolOutput, ToolSpec};
use hanok_state::State;
use hanok_testkit::Dying;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
        ClientRequest, ElicitationCapability, FormElicitationCapability, Implementation,
        InputRequiredResult, InputResponses, ProtocolVersion, RequestMetaObject,
    },
    service::{
        ClientLifecycleMode, ClientServiceExt, PeerRequestOptions, RunningService, ServiceError,
    },
    transport::async_rw::AsyncRwTransport,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{AT_LAST, HandClock, tool_of};

/// What the nodes did, and when those that wait may go on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    lines: Arc<Mutex<Vec<String>>>,
    go: Arc<Notify>,
}

impl Ledger {
    fn add(&self, line: &str) {
        self.lines.lock().unwrap().push(line.to_owned());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    async fn until(&self, line: &str) {
        let waiting = async {
            while !self.lines().iter().any(|it| it == line) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(AT_LAST, waiting).await.unwrap();
    }
}

#[derive(State, Clone, Debug, Default)]
struct Order {
    what: String,
    said: String,
}

#[derive(Deserialize)]
struct Wish {
    what: String,
}

/// A node that does what it is told: `echo`, `pay`, `ask`, `ask-boss`, `slow`, `fail`.
async fn work(order: Snapshot<Order>, cx: Context<Ledger>) -> Result<OrderUpdate, BoxError> {
    let ledger = cx.services().clone();
    let said = match order.what.as_str() {
        "ask" | "ask-boss" => {
            let audience = match order.what.as_str() {
                "ask" => Audience::everybody(),
                _ => Audience::everybody().role("boss"),
            };
            let schema = json!({"type": "object", "properties": {"seats": {"type": "integer", "maximum": 9}}, "required": ["seats"]});
            let request = Request {
                schema: Some(schema.to_string().into()),
                audience,
                ..Request::new(Stored::encode("How many seats?")?)
            };
            let answer: Value = cx.call("ask", "seats", "").question(request).await?.decode()?;
            ledger.add("booked");
            format!("booked {}", answer["seats"])
        }
        "slow" => {
            ledger.add("slow");
            ledger.go.notified().await;
            "at last".to_owned()
        }
        "fail" if ledger.lines().is_empty() => {
            ledger.add("failed");
            return Err("the printer is out of paper".into());
        }
        "pay" => {
            let paying = ledger.clone();
            let pay = move |_: Call| async move {
                paying.add("paid");
                Ok::<_, BoxError>("receipt 1".to_owned())
            };
            cx.once("pay", "{}", Doubt::Ask, pay).await?
        }
        other => {
            ledger.add(other);
            format!("did {other}")
        }
    };
    Ok(Order::update().said(said))
}

pub(crate) fn seal() -> SealKey {
    SealKey::new(&Secret::new(b"a key of these tests, long enough".to_vec())).unwrap()
}

pub(crate) fn tool(store: &SharedCheckpointer, ledger: &Ledger) -> GraphTool {
    let graph = Graph::<Order, Ledger>::builder("desk").node("work", work);
    let graph = graph.edge(START, "work").edge("work", END).build().unwrap();
    let schema = json!({"type": "object", "properties": {"what": {"type": "string", "maxLength": 12}}, "required": ["what"]});
    GraphTool::new(
        ToolSpec::new("work", "Does what it is told", schema).unwrap(),
        graph.checkpointer(store.clone()),
        ledger.clone(),
        |wish: Wish| Ok(Order::update().what(wish.what)),
        |order| Ok(ToolOutput::new(order.said.clone()).data(json!({"length": order.said.len()}))),
    )
}

pub(crate) fn server(store: &SharedCheckpointer, ledger: &Ledger) -> McpServer {
    McpServer::builder("desk", "1.0.0", seal()).tool(tool(store, ledger)).build().unwrap()
}

pub(crate) fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// A connection to `server`, which is served by a task of its own.
fn connected(server: &McpServer) -> tokio::io::DuplexStream {
    let (client, ours) = tokio::io::duplex(64 * 1024);
    let server = server.clone();
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(ours);
        // A client may go whenever it likes.
        let _ = server.connection(read, write).await;
    });
    client
}

/// rmcp's own client, which asks its user with forms.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    asks: bool,
}

impl ClientHandler for Plain {
    fn get_info(&self) -> ClientConfig {
        let form = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.asks.then_some(form);
        let mut info = ClientConfig::new(capabilities, Implementation::new("plain", "1"));
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}

pub(crate) type Client = RunningService<RoleClient, Plain>;

pub(crate) async fn client(server: &McpServer, is_new: bool) -> Client {
    let mode = match is_new {
        true => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        false => ClientLifecycleMode::Initialize,
    };
    let (read, write) = tokio::io::split(connected(server));
    let transport = AsyncRwTransport::new_client(read, write);
    Plain { asks: true }.serve_with_lifecycle(transport, mode).await.unwrap()
}

fn request(what: &str, key: Option<&str>) -> CallToolRequestParams {
    let arguments = json!({"what": what}).as_object().cloned().unwrap();
    let mut request = CallToolRequestParams::new("work").with_arguments(arguments);
    request.meta = key.map(|key| {
        let mut meta = RequestMetaObject::new();
        meta.0.0.insert("hanok/callKey".to_owned(), key.into());
        meta
    });
    request
}

pub(crate) async fn called(
    client: &Client,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ServiceError> {
    tokio::time::timeout(AT_LAST, client.peer().call_tool_once(request)).await.unwrap()
}

pub(crate) async fn done(client: &Client, request: CallToolRequestParams) -> CallToolResult {
    match called(client, request).await {
        Ok(CallToolResponse::Complete(result)) => result,
        other => panic!("{other:?}"),
    }
}

async fn asked(client: &Client, request: CallToolRequestParams) -> InputRequiredResult {
    match called(client, request).await {
        Ok(CallToolResponse::InputRequired(asked)) => asked,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|text| text.text.as_str()).collect()
}

/// The call once more, with the answer to its only question.
fn answering(
    request: &CallToolRequestParams,
    asked: &InputRequiredResult,
    answer: Value,
) -> CallToolRequestParams {
    let key = asked.input_requests.as_ref().unwrap().keys().next().unwrap().clone();
    let mut again = request.clone();
    again.input_responses = Some(InputResponses::from([(key, answer)]));
    again.request_state = asked.request_state.clone();
    again
}

fn accept(seats: Value) -> Value {
    json!({"action": "accept", "content": {"seats": seats}})
}

/// The words of a refusal, and its code.
pub(crate) fn refused(response: Result<CallToolResponse, ServiceError>) -> (i32, String) {
    match response {
        Err(ServiceError::McpError(error)) => (error.code.0, error.message.into_owned()),
        other => panic!("{other:?}"),
    }
}

/// P20: a call that is repeated under its key is the same run, in both lifecycles.
#[tokio::test]
async fn a_call_is_a_run_and_its_repetition_is_the_same() {
    for is_new in [true, false] {
        let (store, ledger) = (memory(), Ledger::default());
        let server = server(&store, &ledger);
        let plain = client(&server, is_new).await;
        let listed = plain.peer().list_all_tools().await.unwrap();
        assert_eq!(listed[0].name, "work");
        let first = done(&plain, request("write", Some("k"))).await;
        assert_eq!((text(&first), first.is_error), ("did write".to_owned(), Some(false)));
        assert_eq!(first.structured_content, Some(json!({"length": 9})));
        // Another client, another server of the same store.
        let other = client(&self::server(&store, &ledger), is_new).await;
        for again in [&plain, &other] {
            assert_eq!(text(&done(again, request("write", Some("k"))).await), "did write");
        }
        assert_eq!(ledger.lines(), ["write"]);
        // Another key, other arguments, or no key: another run.
        for (what, key) in
            [("write", Some("l")), ("read", Some("k")), ("write", None), ("write", None)]
        {
            done(&plain, request(what, key)).await;
        }
        assert_eq!(ledger.lines(), ["write", "write", "read", "write", "write"]);
        assert_eq!(store.all_threads(&Which::All).await.unwrap().len(), 5);
    }
}

/// Calls under one key at once are one run, whichever server of the store takes them.
#[tokio::test]
async fn calls_at_once_under_one_key_are_one_run() {
    let (store, ledger) = (memory(), Ledger::default());
    let servers = [server(&store, &ledger), server(&store, &ledger)];
    let mut calls = Vec::new();
    for server in &servers {
        for is_new in [true, false] {
            let client = client(server, is_new).await;
            calls.push(tokio::spawn(async move {
                text(&done(&client, request("slow", Some("k"))).await)
            }));
        }
    }
    ledger.until("slow").await;
    ledger.go.notify_one();
    for call in calls {
        assert_eq!(call.await.unwrap(), "at last");
    }
    assert_eq!(ledger.lines(), ["slow"]);
}

/// P4, P20: whichever append the process dies at, the call that is made again ends the same run, and what must not be repeated was
/// made once or is in doubt.
#[tokio::test]
async fn a_call_that_is_made_again_after_a_crash_is_the_same_run() {
    let mut died = 0;
    for at in 1..=12 {
        for is_stored in [true, false] {
            let (store, ledger) = (memory(), Ledger::default());
            let dying = Dying::at(store.clone(), at - 1, is_stored);
            let plain = client(&server(&dying.shared(), &ledger), true).await;
            let _ = called(&plain, request("pay", Some("k"))).await;
            died += usize::from(dying.is_dead());
            release(&store).await;
            let plain = client(&server(&store, &ledger), true).await;
            let result = done(&plain, request("pay", Some("k"))).await;
            let paid = ledger.lines().len();
            match result.is_error {
                Some(false) => assert_eq!((text(&result).as_str(), paid), ("receipt 1", 1)),
                // In doubt, and whoever called is told.
                _ => assert!(text(&result).contains("is in doubt about a call"), "{result:?}"),
            }
            assert!(paid <= 1 && store.all_threads(&Which::All).await.unwrap().len() == 1);
        }
    }
    assert!(died >= 8, "{died}");
}

/// Takes all threads from processes that are gone.
async fn release(store: &SharedCheckpointer) {
    for info in store.all_threads(&Which::Claimed).await.unwrap() {
        let log = Log::new(store.clone(), info.thread.clone());
        log.release(&info.head, AppendId(SystemIds.id()), Timestamp(0)).await.unwrap();
    }
}

/// A question of the graph is a form with a sealed state, which counts for this very call; an answer that does not fit is asked for
/// again, and one that is sent twice is taken once.
#[tokio::test]
async fn a_question_of_a_graph_is_a_form_and_its_answer_ends_the_call() {
    for key in [Some("k"), None] {
        let (store, ledger) = (memory(), Ledger::default());
        let plain = client(&server(&store, &ledger), true).await;
        let call = request("ask", key);
        let question = asked(&plain, call.clone()).await;
        let shown = serde_json::to_value(&question.input_requests).unwrap();
        let params = &shown["work"]["params"];
        assert_eq!(params["message"], "How many seats?");
        assert_eq!(params["requestedSchema"]["properties"]["seats"]["maximum"], 9);
        for unfit in
            [accept(json!(20)), accept(json!("two")), json!({"action": "accept"}), json!(1)]
        {
            let again = asked(&plain, answering(&call, &question, unfit)).await;
            let shown = serde_json::to_value(&again.input_requests).unwrap();
            let message = shown["work"]["params"]["message"].as_str().unwrap();
            assert!(message.starts_with("The answer did not fit: "), "{message}");
        }
        // Declining is no answer to this question: it stays open.
        let declined =
            done(&plain, answering(&call, &question, json!({"action": "decline"}))).await;
        assert!(text(&declined).contains("stays open"), "{declined:?}");
        // In another process, by another client.
        let other = client(&server(&store, &ledger), true).await;
        for client in [&other, &plain, &other] {
            let answered = answering(&call, &question, accept(json!(2)));
            assert_eq!(text(&done(client, answered).await), "booked 2");
        }
        // It was answered: another answer changes nothing.
        let late = answering(&call, &question, accept(json!(3)));
        assert_eq!(text(&done(&plain, late).await), "booked 2");
        assert_eq!(ledger.lines(), ["booked"]);
    }
}

/// P44: a state that was forged, or made for another call, by another server or for another caller, is refused, and nothing runs.
#[tokio::test]
async fn a_state_that_is_forged_or_foreign_is_refused() {
    let (store, ledger) = (memory(), Ledger::default());
    let plain = client(&server(&store, &ledger), true).await;
    let call = request("ask", Some("k"));
    let question = asked(&plain, call.clone()).await;
    let right = answering(&call, &question, accept(json!(2)));
    let stranger = SealKey::random().unwrap();
    let stranger = McpServer::builder("desk", "1.0.0", stranger).tool(tool(&store, &ledger));
    let stranger = client(&stranger.build().unwrap(), true).await;
    let state = question.request_state.clone().unwrap();
    let mut flipped = state.clone().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    let with = |request: CallToolRequestParams, state: String| {
        let mut request = request;
        request.request_state = Some(state);
        request
    };
    let other_key = answering(&request("ask", Some("l")), &question, accept(json!(2)));
    let other_call = answering(&request("ask-boss", Some("k")), &question, accept(json!(2)));
    for (client, forged) in [
        (&plain, with(right.clone(), String::from_utf8(flipped).unwrap())),
        (&plain, with(right.clone(), "mcp.work.1".to_owned())),
        (&plain, with(right.clone(), String::new())),
        (&plain, other_key),
        (&plain, other_call),
        (&stranger, right.clone()),
    ] {
        let (code, words) = refused(called(client, forged).await);
        assert_eq!(code, -32602);
        assert!(words.contains("was not given for this call"), "{words}");
    }
    assert!(ledger.lines().is_empty());
    assert_eq!(text(&done(&plain, right).await), "booked 2");
}

/// A client that cannot ask, or speaks an older version, reads which thread waits and how it is answered; then the call goes on.
#[tokio::test]
async fn a_client_that_cannot_ask_reads_how_the_thread_is_answered() {
    for (is_new, key) in [(false, Some("k")), (false, None)] {
        let (store, ledger) = (memory(), Ledger::default());
        let plain = client(&server(&store, &ledger), is_new).await;
        let waits = done(&plain, request("ask", key)).await;
        assert_eq!(waits.is_error, Some(true));
        let thread = store.all_threads(&Which::All).await.unwrap()[0].thread.clone();
        let words = text(&waits);
        let meta = waits.meta.unwrap();
        let key = meta.0["hanok/callKey"].as_str().unwrap();
        assert_eq!(meta.0["hanok/thread"], thread.thread());
        let log = Log::new(store.clone(), thread.clone());
        let open = open_requests(&log, Timestamp(0)).await.unwrap();
        let want = format!(
            "The run `{thread}` waits for a person's answer.\n- `{id}`: How many seats?\nIt is answered with `hanok answer {thread} ID \
             JSON`, or by another program on the same store.\nThen it goes on when the tool is called again with the same arguments \
             and `_meta` {{\"hanok/callKey\":\"{key}\"}}.",
            thread = thread.thread(),
            id = open[0].id,
        );
        assert_eq!(words, want);
        answered(&store, &thread, open[0].id.clone(), &json!({"seats": 4})).await;
        assert_eq!(text(&done(&plain, request("ask", Some(key))).await), "booked 4");
        assert_eq!(ledger.lines(), ["booked"]);
    }
}

pub(crate) async fn answered(
    store: &SharedCheckpointer,
    thread: &ThreadKey,
    id: RequestId,
    value: &Value,
) {
    let log = Log::new(store.clone(), thread.clone());
    let new = NewAnswer::new(id, value).unwrap();
    let boss = Answerer::new("kim", "cli").role("boss");
    let id = AppendId(SystemIds.id());
    answer(&log, vec![new], Some(&boss), id, Timestamp(0)).await.unwrap();
}

/// Waits until no run has a thread.
async fn until_free(store: &SharedCheckpointer) {
    let waiting = async {
        while !store.all_threads(&Which::Claimed).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(AT_LAST, waiting).await.unwrap();
}

/// A call that its client cancels stops its run, which goes on when it is made again.
#[tokio::test]
async fn a_call_that_is_cancelled_stops_its_run_and_goes_on_when_it_is_made_again() {
    for is_new in [true, false] {
        let (store, ledger) = (memory(), Ledger::default());
        let plain = client(&server(&store, &ledger), is_new).await;
        let call = ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(request(
            "slow",
            Some("k"),
        )));
        let options = PeerRequestOptions::no_options();
        let call = plain.peer().send_cancellable_request(call, options).await.unwrap();
        ledger.until("slow").await;
        call.cancel(Some("enough".to_owned())).await.unwrap();
        until_free(&store).await;
        ledger.go.notify_one();
        assert_eq!(text(&done(&plain, request("slow", Some("k"))).await), "at last");
        let slow = ledger.lines().iter().filter(|line| *line == "slow").count();
        assert_eq!(slow, 2);
    }
}

/// A server that closes, and a client that goes, stop their runs; the same call goes on with them.
#[tokio::test]
async fn a_server_that_closes_and_a_client_that_goes_stop_their_runs() {
    for server_closes in [true, false] {
        let (store, ledger) = (memory(), Ledger::default());
        let closing = server(&store, &ledger);
        let plain = client(&closing, true).await;
        let peer = plain.peer().clone();
        let calling =
            tokio::spawn(async move { peer.call_tool_once(request("slow", Some("k"))).await });
        ledger.until("slow").await;
        match server_closes {
            true => closing.close(),
            false => drop(plain.cancel().await),
        }
        until_free(&store).await;
        match calling.await.unwrap() {
            Ok(CallToolResponse::Complete(stopped)) => assert_eq!(stopped.is_error, Some(true)),
            Ok(other) => panic!("{other:?}"),
            Err(_) => {}
        }
        ledger.go.notify_one();
        let plain = client(&server(&store, &ledger), true).await;
        assert_eq!(text(&done(&plain, request("slow", Some("k"))).await), "at last");
    }
}

/// What fails is told with the thread, and tried once more when the call is; what is no call is refused.
#[tokio::test]
async fn what_fails_is_told_and_tried_again_and_what_is_no_call_is_refused() {
    let (store, ledger) = (memory(), Ledger::default());
    let plain = client(&server(&store, &ledger), true).await;
    let failed = done(&plain, request("fail", Some("k"))).await;
    assert_eq!(failed.is_error, Some(true));
    assert!(text(&failed).contains("the printer is out of paper"), "{failed:?}");
    assert_eq!(text(&done(&plain, request("fail", Some("k"))).await), "did fail");
    let long = request("what is much too long", Some("k"));
    let mut none = request("echo", Some("k"));
    none.arguments = None;
    let mut other = request("echo", Some("k"));
    other.name = "other\u{202e}".into();
    let key = "k".repeat(2000);
    for (call, want) in [
        (long, "the arguments do not fit; /what: value is longer than 12 characters"),
        (none, "the arguments do not fit; : "),
        (other, "there is no tool `other\\u{202e}`"),
        (request("echo", Some(&key)), "names the call by a key of 1 to 1024 bytes"),
    ] {
        let (code, words) = refused(called(&plain, call).await);
        assert!(code == -32602 && words.contains(want), "{words}");
    }
    assert_eq!(ledger.lines(), ["failed", "fail"]);
}

/// This program's own client, in the same process, whose tools are approved.
async fn own(server: &McpServer) -> McpClient {
    let connecting = server.clone();
    let attached = AttachedServer::new("desk", move || connected(&connecting));
    let config = McpConfig::default().attach(attached).unwrap();
    let client = McpClient::builder(config).clock(HandClock::new()).connect().await.unwrap();
    client.approve(&client.pending()).unwrap();
    client
}

fn desk_agent(client: &McpClient, model: &ScriptedModel) -> ReactAgent {
    ReactAgent::builder("outer", "Works with the desk", model.clone())
        .tools(client.tools())
        .build()
        .unwrap()
}

fn calls(tool: &str, arguments: Value) -> Exchange {
    Exchange::says(format!("Action: {tool}\nAction Input: {arguments}"))
}

/// B138: our own client and our own server: a question of the inner graph is one of the outer thread, and its answer goes back.
#[tokio::test]
async fn a_question_goes_through_our_own_client_to_the_outer_thread() {
    let (store, ledger) = (memory(), Ledger::default());
    let client = own(&server(&store, &ledger)).await;
    let model = ScriptedModel::new([
        calls("desk__work", json!({"what": "ask"})),
        Exchange::says("Final Answer: done").contains("booked 5"),
    ]);
    let agent = desk_agent(&client, &model);
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = thread.thread(ThreadKey::named("outer").unwrap());
    let Outcome::Interrupted(open) = thread.invoke(agent.ask("?"), ()).await.unwrap() else {
        panic!()
    };
    let answer = Decision::from(ElicitationAnswer::accept(json!({"seats": 5})));
    thread.answer(open[0].id.clone(), &answer, ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(ledger.lines(), ["booked"]);
}

/// P46: an approval of an agent that is served is decided by whoever calls it, whole and once.
#[tokio::test]
async fn an_approval_of_a_served_agent_is_a_form() {
    for (response, want, paid) in [
        (json!({"action": "accept", "content": {"decision": "approve"}}), "paid", 1),
        (json!({"action": "decline"}), "rejected", 0),
    ] {
        let (store, ledger) = (memory(), Ledger::default());
        let model = ScriptedModel::new([
            calls("desk__work", json!({"what": "pay"})),
            Exchange::says(format!("Final Answer: {want}")),
        ]);
        let inner = client_of_inner(&ledger).await;
        let inner_tool = tool_of(&inner, "desk__work");
        let renamed = ReactAgent::builder("payer", "Pays", model.clone())
            .tools([inner_tool])
            .intercept(Approval::new().tool("desk__work"))
            .build();
        let agent = renamed.unwrap();
        let app = agent.graph().checkpointer(store.clone());
        let served = GraphTool::agent(&agent, app, ()).unwrap();
        let server = McpServer::builder("pay", "1", seal()).tool(served).build().unwrap();
        let plain = client(&server, true).await;
        let arguments = json!({"question": "pay it"}).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("payer").with_arguments(arguments);
        let question = asked(&plain, call.clone()).await;
        let shown = serde_json::to_value(&question.input_requests).unwrap();
        let message = shown["execute_tool"]["params"]["message"].as_str().unwrap();
        assert!(message.contains(r#"with {"what":"pay"}"#), "{message}");
        assert_eq!(text(&done(&plain, answering(&call, &question, response)).await), want);
        assert_eq!(ledger.lines().len(), paid);
    }
}

async fn client_of_inner(ledger: &Ledger) -> McpClient {
    own(&server(&memory(), ledger)).await
}

/// One that listens only after twelve seconds, longer than a first word is waited for, is started once, and spoken to in the protocol that
/// it knows.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_started_once() {
    let (store, ledger) = (memory(), Ledger::default());
    let served = server(&store, &ledger);
    let starts = Arc::new(AtomicU32::new(0));
    let started = starts.clone();
    let attached = AttachedServer::new("desk", move || {
        started.fetch_add(1, Ordering::SeqCst);
        let (client, ours) = tokio::io::duplex(64 * 1024);
        let server = served.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(12)).await;
            let (read, write) = tokio::io::split(ours);
            let _ = server.connection(read, write).await;
        });
        client
    });
    let config = McpConfig::default().attach(attached).unwrap();
    let client = McpClient::builder(config).connect().await.unwrap();
    let status = client.status().into_iter().next().unwrap();
    assert!(status.is_connected, "{:?}", status.error);
    assert_eq!(status.version.as_deref(), Some("2026-07-28"));
    assert_eq!(starts.load(Ordering::SeqCst), 1);
}

/// Settings that are the operator's own count for an attached server as for any other.
#[tokio::test]
async fn an_attached_server_has_the_operators_settings() {
    let server = server(&memory(), &Ledger::default());
    let mut settings = ToolSettings::default();
    settings.effect = Some(hanok_core::Effect::Pure);
    let connecting = server.clone();
    let attached = AttachedServer::new("desk", move || connected(&connecting));
    let config = McpConfig::default().attach(attached.clone().tool("work", settings)).unwrap();
    let error = config.clone().attach(attached).unwrap_err();
    assert!(error.to_string().ends_with("the attached server `desk`: another server is called so"));
    let client = McpClient::connect(config).await.unwrap();
    let pending = client.pending();
    assert!(pending[0].difference().contains("attached by this program"), "{pending:?}");
    client.approve(&pending).unwrap();
    assert_eq!(tool_of(&client, "desk__work").effect(), hanok_core::Effect::Pure);
    // It ends, and comes back by the next use.
    server.close();
    let (tool, arguments) = (tool_of(&client, "desk__work"), r#"{"what":"echo"}"#.into());
    let error = tool.run(&arguments, &Call::detached()).await.unwrap_err();
    assert!(Chain(&error).to_string().contains("the connection ended"), "{}", Chain(&error));
}
