//! Arguments that the service gives.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::sync::Arc;

use hanok_core::{Effect, Need};
use hanok_model::{FnTool, InjectedTool, InvalidSpec, Tool, ToolError};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::clock::call;

#[derive(Deserialize, JsonSchema)]
struct Orders {
    user_id: String,
    key: String,
    /// How many.
    top: u32,
}

fn orders() -> InjectedTool {
    let orders = FnTool::new("orders", "Orders", |orders: Orders, _| async move {
        Ok(format!("{} of {} for {}", orders.top, orders.user_id, orders.key).into())
    });
    InjectedTool::new(orders.unwrap().effect(Effect::Pure))
        .value("user_id", "u-17")
        .unwrap()
        .with("key", |call| Ok(call.key().as_str().into()))
        .unwrap()
}

/// B111
#[tokio::test]
async fn injected_arguments_are_not_shown_and_not_taken_from_a_model() {
    let tool = orders();
    assert_eq!(Tool::effect(&tool), Effect::Pure);
    let schema = tool.spec().schema();
    assert_eq!(schema["required"], json!(["top"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);

    let given = tool.run(&Arguments::new(r#"{"top":3}"#), &call()).await.unwrap();
    assert_eq!(given.text, "3 of u-17 for test");
    for said in [
        r#"{"top":3,"user_id":"u-1"}"#,
        r#"{"top":3,"user_id":"u-17"}"#,
        r#"{"top":3,"user_id":null}"#,
        r#"{"top":3,"\u0075ser_id":"u-1"}"#,
    ] {
        let error = tool.run(&Arguments::new(said), &call()).await.unwrap_err();
        assert!(matches!(&error, ToolError::Arguments(_)), "{error:?}");
        assert_eq!(
            error.report(),
            "the arguments do not fit the tool: there is no argument `user_id`"
        );
    }
    for broken in ["[]", "{", "null"] {
        let error = tool.run(&Arguments::new(broken), &call()).await.unwrap_err();
        assert!(matches!(&error, ToolError::Arguments(_)), "{error:?}");
    }
}

/// The user, as a part of the run.
struct User(&'static str);

#[tokio::test]
async fn an_argument_comes_out_of_a_part_of_the_run_or_the_call_is_not_made() {
    let tool = FnTool::new("orders", "", |orders: Orders, _| async move {
        Ok(format!("{} for {} by {}", orders.top, orders.user_id, orders.key).into())
    });
    let tool = InjectedTool::new(tool.unwrap())
        .with_part("user_id", |user: &User| user.0)
        .unwrap()
        .with_part("key", |user: &User| user.0.to_uppercase())
        .unwrap();
    assert_eq!(tool.needs(), [Need::of::<User>()]);

    let top = Arguments::new(r#"{"top":3}"#);
    let error = tool.run(&top, &call()).await.unwrap_err();
    assert!(
        matches!(&error, ToolError::NotProvided { need } if *need == Need::of::<User>()),
        "{error:?}"
    );
    let signed_in = call().provide(Arc::new(User("u-17")));
    assert_eq!(tool.run(&top, &signed_in).await.unwrap().text, "3 for u-17 by U-17");
}

#[test]
fn an_argument_that_is_not_there_cannot_be_injected() {
    for name in ["user", "user_id"] {
        let error = orders().value(name, 1).unwrap_err();
        let want = InvalidSpec::NoSuchArgument { tool: "orders".into(), argument: name.into() };
        assert_eq!(error, want);
    }
}

#[tokio::test]
async fn an_injection_that_fails_is_the_call_s_error() {
    let tool = FnTool::new("orders", "", |_: Orders, _| async { Ok("made".into()) }).unwrap();
    let tool = InjectedTool::new(tool).with("key", |_| Err(ToolError::refused("nobody is here")));
    let error = tool.unwrap().run(&Arguments::new("{}"), &call()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: nobody is here");
}
