//! The claims about every [`Tool`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

use std::sync::Arc;

use futures::future::join_all;
use hanok_core::{Call, CallKey, Effect};
use hanok_model::{Parameter, Tool, ToolError, ToolOutput};
use hanok_state::Arguments;
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::{claims::named, runtime::block_on};

/// One claim of the suite: its name, and what panics when a tool does not hold it. It is given arguments that the tool takes.
pub type ToolClaim<T> = (&'static str, fn(Arc<T>, &Value));

/// The names of the claims of the suite.
pub const TOOL_CLAIMS: &[&str] = crate::tool_conforms!(@names);

/// Checks one claim on a tool, which `arguments` fit. The tool is called several times.
///
/// # Panics
///
/// When the tool does not hold it, or there is no claim of that name.
pub fn check_tool<T: Tool>(claim: &str, tool: T, arguments: &Value) {
    let claims: &[ToolClaim<T>] = crate::tool_conforms!(@claims);
    named(claims, claim)(Arc::new(tool), arguments);
}

/// Makes a test of every claim: `tool_conforms!(Mine::new()?, json!({"city": "Seoul"}))`, in a module of its own if there are
/// several tools. The first expression gives a tool, once for every test, on a tokio runtime; the second gives arguments that it
/// takes. A tool is called several times: let it do nothing to the world that may be done once only.
///
/// ```
/// use hanok_model::{FnTool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     a: i64,
///     b: i64,
/// }
///
/// let add = FnTool::new("add", "Adds", async |sum: Sum, _| Ok((sum.a + sum.b).to_string().into()))?;
/// hanok_testkit::check_tool(
///     "a_required_parameter_that_is_left_out_is_named",
///     add,
///     &serde_json::json!({"a": 1, "b": 2}),
/// );
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[macro_export]
macro_rules! tool_conforms {
    (@claims) => { $crate::tool_conforms!(@each [@claim]) };
    (@names) => { $crate::tool_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::tool_conforms! { $($then)*;
            a_model_can_read_what_it_is_for
            its_spec_stays_the_same
            it_has_time_to_answer
            arguments_that_fit_are_answered
            what_is_no_object_is_an_error_that_a_model_can_correct
            a_required_parameter_that_is_left_out_is_named
            a_parameter_of_another_kind_is_refused
            a_call_that_may_be_repeated_is_answered_again
            a_call_that_nobody_waits_for_harms_none_that_follows
            calls_at_once_are_all_answered
        }
    };
    (@claim; $($claim:ident)*) => { &[$((stringify!($claim), $claim)),*] };
    (@name; $($claim:ident)*) => { &[$(stringify!($claim)),*] };
    (@test $tool:expr, $arguments:expr; $($claim:ident)*) => {
        $(#[test] fn $claim() {
            let tool = $crate::block_on(async { $tool });
            $crate::check_tool(stringify!($claim), tool, &$arguments);
        })*
    };
    ($tool:expr, $arguments:expr) => { $crate::tool_conforms!(@each [@test $tool, $arguments]); };
}

fn run(tool: &impl Tool, arguments: impl Into<Arguments>) -> Result<ToolOutput, ToolError> {
    block_on(tool.run(&arguments.into(), &Call::detached()))
}

/// Checks that the tool says that `arguments` do not fit; what it says.
fn refused(tool: &impl Tool, arguments: &str) -> String {
    match run(tool, Arguments::new(arguments)) {
        Err(error @ ToolError::Arguments(_)) => error.report(),
        result => panic!("`{arguments}` does not fit, and the tool gives {result:?}"),
    }
}

fn a_model_can_read_what_it_is_for<T: Tool>(tool: Arc<T>, _: &Value) {
    let spec = tool.spec();
    assert!(!spec.description().trim().is_empty(), "`{}` says nothing of itself", spec.name());
    assert_eq!(spec.schema()["type"], "object", "the parameters are those of an object");
}

fn its_spec_stays_the_same<T: Tool>(tool: Arc<T>, _: &Value) {
    assert_eq!(tool.spec(), tool.spec(), "the tool has another spec each time");
    assert_eq!(tool.effect(), tool.effect(), "the tool has another effect each time");
}

fn it_has_time_to_answer<T: Tool>(tool: Arc<T>, _: &Value) {
    assert!(!tool.timeout().is_zero(), "a tool with no time is never answered");
}

fn arguments_that_fit_are_answered<T: Tool>(tool: Arc<T>, arguments: &Value) {
    let output = run(&*tool, arguments.clone()).expect("arguments that fit are answered");
    assert!(!output.text.is_empty(), "a model reads nothing");
}

fn what_is_no_object_is_an_error_that_a_model_can_correct<T: Tool>(tool: Arc<T>, _: &Value) {
    for arguments in ["", "{", "null", "1", "\"text\"", "[[]]", "{\"a\": 1} and more"] {
        refused(&*tool, arguments);
    }
}

fn a_required_parameter_that_is_left_out_is_named<T: Tool>(tool: Arc<T>, arguments: &Value) {
    for Parameter { name, .. } in tool.spec().parameters().into_iter().filter(|p| p.required) {
        let mut without = arguments.clone();
        let _: Option<Value> = without.as_object_mut().and_then(|fields| fields.remove(&name));
        let words = refused(&*tool, &without.to_string());
        assert!(words.contains(&name), "`{name}` is left out, and it says: {words}");
    }
}

fn a_parameter_of_another_kind_is_refused<T: Tool>(tool: Arc<T>, arguments: &Value) {
    for Parameter { name, kind, .. } in tool.spec().parameters() {
        let other = match kind.as_str() {
            "integer" | "number" | "boolean" => json!({"no": "number"}),
            "string" => json!(["no", "text"]),
            _ => continue,
        };
        let mut wrong = arguments.clone();
        wrong[&name] = other;
        refused(&*tool, &wrong.to_string());
    }
}

fn a_call_that_may_be_repeated_is_answered_again<T: Tool>(tool: Arc<T>, arguments: &Value) {
    if tool.effect() == Effect::AtMostOnce {
        return;
    }
    let (arguments, key) = (Arguments::from(arguments.clone()), CallKey::new("the same"));
    for _ in 0..2 {
        let call = Call::detached().keyed(key.clone());
        block_on(tool.run(&arguments, &call)).expect("the same call is answered again");
    }
}

fn a_call_that_nobody_waits_for_harms_none_that_follows<T: Tool>(tool: Arc<T>, arguments: &Value) {
    block_on(async {
        let (arguments, call) = (Arguments::from(arguments.clone()), Call::detached());
        tokio::select! {
            biased;
            _ = tool.run(&arguments, &call) => {}
            () = yield_now() => {}
        }
    });
    arguments_that_fit_are_answered(tool, arguments);
}

fn calls_at_once_are_all_answered<T: Tool>(tool: Arc<T>, arguments: &Value) {
    let calls = (0..8).map(|_| async {
        let (arguments, call) = (Arguments::from(arguments.clone()), Call::detached());
        tool.run(&arguments, &call).await.expect("each of several calls at once is answered");
    });
    block_on(join_all(calls));
}
