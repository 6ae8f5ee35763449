//! Calls that a person approves.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hanok_agent::{
    AgentChatError, AgentState, Approval, ApprovalRequest, ApprovalRule, DecisionKind, Interceptor,
    Language, Overdue, Protocol, ReactAgent, Risk, StopReason, ToolRequest, Verdict,
    from_agent_chat, to_agent_chat,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{
    Answerer, Audience, BoxFuture, Call, Clock, Effect, Tenant, ThreadKey, Timestamp,
};
use hanok_graph::{Input, Outcome, Pending, RunError, Runtime, Thread};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError};
use hanok_state::{Arguments, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Ledger, call, observations};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Send {
    to: String,
    #[serde(default)]
    amount: u32,
}

/// `send` must not be repeated, `look` is pure; both write down what they are given.
fn tools(ledger: &Ledger) -> Vec<SharedTool> {
    let tool = |name: &'static str, effect| {
        let ledger = ledger.clone();
        let run = move |send: Send, _| {
            ledger.lock().unwrap().push(format!("{name} {} {}", send.to, send.amount));
            async move { Ok(format!("sent to {}", send.to).into()) }
        };
        SharedTool::new(FnTool::new(name, "A tool", run).unwrap().effect(effect))
    };
    vec![tool("send", Effect::AtMostOnce), tool("look", Effect::Pure)]
}

fn asks(of: &[(&str, &str)]) -> Exchange {
    let calls = of.iter().map(|(tool, to)| call(tool, &format!(r#"{{"to":"{to}","amount":5}}"#)));
    Exchange::says(calls.collect::<String>())
}

struct Run {
    thread: Thread<AgentState>,
    model: ScriptedModel,
    ledger: Ledger,
    agent: ReactAgent,
    clock: Arc<Seconds>,
}

/// A clock that is set by hand.
#[derive(Debug, Default)]
struct Seconds(AtomicU64);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(self.0.load(Ordering::SeqCst)))
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

impl Run {
    fn new(approval: Approval, script: Vec<Exchange>) -> Self {
        let (ledger, model) = (Ledger::default(), ScriptedModel::new(script));
        let clock = Arc::new(Seconds::default());
        let agent = ReactAgent::builder("t", "", model.clone())
            .tools(tools(&ledger))
            .runtime(Runtime { clock: clock.clone(), ..Runtime::default() })
            .intercept(approval)
            .build()
            .unwrap();
        let key = ThreadKey::new(Tenant::default(), "t").unwrap();
        let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
        Self { thread, model, ledger, agent, clock }
    }

    async fn open_questions(&self) -> Vec<Pending> {
        waits(self.thread.invoke(self.agent.ask("?"), ()).await.unwrap())
    }

    async fn answer(
        &self,
        question: &Pending,
        answer: Value,
    ) -> Result<Outcome<AgentState>, RunError> {
        self.thread.answer(question.id.clone(), &answer, ()).await
    }

    fn made(&self) -> Vec<String> {
        self.ledger.lock().unwrap().clone()
    }
}

fn waits(outcome: Outcome<AgentState>) -> Vec<Pending> {
    match outcome {
        Outcome::Interrupted(waiting) => waiting.requests,
        other => panic!("{other:?}"),
    }
}

fn shown(question: &Pending) -> ApprovalRequest {
    question.payload().unwrap()
}

fn done() -> Exchange {
    Exchange::says("Final Answer: done")
}

/// Nobody lists the tools of others: what is not known to read only waits, and a tool with a rule of its own follows that.
#[tokio::test]
async fn whatever_may_write_waits() {
    let calls = [("send", "a"), ("look", "b")];
    let approval = || Approval::new().writes(ApprovalRule::new());
    let run = Run::new(approval(), vec![asks(&calls), done()]);
    let asked = run.open_questions().await;
    assert_eq!((asked.len(), run.made()), (1, vec!["look b 5".to_owned()]));
    assert_eq!(shown(&asked[0]).tool, "send");

    let never = ApprovalRule::new().when(|_| false);
    let run = Run::new(approval().tool_with("send", never), vec![asks(&calls), done()]);
    let outcome = run.thread.invoke(run.agent.ask("?"), ()).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(_)) && run.made().len() == 2);
}

