//! Servers start, are shared, and go.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect"
)]

use std::{net::TcpStream, process::Command};

use crate::{Bouncer, Installation, Server, Stop, url};

fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_of_a_tests_own_stops_starts_again_and_ends_with_it() {
    let installation = match Installation::newest() {
        Ok(installation) => installation,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    assert!(installation.version().unwrap().contains("PostgreSQL"));
    let server = Server::start(&installation, &["work_mem = '1MB'"]).unwrap();
    let (port, data) = (server.port(), server.data());
    assert!(answers(port));
    for how in [Stop::Fast, Stop::Immediate] {
        server.stop(how).unwrap();
        assert!(!answers(port), "{how:?}");
        server.up().unwrap();
        assert!(answers(port), "{how:?}");
    }
    drop(server);
    assert!(!answers(port) && !data.exists());
}

#[test]
fn the_shared_server_is_the_same_for_who_asks_next() {
    let url = match url() {
        Ok(url) => url,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    // This is the process of another test.
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::says_the_url", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8(test.stdout).unwrap();
    assert!(said.contains(&format!("url: {url}\n")), "{said}");
}

#[test]
#[allow(clippy::print_stdout, reason = "its caller hears it")]
fn says_the_url() {
    if let Ok(url) = url() {
        println!("url: {url}");
    }
}

#[test]
fn a_bouncer_answers_in_front_of_a_server() {
    let bouncer = url().and_then(|url| Bouncer::start(&url));
    match bouncer {
        Ok(bouncer) => assert!(bouncer.url("x").ends_with("/x")),
        Err(why) => eprintln!("skipped: {why}"),
    }
}
