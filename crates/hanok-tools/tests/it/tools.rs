//! What a model sees of the tools, and what it reads after a call.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{sync::Arc, time::Duration};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Effect, Timestamp};
use hanok_model::{Tool, ToolError};
use hanok_state::Arguments;
use hanok_tools::{Calculator, CurrentDatetime};
use proptest::prelude::*;
use serde_json::json;

/// It is always 2026-01-01T00:00:00Z.
#[derive(Debug)]
struct NewYear;

impl Clock for NewYear {
    fn now(&self) -> Timestamp {
        Timestamp(1_767_225_600_000)
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn call() -> Call {
    Call::new(CallKey::new("test"), Arc::new(NewYear))
}

async fn observation(tool: &impl Tool, arguments: &str) -> String {
    match tool.run(&Arguments::new(arguments), &call()).await {
        Ok(output) => output.text,
        Err(error) => error.report(),
    }
}

#[test]
fn a_model_sees_their_names_and_arguments() {
    let (calculator, clock) = (Calculator::new().unwrap(), CurrentDatetime::new().unwrap());
    for (spec, name, parameter, required) in [
        (calculator.spec(), "calculator", "expression", true),
        (clock.spec(), "get_current_datetime", "zone", false),
    ] {
        let [only] = &spec.parameters()[..] else { panic!("{spec:?}") };
        let seen = (spec.name(), only.name.as_str(), only.kind.as_str(), only.required);
        assert_eq!(seen, (name, parameter, "string", required));
    }
    assert_eq!((calculator.effect(), clock.effect()), (Effect::Pure, Effect::Pure));
    assert!(calculator.timeout().max(clock.timeout()) <= Duration::from_secs(5));
}

#[tokio::test]
async fn the_calculator_answers_in_a_line_or_says_what_to_write() {
    let calculator = Calculator::new().unwrap();
    let long = format!(r#"{{"expression":"{}1"}}"#, "1+".repeat(300));
    for (arguments, want) in [
        (r#"{"expression":"123 * 456"}"#, "123 * 456 = 56088"),
        (r#"{"expression":" 0.1+0.2 "}"#, "0.1+0.2 = 0.3"),
        (r#"{"expression":"2 / 3"}"#, "2 / 3 ≈ 0.666666666666666666666666666667"),
        (r#"{"expression":"1 +\n2"}"#, "= 3"),
        (&long, "= 301"),
        (
            r#"{"expression":"2 + * 3"}"#,
            "the arguments do not fit the tool: at character 5: found `*`, expected a number, a function or `(`",
        ),
        (
            r#"{"expression":"abc"}"#,
            "the arguments do not fit the tool: at character 1: `abc` is not known; there are the functions sqrt, abs, round, floor, ceil, min, max and the constants pi, e",
        ),
        (r#"{"expression":"1 / 0"}"#, "division by zero"),
        (
            r#"{"expr":"1"}"#,
            "the arguments do not fit the tool: missing field `expression` at line 1 column 12",
        ),
    ] {
        assert_eq!(observation(&calculator, arguments).await, want, "{arguments}");
    }
    let output =
        calculator.run(&Arguments::new(r#"{"expression":"10 / 4"}"#), &call()).await.unwrap();
    assert_eq!(output.data.unwrap().0, json!({"value": "2.5", "rounded": false}));
}

#[tokio::test]
async fn the_clock_is_that_of_the_call() {
    let clock = CurrentDatetime::new().unwrap().zone(" asia/seoul").unwrap();
    let seoul = "2026-01-01T09:00:00+09:00, 목요일 (Thursday), Asia/Seoul, UTC+09:00";
    for (arguments, want) in [
        ("{}", seoul),
        (r#"{"zone":null}"#, seoul),
        (r#"{"zone":""}"#, seoul),
        (
            r#"{"zone":"Europe/London"}"#,
            "2026-01-01T00:00:00+00:00, 목요일 (Thursday), Europe/London, UTC+00:00",
        ),
        (
            r#"{"zone":"서울"}"#,
            "the arguments do not fit the tool: no time zone `서울`; did you mean `Asia/Seoul`?",
        ),
    ] {
        assert_eq!(observation(&clock, arguments).await, want, "{arguments}");
    }
}

/// Nobody has to live in one country: the machine's zone is known by its name, or it is UTC.
#[tokio::test]
async fn the_zone_that_nobody_names_is_the_machine_s() {
    let told = observation(&CurrentDatetime::new().unwrap(), "{}").await;
    let machine = jiff::tz::TimeZone::system();
    let zone = machine.iana_name().unwrap_or("UTC");
    assert!(told.contains(&format!(", {zone}, UTC")), "{told}, {zone}");
}

#[test]
fn a_zone_that_is_not_known_is_refused_when_it_is_set() {
    let error = CurrentDatetime::new().unwrap().zone("Europe/Pariss").unwrap_err();
    assert_eq!(error.to_string(), "no time zone `Europe/Pariss`; did you mean `Europe/Paris`?");
}

/// Models are told of tools in one language.
#[test]
fn no_korean_stands_in_what_models_are_told() {
    for tool in [Calculator::new().unwrap().spec(), CurrentDatetime::new().unwrap().spec()] {
        let told = format!("{tool:?}");
        assert!(!told.contains(|c| ('가'..='힣').contains(&c)), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_model_writes_is_answered(text in any::<String>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let arguments = Arguments::from_value(&json!({"expression": text, "zone": text})).unwrap();
        runtime.block_on(async {
            for arguments in [&arguments, &Arguments::new(text.as_str())] {
                let calculated = Calculator::new().unwrap().run(arguments, &call()).await;
                let told = CurrentDatetime::new().unwrap().run(arguments, &call()).await;
                for result in [calculated, told] {
                    match result {
                        Ok(output) => assert!(output.text.len() < 4096),
                        Err(error) => assert!(
                            matches!(error, ToolError::Arguments(_) | ToolError::Failed(_))
                                && error.report().len() < 1024
                        ),
                    }
                }
            }
        });
    }
}
