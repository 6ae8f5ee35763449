//! A server that speaks as much of OpenSearch's HTTP API as the store uses, in the documented shapes.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::query::{aggregations, found};

/// What a server does in place of answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Html500,
    Garbage,
    /// Half of an answer, and then the connection ends.
    Half,
    Silent,
    Gone,
    /// JSON of another shape.
    Array,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    /// So many requests are answered before the connection ends at each.
    left: Option<usize>,
    index: Option<Index>,
}

/// What is written, and what of it searches see.
#[derive(Debug, Default)]
struct Index {
    /// What the index says of itself.
    meta: Value,
    fields: BTreeMap<String, Value>,
    written: BTreeMap<String, Value>,
    shown: BTreeMap<String, Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let state = Arc::new(Mutex::new(State { fault: Fault::None, left: None, index: None }));
        let server = Self { address: listener.local_addr().unwrap(), state };
        let this = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let this = this.clone();
                thread::spawn(move || this.serve(stream.unwrap()));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn fail(&self, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        (state.fault, state.left) = (fault, None);
    }

    /// Answers so many requests more.
    pub(crate) fn fail_after(&self, requests: usize) {
        self.state.lock().unwrap().left = Some(requests);
    }

    fn serve(&self, stream: TcpStream) {
        let Some((line, authorization, body)) = request(&stream) else { return };
        let fault = {
            let mut state = self.state.lock().unwrap();
            match &mut state.left {
                Some(0) => Fault::Gone,
                Some(left) => {
                    *left -= 1;
                    state.fault
                }
                None => state.fault,
            }
        };
        let html = "<html>".repeat(50);
        let (status, text) = match fault {
            Fault::None if authorization != "Basic dXNlcjpzM2NyM3Q=" => (401, "{}".to_owned()),
            Fault::None => {
                let (status, answer) = self.state.lock().unwrap().answer(&line, &body);
                (status, answer.to_string())
            }
            Fault::Html500 => (500, html),
            Fault::Garbage => (200, "\u{0}{\"hits\":".to_owned()),
            Fault::Half => (200, "{}".to_owned()),
            Fault::Array => (200, "[1]".to_owned()),
            Fault::Gone => return,
            Fault::Silent => return thread::sleep(Duration::from_secs(60)),
        };
        let length = text.len() + if fault == Fault::Half { 100 } else { 0 };
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        );
        // A client may have gone.
        drop((&stream).write_all(answer.as_bytes()));
    }
}

/// The first line, who asks, and the body.
fn request(stream: &TcpStream) -> Option<(String, String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length, mut who) = (String::new(), 0, String::new());
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => who = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, who, String::from_utf8(body).ok()?))
}

fn refused(status: u16, kind: &str) -> (u16, Value) {
    (status, json!({ "error": { "type": kind, "reason": "told" }, "status": status }))
}

impl State {
    fn answer(&mut self, line: &str, body: &str) -> (u16, Value) {
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let json = || serde_json::from_str::<Value>(body).unwrap();
        if (method, parts.len()) == ("PUT", 1) {
            if self.index.is_some() {
                return refused(400, "resource_already_exists_exception");
            }
            let made = json();
            assert_eq!(made["settings"]["index"]["number_of_shards"], 1);
            let fields = made["mappings"]["properties"].as_object().unwrap().clone();
            let (meta, fields) = (made["mappings"]["_meta"].clone(), fields.into_iter().collect());
            self.index = Some(Index { meta, fields, ..Index::default() });
            return (200, json!({ "acknowledged": true, "index": parts[0] }));
        }
        let Some(index) = &mut self.index else { return refused(404, "index_not_found_exception") };
        match (method, &parts[1..]) {
            ("GET", ["_mapping"]) => {
                let mappings = json!({ "_meta": index.meta, "properties": index.fields });
                (200, json!({ format!("{}-000001", parts[0]): { "mappings": mappings } }))
            }
            ("PUT", ["_mapping"]) => {
                let fields = json()["properties"].as_object().unwrap().clone();
                index.fields.extend(fields);
                (200, json!({ "acknowledged": true }))
            }
            ("GET", ["_doc", id]) => match index.written.get(*id) {
                Some(entry) => (200, json!({ "_id": id, "found": true, "_source": entry })),
                None => (404, json!({ "_id": id, "found": false })),
            },
            ("POST", ["_bulk"]) => (200, index.bulk(body)),
            ("POST", ["_refresh"]) => {
                index.shown = index.written.clone();
                (200, json!({ "_shards": { "total": 1, "successful": 1, "failed": 0 } }))
            }
            ("POST", ["_search"]) => index.search(&json()),
            _ => refused(400, "illegal_argument_exception"),
        }
    }
}

