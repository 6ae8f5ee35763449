//! Calls of tools that nobody has registered.

use hanok_agent::{
    Interceptor, NextTool, ToolCallError, ToolErrors, ToolNode, ToolRegistry, ToolRequest,
    ToolRunner, Verdict,
};
use hanok_core::{Call, Effect, Need};
use hanok_model::{FnTool, FromState, SharedTool, ToolError, ToolOutput, ToolSpec, tool};
use hanok_state::ToolCall;
use serde_json::json;

use super::{
    Trip, add, adds, asked, calls, fault, graph, make, node, pair, result, results, shared,
};
use crate::support::Ledger;

/// Has tools for names that begin with `magic_`.
#[derive(Debug, Default)]
struct Magic(Ledger);

/// Tells where the trip goes.
#[tool(effect = pure)]
async fn magic_place(nights: u32, trip: FromState<Trip>) -> String {
    format!("{nights} nights in {:?}", trip.city)
}

/// Needs what no graph here has.
#[tool(effect = pure)]
async fn magic_need(_number: FromState<u128>) -> String {
    "never".into()
}

fn magic(name: &str) -> Result<SharedTool, ToolError> {
    let schema = json!({"properties": {"value": {"type": "integer"}}});
    let spec = ToolSpec::new(name, "", schema).map_err(ToolError::failed)?;
    let tool = FnTool::untyped(spec, |arguments: hanok_state::Arguments, _: Call| async move {
        let arguments: serde_json::Value = arguments.decode().map_err(ToolError::arguments)?;
        match arguments["value"].as_i64() {
            Some(value) => Ok(format!("magic {}", value * 2).into()),
            None => Err(ToolError::failed("the magic is gone")),
        }
    });
    Ok(shared(tool.effect(Effect::Pure)))
}

impl Interceptor for Magic {
    async fn unregistered(
        &self,
        tool_call: &ToolCall,
        _: &Call,
    ) -> Result<Option<SharedTool>, ToolError> {
        self.0.lock().unwrap().push(format!("unregistered {}", tool_call.name));
        match tool_call.name.as_str() {
            "magic_door" => {
                let spec = ToolSpec::new("magic_door", "", json!({})).map_err(ToolError::failed)?;
                let run = |_, _| async { Ok(ToolOutput::new("through the door").goto("alice")) };
                Ok(Some(shared(FnTool::untyped(spec, run).effect(Effect::Pure))))
            }
            "magic_place" => Ok(Some(shared(magic_place))),
            "magic_need" => Ok(Some(shared(magic_need))),
            "magic_broken" => Err(ToolError::failed("the wand is broken")),
            name if name.starts_with("magic_") => magic(name).map(Some),
            _ => Ok(None),
        }
    }

    async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
        self.0.lock().unwrap().push(format!("admits {}", request.spec.name()));
        Ok(Verdict::Make)
    }
}

fn doubles(id: &str, value: i64) -> ToolCall {
    calls("magic_double", id, json!({"value": value}))
}

fn with(errors: ToolErrors) -> ToolNode {
    let registry = ToolRegistry::new([shared(add)]).unwrap().errors(errors);
    ToolNode::new(ToolRunner::new(registry)).intercept(Magic::default())
}

/// LangGraph: interceptor_can_handle_unregistered_tool_sync, …_async, interceptor_with_dict_input_format,
/// wrap_tool_call_override_unregistered_tool_with_custom_impl, awrap_….
#[tokio::test]
async fn an_interceptor_has_a_tool_for_an_unregistered_name() {
    let trip = make(with(ToolErrors::default()), [adds("1", 40, 2)]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "42")]);
    let trip = make(with(ToolErrors::default()), [doubles("2", 99)]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("2", "magic 198")]);
    let message = trip.talk.iter().last().unwrap();
    assert_eq!(message.metadata()["tool"].0, json!("magic_double"));
    assert_eq!(fault(&trip.talk, "2"), None);
}

/// LangGraph: interceptor_handles_mix_of_registered_and_unregistered.
#[tokio::test]
async fn registered_and_unregistered_calls_are_answered_in_their_order() {
    let of = [adds("1", 10, 0), doubles("2", 5), adds("3", 20, 0)];
    let trip = make(with(ToolErrors::default()), of).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "10"), pair("2", "magic 10"), pair("3", "20")]);
}

/// LangGraph: unregistered_tool_error_when_interceptor_calls_execute, and graceful_failure_when_hook_does_not_override_… and
/// graceful_failure_even_when_handle_errors_disabled_…, each sync and async. No interceptor around the call is run.
#[tokio::test]
async fn a_call_that_nobody_has_a_tool_for_is_told_to_the_model_under_every_policy() {
    #[derive(Debug)]
    struct HandsOn(Ledger);
    impl Interceptor for HandsOn {
        async fn around_tool(
            &self,
            request: &ToolRequest<'_>,
            call: &Call,
            next: NextTool<'_>,
        ) -> Result<ToolOutput, ToolError> {
            self.0.lock().unwrap().push(request.call.id.clone());
            next.run(call).await
        }
    }
    for errors in [ToolErrors::to_model(), ToolErrors::propagate()] {
        let seen = Ledger::default();
        let tools = with(errors).intercept(HandsOn(seen.clone()));
        let of = [adds("1", 40, 2), calls("gone", "2", json!({"x": 99}))];
        let trip = make(tools, of).await.unwrap();
        let want = "There is no tool `gone`. The tools are: `add`.";
        assert_eq!(results(&trip.talk), [pair("1", "42"), pair("2", want)]);
        assert_eq!(fault(&trip.talk, "2").as_deref(), Some("unknown_tool"));
        assert_eq!(*seen.lock().unwrap(), ["1"]);
    }
}

