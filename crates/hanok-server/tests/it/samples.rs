//! What the SDKs of LangGraph send, as it was recorded: `langgraph-sdk` 0.4.14 for Python and `@langchain/langgraph-sdk` 1.15.0 for
//! JavaScript. Names of threads, checkpoints and assistants were replaced, and the fields and nodes of a graph.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    langgraph_threads::say,
    served::{Served, read},
};

#[derive(Deserialize)]
struct Sample {
    sdk: String,
    name: String,
    method: String,
    path: String,
    body: Option<Value>,
    prefer: Option<String>,
    status: u16,
}

#[tokio::test]
async fn what_the_sdks_send_is_understood() {
    let server = Served::start().await;
    let text = include_str!("../samples/langgraph.json");
    let samples: Vec<Sample> = serde_json::from_str(text).unwrap();
    let assistant = server.get("/assistants/chat").await.1["assistant_id"].clone();
    for sample in samples {
        let thread = server.post("/threads", json!({})).await.1["thread_id"].clone();
        let thread = thread.as_str().unwrap();
        assert_eq!(say(&server, thread, "hello").await, 200);
        let checkpoint =
            server.get(&format!("/threads/{thread}/state")).await.1["checkpoint_id"].clone();
        let fill = |text: String| {
            let text = text.replace("{thread}", thread);
            let text = text.replace("{assistant}", assistant.as_str().unwrap());
            text.replace("{checkpoint}", checkpoint.as_str().unwrap())
        };
        let mut request =
            server.request(sample.method.parse::<Method>().unwrap(), &fill(sample.path));
        if let Some(body) = sample.body {
            request =
                request.header("content-type", "application/json").body(fill(body.to_string()));
        }
        if let Some(prefer) = sample.prefer {
            request = request.header("prefer", prefer);
        }
        let (status, answer) = read(request.send().await.unwrap()).await;
        assert_eq!(status, sample.status, "{} {}: {answer}", sample.sdk, sample.name);
    }
}
