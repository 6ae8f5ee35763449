//! What becomes of a call that fails.

use hanok_agent::{
    FaultKind, Handling, ToolCallError, ToolErrors, ToolNode, ToolRegistry, ToolRunner,
};
use hanok_checkpoint::{InMemoryCheckpointer, SharedStore};
use hanok_core::{Call, Request, Stored, ThreadKey};
use hanok_graph::{Outcome, RunError};
use hanok_model::{FromState, InjectedTool, SharedTool, ToolError, tool};
use hanok_state::ToolCall;
use serde_json::json;

use super::{
    Trip, add, adds, asked, calls, divide, fault, graph, make, node, pair, pay, result, results,
    shared,
};

fn divides(id: &str, b: i64) -> ToolCall {
    calls("divide", id, json!({"a": 1, "b": b}))
}

fn pays(id: &str, amount: u32) -> ToolCall {
    calls("pay", id, json!({"amount": amount}))
}

fn tools() -> [SharedTool; 3] {
    [shared(add), shared(divide), shared(pay)]
}

fn with(errors: ToolErrors) -> ToolNode {
    ToolNode::new(ToolRunner::new(ToolRegistry::new(tools()).unwrap().errors(errors)))
}

/// The call that failed the run, and in which words.
fn failed(error: &RunError) -> (String, String) {
    match error.downcast_ref::<ToolCallError>() {
        Some(ToolCallError::Failed { call, source, .. }) => (call.clone(), source.to_string()),
        other => panic!("{other:?} of {error:?}"),
    }
}

/// LangGraph: tool_node_error_handling_default_invocation.
#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let wrong = calls("add", "1", json!({"invalid": 0, "args": "foo"}));
    let trip = make(node(tools()), [wrong]).await.unwrap();
    let text = result(&trip.talk, "1");
    assert!(text.starts_with("The arguments do not fit `add`, so it was not run."), "{text}");
    for part in ["`a` is missing", "`b` is missing", "`invalid`", "`args`"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("bad_arguments"));
}

/// LangGraph: tool_node_error_handling_default_exception. There the run fails; here the model reads the error, unless a policy
/// says otherwise.
#[tokio::test]
async fn an_error_of_a_tool_is_told_to_the_model_by_default() {
    let trip = make(node(tools()), [divides("1", 0)]).await.unwrap();
    let want = "The tool `divide` gave no result: division by zero";
    assert_eq!(results(&trip.talk), [pair("1", want)]);
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("failed"));
}

/// LangGraph: tool_node_error_handling.
#[tokio::test]
async fn every_kind_of_error_may_be_told_to_the_model() {
    let by_kind = [FaultKind::Failed, FaultKind::Refused];
    let by_kind = by_kind
        .into_iter()
        .fold(ToolErrors::propagate(), |errors, kind| errors.for_kind(kind, Handling::ToModel));
    for errors in [ToolErrors::to_model(), ToolErrors::by(|_| Handling::ToModel), by_kind] {
        let of = [divides("1", 0), pays("2", 0), calls("add", "3", json!({"a": 0}))];
        let trip = make(with(errors), of).await.unwrap();
        let faults = ["1", "2", "3"].map(|id| fault(&trip.talk, id).unwrap());
        assert_eq!(faults, ["failed", "refused", "bad_arguments"]);
        assert!(result(&trip.talk, "1").contains("division by zero"));
        assert!(result(&trip.talk, "2").contains("there is nothing to pay"));
        assert!(result(&trip.talk, "3").contains("`b` is missing"));
    }
}

/// LangGraph: tool_node_error_handling_callable. What it infers of a handler's types is a kind here.
#[tokio::test]
async fn a_function_tells_some_errors_and_fails_the_run_with_others() {
    let only = |kind: FaultKind| {
        ToolErrors::by(move |failed| match failed.kind == kind {
            true => Handling::Say(format!("no luck with {}", failed.tool)),
            false => Handling::Propagate,
        })
    };
    let trip = make(with(only(FaultKind::Failed)), [divides("1", 0)]).await.unwrap();
    assert_eq!(results(&trip.talk), [pair("1", "no luck with divide")]);
    let both = || [divides("1", 0), pays("2", 0)];
    let error = make(with(only(FaultKind::Failed)), both()).await.unwrap_err();
    assert_eq!(failed(&error), pair("2", "refused: there is nothing to pay"));
    let error = make(with(only(FaultKind::Refused)), both()).await.unwrap_err();
    assert_eq!(failed(&error), pair("1", "division by zero"));
}

/// LangGraph: tool_node_handle_tool_errors_false. Arguments that do not fit fail no run here: they are the model's mistake.
#[tokio::test]
async fn an_error_of_a_tool_may_fail_the_run() {
    let error = make(with(ToolErrors::propagate()), [divides("1", 0)]).await.unwrap_err();
    assert_eq!(failed(&error), pair("1", "division by zero"));
    let error = make(with(ToolErrors::propagate()), [pays("1", 0)]).await.unwrap_err();
    assert_eq!(failed(&error), pair("1", "refused: there is nothing to pay"));
    let bad = calls("add", "1", json!({"a": 0}));
    let trip = make(with(ToolErrors::propagate()), [bad]).await.unwrap();
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("bad_arguments"));
}

/// LangGraph: tool_node_individual_tool_error_handling. The policy of the registry knows the tool; a tool has none of its own.
#[tokio::test]
async fn the_errors_of_one_tool_are_handled_by_themselves() {
    let errors = ToolErrors::by(|failed| match failed.tool {
        "pay" => Handling::Say("the till is closed".into()),
        _ => Handling::Say("something went wrong".into()),
    });
    let trip = make(with(errors), [pays("1", 0), divides("2", 0)]).await.unwrap();
    let want = [pair("1", "the till is closed"), pair("2", "something went wrong")];
    assert_eq!(results(&trip.talk), want);
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("refused"));
}

