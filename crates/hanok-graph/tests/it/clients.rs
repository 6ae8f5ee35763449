//! Events as clients read them, a run as a terminal shows it, and a thread's turns.

use futures::StreamExt;
use hanok_core::{ThreadKey, Token};
use hanok_graph::{
    BoxError, Cache, Context, END, Event, EventId, Graph, InMemoryCheckpointer, Input, List,
    Messages, Mode, NodeExt, Printer, RunError, START, Snapshot, State, Thread,
};
use hanok_state::{Message, MessageOp};
use insta::assert_snapshot;

#[derive(State, Clone, Debug, Default)]
struct Chat {
    messages: Messages,
    #[reduce(append)]
    notes: List<String>,
}

async fn write(_: Snapshot<Chat>, cx: Context) -> Result<ChatUpdate, BoxError> {
    cx.custom(&("looked at", 3));
    let call = cx.call("model", "chat", "");
    let sink = call.sink().ok_or("nobody watches")?;
    sink.token(Token::Reasoning("음…".into()));
    for piece in ["네, ", "졸려요.\u{1b}[2J"] {
        sink.token(Token::Text(piece.into()));
    }
    Ok(Chat::update().message(Message::assistant("네, 졸려요.").with_id("m2")).push_notes("said"))
}

async fn ask(_: Snapshot<Chat>, cx: Context) -> Result<ChatUpdate, BoxError> {
    let yes: bool = cx.interrupt("Sleep?").await?;
    Ok(Chat::update().push_notes(if yes { "sleep" } else { "wake" }))
}

fn thread() -> Thread<Chat> {
    let graph = Graph::<Chat>::builder("chat").node("write", write).node("ask", ask);
    let graph = graph.edge(START, "write").edge("write", "ask").edge("ask", END).build().unwrap();
    graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1").unwrap())
}

fn input() -> Input<Chat> {
    Input::New(Chat::update().message(Message::user("졸리니?").with_id("m1")))
}

async fn events(thread: &Thread<Chat>, input: Input<Chat>) -> Vec<Event> {
    thread.stream(input, ()).collect().await
}

/// An event as JSON, without what differs from run to run.
fn line(event: &Event) -> String {
    let mut json = serde_json::to_value(event).unwrap();
    let object = json.as_object_mut().unwrap();
    for drawn in ["id", "task", "run", "time"] {
        if let Some(value) = object.get_mut(drawn) {
            *value = "…".into();
        }
    }
    if let Some(place) = object.get_mut("place") {
        let (_, of_log) = place.as_str().unwrap().split_once('.').unwrap();
        *place = of_log.into();
    }
    if let Some(millis) = object.get_mut("data").and_then(|data| data.pointer_mut("/spent/millis"))
    {
        *millis = 0.into();
    }
    for (part, id) in [("data", "/id"), ("call", "/key"), ("call", "/message")] {
        if let Some(id) = object.get_mut(part).and_then(|part| part.pointer_mut(id)) {
            *id = "…".into();
        }
    }
    json.to_string()
}

