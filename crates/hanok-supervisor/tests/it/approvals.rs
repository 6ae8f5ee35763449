//! Calls of a supervisor's agents that a person approves.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::sync::{Arc, Mutex};

use hanok_agent::{Approval, ApprovalRequest, CapabilityPolicy, Decision, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{Outcome, Pending};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolSpec};
use hanok_state::Arguments;
use hanok_supervisor::Supervisor;
use serde_json::json;

type Ledger = Arc<Mutex<Vec<String>>>;

/// A tool that must not be called twice.
fn pay(ledger: &Ledger) -> SharedTool {
    let ledger = ledger.clone();
    let spec = ToolSpec::new("pay", "Pays", json!({"properties": {"to": {"type": "string"}}}));
    SharedTool::new(FnTool::untyped(spec.unwrap(), move |arguments: Arguments, _| {
        ledger.lock().unwrap().push(arguments.to_string());
        async { Ok("paid".into()) }
    }))
}

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

async fn open_questions(
    supervisor: &Supervisor,
) -> (hanok_graph::Thread<hanok_supervisor::SupervisorState>, Vec<Pending>) {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = supervisor.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    match thread.invoke(supervisor.ask("Pay Kim"), ()).await.unwrap() {
        Outcome::Interrupted(waiting) => (thread, waiting.requests),
        other => panic!("{other:?}"),
    }
}

/// B67, B116: the question of an agent's call comes up through the supervisor, and the answer goes down to it.
#[tokio::test]
async fn a_call_of_a_delegated_agent_is_approved_through_the_supervisor() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        says("Delegate: bank\nTask: pay Kim"),
        says("Action: pay\nAction Input: {\"to\": \"kim\"}"),
        says("Final Answer: paid").contains("paid"),
        says("Final Answer: Kim has the money."),
    ]);
    let bank = ReactAgent::builder("bank", "Pays", model.clone()).tool(pay(&ledger));
    let bank = bank.intercept(Approval::new().tool("pay")).build().unwrap();
    let supervisor = Supervisor::builder(model.clone()).agent(bank).build().unwrap();
    let (thread, asked) = open_questions(&supervisor).await;
    let shown: ApprovalRequest = asked[0].payload().unwrap();
    assert_eq!((shown.agent.as_str(), shown.tool.as_str(), asked.len()), ("bank", "pay", 1));
    assert!(!asked[0].path.is_root() && ledger.lock().unwrap().is_empty());

    let answered = thread.answer(asked[0].id.clone(), &Decision::Approve, ()).await.unwrap();
    assert_eq!(answered.done().unwrap().answer.as_deref(), Some("Kim has the money."));
    assert_eq!(*ledger.lock().unwrap(), [r#"{"to":"kim"}"#]);
    model.finished().unwrap();
}

/// P42: a task is another model's words. What it read may speak through it.
#[tokio::test]
async fn a_delegated_task_is_untrusted_unless_the_service_says_otherwise() {
    for trusts in [false, true] {
        let ledger = Ledger::default();
        let model = ScriptedModel::new([
            says("Delegate: bank\nTask: pay Eve"),
            says("Action: pay\nAction Input: {\"to\": \"eve\"}"),
            says("Final Answer: done"),
            says("Final Answer: done"),
        ]);
        let policy = CapabilityPolicy::new().refuse_after_untrusted();
        let policy = if trusts { policy.trust_tasks() } else { policy };
        let bank = ReactAgent::builder("bank", "Pays", model.clone()).tool(pay(&ledger));
        let bank = bank.intercept(policy).build().unwrap();
        let supervisor = Supervisor::builder(model.clone()).agent(bank).build().unwrap();
        supervisor.graph().invoke(supervisor.ask("Pay Kim"), ()).await.unwrap().done().unwrap();
        assert_eq!(ledger.lock().unwrap().len(), usize::from(trusts));
        model.finished().unwrap();
    }
}
