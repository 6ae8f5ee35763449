//! Tools that are made of functions.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{io, sync::Arc, time::Duration};

use hanok_core::{AskError, BoxError, Call, Effect, Need, RequestId};
use hanok_model::{FromCall, FromState, Services, SharedTool, Tool, ToolError, ToolOutput, tool};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::clock::call;

#[derive(Debug)]
struct Shop(&'static str);

#[derive(Debug, Default)]
struct Desk {
    customer: u32,
}

/// The user, made of the services.
#[derive(Debug)]
struct User(String);

impl FromCall for User {
    fn needs() -> Vec<Need> {
        Services::<Shop>::needs()
    }

    fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(format!("user of {}", Services::<Shop>::from_call(call)?.0)))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    Warm,
}

/// Sends an e-mail to a customer.
///
///   - at once
#[tool(name = "mail-send", effect = idempotent, timeout = 10)]
async fn send_mail(
    /// The customer's number.
    customer: u32,
    /// The text.
    mut text: String,
    tone: Option<Tone>,
    #[serde(default)]
    #[schemars(range(max = 3))]
    copies: u8,
    r#type: Option<String>,
    shop: Services<Shop>,
    state: FromState<Desk>,
    #[from_call] user: User,
    desk: Option<hanok_model::FromState<String>>,
    call: Call,
) -> Result<ToolOutput, ToolError> {
    text.push_str(match tone {
        Some(Tone::Formal) => ".",
        Some(Tone::Warm) => "!",
        None => "",
    });
    let of = (customer == state.customer).then_some("ours");
    let parts = format!("{} {:?} {} {}", shop.0, of, user.0, call.key());
    Ok(ToolOutput::new(format!("{text} x{copies} {type:?} {parts} {}", desk.is_some())))
}

/// Counts.
#[tool]
async fn count() -> &'static str {
    // In the function the name may be a variable's.
    let count = ["one", "two"];
    count.first().copied().unwrap_or_default()
}

/// Doubles.
#[tool(effect = pure)]
async fn double(double: u32) -> Result<String, BoxError> {
    match double {
        0 => Err("nothing to double".into()),
        1 => Err(io::Error::other("the disk is full").into()),
        2 => Err(ToolError::refused("two is enough").into()),
        3 => Err(AskError::Waiting(RequestId("q1".into())).into()),
        double => Ok((2 * double).to_string()),
    }
}

mod elsewhere {
    use hanok_model::{ToolOutput, tool};

    /**
    Says where it is.

    Twice.
    */
    #[tool(crate = ::hanok_model, effect = pure)]
    #[cfg(any(unix, windows))]
    #[allow(clippy::needless_return, reason = "attributes stay with the function")]
    pub(crate) async fn place(
        #[allow(unused_variables, reason = "as those do")] of: String,
    ) -> ToolOutput {
        return ToolOutput::new("elsewhere");
    }
}

fn carried() -> Call {
    call().provide(Arc::new(Shop("kim"))).provide(Arc::new(Desk { customer: 7 }))
}

#[test]
fn a_model_sees_the_arguments_and_not_the_parts_of_the_run() {
    let spec = send_mail.spec();
    assert_eq!(spec.name(), "mail-send");
    assert_eq!(spec.description(), "Sends an e-mail to a customer.\n\n  - at once");
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["customer", "text"],
        "properties": {
            "customer": {
                "type": "integer", "format": "uint32", "minimum": 0,
                "description": "The customer's number.",
            },
            "text": {"type": "string", "description": "The text."},
            "tone": {"type": ["string", "null"], "enum": ["formal", "warm", null]},
            "copies": {
                "type": "integer", "format": "uint8", "minimum": 0, "maximum": 3, "default": 0,
            },
            "type": {"type": ["string", "null"]},
        },
    });
    assert_eq!(spec.schema(), &schema);
    assert!(std::ptr::eq(spec, send_mail.spec()));
}