#[tokio::test]
async fn every_event_of_a_turn_is_an_object_that_a_client_reads() {
    let thread = thread();
    let lines: Vec<_> = events(&thread, input()).await.iter().map(line).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"data":{"messages":[{"additional_kwargs":{},"content":"졸리니?","id":"m1","name":null,"response_metadata":{},"type":"human"}],"notes":[]},"event":"values","id":"…","place":"1.2","run":"…","step":0,"time":"…"}
    {"attempt":1,"data":{"input":null},"event":"task_started","node":"write","place":"1.2-1","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"data":["looked at",3],"event":"custom","node":"write","place":"1.2-2","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"call":{"key":"…","kind":"model","message":"…","name":"chat"},"data":{"reasoning":"음…"},"event":"token","node":"write","place":"1.2-3","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"call":{"key":"…","kind":"model","message":"…","name":"chat"},"data":{"text":"네, "},"event":"token","node":"write","place":"1.2-4","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"call":{"key":"…","kind":"model","message":"…","name":"chat"},"data":{"text":"졸려요.\u001b[2J"},"event":"token","node":"write","place":"1.2-5","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"data":{"cached":false},"event":"task_finished","node":"write","place":"1.2-7","run":"…","step":0,"task":"…","time":"…"}
    {"attempt":1,"data":{"messages":{"messages":[{"put":{"content":"네, 졸려요.","id":"m2","role":"assistant"}}]},"notes":{"append":["said"]}},"event":"updates","id":"…","node":"write","place":"2.0","run":"…","step":0,"task":"…","time":"…"}
    {"event":"checkpoint","id":"…","place":"2.1","run":"…","step":0,"time":"…"}
    {"data":{"messages":[{"additional_kwargs":{},"content":"졸리니?","id":"m1","name":null,"response_metadata":{},"type":"human"},{"additional_kwargs":{},"content":"네, 졸려요.","id":"m2","invalid_tool_calls":[],"name":null,"response_metadata":{},"tool_calls":[],"type":"ai","usage_metadata":null}],"notes":["said"]},"event":"values","id":"…","place":"2.2","run":"…","step":0,"time":"…"}
    {"attempt":1,"data":{"input":null},"event":"task_started","node":"ask","place":"2.2-8","run":"…","step":1,"task":"…","time":"…"}
    {"attempt":1,"event":"task_interrupted","node":"ask","place":"2.2-9","run":"…","step":1,"task":"…","time":"…"}
    {"attempt":1,"data":{"audience":{},"deadline":null,"doubt":null,"id":"…","node":"ask","path":[],"payload":"Sleep?","schema":null},"event":"request","id":"…","node":"ask","place":"3.3","run":"…","step":1,"task":"…","time":"…"}
    {"data":{"by":null,"code":null,"error":null,"outcome":"interrupted","spent":{"cost":0,"input_tokens":0,"millis":0,"model_calls":0,"output_tokens":0,"tool_calls":0}},"event":"ended","id":"…","place":"4.4","run":"…","step":1,"time":"…"}
    "#);
}

