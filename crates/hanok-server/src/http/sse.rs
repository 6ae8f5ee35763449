//! Server-sent events, as the HTML standard writes them.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::Response,
};
use futures::{FutureExt, Stream, StreamExt, stream};
use serde::Serialize;

use super::service::Service;

/// How often a stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame(String);

impl Frame {
    /// An event of a name with JSON as its data.
    pub(crate) fn new(event: &str, id: Option<&str>, data: &impl Serialize) -> Self {
        let data = serde_json::to_string(data);
        // What has no JSON is an error in its place.
        let data = data.unwrap_or_else(|_| r#"{"error":"an event has no JSON"}"#.to_owned());
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        Self(format!("event: {event}\ndata: {data}\n{id}\n"))
    }

    /// Data without a name.
    pub(crate) fn data(data: &str) -> Self {
        Self(format!("data: {data}\n\n"))
    }
}

/// An answer that streams `frames`, and a comment now and then while there are none.
pub(crate) fn streamed(
    frames: impl Stream<Item = Frame> + Send + 'static,
    server: &Service,
) -> Response {
    let state = (frames.boxed(), server.runs.clock(), server.draining.clone());
    let chunks = stream::unfold(state, |(mut frames, clock, draining)| async move {
        let text = futures::select_biased! {
            frame = frames.next().fuse() => frame?.0,
            // Whoever reads comes back to another process, or to the next one.
            () = draining.cancelled().fuse() => return None,
            () = clock.sleep(HEARTBEAT).fuse() => ": heartbeat\n\n".to_owned(),
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), (frames, clock, draining)))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