impl Index {
    fn bulk(&mut self, body: &str) -> Value {
        let (mut errors, mut items) = (false, Vec::new());
        let mut lines = body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        while let Some(action) = lines.next() {
            let (kind, of) = action.as_object().unwrap().iter().next().unwrap();
            let id = of["_id"].as_str().unwrap().to_owned();
            let status = match kind.as_str() {
                "delete" => {
                    if self.written.remove(&id).is_some() {
                        200
                    } else {
                        404
                    }
                }
                "index" => {
                    let entry = lines.next().unwrap();
                    if self.fits(&entry) {
                        self.written.insert(id.clone(), entry);
                        201
                    } else {
                        errors = true;
                        400
                    }
                }
                other => panic!("{other}"),
            };
            items.push(json!({ kind: { "_id": id, "status": status } }));
        }
        json!({ "took": 1, "errors": errors, "items": items })
    }

    /// Whether every field is known, and vectors are as long as they should be.
    fn fits(&self, entry: &Value) -> bool {
        entry.as_object().unwrap().iter().all(|(name, value)| match self.fields.get(name) {
            Some(field) if field["type"] == "knn_vector" => {
                value.as_array().unwrap().len() as u64 == field["dimension"].as_u64().unwrap()
            }
            field => field.is_some(),
        })
    }

    fn search(&self, asked: &Value) -> (u16, Value) {
        let known = [
            "size",
            "query",
            "sort",
            "_source",
            "search_after",
            "aggs",
            "track_total_hits",
            "track_scores",
        ];
        let keys = asked.as_object().unwrap().keys();
        if let Some(other) = keys.into_iter().find(|key| !known.contains(&key.as_str())) {
            panic!("{other}");
        }
        let mut hits = found(&self.shown, &asked["query"]);
        let total = hits.len();
        let aggregations = aggregations(&self.shown, &hits, &asked["aggs"]);
        let key = |id: &str| self.shown[id]["key"].as_str().unwrap().to_owned();
        let by_score = asked["sort"][0].get("_score").is_some();
        hits.sort_by(|a, b| {
            let score =
                if by_score { b.score.total_cmp(&a.score) } else { std::cmp::Ordering::Equal };
            score.then_with(|| key(&a.id).cmp(&key(&b.id)))
        });
        if let Some(after) = asked["search_after"][0].as_str() {
            hits.retain(|hit| key(&hit.id).as_str() > after);
        }
        hits.truncate(asked["size"].as_u64().unwrap() as usize);
        let hits: Vec<Value> = hits
            .into_iter()
            .map(|hit| {
                let mut told =
                    json!({ "_id": hit.id, "_score": hit.score, "_source": self.shown[&hit.id] });
                if !hit.names.is_empty() {
                    told["matched_queries"] = json!(hit.names);
                }
                told
            })
            .collect();
        let answer = json!({
            "took": 1, "timed_out": false, "_shards": { "total": 1, "successful": 1, "failed": 0 },
            "hits": { "total": { "value": total, "relation": "eq" }, "hits": hits },
            "aggregations": aggregations,
        });
        (200, answer)
    }
}
