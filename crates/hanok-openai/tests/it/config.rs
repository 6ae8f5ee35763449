//! Servers that a configuration of async-openai names.
#![cfg(feature = "config")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{error::Error, time::Duration};

use async_openai::config::{AzureConfig, Config, OpenAIConfig};
use hanok_core::Chain;
use hanok_model::{ChatModel, Embedder, ModelError};
use hanok_openai::{OpenAi, OpenAiBuilder};

use crate::server::{Server, Step, Watcher, answer, ask, call, json, piece, said, stream};

const KEY: &str = "sk-very-secret-1";

fn settings(config: impl Config + 'static) -> OpenAiBuilder {
    // Another test of this process may have been first.
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    OpenAi::from_config(config, http).model("m").backoff(Duration::from_millis(1))
}

fn azure(server: &Server) -> AzureConfig {
    let azure = AzureConfig::new().with_api_base(&server.base_url).with_api_version("2024-10-21");
    azure.with_deployment_id("gpt").with_api_key(KEY)
}

fn openai(server: &Server, key: &str) -> OpenAIConfig {
    OpenAIConfig::new().with_api_base(&server.base_url).with_api_key(key)
}

#[tokio::test]
async fn azure_is_asked_at_its_deployment_with_its_key_and_version() {
    let vectors = r#"{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":3}}"#;
    let server = Server::start(vec![json(200, said("15일")), json(200, vectors)]).await;
    let reply = settings(azure(&server)).build().unwrap().chat(ask(), &call()).await.unwrap();
    assert_eq!(reply.message.text(), "15일");
    let embedder = settings(azure(&server)).embedder("e").unwrap();
    let embedded = embedder.embed(&["연차".to_owned()], &call()).await.unwrap();
    assert_eq!(embedded, [[1.0, 2.0]]);

    for (received, path) in server.received().iter().zip(["chat/completions", "embeddings"]) {
        let want = format!("POST /v1/openai/deployments/gpt/{path}?api-version=2024-10-21 ");
        assert!(received.head.starts_with(&want), "{received:?}");
        assert!(received.has_header(&format!("api-key: {KEY}")), "{received:?}");
        assert!(!received.has_header("authorization"), "{received:?}");
    }
}

#[tokio::test]
async fn openais_headers_are_sent_and_an_empty_key_is_not() {
    let server = Server::start(vec![json(200, said("네"))]).await;
    let keyed = openai(&server, KEY).with_org_id("org-1").with_header("x-team", "rules").unwrap();
    for config in [keyed, openai(&server, "")] {
        settings(config).build().unwrap().chat(ask(), &call()).await.unwrap();
    }
    let received = server.received();
    for header in
        [&format!("authorization: Bearer {KEY}"), "openai-organization: org-1", "x-team: rules"]
    {
        assert!(received[0].has_header(header), "{header}: {received:?}");
    }
    assert!(!received[1].has_header("authorization"), "{received:?}");
}

/// P16, P55: the way is the same: retries, limits and errors that do not hold a key.
#[tokio::test]
async fn a_configured_server_is_bounded_and_its_key_is_shown_nowhere() {
    let echo = format!(r#"{{"error":{{"message":"bad key {KEY}","code":"invalid_api_key"}}}}"#);
    let server = Server::start(vec![json(500, "oops"), json(401, &echo)]).await;
    let model = settings(azure(&server)).build().unwrap();
    let error = model.chat(ask(), &call()).await.unwrap_err();
    assert!(matches!(error, ModelError::BadKey { sent: true, .. }), "{error:?}");
    assert_eq!(server.received().len(), 2, "a failure of the server is tried again");
    let shown = format!("{error:?} {} {model:?} {:?}", Chain(&error), settings(azure(&server)));
    assert!(!shown.contains("very-secret") && shown.contains("bad key"), "{shown}");

    let head = Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec());
    let server = Server::start(vec![vec![head, Step::SendForever("[1,")]]).await;
    let model = settings(azure(&server)).max_body(10_000).build().unwrap();
    let error = model.chat(ask(), &call()).await.unwrap_err();
    assert!(matches!(error, ModelError::TooLarge { limit: 10_000 }), "{error:?}");

    let pieces = stream(&[&piece("15"), r#"{"error":"CUDA out of memory"}"#]);
    let server = Server::start(vec![pieces]).await;
    let model = settings(openai(&server, KEY)).build().unwrap();
    let error = model.chat(ask(), &Watcher::default().call()).await.unwrap_err();
    assert!(matches!(error, ModelError::Server { status: 500, .. }), "{error:?}");

    let limited = answer(429, "application/json", "retry-after: 3600\r\n", "{}");
    let server = Server::start(vec![limited]).await;
    let error = settings(azure(&server)).build().unwrap().chat(ask(), &call()).await.unwrap_err();
    assert!(matches!(error, ModelError::RateLimited { retry_after: Some(_), .. }), "{error:?}");
}

/// Values that async-openai's configurations would panic on.
#[tokio::test]
async fn a_configuration_that_is_none_is_an_error_with_words() {
    let server = Server::start(vec![json(200, said("네"))]).await;
    let line = "sk-very\nsecret";
    let cases: Vec<(Box<dyn Config>, &str)> = vec![
        (Box::new(azure(&server).with_api_key(line)), "API key"),
        (Box::new(openai(&server, line)), "API key"),
        (Box::new(openai(&server, KEY).with_org_id(line)), "headers cannot be made"),
        (Box::new(openai(&server, KEY).with_api_base("localhost:8080")), "`api_base`"),
        (Box::new(openai(&server, KEY).with_api_base("http://me:pass@host/v1")), "password"),
    ];
    for (config, words) in cases {
        let error = settings(config).build().unwrap_err();
        assert!(matches!(error, ModelError::NotConfigured { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(!error.to_string().contains("secret") && error.source().is_none(), "{error}");
    }
    assert!(server.received().is_empty());
}

/// A gateway that takes its key in the query, as Google's does.
#[derive(Debug)]
struct InQuery(OpenAIConfig);

impl Config for InQuery {
    fn headers(&self) -> reqwest::header::HeaderMap {
        reqwest::header::HeaderMap::new()
    }

    fn url(&self, path: &str) -> String {
        self.0.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        vec![("key", KEY), ("api-version", "2024-10-21")]
    }

    fn api_base(&self) -> &str {
        self.0.api_base()
    }

    fn api_key(&self) -> &secrecy::SecretString {
        self.0.api_key()
    }
}

/// P55
#[tokio::test]
async fn a_key_in_the_query_is_sent_and_shown_nowhere() {
    let echo = format!(r#"{{"error":{{"message":"no {KEY} in 2024-10-21"}}}}"#);
    let server = Server::start(vec![json(400, &echo)]).await;
    let model = settings(InQuery(openai(&server, ""))).build().unwrap();
    let refused = model.chat(ask(), &call()).await.unwrap_err();
    let sent = &server.received()[0];
    let path = format!("POST /v1/chat/completions?key={KEY}&api-version=2024-10-21 ");
    assert!(sent.head.starts_with(&path), "{sent:?}");
    // Nobody listens at this port.
    let nowhere = OpenAIConfig::new().with_api_base("http://127.0.0.1:1/v1").with_api_key("");
    let model = settings(InQuery(nowhere)).max_retries(0).build().unwrap();
    let unreachable = model.chat(ask(), &call()).await.unwrap_err();

    let shown = format!("{} {refused:?} {} {unreachable:?}", Chain(&refused), Chain(&unreachable));
    assert!(!shown.contains("very-secret") && shown.contains("in 2024-10-21"), "{shown}");
}
