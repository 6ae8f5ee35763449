//! Graphs as a server over HTTP: whoever calls has threads of their own, and strangers are refused.

use std::sync::Arc;

use hanok_checkpoint::{Log, Which};
use hanok_core::{Answerer, Call, CallKey, Timestamp};
use hanok_graph::{TokioClock, open_requests};
use hanok_mcp::{HttpSettings, McpClient, McpConfig, McpServer};
use hanok_model::{SharedTool, Tool};
use serde_json::json;

use crate::{
    serve::{Ledger, answered, memory, seal, server, tool},
    support::tool_of,
};

/// The address of `server` over HTTP.
pub(crate) async fn http(server: &McpServer, settings: HttpSettings) -> String {
    let service = server.http(settings);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = hyper_util::service::TowerToHyperService::new(service.clone());
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(hyper_util::rt::TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    format!("http://{address}/mcp")
}

/// Over HTTP it is the same, for our own client; and whoever calls has threads of their own.
#[tokio::test]
async fn over_http_callers_have_threads_of_their_own() {
    let (store, ledger) = (memory(), Ledger::default());
    let server = McpServer::builder("desk", "1.0.0", seal()).tool(tool(&store, &ledger));
    let server = server.caller(|request| {
        let user = request.and_then(|request| request.headers.get("x-user")?.to_str().ok());
        match user {
            Some("boss") => Ok(Some(Answerer::new("boss", "mcp").role("boss"))),
            Some(user) => Ok(Some(Answerer::new(user, "mcp"))),
            None => Err("sign in first".to_owned()),
        }
    });
    let url = http(&server.build().unwrap(), HttpSettings::default()).await;
    let user = |user: Option<&str>| {
        let headers = user.map_or(json!({}), |user| json!({"x-user": user}));
        let config = json!({"mcpServers": {"desk": {"url": url.clone(), "headers": headers}}});
        async move {
            let config = McpConfig::reader().parse(&config.to_string()).unwrap();
            let client = McpClient::connect(config).await.unwrap();
            client.approve(&client.pending()).unwrap();
            tool_of(&client, "desk__work")
        }
    };
    let (kim, lee, nobody) = (user(Some("kim")).await, user(Some("lee")).await, user(None).await);
    let call = |key: &str| Call::new(CallKey::new(key), Arc::new(TokioClock));
    let run = async |tool: &SharedTool, what: &str, key: &str| {
        let arguments = json!({"what": what}).to_string().as_str().into();
        let made = tool.run(&arguments, &call(key)).await;
        made.map(|output| output.text).map_err(|error| error.report())
    };
    assert_eq!(run(&kim, "write", "k").await, Ok("did write".to_owned()));
    assert_eq!(run(&kim, "write", "k").await, Ok("did write".to_owned()));
    assert_eq!(run(&lee, "write", "k").await, Ok("did write".to_owned()));
    assert_eq!(ledger.lines(), ["write", "write"]);
    let refused = run(&nobody, "write", "k").await.unwrap_err();
    assert!(refused.contains("sign in first"), "{refused}");
    // A question for others is not put to whoever calls.
    let waits = run(&kim, "ask-boss", "k").await.unwrap_err();
    assert!(waits.contains("waits for a person's answer"), "{waits}");
    let waiting = store.all_threads(&Which::All).await.unwrap();
    let mut open = Vec::new();
    for info in waiting {
        let log = Log::new(store.clone(), info.thread.clone());
        let requests = open_requests(&log, Timestamp(0)).await.unwrap();
        open.extend(requests.into_iter().map(|request| (info.thread.clone(), request.id)));
    }
    let (thread, id) = open.pop().unwrap();
    answered(&store, &thread, id, &json!({"seats": 1})).await;
    assert_eq!(run(&kim, "ask-boss", "k").await, Ok("booked 1".to_owned()));
}

/// P44: what comes from elsewhere, is too large or is no MCP is refused before anything runs.
#[tokio::test]
async fn over_http_strangers_are_refused() {
    let (store, ledger) = (memory(), Ledger::default());
    let settings = HttpSettings::default().origins(["https://desk.example:443"]);
    let url = http(&server(&store, &ledger), settings.largest_request(10_000)).await;
    let http =
        reqwest::Client::builder().tls_backend_preconfigured(tls()).no_proxy().build().unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "work", "arguments": {"what": "write"}, "_meta": meta},
    });
    let mut large = call.clone();
    large["params"]["arguments"]["what"] = "x".repeat(20_000).into();
    let mut forged = call.clone();
    forged["params"]["requestState"] = "rs1.forged".into();
    let deep = "[".repeat(5_000);
    for (header, value, body, want) in [
        ("host", "attacker.example", call.to_string(), 403),
        ("host", "127.0.0.1.attacker.example", call.to_string(), 403),
        ("origin", "https://attacker.example", call.to_string(), 403),
        ("origin", "null", call.to_string(), 403),
        ("origin", "http://desk.example", call.to_string(), 403),
        ("x-none", "", large.to_string(), 413),
        ("x-none", "", deep, 415),
        ("x-none", "", "no json".to_owned(), 415),
        ("origin", "https://desk.example", call.to_string(), 200),
        ("x-none", "", call.to_string(), 200),
    ] {
        let length = ledger.lines().len();
        let request = post(&http, &url).header(header, value).body(body.clone());
        let response = request.send().await.unwrap();
        let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
        let what: String = body.chars().take(80).collect();
        assert_eq!(status, want, "{header}: {value}, {what}: {text}");
        let ran = ledger.lines().len() - length;
        assert_eq!(ran, usize::from(want == 200), "{header}: {value}, {what}");
    }
    let runs = ledger.lines().len();
    let request = post(&http, &url).body(forged.to_string());
    let text = request.send().await.unwrap().text().await.unwrap();
    assert!(text.contains("was not given for this call"), "{text}");
    assert_eq!(ledger.lines().len(), runs);
}

fn post(http: &reqwest::Client, url: &str) -> reqwest::RequestBuilder {
    http.post(url)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "work")
}

fn tls() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}
