//! The subscriber of the whole program: one test, for a process has one.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

#[path = "../it/server/mod.rs"]
mod server;

use hanok_otlp::{OtlpError, install};
use hanok_telemetry::chat;
use server::{Answer, Server};

#[tokio::test]
async fn installed_once_it_hears_the_whole_program() {
    let server = Server::start(Answer::Takes);
    let guard = install(server.config()).unwrap();
    tokio::task::spawn_blocking(|| drop(chat("m"))).await.unwrap();

    let second = install(server.config()).unwrap_err();
    assert!(matches!(second, OtlpError::Installed(_)), "{second:?}");

    guard.shutdown().await.unwrap();
    assert_eq!(server.spans().len(), 1);
}
