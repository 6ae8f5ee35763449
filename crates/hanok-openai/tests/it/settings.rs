//! Settings, the list of models, and embeddings.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use hanok_core::Spent;
use hanok_model::{ChatModel, Embedder, ModelError};
use hanok_openai::{OpenAi, OpenAiEmbedder};

use crate::server::{Server, call, json};

fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
}

fn missing(error: ModelError) -> String {
    match error {
        ModelError::NotConfigured { missing } => missing,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn without_a_model_the_server_is_asked_for_its_only_one() {
    let list = |ids: &[&str]| {
        let ids: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
        json(200, format!(r#"{{"object":"list","data":[{}]}}"#, ids.join(",")))
    };
    for (ids, want) in [
        (&["qwen"][..], Ok("qwen")),
        (&[], Err("the server lists no model; load one, or set OPENAI_MODEL")),
        (
            &["qwen", "llama"],
            Err("the server has 2 models; set OPENAI_MODEL to one of `llama`, `qwen`"),
        ),
    ] {
        let server = Server::start(vec![list(ids)]).await;
        let set = [("OPENAI_BASE_URL", server.base_url.as_str()), ("OPENAI_MODEL", " ")];
        let model = OpenAi::from_variables(variables(&set)).await;
        match want {
            Ok(name) => assert_eq!(model.unwrap().name(), name),
            Err(want) => assert_eq!(missing(model.unwrap_err()), want),
        }
        assert!(server.received()[0].head.starts_with("GET /v1/models "));
        assert!(!server.received()[0].has_header("authorization"));
    }
}

#[tokio::test]
async fn what_is_not_set_or_is_none_is_named() {
    let none = OpenAi::from_variables(variables(&[("OPENAI_API_KEY", "")])).await.unwrap_err();
    assert_eq!(missing(none), "set OPENAI_BASE_URL or OPENAI_API_KEY");

    for (base_url, why) in [
        ("not an address", "is no URL (relative URL without a base)"),
        ("ftp://host/v1", "is not one of http or https"),
        ("http://user:pass@host/v1", "holds a user or a password, which belong into the API key"),
    ] {
        let set = [("OPENAI_BASE_URL", base_url), ("OPENAI_MODEL", "m")];
        let refused = OpenAi::from_variables(variables(&set)).await.unwrap_err().to_string();
        let told = format!(
            "no model is configured: the base URL {why}; set OPENAI_BASE_URL to one like http://host:8080/v1"
        );
        assert_eq!(refused, told);
    }
    let set = [("OPENAI_API_KEY", "line\nbreak"), ("OPENAI_MODEL", "m")];
    let refused = missing(OpenAi::from_variables(variables(&set)).await.unwrap_err());
    assert!(!refused.contains("line"), "{refused}");
}

#[tokio::test]
async fn an_address_may_end_with_a_slash_and_have_a_query() {
    let server = Server::start(vec![json(200, r#"{"data":[{"id":"m"}]}"#)]).await;
    let base_url = format!("{}/?api-version=1", server.base_url);
    let model = OpenAi::builder(base_url).discover().await.unwrap();
    assert_eq!(model.models(&call()).await.unwrap(), ["m"]);
    assert!(server.received()[0].head.starts_with("GET /v1/models?api-version=1 "));
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_their_texts() {
    let body = r#"{"data":[{"index":1,"embedding":[0.5,1]},{"index":0,"embedding":[-1,2e-3]}],"usage":{"prompt_tokens":9}}"#;
    let server = Server::start(vec![json(200, body)]).await;
    let set = [("OPENAI_BASE_URL", server.base_url.as_str()), ("OPENAI_EMBEDDING_MODEL", "bge-m3")];
    let embedder = OpenAiEmbedder::from_variables(variables(&set)).unwrap();
    let call = call();
    let texts = ["휴가".to_owned(), "출장".to_owned()];
    assert_eq!(embedder.dimensions(), None);
    assert_eq!(embedder.embed(&texts, &call).await.unwrap(), [[-1.0, 0.002], [0.5, 1.0]]);
    assert_eq!((embedder.name(), embedder.dimensions()), ("bge-m3", Some(2)));
    assert_eq!(call.spend().spent(), Spent { input_tokens: 9, ..Spent::default() });
    let sent = server.received()[0].json();
    assert_eq!(sent, serde_json::json!({"model": "bge-m3", "input": ["휴가", "출장"]}));

    assert!(embedder.embed(&[], &call).await.unwrap().is_empty());
    assert_eq!(server.received().len(), 1, "nothing is asked for nothing");
}

#[tokio::test]
async fn many_texts_are_embedded_in_batches() {
    let batch = |count: usize| {
        json(200, format!(r#"{{"data":[{}]}}"#, vec![r#"{"embedding":[1]}"#; count].join(",")))
    };
    let server = Server::start(vec![batch(64), batch(6)]).await;
    let embedder = server.settings().embedder("e").unwrap();
    let texts = vec!["글".to_owned(); 70];
    assert_eq!(embedder.embed(&texts, &call()).await.unwrap().len(), 70);
}

/// P16
#[tokio::test]
async fn embeddings_that_do_not_fit_their_texts_are_an_error() {
    for body in [
        r#"{"data":[{"embedding":[1]}]}"#,
        r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
        r#"{"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[1]}]}"#,
        r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
        r#"{"data":[{"embedding":[1]},{"embedding":[]}]}"#,
        r#"{"data":[{"embedding":[1]},{"embedding":[1e300]}]}"#,
        r#"{"data":[{"embedding":[1]},{"embedding":"AAAA"}]}"#,
        r#"{"vectors":[]}"#,
        r#"{"error":"no"}"#,
    ] {
        let server = Server::start(vec![json(200, body)]).await;
        let embedder = server.settings().embedder("e").unwrap();
        let error =
            embedder.embed(&["하나".to_owned(), "둘".to_owned()], &call()).await.unwrap_err();
        assert!(matches!(error, ModelError::Protocol { .. }), "{body}: {error:?}");
    }
    let none = OpenAiEmbedder::from_variables(variables(&[("OPENAI_API_KEY", "k")])).unwrap_err();
    assert_eq!(missing(none), "set OPENAI_EMBEDDING_MODEL to the model of the embeddings");
}
