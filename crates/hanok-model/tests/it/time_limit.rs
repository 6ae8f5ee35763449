//! The time of a tool's call, held by the tool itself: outside of an agent too.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop, and a tool may panic")]

use std::time::Duration;

use hanok_core::{Call, Cancellation, Effect};
use hanok_model::{FnTool, InjectedTool, SharedTool, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use serde_json::json;

use crate::clock::call;

/// Does as it is named: waits for ever, panics, or says how much time it has.
#[derive(Debug)]
struct Own(ToolSpec);

impl Tool for Own {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    async fn run(&self, _: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        does(self.0.name(), call).await
    }
}

async fn does(what: &str, call: &Call) -> Result<ToolOutput, ToolError> {
    match what {
        "endless" => std::future::pending().await,
        "panics" => panic!("a secret of the tool"),
        _ => Ok(format!("{:?}", call.time_left()).into()),
    }
}

fn own(what: &str) -> Own {
    Own(ToolSpec::new(what, "", json!({})).unwrap())
}

fn function(what: &'static str) -> FnTool {
    let spec = ToolSpec::new(what, "", json!({})).unwrap();
    FnTool::untyped(spec, move |_, call| async move { does(what, &call).await })
        .timeout(Duration::from_secs(5))
}

async fn run(tool: &impl Tool, call: Call) -> String {
    match tool.run(&Arguments::default(), &call).await {
        Ok(output) => output.text,
        Err(error) => error.to_string(),
    }
}

/// Every tool but a bare one of somebody's own.
async fn of_all(what: &'static str, call: impl Fn() -> Call) -> [String; 4] {
    [
        run(&function(what), call()).await,
        run(&SharedTool::new(function(what)), call()).await,
        run(&SharedTool::new(own(what)), call()).await,
        run(&InjectedTool::new(own(what)), call()).await,
    ]
}

#[tokio::test(start_paused = true)]
async fn a_tool_never_takes_longer_than_it_may_and_knows_how_long_that_is() {
    let late = "the tool did not answer within 5s";
    assert_eq!(of_all("endless", call).await, [late; 4]);
    assert_eq!(of_all("panics", call).await, ["the tool broke down"; 4]);
    assert_eq!(of_all("asks", call).await, ["Some(5s)"; 4]);
    // The sooner deadline holds.
    let short = || call().deadline(call().clock().now().plus(Duration::from_secs(2)));
    assert_eq!(of_all("asks", short).await, ["Some(2s)"; 4]);
    assert_eq!(of_all("endless", short).await, ["the tool did not answer within 2s"; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_asked_to_stop_does() {
    let stopped = || {
        let stop = Cancellation::default();
        stop.cancel();
        call().cancellation(stop)
    };
    assert_eq!(of_all("endless", stopped).await, ["the call was stopped"; 4]);
    // What is ready is not thrown away.
    assert_eq!(of_all("asks", stopped).await, ["Some(5s)"; 4]);
}
