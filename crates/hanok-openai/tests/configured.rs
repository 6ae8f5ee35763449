//! A server that a configuration of `async-openai` describes: one of Azure, whose addresses have a deployment and a version.
#![cfg(feature = "config")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod server;

use async_openai::config::AzureConfig;
use hanok_model::{ChatModel, Embedder, ModelError};
use hanok_openai::{OpenAi, OpenAiBuilder};

use server::{Server, ask, call, json, said};

const KEY: &str = "azure-key-0123456789";

fn azure(server: &Server) -> OpenAiBuilder {
    let config = AzureConfig::new()
        .with_api_base(server.base_url.trim_end_matches("/v1"))
        .with_deployment_id("gpt")
        .with_api_version("2025-01-01")
        .with_api_key(KEY);
    let tls = rustls::ClientConfig::builder_with_provider(
        rustls::crypto::ring::default_provider().into(),
    );
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    let http = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy();
    OpenAi::from_config(config, http.build().unwrap()).unwrap()
}

#[tokio::test]
async fn the_address_the_query_and_the_headers_are_those_of_the_configuration() {
    let server = Server::start(vec![json(200, said("네"))]).await;
    let model = azure(&server).model("gpt").build().unwrap();
    let reply = model.chat(ask(), &call()).await.unwrap();
    assert_eq!(reply.message.text(), "네");
    let received = &server.received()[0];
    let line = "POST /openai/deployments/gpt/chat/completions?api-version=2025-01-01 HTTP/1.1";
    assert!(received.head.starts_with(line), "{}", received.head);
    assert!(received.has_header(&format!("api-key: {KEY}")), "{}", received.head);
    assert!(!received.has_header("authorization"), "{}", received.head);

    let vectors = r#"{"data":[{"index":0,"embedding":[1.0,2.0]}],"usage":{"prompt_tokens":1}}"#;
    let server = Server::start(vec![json(200, vectors)]).await;
    let embedder = azure(&server).embedder("e").unwrap();
    assert_eq!(embedder.embed(&["가".to_owned()], &call()).await.unwrap(), [[1.0, 2.0]]);
    let line = "POST /openai/deployments/gpt/embeddings?api-version=2025-01-01 HTTP/1.1";
    assert!(server.received()[0].head.starts_with(line), "{}", server.received()[0].head);
}

#[tokio::test]
async fn its_key_is_shown_nowhere_and_its_refusals_are_typed() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let server = Server::start(vec![json(401, echo)]).await;
    let model = azure(&server).model("gpt").build().unwrap();
    assert!(!format!("{model:?}").contains(KEY), "{model:?}");
    let error = model.chat(ask(), &call()).await.unwrap_err();
    assert!(matches!(error, ModelError::BadKey { sent: true, .. }), "{error:?}");
    assert!(!format!("{error:?} {error}").contains(KEY), "{error:?}");
}
