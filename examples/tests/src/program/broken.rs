//! Model servers that do not do what they should, and what a person is told of each.

use std::{
    io::{self, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Secret, ThreadKey};
use hanok_graph::Graph;
use hanok_model::SharedModel;
use hanok_openai::OpenAi;
use serde_json::json;

use super::http::{JSON, read_request, write_answer, write_whole};
use kit::{Talk, brain::Brain, failure::Failure};

/// How long a server that never answers is waited for.
const SHORT: Duration = Duration::from_millis(300);

/// What is wrong with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    /// It answers everything with this status.
    Status(u16),
    /// It answers with a web page.
    Page,
    /// It breaks off in the middle of its answer.
    Cut,
    /// It never answers.
    Silent,
}

/// Each server, and the sentence that a person reads.
const ALL: [(Broken, &str); 7] = [
    (Broken::Status(401), "모델의 서버가 API 키를 받지 않습니다. 키와 그 권한을 확인하세요"),
    (
        Broken::Status(404),
        "서버에 `m` 모델이 없거나 주소가 다릅니다. OPENAI_MODEL과 주소를 확인하세요",
    ),
    (Broken::Status(429), "모델의 서버에 요청이 너무 많습니다. 나중에 다시 하세요"),
    (Broken::Status(500), "모델의 서버에 오류가 났습니다(상태 500). 나중에 다시 하세요"),
    (
        Broken::Page,
        "서버가 모델의 답이 아닌 것을 보냈습니다. 주소가 OpenAI 호환 API인지 확인하세요",
    ),
    (Broken::Cut, "모델의 답이 도중에 끊겼습니다. 다시 물어보세요"),
    (
        Broken::Silent,
        "모델의 서버가 0초 동안 답하지 않았습니다. 나중에 다시 하거나, 느린 서버라면 OPENAI_TIMEOUT(초)을 늘리세요",
    ),
];

/// Asks `question` of what `open` makes of the model of each broken server: each time the turn fails with one sentence in the user's
/// language.
///
/// # Panics
///
/// It is otherwise.
pub async fn is_told_in_one_sentence<T: Talk>(
    question: &str,
    mut open: impl AsyncFnMut(Brain) -> (T, Graph<T::State>),
) {
    for (broken, sentence) in ALL {
        let key = Secret::new("k".to_owned());
        let model = OpenAi::builder(serve(broken)).api_key(key).model("m").max_retries(0);
        let model = model.first_token_timeout(SHORT).total_timeout(SHORT * 20).build().unwrap();
        let brain = Brain { model: SharedModel::new(model), offline: false };
        let (talk, graph) = open(brain).await;
        let thread = graph.checkpointer(InMemoryCheckpointer::new());
        let thread = thread.thread(ThreadKey::named("broken").unwrap());
        let Err(error) = thread.invoke(talk.ask(question), ()).await else {
            panic!("{broken:?} was answered")
        };
        let line = Failure::from(error).line();
        assert_eq!(line, format!("답하지 못했습니다: {sentence}"), "{broken:?}");
    }
}

/// Starts a server; its address.
fn serve(broken: Broken) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut waiting = Vec::new();
        for stream in listener.incoming().flatten() {
            match broken {
                // Its connections stay open.
                Broken::Silent => waiting.push(stream),
                _ => drop(one(&stream, broken)),
            }
        }
    });
    url
}

fn one(mut stream: &TcpStream, broken: Broken) -> io::Result<()> {
    let body = read_request(stream)?;
    match broken {
        Broken::Status(status) => {
            let code = if status == 404 { "model_not_found" } else { "refused" };
            write_answer(stream, status, &json!({"error": {"message": "no", "code": code}}))
        }
        Broken::Page => {
            let page = "<!DOCTYPE html><title>Welcome</title>";
            write_whole(stream, 200, "text/html", page.len(), "", page)
        }
        Broken::Cut if body["stream"] == true => {
            let piece = json!({"choices": [{"index": 0, "delta": {"content": "제"}}]});
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            write!(stream, "{head}data: {piece}\n\n")
        }
        Broken::Cut => write_whole(stream, 200, JSON, 1_000, "", "{\"choices\": ["),
        Broken::Silent => Ok(()),
    }
}
