//! Interceptors: their order, what is memoised, and what a verdict does.

use std::sync::{Arc, Mutex};

use hanok_agent::{
    ApprovalTerms, Decision, Intercepted, Interceptor, NextModel, NextTool, Protocol, ReactAgent,
    ToolRequest, Verdict,
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Stored, Tenant, ThreadKey};
use hanok_graph::{Input, Outcome};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, ModelError, Price, Priced, ScriptedModel,
    ToolError, ToolOutput,
};
use hanok_state::{Arguments, Message, ToolCall};

use crate::support::{Ledger, call, observations, tools};

/// Writes down what passes, under its name.
#[derive(Debug)]
struct Passing(&'static str, Ledger);

impl Passing {
    fn note(&self, what: &str) {
        self.1.lock().unwrap().push(format!("{} {what}", self.0));
    }
}

impl Interceptor for Passing {
    async fn admit(&self, asked: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        self.note(&format!("admits {}", asked.call.name));
        Ok(Verdict::Make)
    }

    async fn around_tool(
        &self,
        _: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        self.note("before the tool");
        let made = next.run(call).await;
        self.note("after the tool");
        made.map(|output| ToolOutput::new(format!("{}({})", self.0, output.text)))
    }

    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        self.note("before the model");
        let request = request.message(Message::system(self.0));
        let reply = next.run(request, call).await;
        self.note("after the model");
        reply
    }
}

#[tokio::test]
async fn the_first_that_was_added_is_the_outermost() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        Exchange::says(call("find", r#"{"q": "a"}"#)),
        Exchange::says("Final Answer: done").contains("outer(inner(found a))"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&Ledger::default()))
        .intercept(Passing("outer", ledger.clone()))
        .intercept(Passing("inner", ledger.clone()))
        .build()
        .unwrap();
    agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    let of_model = [
        "outer before the model",
        "inner before the model",
        "inner after the model",
        "outer after the model",
    ];
    let of_tool = [
        "outer admits find",
        "inner admits find",
        "outer before the tool",
        "inner before the tool",
        "inner after the tool",
        "outer after the tool",
    ];
    assert_eq!(*ledger.lock().unwrap(), [&of_model[..], &of_tool, &of_model].concat());
    let sent = &model.requests()[0].messages;
    let added: Vec<_> = sent.iter().skip(2).map(|m| m.text().into_owned()).collect();
    assert_eq!(added, ["outer", "inner"]);
}

/// What becomes of a call, by the text that it asks for.
#[derive(Debug)]
struct Judge;

