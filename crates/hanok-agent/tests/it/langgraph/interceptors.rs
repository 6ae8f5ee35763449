//! Interceptors around calls: what LangGraph does by `wrap_tool_call`.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use hanok_agent::{
    AgentState, Interceptor, NextTool, Protocol, ReactAgent, ToolCallError, ToolErrors, ToolNode,
    ToolRegistry, ToolRequest, ToolRunner, Verdict,
};
use hanok_core::{Call, Effect};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_model::{
    Exchange, FnTool, ScriptedModel, SharedTool, Tool, ToolError, ToolOutput, ToolSpec, ToolTarget,
    tool,
};
use hanok_state::{Arguments, Role, State, ToolCall};
use serde_json::{Value, json};

use super::{
    Trip, add, adds, asked, calls, divide, fault, graph, make, node, pair, result, results, shared,
};
use crate::support::{
    Ledger,
    desk::{App, Desk, desk, native},
};

type Judge = dyn Fn(&ToolRequest<'_>, &Call) -> Result<Verdict, ToolError> + Send + Sync;
type Made = Result<ToolOutput, ToolError>;

/// An interceptor that is a function of a call before it is made.
struct Before(Box<Judge>);

/// An interceptor that is a function of what a tool gave.
struct After(Box<dyn Fn(Made) -> Made + Send + Sync>);

impl fmt::Debug for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Before")
    }
}

impl fmt::Debug for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("After")
    }
}

impl Interceptor for Before {
    async fn admit(&self, request: &ToolRequest<'_>, call: &Call) -> Result<Verdict, ToolError> {
        (self.0)(request, call)
    }
}

impl Interceptor for After {
    async fn around_tool(&self, _: &ToolRequest<'_>, call: &Call, next: NextTool<'_>) -> Made {
        (self.0)(next.run(call).await)
    }
}

fn before(
    judge: impl Fn(&ToolRequest<'_>, &Call) -> Result<Verdict, ToolError> + Send + Sync + 'static,
) -> Before {
    Before(Box::new(judge))
}

fn after(made: impl Fn(Made) -> Made + Send + Sync + 'static) -> After {
    After(Box::new(made))
}

fn a(call: &ToolCall) -> i64 {
    let arguments: Value = call.arguments.decode().unwrap();
    arguments["a"].as_i64().unwrap()
}

/// `add` that notes its calls.
fn noting(ledger: &Ledger) -> SharedTool {
    let ledger = ledger.clone();
    let run = move |arguments: Arguments, call: Call| {
        ledger.lock().unwrap().push(arguments.as_str().to_owned());
        async move { add.run(&arguments, &call).await }
    };
    shared(FnTool::untyped(add.spec().clone(), run).effect(Effect::Pure))
}

fn failing(errors: ToolErrors) -> ToolNode {
    let registry = ToolRegistry::new([shared(add), shared(divide)]).unwrap();
    ToolNode::new(ToolRunner::new(registry.errors(errors)))
}

/// LangGraph: passthrough_handler, …_async.
#[tokio::test]
async fn an_interceptor_that_hands_on_changes_nothing() {
    let of = || [adds("1", 1, 2)];
    let plain = make(node([shared(add)]), of()).await.unwrap();
    let watched = node([shared(add)])
        .intercept(before(|_, _| Ok(Verdict::Make)))
        .intercept(after(|made| made));
    let watched = make(watched, of()).await.unwrap();
    assert_eq!(results(&watched.talk), [pair("1", "3")]);
    assert_eq!(fault(&watched.talk, "1"), None);
    assert_eq!(results(&plain.talk), results(&watched.talk));
}

/// LangGraph: modify_arguments, handler_with_async_execution, tool_call_request_is_frozen. The model reads with which arguments
/// the call was made, and its own stay in the conversation.
#[tokio::test]
async fn an_interceptor_changes_arguments_and_the_model_reads_so() {
    let double = before(|request, _| {
        let Value::Object(mut arguments) = request.call.arguments.decode().unwrap() else {
            panic!()
        };
        arguments.values_mut().for_each(|it| *it = json!(it.as_i64().unwrap() * 2));
        Ok(Verdict::Change(Arguments::new(Value::Object(arguments).to_string())))
    });
    let trip = make(node([shared(add)]).intercept(double), [adds("1", 1, 2)]).await.unwrap();
    let want = "[made with the arguments {\"a\":2,\"b\":4} instead]\n6";
    assert_eq!(results(&trip.talk), [pair("1", want)]);
    let written = trip.talk.iter().next().unwrap().tool_calls()[0].arguments.clone();
    assert_eq!(written.as_str(), r#"{"a":1,"b":2}"#);
}

/// LangGraph: handler_with_handle_tool_errors_true. It sees a message there; here the error itself, before any policy.
#[tokio::test]
async fn an_interceptor_sees_the_error_and_the_policy_comes_behind_it() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = after(move |made| {
        notes.lock().unwrap().push(made.as_ref().unwrap_err().to_string());
        made
    });
    let tools = failing(ToolErrors::to_model()).intercept(watch);
    let trip = make(tools, [calls("divide", "1", json!({"a": 1, "b": 0}))]).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["division by zero"]);
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("failed"));
}