/// Asks where to go.
#[tool(effect = pure)]
async fn choose(call: Call) -> Result<String, ToolError> {
    let question = Request::new(Stored::encode("where to?").map_err(ToolError::failed)?);
    let answer = call.question(question).await?;
    answer.decode().map_err(ToolError::failed)
}

/// LangGraph: tool_node_node_interrupt (tool node).
#[tokio::test]
async fn a_question_of_a_tool_is_no_error_under_any_policy() {
    let policies = || {
        let say = || Handling::Say("handled".into());
        let kinds = [FaultKind::Failed, FaultKind::Refused, FaultKind::TimedOut];
        let by_kind = kinds
            .into_iter()
            .fold(ToolErrors::to_model(), |errors, kind| errors.for_kind(kind, say()));
        [ToolErrors::to_model(), ToolErrors::propagate(), ToolErrors::by(move |_| say()), by_kind]
    };
    for errors in policies() {
        let registry = ToolRegistry::new([shared(choose), shared(add)]).unwrap().errors(errors);
        let app = graph(ToolNode::new(ToolRunner::new(registry)));
        let app = app.checkpointer(InMemoryCheckpointer::new());
        let thread = app.thread(ThreadKey::named("t").unwrap());
        let input = asked([calls("choose", "1", json!({})), adds("2", 1, 2)]);
        let Outcome::Interrupted(open) = thread.invoke(input, ()).await.unwrap() else { panic!() };
        assert_eq!(open.len(), 1);
        assert_eq!(open[0].payload::<String>().unwrap(), "where to?");
        let trip = thread.reply("Busan", ()).await.unwrap().done().unwrap();
        assert_eq!(results(&trip.talk), [pair("1", "Busan"), pair("2", "3")]);
    }
}

/// Beside LangGraph's, where it raises: without a checkpointer nobody can be asked, and the model reads so.
#[tokio::test]
async fn a_question_without_anybody_to_ask_is_told_to_the_model() {
    let trip = make(node([shared(choose)]), [calls("choose", "1", json!({}))]).await.unwrap();
    let text = result(&trip.talk, "1");
    assert!(text.contains("nobody can be asked here"), "{text}");
}

/// Books, with all that a run has.
#[tool(effect = pure)]
async fn book(
    nights: u32,
    city: String,
    trip: FromState<Trip>,
    store: SharedStore,
    call: Call,
) -> String {
    format!("{nights} {city} {} {:?} {}", trip.days, store, call.key())
}

/// What a model reads of these arguments for `book`.
async fn mistakes(arguments: serde_json::Value, errors: ToolErrors) -> String {
    let registry = ToolRegistry::new([shared(book)]).unwrap().errors(errors);
    let tools = ToolNode::new(ToolRunner::new(registry));
    let trip = make(tools, [calls("book", "1", arguments)]).await.unwrap();
    assert_eq!(fault(&trip.talk, "1").as_deref(), Some("bad_arguments"));
    result(&trip.talk, "1")
}

/// LangGraph: filter_injected_state_validation_errors, filter_injected_store_…, filter_tool_runtime_…, filter_multiple_injected_args,
/// sync_tool_validation_error_filtering, and tool_invocation_error_without_handle_errors, where it fails the run.
#[tokio::test]
async fn a_mistake_names_nothing_that_the_model_does_not_see() {
    for errors in [ToolErrors::to_model(), ToolErrors::propagate()] {
        let text = mistakes(json!({"nights": "many", "city": "Jeju"}), errors.clone()).await;
        assert_eq!(
            text,
            "The arguments do not fit `book`, so it was not run. `nights` has to be of type integer, and is \"many\". Correct them and call it again."
        );
        let text = mistakes(json!({"nights": 1}), errors).await;
        assert_eq!(
            text,
            "The arguments do not fit `book`, so it was not run. `city` is missing. Correct them and call it again."
        );
    }
}

/// LangGraph: no_filtering_when_all_errors_are_model_args, validation_error_with_no_injected_args.
#[tokio::test]
async fn every_mistake_of_the_model_is_named() {
    let text = mistakes(json!({"nights": "many", "city": 7}), ToolErrors::to_model()).await;
    assert!(text.contains("`nights` has") && text.contains("`city` has"), "{text}");
    let trip = make(node([shared(add)]), [calls("add", "1", json!({"a": "x", "b": "y"}))]).await;
    let text = result(&trip.unwrap().talk, "1");
    assert!(text.contains("`a` has") && text.contains("`b` has"), "{text}");
}

/// Beside LangGraph's: an argument that the service gives is refused where the model gives it.
#[tokio::test]
async fn a_hidden_argument_is_the_services_alone() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Order {
        item: String,
        user: String,
    }
    let order = |order: Order, _: Call| async move {
        Ok(format!("{} for {}", order.item, order.user).into())
    };
    let order = hanok_model::FnTool::new("order", "Orders", order).unwrap();
    let order = InjectedTool::new(order).value("user", "kim").unwrap();
    let of = [
        calls("order", "1", json!({"item": "tea"})),
        calls("order", "2", json!({"item": "tea", "user": "lee"})),
    ];
    let trip = make(node([shared(order)]), of).await.unwrap();
    assert_eq!(result(&trip.talk, "1"), "tea for kim");
    assert!(result(&trip.talk, "2").contains("there is no argument `user`"));
}
