//! Servers that want to know who asks, and a person who signs in, played by a browser that agrees to everything.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_mcp::{McpClient, SignIn, SignInPage, TokenFolder};
use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    http::{Reply, json_reply, listener, proper},
    support::World,
};

/// Shows pages to a browser that agrees to everything.
pub(crate) fn agreeing() -> SignIn {
    SignIn::new(|page: &SignInPage| {
        let url = page.url.clone();
        std::thread::spawn(move || browse(&url));
    })
}

/// Opens `url`, and follows where it sends.
pub(crate) fn browse(url: &str) {
    let mut next = Some(url.to_owned());
    while let Some(url) = next {
        eprintln!("the browser opens {url}");
        let url = Url::parse(&url).unwrap();
        let address = (url.host_str().unwrap(), url.port_or_known_default().unwrap());
        let mut stream = TcpStream::connect(address).unwrap();
        let (path, query) = (url.path(), url.query().unwrap_or_default());
        write!(
            stream,
            "GET {path}?{query} HTTP/1.1\r\nhost: {}:{}\r\nconnection: close\r\n\r\n",
            address.0, address.1
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let head = answer.split("\r\n\r\n").next().unwrap();
        let location = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
        });
        next = location.map(|location| url.join(&location).unwrap().into());
    }
}

/// A server of tools that gives its own tokens, and what it knows.
#[derive(Debug, Default)]
struct Desk {
    /// The number of the token that it takes; those before it are revoked.
    valid: usize,
    /// The tokens that it gave, by how they were asked for.
    given: Vec<String>,
    /// The heads of all requests.
    heads: Vec<String>,
}

/// The address of a server that begins with no token, and what it knows.
async fn desk() -> (String, Arc<Mutex<Desk>>) {
    let desk = Arc::new(Mutex::new(Desk { valid: 1, ..Desk::default() }));
    let (of_desk, reply) = (desk.clone(), proper("old"));
    let (address, _) = listener(Arc::new(move |message: &Value, head: &str| {
        let mut desk = of_desk.lock().unwrap();
        desk.heads.push(head.to_owned());
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let host = head.split("host: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let origin = format!("http://{host}");
        match path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => json_reply(&json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [origin],
            })),
            "/.well-known/oauth-authorization-server" => json_reply(&json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            })),
            "/register" => {
                let redirects = &message["redirect_uris"];
                json_reply(&json!({"client_id": "c-1", "redirect_uris": redirects}))
            }
            "/token" => {
                let token = format!("t-{}", desk.given.len() + 1);
                desk.given.push(token);
                json_reply(&json!({
                    "access_token": desk.given.last(), "token_type": "Bearer",
                    "refresh_token": "r-1", "expires_in": 3600,
                }))
            }
            "/mcp" if head.contains(&format!("\r\nauthorization: bearer t-{}\r\n", desk.valid)) => {
                reply(message)
            }
            "/mcp" => {
                let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
                let challenge =
                    format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
                Reply::Http("401 Unauthorized", challenge, String::new())
            }
            _ => Reply::Http("404 Not Found", String::new(), String::new()),
        }
    }))
    .await;
    (address, desk)
}

/// A person who agrees on each page without a look at the authorization server, and the pages.
fn person() -> (SignIn, Arc<Mutex<Vec<SignInPage>>>) {
    let pages = Arc::new(Mutex::new(Vec::new()));
    let shown = pages.clone();
    let sign_in = SignIn::new(move |page| {
        shown.lock().unwrap().push(page.clone());
        let url = Url::parse(&page.url).unwrap();
        let of = |name: &str| url.query_pairs().find(|pair| pair.0 == name).unwrap().1.into_owned();
        assert_eq!(of("code_challenge_method"), "S256");
        let back = format!("{}?code=k-1&state={}", of("redirect_uri"), of("state"));
        std::thread::spawn(move || browse(&back));
    });
    (sign_in, pages)
}

fn error_of(client: &McpClient) -> String {
    client.status()[0].error.clone().unwrap_or_default()
}

/// P44: a person signs in once; the token is renewed and used by the next process, and goes to no other server.
#[tokio::test]
async fn a_person_signs_in_once() {
    let (address, desk) = desk().await;
    let heads = Arc::new(Mutex::new(String::new()));
    let (seen_heads, reply) = (heads.clone(), proper("old"));
    let (other, _) = listener(Arc::new(move |message, head| {
        seen_heads.lock().unwrap().push_str(head);
        reply(message)
    }))
    .await;
    let world = World::new()
        .any("desk", json!({"url": address, "oauth": true}))
        .any("other", json!({"url": other}));
    let ((sign_in, pages), tokens) = (person(), TokenFolder::new(world.path("tokens")));
    let builder = || world.builder().sign_in(sign_in.clone()).tokens(tokens.clone());
    let client = builder().connect().await.unwrap();
    client.approve(&client.pending()).unwrap();
    assert_eq!(world.run(&client, "desk__echo", "k1").await, Ok("k1".to_owned()));

    // The token is revoked, and the refresh token gives the next one.
    desk.lock().unwrap().valid = 2;
    assert_eq!(world.run(&client, "desk__echo", "k2").await, Ok("k2".to_owned()));
    client.close().await;

    let client = builder().connect().await.unwrap();
    assert_eq!(world.run(&client, "desk__echo", "k3").await, Ok("k3".to_owned()));
    assert_eq!(world.run(&client, "other__echo", "k4").await, Ok("k4".to_owned()));
    let pages = pages.lock().unwrap();
    let servers: Vec<_> = pages.iter().map(|page| page.server.as_str()).collect();
    assert_eq!(servers, ["desk"]);
    assert_eq!(desk.lock().unwrap().given, ["t-1", "t-2"]);
    assert!(!heads.lock().unwrap().contains("bearer"), "{heads:?}");
}

/// P44: without a person, a server costs its own tools, and says what is missing; the others work.
#[tokio::test]
async fn where_nobody_signs_in_other_servers_work() {
    let (address, desk) = desk().await;
    let (other, _) = listener(Arc::new({
        let reply = proper("old");
        move |message, _| reply(message)
    }))
    .await;
    let world = World::new()
        .any("desk", json!({"url": address, "oauth": {"scopes": ["read"]}}))
        .any("other", json!({"url": other}));
    let absent = SignIn::new(|_| {}).patience(Duration::from_millis(1));
    for (builder, want) in [
        (world.builder(), "or sign in by `oauth`"),
        (world.builder().sign_in(absent), "nobody signed in within 1ms"),
    ] {
        let client = builder.connect().await.unwrap();
        assert!(error_of(&client).ends_with(want), "{}", error_of(&client));
        client.approve(&client.pending()).unwrap();
        assert_eq!(world.run(&client, "other__echo", "k").await, Ok("k".to_owned()));
        assert!(desk.lock().unwrap().given.is_empty());
    }
}