impl Interceptor for Judge {
    async fn admit(&self, asked: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        let q: serde_json::Value = asked.call.arguments.decode().unwrap();
        Ok(match q["q"].as_str().unwrap() {
            "change" => Verdict::Change(Arguments::new(r#"{"q":"changed"}"#)),
            "break" => Verdict::Change(Arguments::new(r#"{"q":7}"#)),
            "refuse" => Verdict::Refuse("not today".into()),
            "give" => Verdict::Give(ToolOutput::new("given")),
            "fail" => return Err(ToolError::failed("the judge is ill")),
            "ask" => Verdict::Ask(ApprovalTerms::new().describe(asked.call.id.clone())),
            _ => Verdict::Make,
        })
    }
}

fn calls(of: &[&str]) -> String {
    of.iter().map(|q| call("find", &format!(r#"{{"q": "{q}"}}"#))).collect()
}

/// The same calls, as a model of the native protocol makes them.
fn native_calls(of: &[&str]) -> Exchange {
    Exchange::calls(of.iter().map(|q| ToolCall {
        id: format!("c-{q}"),
        name: "find".into(),
        arguments: Arguments::new(format!(r#"{{"q": "{q}"}}"#)),
    }))
}

#[tokio::test]
async fn a_verdict_decides_about_the_call() {
    for protocol in [Protocol::Text, Protocol::Native] {
        let ledger = Ledger::default();
        let kinds = ["plain", "change", "break", "refuse", "give", "fail"];
        let asked = match protocol {
            Protocol::Native => native_calls(&kinds),
            _ => Exchange::says(calls(&kinds)),
        };
        let model = ScriptedModel::new([asked, Exchange::says("Final Answer: x")]);
        let agent = ReactAgent::builder("t", "", model).tools(tools(&ledger)).protocol(protocol);
        let agent = agent.intercept(Judge).build().unwrap();
        let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
        assert_eq!(*ledger.lock().unwrap(), ["find plain", "find changed"]);
        let label = if protocol == Protocol::Text { "Observation: " } else { "" };
        let want = [
            "found plain",
            "[made with the arguments {\"q\":\"changed\"} instead]\nfound changed",
            "The arguments do not fit `find`, so it was not run. `q` has to be of type string, and is 7. Correct them and call it again.",
            "The call of `find` was not made: not today",
            "given",
            "The call of `find` was not made: the judge is ill",
        ];
        assert_eq!(observations(&state), want.map(|text| format!("{label}{text}")));
        assert_eq!((state.usage.spent.tool_calls, state.usage.tools["find"]), (2, 2));
    }
}

/// B69: the calls beside it are made, and what is finished is not made or judged again.
#[tokio::test]
async fn an_interceptor_may_ask_a_person_and_only_that_call_waits() {
    let (ledger, passed) = (Ledger::default(), Ledger::default());
    let model = ScriptedModel::new([
        Exchange::says(calls(&["a", "ask", "b", "ask"])),
        Exchange::says("Final Answer: x"),
    ]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&ledger))
        .intercept(Passing("p", passed.clone()))
        .intercept(Judge)
        .build()
        .unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let asked = thread.invoke(agent.ask("?"), ()).await.unwrap();
    let Outcome::Interrupted(asked) = asked else { panic!("{asked:?}") };
    assert_eq!(asked.len(), 2);
    assert_eq!(*ledger.lock().unwrap(), ["find a", "find b"]);
    let count = |what: &str| passed.lock().unwrap().iter().filter(|p| p.contains(what)).count();
    assert_eq!((count("admits"), count("before the tool"), count("before the model")), (4, 2, 1));

    let reject = Decision::Reject { message: Some("no".into()) };
    let answers = asked.iter().map(|asked| (asked.id.clone(), Stored::encode(&reject).unwrap()));
    let state = thread.run(Input::Answers(answers.collect()), ()).await.unwrap().done().unwrap();
    assert_eq!(*ledger.lock().unwrap(), ["find a", "find b"]);
    assert_eq!((count("admits"), count("before the tool"), count("before the model")), (4, 2, 2));
    let refused = "Observation: The call of `find` was not made: a person rejected it. no";
    assert_eq!(observations(&state)[1], refused);
    model.finished().unwrap();
}

#[tokio::test]
async fn a_model_has_interceptors_outside_an_agent_too() {
    let ledger = Ledger::default();
    let model = Intercepted::new(ScriptedModel::new([Exchange::says("hi").contains("outer")]))
        .intercept(Passing("outer", ledger.clone()))
        .intercept(Passing("inner", ledger.clone()));
    let call = Call::new(hanok_core::CallKey::new("k"), Arc::new(Clock));
    let reply = model.chat(ChatRequest::new(["?"]), &call).await.unwrap();
    assert_eq!(reply.message.text(), "hi");
    assert_eq!(ledger.lock().unwrap().len(), 4);
}

#[derive(Debug)]
struct Clock;

impl hanok_core::Clock for Clock {
    fn now(&self) -> hanok_core::Timestamp {
        hanok_core::Timestamp::default()
    }

    fn sleep(&self, _: std::time::Duration) -> hanok_core::BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What a turn used is counted once, whoever finished it: also what was tried and did not work.
#[tokio::test(start_paused = true)]
async fn usage_is_right_after_a_crash() {
    let ledger: Ledger = Arc::new(Mutex::default());
    let asked = calls(&["a"]) + &call("find", r#"{"q": "slow", "wait": 1000}"#) + &calls(&["a"]);
    let model = ScriptedModel::new([
        Exchange::says(asked).usage(100, 10),
        Exchange::says("Final Answer: x").usage(200, 20),
        Exchange::says("Final Answer: y").usage(7, 1),
    ]);
    let priced = Priced::new(model.clone(), Price { input: 1_000_000, output: 2_000_000 });
    let agent = ReactAgent::builder("t", "", priced).tools(tools(&ledger)).build().unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key);
    let run = thread.invoke(agent.ask("?"), ());
    tokio::time::timeout(std::time::Duration::from_millis(500), run).await.unwrap_err();
    let usage = thread.resume(()).await.unwrap().done().unwrap().usage;
    assert_eq!(
        (usage.spent.model_calls, usage.spent.input_tokens, usage.spent.output_tokens),
        (2, 300, 30)
    );
    assert_eq!((usage.spent.tool_calls, usage.tools["find"], usage.estimated), (3, 3, false));
    assert_eq!(usage.spent.cost, 360);
    assert_eq!(thread.state(None).await.unwrap().unwrap().usage, usage);
    // Another turn begins at nothing.
    let state = thread.invoke(agent.ask("again?"), ()).await.unwrap().done().unwrap();
    assert_eq!((state.usage.spent.tokens(), state.usage.tools.len()), (8, 0));
}