/// LangGraph: multiple_tool_calls_with_handler.
#[tokio::test]
async fn an_interceptor_sees_each_of_several_calls_once() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = before(move |request, _| {
        notes.lock().unwrap().push(request.call.id.clone());
        Ok(Verdict::Make)
    });
    let of = [adds("1", 1, 2), adds("2", 3, 4), adds("3", 5, 6)];
    let trip = make(node([shared(add)]).intercept(watch), of).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "3"), pair("2", "7"), pair("3", "11")]);
    assert_eq!(*seen.lock().unwrap(), ["1", "2", "3"]);
}

/// LangGraph: tool_call_request_dataclass.
#[tokio::test]
async fn a_request_has_the_call_its_tool_and_the_turn() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = before(move |request, _| {
        let (call, before) = (&request.call, request.before.iter().map(|it| it.id.as_str()));
        let told = format!(
            "{} {} {} {:?} {} after {:?}",
            call.name,
            call.arguments,
            request.spec.name(),
            request.effect,
            request.messages.iter().count(),
            before.collect::<Vec<_>>(),
        );
        notes.lock().unwrap().push(told);
        Ok(Verdict::Make)
    });
    make(node([shared(add)]).intercept(watch), [adds("1", 1, 2), adds("2", 3, 4)]).await.unwrap();
    let want =
        [r#"add {"a":1,"b":2} add Pure 1 after []"#, r#"add {"a":3,"b":4} add Pure 1 after ["1"]"#];
    assert_eq!(*seen.lock().unwrap(), want);
}

/// LangGraph: short_circuit_with_tool_message, direct_return_tool_message, both …_async, and
/// handler_cannot_yield_request_after_tool_message.
#[tokio::test]
async fn an_interceptor_gives_a_result_and_the_call_is_not_made() {
    let made = Ledger::default();
    let give = before(|_, _| Ok(Verdict::Give(ToolOutput::new("cached").data(json!(3)))));
    let trip = make(node([noting(&made)]).intercept(give), [adds("1", 1, 2)]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "cached")]);
    let message = trip.talk.iter().last().unwrap();
    assert_eq!((message.role(), message.metadata()["data"].0.clone()), (Role::Tool, json!(3)));
    assert_eq!(message.metadata()["tool"].0, json!("add"));
    assert_eq!(made.lock().unwrap().len(), 0);

    // So does one that stands around the call and does not hand it on.
    #[derive(Debug)]
    struct Instead;
    impl Interceptor for Instead {
        async fn around_tool(&self, _: &ToolRequest<'_>, _: &Call, _: NextTool<'_>) -> Made {
            Ok("instead".into())
        }
    }
    let trip = make(node([noting(&made)]).intercept(Instead), [adds("1", 1, 2)]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "instead")]);
    assert_eq!(made.lock().unwrap().len(), 0);
}

