//! The egress against servers, names and answers that mean harm. Nothing here leaves this machine.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    io::{self, Write},
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use flate2::{Compression, write::GzEncoder};
use hanok_core::{BoxFuture, Cancellation, Secret, Timestamp};
use hanok_egress::{Egress, EgressError, Fetch, Fetched, Limits, Resolve, Waited};

use crate::server::{Reply, Server, serve};
use crate::support::call;

const SOON: Duration = Duration::from_millis(300);

/// What no test waits for; the limits end everything long before.
const BOUND: Duration = Duration::from_secs(60);

/// Roomy in time: a busy machine is not what is tested.
fn limits() -> Limits {
    Limits::default().silence(BOUND).total(BOUND).body(256 * 1024)
}

/// A client that may reach these servers and no other of this machine.
fn egress(servers: &[&Server]) -> Egress {
    let builder = Egress::builder();
    servers.iter().fold(builder, |b, s| b.permit(s.address.to_string())).build().unwrap()
}

async fn get(server: &Server) -> Result<Fetched, EgressError> {
    egress(&[server]).get(&call(), &server.url("/"), limits()).await
}

/// The error with its causes, as `Display` and as `Debug`.
fn told(error: &EgressError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |e| e.source());
    causes.fold(format!("{error} {error:?}"), |text, cause| format!("{text} {cause} {cause:?}"))
}

#[tokio::test]
async fn what_is_there_is_fetched_with_no_more_said_than_needed() {
    let server = Server::always(Reply::answer(
        200,
        "content-type: text/plain\r\nset-cookie: a=b\r\n",
        "\u{feff}안녕하세요",
    ))
    .await;
    let fetched = get(&server).await.unwrap().accepted().unwrap();
    assert_eq!(fetched.text().unwrap(), "안녕하세요");
    assert_eq!((fetched.status(), fetched.content_type()), (200, Some("text/plain")));
    assert_eq!(fetched.url(), server.url("/"));
    let agent = concat!("hanok/", env!("CARGO_PKG_VERSION"));
    let want = format!(
        "GET / HTTP/1.1\r\nhost: {}\r\nuser-agent: {agent}\r\naccept: */*\r\naccept-encoding: gzip, deflate\r\nconnection: close\r\n\r\n",
        server.address
    );
    assert_eq!(server.seen(), [want]);
}

/// P39
#[tokio::test]
async fn this_machine_is_not_reached_unless_it_is_permitted() {
    let server = Server::always(Reply::answer(200, "", "secret")).await;
    let port = server.address.port();
    let open = Egress::builder().ports([port, 80]).build().unwrap();
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"] {
        let error = open.get(&call(), &format!("http://{host}:{port}/"), limits()).await;
        assert!(matches!(error, Err(EgressError::Blocked { .. })), "{host} {error:?}");
    }
    for host in ["2130706433", "0x7f.1", "127.1", "017700000001", "127.0.0.1.", "a@127.0.0.1"] {
        let error = open.get(&call(), &format!("http://{host}:{port}/"), limits()).await;
        assert!(matches!(error, Err(EgressError::Url { .. })), "{host} {error:?}");
    }
    let other = Egress::builder().permit("127.0.0.1:1").build().unwrap();
    let error = other.get(&call(), &server.url("/"), limits()).await.unwrap_err();
    assert!(matches!(error, EgressError::Blocked { .. }), "{error:?}");
    assert_eq!(server.seen(), [""; 0]);
}

