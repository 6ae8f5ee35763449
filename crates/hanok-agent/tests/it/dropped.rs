//! Agents with interceptors whose runs are dropped wherever they wait: nothing unapproved runs, and nothing twice.

use std::{pin::pin, task::Poll};

use hanok_agent::{
    AgentState, Approval, CallLimits, CapabilityPolicy, CircuitBreaker, Decision, ReactAgent,
    Redaction, Retrying,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Effect, Tenant, ThreadKey};
use hanok_graph::{Outcome, Resolution, RunError, Thread};
use hanok_model::{ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedTool, ToolSpec};
use hanok_state::{Arguments, Message};
use serde_json::json;

use crate::support::{Ledger, call};

async fn slowly() {
    for _ in 0..6 {
        tokio::task::yield_now().await;
    }
}

/// A model that pays two and looks, and says that it is done when it has seen the results.
#[derive(Debug)]
struct Pays;

impl ChatModel for Pays {
    fn name(&self) -> &str {
        "pays"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        slowly().await;
        let done =
            request.messages.iter().skip(1).any(|message| message.text().contains("Observation"));
        let asks =
            call("pay", r#"{"to":"a"}"#) + &call("look", "{}") + &call("pay", r#"{"to":"b"}"#);
        let words = if done { "Final Answer: done".to_owned() } else { asks };
        Ok(ChatReply::new(Message::assistant(words), "pays"))
    }
}

fn tool(name: &'static str, effect: Effect, ledger: &Ledger) -> SharedTool {
    let ledger = ledger.clone();
    let schema = json!({"properties": {"to": {"type": "string"}}});
    let spec = ToolSpec::new(name, "", schema).unwrap();
    SharedTool::new(
        FnTool::untyped(spec, move |arguments: Arguments, _| {
            let ledger = ledger.clone();
            async move {
                slowly().await;
                ledger.lock().unwrap().push(format!("{name} {arguments}"));
                slowly().await;
                Ok("fine".into())
            }
        })
        .effect(effect),
    )
}

fn agent(ledger: &Ledger) -> ReactAgent {
    ReactAgent::builder("t", "", Pays)
        .tools([tool("pay", Effect::AtMostOnce, ledger), tool("look", Effect::Pure, ledger)])
        .intercept(Redaction::new())
        .intercept(Retrying::attempts(3))
        .intercept(CircuitBreaker::of_tools("bank", ["pay"]))
        .intercept(CallLimits::new().tool("pay", 2))
        .intercept(CapabilityPolicy::new())
        .intercept(Approval::new().tool("pay"))
        .build()
        .unwrap()
}

/// Polls `run` so many times at most. A run is dropped once; the next has all the time that it needs.
async fn within<T>(most: &mut usize, run: impl Future<Output = T>) -> Option<T> {
    let mut run = pin!(run);
    std::future::poll_fn(|cx| match run.as_mut().poll(cx) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if *most == 0 => {
            *most = usize::MAX;
            Poll::Ready(None)
        }
        Poll::Pending => {
            *most -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// Answers whatever is asked: `a` is approved, `b` is rejected, and who doubts is told the truth.
async fn answered(
    thread: &Thread<AgentState>,
    outcome: &Outcome<AgentState>,
    ledger: &Ledger,
    doubts: &mut usize,
) -> Result<Outcome<AgentState>, RunError> {
    let (Outcome::Interrupted(asked) | Outcome::InDoubt(asked)) = outcome else {
        panic!("{outcome:?}")
    };
    let (made, one) = (ledger.lock().unwrap().clone(), &asked[0]);
    if let Some(doubt) = &one.doubt {
        *doubts += 1;
        let was_made = made.contains(&format!("pay {}", doubt.arguments));
        let said = if was_made { Resolution::made("fine").unwrap() } else { Resolution::NotMade };
        return thread.settle(one.id.clone(), said, ()).await;
    }
    let shown: hanok_agent::ApprovalRequest = one.payload().unwrap();
    let decision = match shown.arguments.as_str().contains("\"a\"") {
        true => Decision::Approve,
        false => Decision::Reject { message: None },
    };
    thread.answer(one.id.clone(), &decision, ()).await
}

/// P4, P14, P15: of a run that is dropped anywhere, before and after its approvals, the approved call is made once, the
/// rejected one never, and the turn's counts are those of a quiet run.
#[tokio::test]
async fn an_approved_call_is_made_once_and_a_rejected_one_never() {
    let (mut dropped, mut doubts) = (0, 0);
    for most in 0.. {
        let (ledger, mut left) = (Ledger::default(), most);
        let agent = agent(&ledger);
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
        let first = within(&mut left, thread.invoke(agent.ask("?"), ())).await;
        let mut whole = first.is_some();
        let mut outcome = match first {
            Some(outcome) => outcome.unwrap(),
            None => match thread.resume(()).await {
                Err(RunError::NoSuchThread(_)) => thread.invoke(agent.ask("?"), ()).await.unwrap(),
                outcome => outcome.unwrap(),
            },
        };
        while !matches!(outcome, Outcome::Done(_)) {
            let next = within(&mut left, answered(&thread, &outcome, &ledger, &mut doubts)).await;
            whole &= next.is_some();
            outcome = match next {
                Some(outcome) => outcome.unwrap(),
                // The answer may be there or not, and its run was dropped.
                None => thread.resume(()).await.unwrap(),
            };
        }
        let state = outcome.done().unwrap();
        let made = ledger.lock().unwrap().clone();
        let count = |what: &str| made.iter().filter(|made| made.starts_with(what)).count();
        assert_eq!(
            (count(r#"pay {"to":"a"}"#), count(r#"pay {"to":"b"}"#)),
            (1, 0),
            "{most} {made:?}"
        );
        assert!(count("look") >= 1, "{most} {made:?}");
        assert_eq!(state.usage.tools, [("look".into(), 1), ("pay".into(), 1)].into(), "{most}");
        let results = state.messages.iter().filter(|m| m.tool_call_id().is_some()).count();
        assert_eq!((results, state.answer.as_deref()), (3, Some("done")), "{most}");
        if whole {
            break;
        }
        dropped += 1;
    }
    assert!(dropped > 20 && doubts > 0, "{dropped} drops, {doubts} doubts say too little");
}
