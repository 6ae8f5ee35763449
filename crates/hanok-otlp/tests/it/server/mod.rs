//! A collector on this machine.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use hanok_otlp::OtlpConfig;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message;

/// How the collector answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Takes,
    Refuses,
    SaysNothing,
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let heard = received.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let heard = heard.clone();
                thread::spawn(move || serve(stream.unwrap(), answer, &heard));
            }
        });
        Self { endpoint, received }
    }

    /// Settings for this server that send nothing before they are told to.
    pub(crate) fn config(&self) -> OtlpConfig {
        OtlpConfig::new(&self.endpoint, "leave-desk").every(Duration::from_secs(600))
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// What arrived, as bytes: names and values are in it as they are.
    pub(crate) fn text(&self) -> String {
        let received = self.received();
        received.iter().map(|one| String::from_utf8_lossy(&one.body).into_owned()).collect()
    }

    /// The spans that arrived.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.received().into_iter();
        let requests = requests.map(|one| ExportTraceServiceRequest::decode(&*one.body).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        resources.flat_map(|one| one.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// The attributes of the service and the names of the scopes that arrived first.
    pub(crate) fn origin(&self) -> (BTreeMap<String, String>, Vec<String>) {
        let request = ExportTraceServiceRequest::decode(&*self.received()[0].body).unwrap();
        let spans = &request.resource_spans[0];
        let scopes = spans.scope_spans.iter();
        let scopes = scopes.map(|one| {
            format!("{} {}", one.scope.clone().unwrap_or_default().name, one.schema_url)
        });
        (texts(&spans.resource.clone().unwrap_or_default().attributes), scopes.collect())
    }
}

/// Attributes as text, numbers marked.
pub(crate) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.clone().and_then(|any| any.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => format!("{number}i"),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}

fn serve(stream: TcpStream, answer: Answer, heard: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        heard.lock().unwrap().push(Received { head, body });
        let status = match answer {
            Answer::Takes => "200 OK",
            Answer::Refuses => "401 Unauthorized",
            Answer::SaysNothing => {
                thread::sleep(Duration::from_secs(600));
                return;
            }
        };
        let said = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        if stream.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}