#[tokio::test]
async fn a_terminal_shows_tasks_pieces_and_questions_and_nothing_acts_on_it() {
    let thread = thread();
    let mut printer = Printer::new(Vec::new());
    for event in events(&thread, input()).await {
        printer.event(&event).unwrap();
    }
    for event in events(&thread, Input::reply(&true).unwrap()).await {
        printer.event(&event).unwrap();
    }
    assert_snapshot!(String::from_utf8(printer.into_inner()).unwrap(), @r#"
    write …
    write: ["looked at",3]
    네, 졸려요.\u{1b}[2J
    ask …
    ask asks: Sleep?
    interrupted
    ask …
    done
    "#);
}

#[tokio::test]
async fn a_printed_run_tells_what_comes_from_the_cache() {
    let note = |_: Snapshot<Chat>, _: Context| async {
        Ok::<_, BoxError>(Chat::update().push_notes("read"))
    };
    let minute = std::time::Duration::from_secs(60);
    let read = note.cache(Cache::new(minute, |_: &Chat, _: &()| "same"));
    let graph = Graph::<Chat>::builder("chat").node("read", read).edge(START, "read");
    let graph = graph.edge("read", END).build().unwrap();
    let thread = graph.checkpointer(InMemoryCheckpointer::new());
    let thread = thread.thread(ThreadKey::named("t").unwrap());
    let mut printer = Printer::new(Vec::new());
    for _ in 0..2 {
        for event in events(&thread, Input::New(Chat::update())).await {
            printer.event(&event).unwrap();
        }
    }
    assert_snapshot!(String::from_utf8(printer.into_inner()).unwrap(), @r#"
    read …
    done
    read …
    read from the cache
    done
    "#);
}

#[tokio::test]
async fn an_id_that_a_client_sends_back_is_read_on_from() {
    let thread = thread();
    let all: Vec<_> = events(&thread, input()).await;
    let ids: Vec<EventId> = all.iter().filter_map(|event| event.id).collect();
    let sent = ids[1].to_string();
    let rest = thread.events(Some(sent.parse().unwrap())).await.unwrap();
    assert_eq!(rest.iter().filter_map(|event| event.id).collect::<Vec<_>>(), ids[2..]);
    for wrong in ["", "1.2", "x.1.1", "1.1.1", "00000000000000000000000000000007.1.1.1", "-"] {
        assert!(wrong.parse::<EventId>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_thread_goes_back_by_turns_and_keeps_every_message() {
    let thread = thread();
    for _ in 0..2 {
        events(&thread, Input::New(Chat::update().message(Message::user("졸리니?")))).await;
        thread.reply(&false, ()).await.unwrap();
    }
    events(&thread, Input::New(Chat::update().message(Message::user("und jetzt?")))).await;
    let ends = thread.turn_ends().await.unwrap();
    let outcomes: Vec<_> = ends.iter().map(|end| end.outcome.as_str()).collect();
    assert_eq!(outcomes, ["interrupted", "done", "interrupted", "done", "interrupted"]);

    // The turn that asks counts as one.
    thread.rewind_turns(1).await.unwrap();
    let state = thread.state(None).await.unwrap().unwrap();
    assert_eq!(state.messages.iter().filter(|it| it.text() == "und jetzt?").count(), 0);
    thread.rewind_turns(1).await.unwrap();
    let notes = thread.state(None).await.unwrap().unwrap().notes;
    assert_eq!(notes.iter().collect::<Vec<_>>(), ["said", "wake"]);
    for turns in [0, 1, usize::MAX] {
        let error = thread.rewind_turns(turns).await.unwrap_err();
        let RunError::NoSuchTurn { most: 0, .. } = error else { panic!("{error:?}") };
    }
    let messages = thread.all_messages(|chat| &chat.messages).await.unwrap();
    assert_eq!(messages.len(), 2);
    // What a handle shows of a run is no matter for its past.
    let narrow = thread.clone().modes([Mode::Custom]);
    assert_eq!(narrow.turn_ends().await.unwrap(), thread.turn_ends().await.unwrap());
}

#[tokio::test]
async fn a_fork_without_a_name_takes_the_next_free_number() {
    let thread = thread();
    events(&thread, input()).await;
    let names = ["t1-2", "t1-3"];
    for name in names {
        let fork = thread.fork_numbered().await.unwrap();
        assert_eq!(fork.key().thread(), name);
        // What is due in the thread is due in the fork, as a task of its own.
        fork.resume(()).await.unwrap();
        let outcome = fork.reply(&true, ()).await.unwrap().done().unwrap();
        assert_eq!(outcome.notes.iter().last().map(String::as_str), Some("sleep"));
    }
}

/// Of a conversation that was cut since: also by a handle that shows no states.
#[tokio::test]
async fn messages_that_were_taken_out_are_told_by_any_handle() {
    async fn cut(_: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, BoxError> {
        let ops = [MessageOp::Clear, MessageOp::Put(Message::assistant("kurz").with_id("m9"))];
        Ok(Chat::update().messages(ops))
    }
    let graph = Graph::<Chat>::builder("cut").node("cut", cut).edge(START, "cut").edge("cut", END);
    let app = graph.build().unwrap().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t1").unwrap());
    events(&thread, input()).await;
    for thread in [thread.clone(), thread.modes([Mode::Custom])] {
        let all = thread.all_messages(|chat| &chat.messages).await.unwrap();
        assert_eq!(all.iter().map(|it| it.id().unwrap()).collect::<Vec<_>>(), ["m1", "m9"]);
    }
}