/// LangGraph: conditional_short_circuit, conditional_direct_return.
#[tokio::test]
async fn an_interceptor_decides_by_the_arguments() {
    let made = Ledger::default();
    let even = before(|request, _| match a(&request.call) {
        a if a % 2 == 0 => Ok(Verdict::Give(format!("cached {a}").into())),
        _ => Ok(Verdict::Make),
    });
    let of = [adds("1", 2, 3), adds("2", 3, 4), adds("3", 0, 5)];
    let trip = make(node([noting(&made)]).intercept(even), of).await.unwrap();
    let want = [pair("1", "cached 2"), pair("2", "7"), pair("3", "cached 0")];
    assert_eq!(results(&trip.talk), want);
    assert_eq!(*made.lock().unwrap(), [r#"{"a":3,"b":4}"#]);
}

fn rejects() -> After {
    after(|made| match made {
        Ok(output) => Err(ToolError::failed(format!("{} is not accepted", output.text))),
        error => error,
    })
}

/// LangGraph: handler_can_throw_exception, async_handler_can_throw_exception.
#[tokio::test]
async fn an_error_of_an_interceptor_is_told_to_the_model() {
    let trip = make(failing(ToolErrors::to_model()).intercept(rejects()), [adds("1", 1, 2)]).await;
    let text = result(&trip.unwrap().talk, "1");
    assert_eq!(text, "The tool `add` gave no result: 3 is not accepted");

    // Before the call it is a refusal.
    let made = Ledger::default();
    let ill = before(|_, _| Err(ToolError::failed("the judge is ill")));
    let trip = make(node([noting(&made)]).intercept(ill), [adds("1", 1, 2)]).await.unwrap();
    assert_eq!(result(&trip.talk, "1"), "The call of `add` was not made: the judge is ill");
    assert_eq!(
        (fault(&trip.talk, "1").as_deref(), made.lock().unwrap().len()),
        (Some("denied"), 0)
    );
}

/// LangGraph: handler_throw_without_handle_errors.
#[tokio::test]
async fn an_error_around_a_call_fails_the_run_where_a_tools_does() {
    let tools = failing(ToolErrors::propagate()).intercept(rejects());
    let error = make(tools, [adds("1", 1, 2)]).await.unwrap_err();
    let cause = error.downcast_ref::<ToolCallError>().unwrap();
    let ToolCallError::Failed { tool, call, source } = cause else { panic!("{cause:?}") };
    assert_eq!((tool.as_str(), call.as_str()), ("add", "1"));
    assert_eq!(source.to_string(), "3 is not accepted");
}

/// LangGraph: retry_middleware_with_exception, and without its early end.
#[tokio::test]
async fn an_interceptor_makes_a_call_again() {
    #[derive(Debug)]
    struct Thrice;
    impl Interceptor for Thrice {
        async fn around_tool(&self, _: &ToolRequest<'_>, call: &Call, next: NextTool<'_>) -> Made {
            for _ in 0..2 {
                if let Ok(output) = next.run(call).await {
                    return Ok(output);
                }
            }
            next.run(call).await
        }
    }
    for (failures, tries, want) in [(0, 1, "done"), (2, 3, "done"), (3, 3, "gave no result")] {
        let made = Ledger::default();
        let notes = made.clone();
        let flaky = move |_, _| {
            let mut notes = notes.lock().unwrap();
            notes.push("tried".into());
            let fails = notes.len() <= failures;
            async move { if fails { Err(ToolError::failed("offline")) } else { Ok("done".into()) } }
        };
        let spec = ToolSpec::new("flaky", "Works at times", json!({})).unwrap();
        let flaky = shared(FnTool::untyped(spec, flaky).effect(Effect::Pure));
        let trip = make(node([flaky]).intercept(Thrice), [calls("flaky", "1", json!({}))]).await;
        let text = result(&trip.unwrap().talk, "1");
        assert!(text.contains(want), "{failures}: {text}");
        assert_eq!(made.lock().unwrap().len(), tries, "{failures}");
    }
}

/// LangGraph: handler_can_short_circuit_with_command, handler_cannot_yield_multiple_commands,
/// handler_cannot_yield_request_after_command.
#[tokio::test]
async fn a_result_of_an_interceptor_says_where_the_run_goes_on() {
    let made = Ledger::default();
    let give = before(|_, _| {
        let output = ToolOutput::new("rather not").goto("alice").update(&Trip::update().days(2))?;
        Ok(Verdict::Give(output))
    });
    let trip = make(node([noting(&made)]).intercept(give), [adds("1", 1, 2)]).await.unwrap();
    assert_eq!((trip.visited.as_slice(), trip.days), (&["alice".to_owned()][..], 2));
    assert_eq!(results(&trip.talk), [pair("1", "rather not")]);
    assert_eq!(made.lock().unwrap().len(), 0);
}

/// Goes on at a node.
#[tool(effect = pure)]
async fn go(to: String) -> ToolOutput {
    ToolOutput::new(format!("on to {to}")).goto(to)
}

/// LangGraph: tool_returning_command_sent_to_handler, handler_can_modify_command_from_tool.
#[tokio::test]
async fn an_interceptor_sees_and_changes_where_a_tool_lets_the_run_go_on() {
    let seen: Arc<Mutex<Vec<Option<ToolTarget>>>> = Arc::default();
    let of = || [calls("go", "1", json!({"to": "alice"}))];
    let notes = seen.clone();
    let watch = after(move |made| {
        let output = made?;
        notes.lock().unwrap().push(output.target.clone());
        Ok(output)
    });
    let trip = make(node([shared(go)]).intercept(watch), of()).await.unwrap();
    assert_eq!(trip.visited, ["alice"]);
    assert_eq!(*seen.lock().unwrap(), [Some(ToolTarget::Node("alice".into()))]);

    let change = after(|made| Ok(made?.goto("bob")));
    let trip = make(node([shared(go)]).intercept(change), of()).await.unwrap();
    assert_eq!(trip.visited, ["bob"]);
    assert_eq!(results(&trip.talk), [pair("1", "on to alice")]);
}

/// LangGraph: state_extraction_with_dict_input, list_form_send_hydrates_state_from_channel_read, …_async.
#[tokio::test]
async fn an_interceptor_sees_the_whole_state() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = before(move |_, call| {
        let trip = call.provided::<Trip>().ok_or_else(|| ToolError::failed("no state"))?;
        notes.lock().unwrap().push(format!("{:?} {}", trip.city, trip.talk.iter().count()));
        Ok(Verdict::Make)
    });
    let graph = graph(node([shared(add)]).intercept(watch));
    let input = asked([adds("1", 1, 2)]).city(Some("Busan".into()));
    graph.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!(*seen.lock().unwrap(), [r#"Some("Busan") 1"#]);
}

/// LangGraph: state_extraction_with_list_input. Calls without a conversation have no state, and an empty one.
#[tokio::test]
async fn an_interceptor_of_calls_without_a_conversation_sees_none() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = before(move |request, call| {
        let state = call.provided::<Trip>().is_some();
        notes.lock().unwrap().push(format!("{state} {}", request.messages.iter().count()));
        Ok(Verdict::Make)
    });
    let runner = ToolRunner::new(ToolRegistry::new([shared(add)]).unwrap()).intercept(watch);
    let alone = move |_: Snapshot<Trip>, cx: Context| {
        let runner = runner.clone();
        async move {
            let made = runner.run(&cx, &adds("1", 1, 2)).await?;
            Ok::<_, ToolCallError>(Trip::update().push_visited(made.observation.text))
        }
    };
    let graph = Graph::<Trip>::builder("alone").node("a", alone).edge(START, "a").edge("a", END);
    let trip = graph.build().unwrap().invoke(Trip::update(), ()).await.unwrap().done().unwrap();
    assert_eq!(
        (trip.visited, seen.lock().unwrap().clone()),
        (vec!["3".into()], vec!["false 0".into()])
    );
}

/// LangGraph: state_extraction_with_tool_call_with_context, …_async: in an agent.
#[tokio::test]
async fn an_interceptor_of_an_agent_sees_its_state_and_the_part_of_every_agent() {
    let seen = Ledger::default();
    let notes = seen.clone();
    let watch = before(move |request, call| {
        let desk = call.provided::<Desk>().ok_or_else(|| ToolError::failed("no desk"))?;
        let own = call.provided::<AgentState>().ok_or_else(|| ToolError::failed("no agent"))?;
        let app = call.provided::<App>().ok_or_else(|| ToolError::failed("no app"))?;
        let (agent, calls) = (request.turn.agent, own.iteration);
        notes.lock().unwrap().push(format!("{} {agent} {calls} {}", desk.customer, app.user));
        Ok(Verdict::Make)
    });
    let model = ScriptedModel::new([
        Exchange::calls([native("1", "order", "tea")]),
        Exchange::says("done"),
    ]);
    let agent = desk(&model).intercept(watch).build().unwrap();
    let input = agent.ask("?").customer("Kim");
    agent.graph().invoke(input, App::of("Lee")).await.unwrap().done().unwrap();
    assert_eq!(*seen.lock().unwrap(), ["Kim desk 1 Lee"]);
}

/// LangGraph: interceptor_can_redirect_to_another_tool. There by the call's name; here by a tool in the interceptor's hand.
#[tokio::test]
async fn an_interceptor_makes_the_call_of_another_tool() {
    #[derive(Debug)]
    struct Divides;
    impl Interceptor for Divides {
        async fn around_tool(
            &self,
            request: &ToolRequest<'_>,
            call: &Call,
            _: NextTool<'_>,
        ) -> Made {
            divide.run(&request.call.arguments, call).await
        }
    }
    let model = ScriptedModel::new([Exchange::calls([adds("1", 6, 3)]), Exchange::says("done")]);
    let agent = ReactAgent::builder("sums", "", model)
        .protocol(Protocol::Native)
        .tool(add)
        .intercept(Divides)
        .build()
        .unwrap();
    let state = agent.graph().invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    assert_eq!(results(&state.messages), [pair("1", "2")]);
}
