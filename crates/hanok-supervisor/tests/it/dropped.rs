//! Runs that are dropped wherever they wait: the next run finishes the turn as if nothing had been.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
};

use hanok_agent::{HandoffTool, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Effect, Tenant, ThreadKey};
use hanok_graph::{Graph, RunError, Thread};
use hanok_model::{ChatModel, ChatReply, ChatRequest, FnTool, ModelError, ToolSpec};
use hanok_state::{Message, Messages, State};
use hanok_supervisor::{OutputMode, Supervisor, SupervisorState, Swarm, SwarmState};
use serde_json::json;

/// A model that says the first of its words whose mark is nowhere in what it is sent, and takes its time.
#[derive(Debug, Clone)]
struct Says(&'static [(&'static str, &'static str)]);

async fn slowly() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        slowly().await;
        let sent: String = request.messages.iter().skip(1).map(|m| m.text().into_owned()).collect();
        let words = self.0.iter().find(|(mark, _)| !sent.contains(mark)).unwrap().1;
        Ok(ChatReply::new(Message::assistant(words), "says"))
    }
}

const LOOK: &str = "Action: look\nAction Input: {}";

/// An agent that looks with a tool that must not be called twice, and then says so.
fn looks(name: &'static str, ledger: &Arc<Mutex<Vec<&'static str>>>) -> ReactAgent {
    let ledger = ledger.clone();
    let look = FnTool::untyped(ToolSpec::new("look", "", json!({})).unwrap(), move |_, _| {
        ledger.lock().unwrap().push(name);
        async {
            slowly().await;
            Ok("seen".into())
        }
    });
    let model = Says(&[("seen", LOOK), ("\u{0}", "Final Answer: done")]);
    ReactAgent::builder(name, "", model).tool(look.effect(Effect::Idempotent)).build().unwrap()
}

fn thread<S: State>(graph: &Graph<S>) -> Thread<S> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    graph.checkpointer(InMemoryCheckpointer::new()).thread(key)
}

/// Who said what, without the marks, which differ from run to run. Calls are told by their order: their ids are of their thread.
fn texts(messages: &Messages) -> Vec<String> {
    let mut calls = Vec::new();
    let said = messages.iter().map(|m| {
        let call = m.tool_call_id().map(|id| {
            calls.push(id.to_owned());
            calls.iter().position(|call| call == id)
        });
        format!("{} {call:?} {}", m.role(), m.text())
    });
    said.collect()
}

/// Drops a run after every number of ticks that does not end it, and runs the thread to its end.
async fn drop_everywhere<S: State>(
    graph: &Graph<S>,
    input: impl Fn() -> S::Update,
    of: impl Fn(&S) -> Vec<String>,
) {
    let want = of(&thread(graph).invoke(input(), ()).await.unwrap().done().unwrap());
    for most in 0.. {
        let thread = thread(graph);
        let ended = {
            let (mut run, mut ticks) = (pin!(thread.invoke(input(), ())), 0);
            std::future::poll_fn(|cx| {
                match run.as_mut().poll(cx) {
                    Poll::Ready(ended) => return Poll::Ready(Some(ended)),
                    Poll::Pending if ticks == most => return Poll::Ready(None),
                    Poll::Pending => ticks += 1,
                }
                // Each tick lets every task of the run take one step.
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await
        };
        let is_over = ended.is_some();
        let state = match ended {
            Some(outcome) => outcome.unwrap(),
            None => match thread.resume(()).await {
                Err(RunError::NoSuchThread(_)) => thread.invoke(input(), ()).await.unwrap(),
                outcome => outcome.unwrap(),
            },
        };
        assert_eq!(of(&state.done().unwrap()), want, "dropped after {most} ticks");
        if is_over {
            assert!(most > 8, "{most} ticks are too few to say anything");
            return;
        }
    }
}

/// P15, B113
#[tokio::test]
async fn a_swarm_dropped_at_any_await_ends_where_a_quiet_one_ends() {
    const TRANSFER: &str = "Action: transfer_to_back\nAction Input: {\"task\": \"look\"}";
    let front = ReactAgent::builder("front", "", Says(&[("\u{0}", TRANSFER)]))
        .handoff(HandoffTool::to("back", ""));
    let agents = [front.build().unwrap(), looks("back", &Arc::default())];
    let swarm = Swarm::builder().agents(agents).build().unwrap();
    let of = |state: &SwarmState| {
        let end = format!("{} {} {:?}", state.active, state.hops, state.answer);
        texts(&state.messages).into_iter().chain([end]).collect()
    };
    drop_everywhere(swarm.graph(), || swarm.ask("?"), of).await;
}

/// P15, B113
#[tokio::test]
async fn parallel_delegations_dropped_at_any_await_end_where_quiet_ones_end() {
    const BOTH: &str = "Delegate: left\nTask: a\nDelegate: right\nTask: b";
    let ledger = Arc::default();
    let router = Says(&[("2. right", BOTH), ("\u{0}", "Final Answer: both")]);
    let supervisor = Supervisor::builder(router)
        .agents([looks("left", &ledger), looks("right", &ledger)])
        .output(OutputMode::Full)
        .parallel()
        .build()
        .unwrap();
    let of = |state: &SupervisorState| {
        let end = format!("{} {:?}", state.iteration, state.answer);
        texts(&state.messages).into_iter().chain([end]).collect()
    };
    drop_everywhere(supervisor.graph(), || supervisor.ask("?"), of).await;
}
