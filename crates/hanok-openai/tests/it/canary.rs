//! The key is seen nowhere.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{error::Error, fmt::Write, time::Duration};

use base64::{Engine, engine::general_purpose};
use hanok_core::Secret;
use hanok_model::{ChatModel, Embedder, ModelError, SharedModel};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::server::{Script, Server, Step, Watcher, answer, ask, call, cut, head, json, piece};

const CANARY: &str = "sk-canary/4f+1=9";

/// The key in every form in which it might be seen.
fn forms() -> Vec<String> {
    let bearer = format!("Bearer {CANARY}");
    let mut forms =
        vec![CANARY.to_owned(), utf8_percent_encode(CANARY, NON_ALPHANUMERIC).to_string()];
    for text in [CANARY, &bearer] {
        forms.push(general_purpose::STANDARD_NO_PAD.encode(text));
        forms.push(general_purpose::URL_SAFE_NO_PAD.encode(text));
    }
    forms.push(format!("{CANARY:?}").trim_matches('"').to_owned());
    forms
}

/// Everything that an error shows.
fn shown(error: &ModelError) -> String {
    let mut shown = format!("{error:?}\n{error:#?}\n{error}\n");
    let mut cause = error.source();
    while let Some(error) = cause {
        writeln!(shown, "{error}\n{error:?}").unwrap();
        cause = error.source();
    }
    shown
}

/// Servers that fail, and say the key wherever they say anything.
fn failures() -> Vec<Script> {
    let key = forms().join(" and ");
    let told =
        format!(r#"{{"error":{{"message":"bad key {key}","type":"{key}","code":"{key}"}}}}"#);
    let header = format!(
        "x-key: {CANARY}\r\nlocation: http://127.0.0.1:9/?key={CANARY}\r\nretry-after: {CANARY}\r\n"
    );
    let mut scripts: Vec<_> = [200, 302, 400, 401, 402, 403, 404, 413, 429, 500, 503]
        .into_iter()
        .flat_map(|status| {
            [
                answer(status, "application/json", &header, &told),
                answer(status, "text/plain", &header, format!("no {key}")),
                answer(status, "text/html", &header, format!("<p>{key}</p>")),
                json(status, format!(r#"{{"detail":{{"{key}":"{key}"}}}}"#)),
                json(status, format!(r#"{{"choices":"{key}"}}"#)),
            ]
        })
        .collect();
    scripts.extend([
        vec![],
        vec![Step::Hang],
        vec![Step::Send(key.clone().into_bytes())],
        json(200, [key.as_bytes(), b"\xff"].concat()),
        cut(&format!("data: {told}\n\n"), Step::Hang),
        cut(&format!("data: {}\n\ndata: {key}\n\n", piece("네")), Step::Hang),
        cut(&format!("data: {}\n\n{key}", piece("네")), Step::Reset),
        vec![head(), Step::SendForever(CANARY)],
    ]);
    scripts
}

fn is_clean(what: &str, shown: &str) {
    for form in forms() {
        assert!(!shown.contains(&form), "{what} shows {form:?}: {shown}");
    }
}

/// P55
#[tokio::test]
async fn no_error_and_no_debug_shows_the_key() {
    for (n, script) in failures().into_iter().enumerate() {
        let server = Server::start(vec![script]).await;
        let settings = server
            .settings()
            .api_key(Secret::new(CANARY.to_owned()))
            .max_retries(0)
            .max_body(50_000)
            .first_token_timeout(Duration::from_millis(100))
            .total_timeout(Duration::from_millis(300));
        is_clean("the settings", &format!("{settings:?} {settings:#?}"));
        let model = settings.clone().build().unwrap();
        let embedder = settings.clone().embedder("e").unwrap();
        let shared = SharedModel::new(model.clone());
        is_clean(
            "the model",
            &format!("{model:?} {model:#?} {embedder:?} {embedder:#?} {shared:#?}"),
        );

        let mut errors = Vec::new();
        errors.extend(shared.chat(ask(), &call()).await.err());
        errors.extend(model.chat(ask(), &Watcher::default().call()).await.err());
        errors.extend(model.models(&call()).await.err());
        errors.extend(embedder.embed(&["글".to_owned()], &call()).await.err());
        assert!(errors.len() >= 3, "script {n} fails: {errors:?}");
        for error in &errors {
            is_clean(&format!("script {n}"), &shown(error));
        }
        assert!(
            server.received().iter().any(|received| received.head.contains(CANARY)),
            "the key was sent"
        );
    }
}