/// B116, P35: only listed calls wait, each with a question of its own, and what was shown is what runs.
#[tokio::test]
async fn only_listed_calls_wait_and_each_is_decided_by_itself() {
    let calls = [("send", "a"), ("look", "b"), ("send", "c"), ("send", "d"), ("send", "e")];
    let run = Run::new(Approval::new().tool("send"), vec![asks(&calls), done()]);
    let asked = run.open_questions().await;
    assert_eq!((asked.len(), run.made()), (4, vec!["look b 5".to_owned()]));
    let first = shown(&asked[0]);
    assert_eq!((first.agent.as_str(), first.tool.as_str()), ("t", "send"));
    assert_eq!(first.arguments.as_str(), r#"{"to":"a","amount":5}"#);
    assert_eq!((first.bytes, first.digest.len()), (first.arguments.as_str().len(), 64));
    let ids: std::collections::BTreeSet<_> = asked.iter().map(|a| shown(a).call_id).collect();
    assert_eq!(ids.len(), 4);

    // One after the other: those that are open stay open, and nothing is made again.
    let left = waits(run.answer(&asked[0], json!({"decision": "approve"})).await.unwrap());
    assert_eq!((left.len(), run.made().len()), (3, 1));
    let edit = json!({"decision": "edit", "arguments": {"to": "x", "amount": 1}});
    let answers = [
        (&asked[1], edit),
        (&asked[2], json!({"decision": "reject", "message": "not to d"})),
        (&asked[3], json!({"decision": "respond", "result": "e has it already"})),
    ];
    let answers = answers
        .into_iter()
        .map(|(asked, answer)| (asked.id.clone(), hanok_core::Stored::encode(&answer).unwrap()));
    let answered = run.thread.run(Input::Answers(answers.collect()), ()).await;
    let state = answered.unwrap().done().unwrap();
    assert_eq!(run.made(), ["look b 5", "send a 5", "send x 1"]);
    let want = [
        "sent to a",
        "sent to b",
        "[made with the arguments {\"amount\":1,\"to\":\"x\"} instead]\nsent to x",
        "The call of `send` was not made: a person rejected it. not to d",
        "e has it already",
    ];
    assert_eq!(observations(&state), want.map(|text| format!("Observation: {text}")));
    run.model.finished().unwrap();
}

/// B116
#[tokio::test]
async fn an_answer_that_is_not_allowed_or_does_not_fit_leaves_the_question_open() {
    let rule = ApprovalRule::new().allow([DecisionKind::Edit, DecisionKind::Reject]);
    let approval = Approval::new().tool_with("send", rule);
    let run = Run::new(approval, vec![asks(&[("send", "a")]), done()]);
    let asked = run.open_questions().await;
    let digest = shown(&asked[0]).digest;
    for answer in [
        json!({"decision": "approve"}),
        json!({"decision": "respond", "result": "x"}),
        json!({"decision": "edit", "arguments": {"to": 7}}),
        json!({"decision": "edit", "arguments": {"to": "b", "cc": "c"}}),
        json!({"decision": "edit"}),
        json!({"decision": "reject", "digest": "of other arguments"}),
        json!("approve"),
    ] {
        run.answer(&asked[0], answer.clone()).await.unwrap_err();
        assert!(run.made().is_empty(), "{answer}");
    }
    // Where an edit does not fit, its places are named, and not what stands there.
    for (arguments, place) in [
        (json!({"to": ["a secret"]}), "`/arguments/to`"),
        (json!({"to": "b", "cc": "a secret"}), "'cc'"),
        (json!({"to": "a secret", "amount": "a secret"}), "`/arguments/amount`"),
    ] {
        let edit = json!({"decision": "edit", "arguments": arguments});
        let words = run.answer(&asked[0], edit).await.unwrap_err().to_string();
        assert!(words.contains(place) && !words.contains("a secret"), "{words}");
    }
    let edit = json!({"decision": "edit", "arguments": {"to": "b"}, "digest": digest});
    run.answer(&asked[0], edit.clone()).await.unwrap().done().unwrap();
    assert_eq!(run.made(), ["send b 0"]);
    // A decision is made once.
    assert!(run.answer(&asked[0], edit).await.is_err());
}

/// B116
#[tokio::test]
async fn a_predicate_says_which_calls_wait_and_a_person_reads_why() {
    let rule = ApprovalRule::new()
        .when(|asked| asked.call.arguments.as_str().contains("boss"))
        .describe(|asked| format!("{} writes to the boss", asked.turn.agent));
    let approval = Approval::new().tool_with("send", rule);
    let run = Run::new(approval, vec![asks(&[("send", "a"), ("send", "boss")]), done()]);
    let asked = run.open_questions().await;
    assert_eq!((asked.len(), run.made()), (1, vec!["send a 5".to_owned()]));
    assert_eq!(shown(&asked[0]).description.as_deref(), Some("t writes to the boss"));
    let rejected = run.answer(&asked[0], json!({"decision": "reject"})).await.unwrap();
    let state = rejected.done().unwrap();
    assert!(observations(&state)[1].ends_with("a person rejected it."));
}

/// P35: other arguments are another question, though the call is the same.
#[tokio::test]
async fn an_approval_is_for_the_arguments_that_were_shown() {
    #[derive(Debug)]
    struct Appends(std::sync::atomic::AtomicU32);
    impl Interceptor for Appends {
        async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
            let n = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let arguments = json!({"to": request.call.id, "amount": n / 2});
            Ok(Verdict::Change(Arguments::new(arguments.to_string())))
        }
    }
    let (ledger, script) = (Ledger::default(), vec![asks(&[("send", "a")]), done()]);
    // It changes the call after the approval: the approval is asked about what it was changed to.
    let agent = ReactAgent::builder("t", "", ScriptedModel::new(script))
        .tools(tools(&ledger))
        .intercept(Approval::new().tool("send"))
        .intercept(Appends(Default::default()))
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let mut seen = Vec::new();
    let mut outcome = thread.invoke(agent.ask("?"), ()).await.unwrap();
    for _ in 0..8 {
        let Outcome::Interrupted(asked) = outcome else { break };
        seen.push(shown(&asked[0]).arguments.as_str().to_owned());
        let approve = json!({"decision": "approve"});
        outcome = thread.answer(asked[0].id.clone(), &approve, ()).await.unwrap();
    }
    outcome.done().unwrap();
    let made = ledger.lock().unwrap().clone();
    assert_eq!(made.len(), 1);
    let amount = made[0].rsplit(' ').next().unwrap();
    assert!(seen.last().unwrap().contains(&format!(r#""amount":{amount},"#)), "{seen:?} {made:?}");
}

#[tokio::test]
async fn a_call_without_an_answer_in_time_or_without_a_person_is_refused() {
    let rule = || ApprovalRule::new().within(Duration::from_secs(60));
    let run = Run::new(
        Approval::new().tool_with("send", rule()),
        vec![asks(&[("send", "a")]), done().contains("nobody approved it in time")],
    );
    run.open_questions().await;
    waits(run.thread.resume(()).await.unwrap());
    run.clock.0.store(61, Ordering::SeqCst);
    run.thread.resume(()).await.unwrap().done().unwrap();
    assert!(run.made().is_empty());

    // Without a checkpointer.
    for protocol in [Protocol::Text, Protocol::Native] {
        let ledger = Ledger::default();
        let asked = match protocol {
            Protocol::Native => Exchange::calls([ToolCall {
                id: "c".into(),
                name: "send".into(),
                arguments: Arguments::new(r#"{"to":"a","amount":5}"#),
            }]),
            _ => asks(&[("send", "a")]),
        };
        let model = ScriptedModel::new([asked, done()]);
        let agent = ReactAgent::builder("t", "", model)
            .tools(tools(&ledger))
            .protocol(protocol)
            .language(Language::Korean)
            .intercept(Approval::new().tool("send"))
            .build()
            .unwrap();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        assert!(ledger.lock().unwrap().is_empty());
        assert!(observations(&state)[0].contains("`send` 호출은 실행하지 않았습니다"), "{state:?}");
    }
}

/// P14: the run that goes on may be of another process, which knows the thread alone.
#[tokio::test]
async fn an_answer_survives_a_crash_between_it_and_the_call() {
    let store = hanok_checkpoint::SharedCheckpointer::new(InMemoryCheckpointer::new());
    let ledger = Ledger::default();
    let agent = |script: Vec<Exchange>| {
        ReactAgent::builder("t", "", ScriptedModel::new(script))
            .tools(tools(&ledger))
            .intercept(Approval::new().tool("send"))
            .build()
            .unwrap()
    };
    let key = || ThreadKey::new(Tenant::default(), "t").unwrap();
    let first = agent(vec![asks(&[("send", "a"), ("send", "b")])]);
    let thread = first.graph().checkpointer(store.clone()).thread(key());
    let asked = waits(thread.invoke(first.ask("?"), ()).await.unwrap());
    let approve = json!({"decision": "approve"});
    waits(thread.answer(asked[0].id.clone(), &approve, ()).await.unwrap());
    drop(thread);

    let second = agent(vec![done()]);
    let thread = second.graph().checkpointer(store).thread(key());
    let answered = thread.answer(asked[1].id.clone(), &approve, ()).await.unwrap();
    answered.done().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["send a 5", "send b 5"]);
}

fn person(name: &str, role: &str) -> Answerer {
    Answerer::new(name, "test").role(role)
}

/// B116, B141, P46: the clerk has a minute, then the boss an hour; each is asked once, only those asked may answer, and what nobody has
/// decided is never made.
#[tokio::test]
async fn others_are_asked_when_nobody_answered_in_time() {
    let rule = |overdue| {
        ApprovalRule::new()
            .audience(Audience::everybody().role("clerk"))
            .within(Duration::from_secs(60))
            .escalate(Audience::everybody().role("boss"), Duration::from_secs(3_600))
            .overdue(overdue)
            .risk(Risk::External)
            .revision("7")
    };
    let approve = json!({"decision": "approve"});
    for (overdue, words) in [
        (Overdue::Reject, Some("nobody approved it in time")),
        (Overdue::Skip, Some("go on without it")),
        (Overdue::Halt, None),
    ] {
        let last = words.map_or_else(done, |words| done().contains(words));
        let script = vec![asks(&[("send", "a")]), last];
        let run = Run::new(Approval::new().tool_with("send", rule(overdue)), script);
        let of_clerk = run.open_questions().await.remove(0);
        let request = shown(&of_clerk);
        assert_eq!((request.risk, request.revision.as_deref()), (Risk::External, Some("7")));
        let as_boss = run.thread.clone().answering_as(person("eve", "boss"));
        let refused = as_boss.answer(of_clerk.id.clone(), &approve, ()).await.unwrap_err();
        assert!(matches!(refused, RunError::Forbidden { .. }), "{refused}");

        run.clock.0.store(61, Ordering::SeqCst);
        let as_clerk = run.thread.clone().answering_as(person("ann", "clerk"));
        let late = as_clerk.answer(of_clerk.id.clone(), &approve, ()).await.unwrap_err();
        assert!(matches!(late, RunError::Expired { .. }), "{late}");
        let of_boss = waits(run.thread.resume(()).await.unwrap()).remove(0);
        assert_eq!(of_boss.audience, Audience::everybody().role("boss"));
        assert_eq!(waits(run.thread.resume(()).await.unwrap()).len(), 1);
        let refused = as_clerk.answer(of_boss.id.clone(), &approve, ()).await.unwrap_err();
        assert!(matches!(refused, RunError::Forbidden { .. }), "{refused}");
        run.clock.0.store(61 + 3_600, Ordering::SeqCst);
        match words {
            Some(_) => drop(run.thread.resume(()).await.unwrap().done().unwrap()),
            None => {
                let failed = run.thread.resume(()).await.unwrap_err();
                assert!(matches!(failed, RunError::Node { .. }), "{failed}");
            }
        }
        assert!(run.made().is_empty());
    }
    let run = Run::new(
        Approval::new().tool_with("send", rule(Overdue::Reject)),
        vec![asks(&[("send", "a")]), done()],
    );
    run.open_questions().await;
    run.clock.0.store(61, Ordering::SeqCst);
    let of_boss = waits(run.thread.resume(()).await.unwrap()).remove(0);
    let as_boss = run.thread.clone().answering_as(person("eve", "boss"));
    as_boss.answer(of_boss.id, &approve, ()).await.unwrap().done().unwrap();
    assert_eq!(run.made(), ["send a 5"]);
}

/// B142: what a person rejected is not asked about again in the turn, whatever the spacing of its arguments is; other arguments are, and
/// the next turn is another.
#[tokio::test]
async fn a_rejected_call_is_refused_without_asking_again() {
    let again = call("send", r#"{ "amount" : 5, "to":"a" }"#);
    let run = Run::new(
        Approval::new().tool("send"),
        vec![
            asks(&[("send", "a")]),
            Exchange::says(again).contains("a person rejected it. too much"),
            asks(&[("send", "b")]).contains("is not asked again"),
            done(),
            asks(&[("send", "a")]),
            done(),
        ],
    );
    let asked = run.open_questions().await;
    let reject = json!({"decision": "reject", "message": "too much"});
    let asked = waits(run.answer(&asked[0], reject).await.unwrap());
    assert_eq!(shown(&asked[0]).arguments.as_str(), r#"{"to":"b","amount":5}"#);
    let state =
        run.answer(&asked[0], json!({"decision": "approve"})).await.unwrap().done().unwrap();
    assert_eq!((run.made(), state.usage.rejections()), (vec!["send b 5".to_owned()], 2));
    let asked = run.open_questions().await;
    run.answer(&asked[0], json!({"decision": "approve"})).await.unwrap().done().unwrap();
    assert_eq!(run.made(), ["send b 5", "send a 5"]);
}

/// B142: after three rejections the model has to answer: it is told so, and a turn in which it calls on ends.
#[tokio::test]
async fn after_three_rejections_the_agent_answers() {
    for (last, stopped) in [(done(), "answered"), (asks(&[("look", "x")]), "rejected")] {
        let run = Run::new(
            Approval::new().tool("send"),
            vec![
                asks(&[("send", "a"), ("send", "b"), ("send", "c")]),
                asks(&[("send", "d")]),
                last.contains("A person has rejected three calls"),
            ],
        );
        let mut outcome = run.thread.invoke(run.agent.ask("?"), ()).await.unwrap();
        while let Outcome::Interrupted(asked) = outcome {
            outcome = run.answer(&asked[0], json!({"decision": "reject"})).await.unwrap();
        }
        let state = outcome.done().unwrap();
        assert_eq!(state.stopped.map(StopReason::code), Some(stopped), "{state:?}");
        assert!(run.made().is_empty());
        run.model.finished().unwrap();
    }
}

/// The JSON of agent-chat-ui, there and back: one decision for each action, in their order, and never for another tool.
#[tokio::test]
async fn approvals_are_shown_and_decided_as_agent_chat_ui_does() {
    let calls = [("send", "a"), ("send", "b"), ("send", "c"), ("send", "d")];
    let run = Run::new(Approval::new().tool("send"), vec![asks(&calls), done()]);
    let open = run.open_questions().await;
    let chat = to_agent_chat(&open).unwrap();
    let action = &chat["action_requests"][1];
    assert_eq!(action["args"], json!({"to": "b", "amount": 5}));
    assert_eq!(
        (&action["name"], &action["risk"], action["id"].as_str()),
        (&json!("send"), &json!("destructive"), Some(&*open[1].id.0))
    );
    let review = &chat["review_configs"][1];
    assert_eq!(review["allowed_decisions"], json!(["approve", "edit", "reject", "respond"]));
    assert!(review["answers_schema"]["oneOf"].is_array());

    let edit =
        |name: &str| json!({"type": "edit", "edited_action": {"name": name, "args": {"to": "bo"}}});
    let decisions = |second: Value| {
        json!({"decisions": [
            {"type": "approve"}, second, {"type": "reject", "message": "no"},
            {"type": "respond", "message": "It is sent already."},
        ]})
    };
    let other = from_agent_chat(&open, &decisions(edit("look"))).unwrap_err();
    assert!(matches!(other, AgentChatError::OtherTool { number: 2, .. }), "{other}");
    let few = from_agent_chat(&open, &json!({"decisions": [{"type": "approve"}]})).unwrap_err();
    assert_eq!(
        few.to_string(),
        "there are 1 decisions for 4 actions: one for each, in their order"
    );
    let wrong = from_agent_chat(&open, &json!({"decisions": [{"type": "guess"}]})).unwrap_err();
    assert!(matches!(wrong, AgentChatError::Malformed(_)), "{wrong}");
    let answers = from_agent_chat(&open, &decisions(edit("send"))).unwrap();
    let stored = |(id, value)| (id, hanok_core::Stored::encode::<Value>(&value).unwrap());
    let input = Input::Answers(answers.into_iter().map(stored).collect());
    let state = run.thread.run(input, ()).await.unwrap().done().unwrap();
    let mut made = run.made();
    made.sort();
    assert_eq!(made, ["send a 5", "send bo 0"]);
    assert!(observations(&state).iter().any(|it| it.contains("It is sent already.")));
}