/// P39
#[tokio::test]
async fn ports_and_hosts_can_be_narrowed() {
    let server = Server::always(Reply::answer(200, "", "")).await;
    let only = Egress::builder().only(["*.example.com"]).permit(server.address.to_string());
    let error = only.build().unwrap().get(&call(), &server.url("/"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "`127.0.0.1` is not on the list of allowed hosts");
    let error = Egress::builder().build().unwrap();
    let error = error.get(&call(), "http://8.8.8.8:25/", limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "port 25 of `8.8.8.8` is not allowed");
    assert_eq!(server.seen(), [""; 0]);
}

/// P39
#[tokio::test]
async fn a_redirect_is_checked_like_a_first_request() {
    let trap = Server::always(Reply::answer(200, "", "secret")).await;
    for to in [
        trap.url("/"),
        "http://10.0.0.1/".into(),
        "http://169.254.169.254/latest/meta-data/".into(),
        "http://[fd00:ec2::254]/".into(),
        "http://[64:ff9b::a00:1]/".into(),
        "http://[::ffff:c0a8:1]/".into(),
        format!("//127.0.0.1:{}/", trap.address.port()),
    ] {
        let server = Server::always(Reply::redirect(&to)).await;
        let error = get(&server).await.unwrap_err();
        assert!(matches!(error, EgressError::Blocked { .. }), "{to} {error:?}");
    }
    for to in
        ["file:///etc/passwd", "gopher://a.b/", "http://me@a.b/", "http://0x7f000001/", "data:,"]
    {
        let server = Server::always(Reply::redirect(to)).await;
        let error = get(&server).await.unwrap_err();
        assert!(matches!(error, EgressError::Redirect { .. }), "{to} {error:?}");
    }
    assert_eq!(trap.seen(), [""; 0]);
}

/// P39
#[tokio::test]
async fn five_redirects_are_followed_and_not_one_more() {
    let chain = |length: usize| {
        Server::new(move |request: &str| {
            let at: usize = request[5..6].parse().unwrap();
            match at == length {
                true => Reply::answer(200, "", "there"),
                false => Reply::redirect(&format!("/{}", at + 1)),
            }
        })
    };
    let server = chain(5).await;
    let fetched = egress(&[&server]).get(&call(), &server.url("/0"), limits()).await.unwrap();
    assert_eq!((fetched.text().unwrap(), fetched.url()), ("there", server.url("/5").as_str()));
    let server = chain(6).await;
    let error = egress(&[&server]).get(&call(), &server.url("/0"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "more than 5 redirects");
    assert_eq!(server.seen().len(), 6);
    let server = Server::always(Reply::redirect("/")).await;
    assert!(matches!(get(&server).await, Err(EgressError::Redirects { limit: 5 })));
}

/// P39, P55
#[tokio::test]
async fn keys_stay_with_the_host_they_are_for() {
    let other = Server::new(|request: &str| {
        let path = request.split(' ').nth(1).unwrap();
        match (path.strip_prefix("/back/"), path.strip_prefix("/stay/")) {
            (Some(port), _) => Reply::redirect(&format!("http://127.0.0.1:{port}/again")),
            (_, Some(port)) => Reply::redirect(&format!("/back/{port}")),
            _ => Reply::answer(200, "", "end"),
        }
    })
    .await;
    let port = other.address.port();
    let server = Server::new(move |request: &str| match request.split(' ').nth(1).unwrap() {
        path if path.starts_with("/again") => Reply::answer(200, "", "end"),
        path if path.starts_with("/same") => Reply::redirect("/again"),
        path if path.starts_with("/leak") => {
            Reply::redirect(&format!("http://127.0.0.1:{port}{path}"))
        }
        _ => {
            let own = request.split("127.0.0.1:").nth(1).unwrap().split("\r\n").next().unwrap();
            Reply::redirect(&format!("http://127.0.0.1:{port}/stay/{own}"))
        }
    })
    .await;
    let egress = egress(&[&server, &other]);
    let fetch = |path: &str| {
        Fetch::get(server.url(path))
            .header("authorization", Secret::new("Bearer sk-geheim".to_owned()))
            .secret_query("appid", Secret::new("app geheim".to_owned()))
            .limits(limits())
    };
    let has_key = |request: &String| request.contains("geheim");

    egress.fetch(&call(), &fetch("/")).await.unwrap();
    assert_eq!(server.seen().iter().map(has_key).collect::<Vec<_>>(), [true, false]);
    assert_eq!(other.seen().iter().map(has_key).collect::<Vec<_>>(), [false, false]);
    assert!(server.seen()[0].starts_with("GET /?appid=app+geheim HTTP/1.1\r\n"));

    let fetched = egress.fetch(&call(), &fetch("/same")).await.unwrap();
    assert_eq!(server.seen().iter().map(has_key).collect::<Vec<_>>()[2..], [true, true]);
    assert!(!fetched.url().contains("geheim"));

    let error = egress.fetch(&call(), &fetch("/leak")).await.unwrap_err();
    assert!(matches!(error, EgressError::Redirect { .. }), "{error:?}");
    assert!(!told(&error).contains("geheim"), "{}", told(&error));
    assert_eq!(other.seen().len(), 2);
}

/// A name server with an answer for each question; the last one stays.
#[derive(Debug)]
struct Changing {
    answers: Vec<Vec<IpAddr>>,
    asked: Arc<AtomicUsize>,
}

impl Changing {
    fn new(answers: &[&[&str]]) -> (Self, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        (Self { answers: answers.iter().map(parse).collect(), asked: asked.clone() }, asked)
    }
}

impl Resolve for Changing {
    fn resolve(&self, _: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        Box::pin(std::future::ready(Ok(self.answers[at].clone())))
    }
}

/// P39
#[tokio::test]
async fn a_name_that_changes_its_address_after_the_check_is_connected_to_as_checked() {
    let good = Server::new(|request: &str| match request.starts_with("GET /again") {
        true => Reply::redirect("/"),
        false => Reply::answer(200, "", "good"),
    })
    .await;
    let port = good.address.port();
    let trap = Server::on(&format!("127.0.0.2:{port}"), |_| Reply::answer(200, "", "bad")).await;

    let (names, asked) = Changing::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let egress = Egress::builder().permit(good.address.to_string()).resolver(names);
    let egress = egress.build().unwrap();
    let url = format!("http://rebind.test:{port}/");
    let fetched = egress.get(&call(), &url, limits()).await.unwrap();
    assert_eq!((fetched.text().unwrap(), asked.load(Ordering::SeqCst)), ("good", 1));

    // The second answer is a second question's, and is checked.
    let error = egress.get(&call(), &url, limits()).await.unwrap_err();
    assert!(matches!(error, EgressError::Blocked { .. }), "{error:?}");

    let (names, asked) = Changing::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let egress = Egress::builder().permit(good.address.to_string()).resolver(names);
    let error = egress.build().unwrap().get(&call(), &format!("{url}again"), limits()).await;
    assert!(matches!(error, Err(EgressError::Blocked { .. })), "{error:?}");
    assert_eq!((asked.load(Ordering::SeqCst), trap.seen().len()), (2, 0));
}

/// P39
#[tokio::test]
async fn one_address_that_is_not_public_spoils_a_name() {
    let trap = Server::always(Reply::answer(200, "", "")).await;
    let port = trap.address.port();
    for answer in [
        &["8.8.8.8", "127.0.0.1"][..],
        &["127.0.0.1", "8.8.8.8"],
        &["2606:4700::1111", "fd00:ec2::254"],
        &["8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "10.0.0.1"],
        &["64:ff9b::7f00:1"],
    ] {
        let (names, _) = Changing::new(&[answer]);
        let egress = Egress::builder().ports([port]).resolver(names).build().unwrap();
        let error = egress.get(&call(), &format!("http://mixed.test:{port}/"), limits()).await;
        assert!(matches!(error, Err(EgressError::Blocked { .. })), "{answer:?} {error:?}");
    }
    assert_eq!(trap.seen(), [""; 0]);
    let (names, _) = Changing::new(&[&[]]);
    let egress = Egress::builder().resolver(names).build().unwrap();
    let error = egress.get(&call(), "http://nobody.test/", limits()).await.unwrap_err();
    assert!(matches!(error, EgressError::Unreachable { .. }), "{error:?}");
}

fn bomb() -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1024 * 1024];
    (0..100).for_each(|_| gzip.write_all(&zeros).unwrap());
    gzip.finish().unwrap()
}

/// P39
#[tokio::test]
async fn an_answer_that_is_too_much_ends_at_its_limit() {
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked = Reply::raw(format!("{head}transfer-encoding: chunked\r\n\r\n"));
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let bare = Reply::raw(format!("{head}\r\n"));
    let flood = "x-flood: yes\r\n".repeat(50_000);
    type Judge = fn(&EgressError) -> bool;
    let too_large: Judge = |error| matches!(error, EgressError::TooLarge { limit: 262_144 });
    let head_too_large: Judge = |error| matches!(error, EgressError::HeadTooLarge { .. });
    let cases: Vec<(&str, Reply, Judge)> = vec![
        ("chunks without end", chunked.clone().endless(&chunk, Duration::ZERO), too_large),
        ("bytes without end", bare.endless("x".repeat(9999), Duration::ZERO), too_large),
        (
            "a large length",
            Reply::raw(format!("{head}content-length: 999999999\r\n\r\n")).silence(),
            too_large,
        ),
        (
            "a packing that nobody asked for",
            Reply::answer(200, "content-encoding: br\r\n", "x"),
            |error| matches!(error, EgressError::Encoding { .. }),
        ),
        (
            "packed twice",
            Reply::answer(200, "content-encoding: gzip\r\ncontent-encoding: gzip\r\n", "x"),
            |error| matches!(error, EgressError::Encoding { .. }),
        ),
        ("many headers", Reply::raw(format!("{head}{flood}\r\n")), head_too_large),
        (
            "a large head",
            Reply::raw(format!("{head}a: {}\r\n\r\n", "x".repeat(100_000))),
            head_too_large,
        ),
        (
            "a head without end",
            Reply::raw(format!("{head}a: ")).endless("x".repeat(9999), Duration::ZERO),
            head_too_large,
        ),
    ];
    for (what, reply, judge) in cases {
        let server = Server::always(reply).await;
        let error = get(&server).await.unwrap_err();
        assert!(judge(&error), "{what}: {error:?}");
    }
    let server = Server::always(Reply::answer(200, "content-encoding: gzip\r\n", bomb())).await;
    let roomy = limits().body(64 * 1024 * 1024);
    let error = egress(&[&server]).get(&call(), &server.url("/"), roomy).await.unwrap_err();
    assert!(matches!(error, EgressError::Ratio { limit: 100 }), "{error:?}");
}

/// P39
#[tokio::test]
async fn a_server_that_breaks_off_is_a_typed_error() {
    let head = "HTTP/1.1 200 OK\r\n";
    let half = Reply::raw(format!("{head}content-length: 9\r\n\r\nhalf"));
    let chunk = Reply::raw(format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n"));
    for (what, reply) in [
        ("a length that is none", half.clone()),
        ("closed at once", Reply::raw("")),
        ("reset at once", Reply::raw("").reset()),
        ("reset later", half.reset()),
        ("no HTTP", Reply::raw("SSH-2.0-OpenSSH_9.2\r\n")),
        ("a broken chunk", chunk),
    ] {
        let server = Server::always(reply).await;
        let error = get(&server).await.unwrap_err();
        assert!(matches!(error, EgressError::Broken { .. }), "{what}: {error:?}");
    }
    let lie = Reply::answer(200, "content-encoding: gzip\r\n", "no gzip");
    let error = get(&Server::always(lie).await).await.unwrap_err();
    assert!(matches!(error, EgressError::Garbled { .. }), "{error:?}");
}

/// P39
#[tokio::test]
async fn a_server_that_stays_silent_or_drips_is_left() {
    let head = "HTTP/1.1 200 OK\r\n";
    let drip = Duration::from_millis(20);
    let (silent, slow) = (limits().silence(SOON), limits().total(SOON));
    for (what, reply, limits, waited) in [
        ("nothing", Reply::raw("").silence(), silent, Waited::Silence),
        ("half a head", Reply::raw(head).silence(), silent, Waited::Silence),
        (
            "half a body",
            Reply::raw(format!("{head}content-length: 9\r\n\r\nhalf")).silence(),
            silent,
            Waited::Silence,
        ),
        // A head is one piece, however slowly it comes.
        (
            "a drip of a head",
            Reply::raw(format!("{head}a: ")).endless("x", drip),
            silent,
            Waited::Silence,
        ),
        (
            "a drip of a body",
            Reply::raw(format!("{head}\r\n")).endless("x", drip),
            slow,
            Waited::Total,
        ),
    ] {
        let server = Server::always(reply).await;
        let error = egress(&[&server]).get(&call(), &server.url("/"), limits).await.unwrap_err();
        let seen = match error {
            EgressError::TimedOut { waited, after } => (waited, after),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(seen, (waited, SOON), "{what}");
    }
}

#[tokio::test]
async fn what_is_not_what_was_asked_for_is_said() {
    let html = Reply::answer(200, "content-type: text/html; charset=utf-8\r\n", "<html>");
    for (reply, want) in [
        (html, "the answer is `text/html`, not JSON"),
        (Reply::json("{\"a\": geheim}"), "the answer is no JSON of the expected form"),
        (Reply::json(&"[".repeat(100_000)), "the answer is no JSON of the expected form"),
        (
            Reply::answer(200, "content-type: application/json\r\n", [b'"', 0xff, 0xfe, b'"']),
            "the answer is no UTF-8 text",
        ),
        (
            Reply::answer(500, "content-type: text/html\r\n", "<html>"),
            "the server answered with status 500",
        ),
        (Reply::answer(429, "retry-after: 7\r\n", "geheim"), "the server answered with status 429"),
        (Reply::answer(304, "", ""), "the server answered with status 304"),
    ] {
        let server = Server::always(reply).await;
        let fetch = Fetch::get(server.url("/")).expect_json().limits(limits());
        let fetched = egress(&[&server]).fetch(&call(), &fetch).await;
        let read = fetched.and_then(Fetched::accepted).and_then(|f| f.json::<serde_json::Value>());
        let error = read.unwrap_err();
        assert_eq!(error.to_string(), want);
        assert!(!told(&error).contains("geheim"), "{}", told(&error));
        if let EgressError::Status { status: 429, retry_after } = error {
            assert_eq!(retry_after, Some(Duration::from_secs(7)));
        }
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_or_late_ends() {
    let server = Server::always(Reply::raw("").silence()).await;
    let egress = egress(&[&server]);
    let stop = Cancellation::default();
    let stopped = call().cancellation(stop.clone());
    let limits = Limits::default();
    let url = server.url("/");
    let (error, ()) = futures::future::join(egress.get(&stopped, &url, limits), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    })
    .await;
    assert!(matches!(error, Err(EgressError::Cancelled)), "{error:?}");
    let soon = Timestamp::from(SystemTime::now()).plus(Duration::from_millis(200));
    let error = egress.get(&call().deadline(soon), &url, limits).await;
    let late = matches!(error, Err(EgressError::TimedOut { waited: Waited::Deadline, .. }));
    assert!(late, "{error:?}");
}

/// P39
#[tokio::test]
async fn data_is_sent_once_and_not_sent_on() {
    let server = Server::new(|request: &str| match request.starts_with("POST /moved") {
        true => Reply::answer(307, "location: /\r\n", ""),
        false => Reply::json("{}"),
    })
    .await;
    let egress = egress(&[&server]);
    let body = serde_json::json!({"query": "서울"});
    egress.fetch(&call(), &Fetch::post_json(server.url("/"), &body)).await.unwrap();
    let error = egress.fetch(&call(), &Fetch::post_json(server.url("/moved"), &body)).await;
    assert!(matches!(error, Err(EgressError::Redirect { .. })), "{error:?}");
    let seen = server.seen();
    assert!(seen[0].ends_with("\r\n\r\n{\"query\":\"서울\"}"), "{}", seen[0]);
    assert_eq!(seen.len(), 2);
}

/// A server that speaks TLS with a certificate of its own for `names`; its address and certificate.
async fn secured(names: &[&str], reply: Reply) -> (std::net::SocketAddr, Vec<u8>) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![certificate.clone()], key)
    .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, reply) = (acceptor.clone(), reply.clone());
            tokio::spawn(async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    serve(&mut stream, reply).await;
                }
            });
        }
    });
    (address, certificate.to_vec())
}

/// P39
#[tokio::test]
async fn https_is_with_who_was_meant_and_is_not_left() {
    let (address, certificate) = secured(&["hanok.test"], Reply::redirect("http://8.8.8.8/")).await;
    let egress = |root: Option<&Vec<u8>>| {
        let (names, _) = Changing::new(&[&["127.0.0.1"]]);
        let builder = Egress::builder().permit(address.to_string()).resolver(names);
        match root {
            Some(root) => builder.root_certificate(root.clone()),
            None => builder,
        }
        .build()
        .unwrap()
    };
    let url = |host: &str| format!("https://{host}:{}/", address.port());
    for (egress, url) in [
        (egress(None), url("hanok.test")),
        (egress(Some(&certificate)), url("other.test")),
        (egress(Some(&certificate)), url("127.0.0.1")),
    ] {
        let error = egress.get(&call(), &url, limits()).await.unwrap_err();
        assert!(matches!(error, EgressError::Tls { .. }), "{url} {error:?}");
    }
    let error = egress(Some(&certificate)).get(&call(), &url("hanok.test"), limits()).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(
        error,
        "the redirect to `http://8.8.8.8/` is not followed: it leaves https for http"
    );
}