/// LangGraph: interceptor_command_for_unregistered_tool.
#[tokio::test]
async fn a_tool_of_an_interceptor_says_where_the_run_goes_on() {
    let trip = make(with(ToolErrors::default()), [calls("magic_door", "1", json!({}))]).await;
    let trip = trip.unwrap();
    assert_eq!(trip.visited, ["alice"]);
    assert_eq!(results(&trip.talk), [pair("1", "through the door")]);
}

/// LangGraph: interceptor_exception_with_unregistered_tool, async_…. An interceptor that fails before a call refuses it, under
/// every policy; the policy is for the tool that it gives.
#[tokio::test]
async fn an_interceptor_that_fails_refuses_the_call_and_its_tool_fails_as_others_do() {
    for errors in [ToolErrors::to_model(), ToolErrors::propagate()] {
        let trip = make(with(errors), [calls("magic_broken", "1", json!({}))]).await.unwrap();
        let want = "The call of `magic_broken` was not made: the wand is broken";
        assert_eq!(results(&trip.talk), [pair("1", want)]);
        assert_eq!(fault(&trip.talk, "1").as_deref(), Some("denied"));
    }
    let of = || [calls("magic_double", "1", json!({}))];
    let trip = make(with(ToolErrors::to_model()), of()).await.unwrap();
    assert!(result(&trip.talk, "1").contains("the magic is gone"));
    let error = make(with(ToolErrors::propagate()), of()).await.unwrap_err();
    let cause = error.downcast_ref::<ToolCallError>().unwrap();
    let ToolCallError::Failed { tool, source, .. } = cause else { panic!("{cause:?}") };
    assert_eq!((tool.as_str(), source.to_string()), ("magic_double", "the magic is gone".into()));
}

/// LangGraph: interceptor_verifies_tool_is_none_for_unregistered. A method of its own here, and a registered name does not come
/// to it.
#[tokio::test]
async fn an_interceptor_is_asked_for_a_tool_only_where_there_is_none() {
    let seen = Ledger::default();
    let tools = || node([shared(add)]).intercept(Magic(seen.clone()));
    make(tools(), [adds("1", 1, 2)]).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["admits add"]);
    seen.lock().unwrap().clear();
    make(tools(), [doubles("1", 1)]).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["unregistered magic_double", "admits magic_double"]);
    seen.lock().unwrap().clear();
    make(tools(), [calls("gone", "1", json!({}))]).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["unregistered gone"]);
}

/// LangGraph: wrap_tool_call_override_unregistered_tool_with_custom_impl. The call is checked as every other, and the first that has a tool gives it.
#[tokio::test]
async fn a_tool_of_an_interceptor_has_a_schema_and_the_first_is_taken() {
    let (first, second) = (Ledger::default(), Ledger::default());
    let tools =
        node([shared(add)]).intercept(Magic(first.clone())).intercept(Magic(second.clone()));
    let of = [calls("magic_double", "1", json!({"value": "two"})), doubles("2", 2)];
    let trip = make(tools, of).await.unwrap();
    let text = result(&trip.talk, "1");
    assert!(text.starts_with("The arguments do not fit `magic_double`"), "{text}");
    assert_eq!(result(&trip.talk, "2"), "magic 4");
    let unregistered = |seen: &Ledger| {
        seen.lock().unwrap().iter().filter(|it| it.starts_with("unregistered")).count()
    };
    assert_eq!((unregistered(&first), unregistered(&second)), (2, 0));
}

/// LangGraph: tool_node_inject_runtime_dynamic_tool_via_wrap_tool_call, …_async.
#[tokio::test]
async fn a_tool_of_an_interceptor_sees_the_run() {
    let of = calls("magic_place", "1", json!({"nights": 42}));
    let graph = graph(with(ToolErrors::default()));
    let input = asked([of]).city(Some("Busan".into()));
    let trip = graph.invoke(input, ()).await.unwrap().done().unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "42 nights in Some(\"Busan\")")]);

    let of = calls("magic_need", "1", json!({}));
    let error = make(with(ToolErrors::default()), [of]).await.unwrap_err();
    let cause = error.downcast_ref::<ToolCallError>().unwrap();
    let ToolCallError::Failed { source: ToolError::NotProvided { need }, .. } = cause else {
        panic!("{cause:?}")
    };
    assert_eq!(*need, Need::of::<u128>());
}
