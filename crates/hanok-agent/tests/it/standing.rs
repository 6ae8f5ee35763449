//! Approvals that stand: what somebody says "always" of.

use std::{sync::Arc, time::Duration};

use hanok_agent::{
    Approval, ApprovalRule, AuditEvent, Gate, Precedent, ReactAgent, StandingApprovals,
    StandingScope, ToolRequest, audit_of,
};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, Log, SharedCheckpointer, SharedStore};
use hanok_core::{Answerer, Call, Clock as _, ThreadKey, Timestamp};
use hanok_graph::{Outcome, TokioClock};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError, ToolSpec};
use hanok_state::ToolCall;
use serde_json::json;

fn kim() -> StandingScope {
    StandingScope::User("kim".into())
}

fn store() -> SharedStore {
    SharedStore::new(InMemoryStore::new())
}

/// Whether an agent whose model sends a mail asks about it, with these approvals.
async fn asks(all: StandingApprovals) -> bool {
    let spec = ToolSpec::new("send_mail", "Sends mail", json!({})).unwrap();
    let mail = FnTool::untyped(spec, |_, _| async { Ok("sent".into()) });
    let call = ToolCall::new("1", "send_mail", "{}");
    let model = ScriptedModel::new([Exchange::calls([call]), Exchange::says("It is sent.")]);
    let rule = ApprovalRule::new().unless(all);
    let agent = ReactAgent::builder("desk", "Sends mail", model)
        .protocol(hanok_agent::Protocol::Native)
        .tools([SharedTool::new(mail)])
        .intercept(Approval::new().tool_with("send_mail", rule))
        .build()
        .unwrap();
    let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let (app, key) = (agent.graph().checkpointer(threads.clone()), ThreadKey::named("t").unwrap());
    match app.thread(key.clone()).invoke(agent.ask("mail it"), ()).await.unwrap() {
        Outcome::Interrupted(_) => true,
        Outcome::Done(state) => {
            assert_eq!(state.answer.as_deref(), Some("It is sent."));
            // B144: whose word it was stands in the audit.
            let records = audit_of(&Log::new(threads, key), None).await.unwrap();
            let [record] = &*records else { panic!("{records:?}") };
            let AuditEvent::Passed { gate, about, reasons, .. } = &record.event else {
                panic!("{record:?}")
            };
            assert_eq!(
                (gate, about.as_str(), record.request.as_str()),
                (&Gate::Tool, "send_mail", "admit-0-1")
            );
            let reason = "`send_mail` for user kim, as `ann` said";
            assert_eq!(
                (reasons[0].rule.as_str(), reasons[0].reason.as_str()),
                ("approval", reason)
            );
            false
        }
        other => panic!("{other:?}"),
    }
}

/// Users are named by addresses, too, which no label of a store may be.
#[tokio::test]
async fn whoever_has_dots_in_their_name_says_always_as_well() {
    let (store, now) = (store(), Timestamp(1));
    let of =
        |name: &str| StandingApprovals::new(store.clone()).scope(StandingScope::User(name.into()));
    let long = "k".repeat(400);
    for name in ["kim.b@example.com", &long] {
        assert!(of(name).stands("send_mail", "d1", now).await.unwrap().is_none());
        let scope = StandingScope::User(name.into());
        of(name).allow(scope, "send_mail", "d1", None, now).await.unwrap();
        assert!(of(name).stands("send_mail", "d1", now).await.unwrap().is_some(), "{name}");
        assert_eq!(of(name).all(now).await.unwrap().len(), 1);
    }
}

/// P46, B145: what somebody said "always" of is not asked about; for another user, in another thread, of a tool that has changed and after 30 days
/// it is.
#[tokio::test]
async fn always_is_for_a_user_and_a_tool_as_it_is_and_for_a_month() {
    let (store, now) = (store(), TokioClock.now());
    let all = || StandingApprovals::new(store.clone());
    let of = |tool: &str| (tool == "send_mail").then(|| "hash".to_owned());
    let ann = || Some(Answerer::new("ann", "terminal"));
    assert!(asks(all().scope(kim()).definitions(of)).await);
    all().allow(kim(), "send_mail", "hash", ann(), now).await.unwrap();
    assert!(!asks(all().scope(kim()).definitions(of)).await);
    // Another user, another thread, no scope at all, a tool that is another by now or is gone.
    assert!(asks(all().scope(StandingScope::User("lee".into())).definitions(of)).await);
    assert!(asks(all().scope(StandingScope::Thread("kim".into())).definitions(of)).await);
    assert!(asks(all().definitions(of)).await);
    assert!(asks(all().scope(kim()).definitions(|_| Some("other".to_owned()))).await);
    assert!(asks(all().scope(kim()).definitions(|_| None)).await);
    // By its own hash it is the definition that the model is shown.
    assert!(asks(all().scope(kim())).await);

    let month = Duration::from_secs(30 * 24 * 3_600);
    let stands = async |at: Timestamp| {
        all().scope(kim()).stands("send_mail", "hash", at).await.unwrap().is_some()
    };
    assert!(stands(now.plus(month - Duration::from_secs(1))).await);
    assert!(!stands(now.plus(month)).await);
    let listed = all().scope(kim()).all(now).await.unwrap();
    assert_eq!((listed.len(), listed[0].by.clone()), (1, ann()));
    assert_eq!(listed[0].to_string(), "`send_mail` for user kim, as `ann` said");
    all().revoke(&kim(), "send_mail", now).await.unwrap();
    assert!(!stands(now).await && asks(all().scope(kim()).definitions(of)).await);
}

/// A precedent that fails refuses the call: it is neither made nor asked about.
#[tokio::test]
async fn a_precedent_that_fails_lets_nothing_pass() {
    #[derive(Debug)]
    struct Broken;
    impl Precedent for Broken {
        async fn passes(&self, _: &ToolRequest<'_>, _: &Call) -> Result<Option<String>, ToolError> {
            Err(ToolError::failed("the store is gone"))
        }
    }
    let made = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = made.clone();
    let spec = ToolSpec::new("send_mail", "Sends mail", json!({})).unwrap();
    let mail = FnTool::untyped(spec, move |_, _| {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async { Ok("sent".into()) }
    });
    let call = ToolCall::new("1", "send_mail", "{}");
    let model = ScriptedModel::new([Exchange::calls([call]), Exchange::says("It is not sent.")]);
    let rule = ApprovalRule::new().unless(Broken);
    let agent = ReactAgent::builder("desk", "Sends mail", model)
        .protocol(hanok_agent::Protocol::Native)
        .tools([SharedTool::new(mail)])
        .intercept(Approval::new().tool_with("send_mail", rule))
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap());
    let state = thread.invoke(agent.ask("mail it"), ()).await.unwrap().done().unwrap();
    assert_eq!(state.answer.as_deref(), Some("It is not sent."));
    assert_eq!(made.load(std::sync::atomic::Ordering::SeqCst), 0);
}