#[test]
fn the_settings_are_the_tool_s_and_careful_where_nothing_is_set() {
    assert_eq!(
        (send_mail.effect(), send_mail.timeout()),
        (Effect::Idempotent, Duration::from_secs(10))
    );
    assert_eq!((count.effect(), count.timeout()), (Effect::AtMostOnce, Duration::from_secs(30)));
    assert_eq!((double.effect(), double.spec().name()), (Effect::Pure, "double"));
    assert_eq!(count.spec().schema()["properties"], json!({}));
    let needs = [Need::of::<Shop>(), Need::of::<Desk>(), Need::of::<Shop>()];
    assert_eq!(send_mail.needs(), needs);
    assert_eq!(SharedTool::new(send_mail).needs(), needs);
    assert_eq!(count.needs(), []);
}

#[tokio::test]
async fn the_function_gets_what_the_model_sent_and_what_the_run_carries() {
    for (arguments, want) in [
        (
            json!({"customer": 7, "text": "hi"}),
            "hi x0 None kim Some(\"ours\") user of kim test false",
        ),
        (
            json!({"customer": 8, "text": "hi", "tone": "warm", "copies": 2, "type": "html"}),
            "hi! x2 Some(\"html\") kim None user of kim test false",
        ),
    ] {
        let output = send_mail.run(&arguments.into(), &carried()).await.unwrap();
        assert_eq!(output.text, want);
    }
    let with_text = carried().provide(Arc::new(String::new()));
    let arguments = Arguments::new(r#"{"customer":7,"text":""}"#);
    assert!(send_mail.run(&arguments, &with_text).await.unwrap().text.ends_with("true"));

    let shop_only = call().provide(Arc::new(Shop("kim")));
    let error = send_mail.run(&arguments, &shop_only).await.unwrap_err();
    assert!(
        matches!(&error, ToolError::NotProvided { need } if *need == Need::of::<Desk>()),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_hidden_argument_that_a_model_sends_is_refused() {
    for hidden in ["shop", "state", "user", "desk", "call"] {
        let arguments = json!({"customer": 7, "text": "hi", hidden: {}});
        let error = send_mail.run(&arguments.into(), &carried()).await.unwrap_err();
        assert!(matches!(&error, ToolError::Arguments(_)), "{error:?}");
        let want = format!("the arguments do not fit the tool: unknown field `{hidden}`, ");
        assert!(error.report().starts_with(&want), "{}", error.report());
    }
    let error = count.run(&Arguments::new(r#"{"n":1}"#), &call()).await.unwrap_err();
    assert!(matches!(&error, ToolError::Arguments(_)), "{error:?}");
}

#[tokio::test]
async fn an_error_is_the_tool_s_own_where_it_is_one_and_a_failure_where_it_is_not() {
    let mut errors = Vec::new();
    for number in 0..4 {
        let arguments = json!({"double": number});
        errors.push(double.run(&arguments.into(), &call()).await.unwrap_err());
    }
    let [text, io, refused, waiting] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(matches!(text, ToolError::Failed(_)) && text.to_string() == "nothing to double");
    assert!(matches!(io, ToolError::Failed(error) if error.is::<io::Error>()), "{io:?}");
    assert!(matches!(refused, ToolError::Refused { reason } if reason == "two is enough"));
    assert!(matches!(waiting, ToolError::Waiting(AskError::Waiting(_))), "{waiting:?}");
}

#[tokio::test]
async fn a_tool_may_stand_in_another_module_under_a_condition_and_with_attributes() {
    let place = elsewhere::place;
    assert_eq!(place.spec().description(), "Says where it is.\n\nTwice.");
    let output = place.run(&Arguments::new(r#"{"of":"it"}"#), &call()).await.unwrap();
    assert_eq!(output, elsewhere::place::call("it".into()).await);
}

#[tokio::test]
async fn the_function_itself_can_be_called() {
    assert_eq!(double::call(21).await.unwrap(), "42");
    assert_eq!(count::call().await, "one");
    let output = send_mail::call(
        7,
        "hi".into(),
        Some(Tone::Formal),
        1,
        None,
        Services::new(Shop("lee")),
        FromState::new(Desk::default()),
        User("me".into()),
        None,
        call(),
    );
    assert_eq!(output.await.unwrap().text, "hi. x1 None lee None me test false");
}
