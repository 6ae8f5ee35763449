//! What a browser gets: a turn's events while it runs, and after a lost connection those that it has not heard.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hanok_checkpoint::Life;
use hanok_core::{BoxFuture, Clock, Position, SystemClock, Timestamp};
use hanok_graph::{EventId, EventPlace, Runtime};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

/// A clock by which a word is said for each permit, and nothing else happens.
#[derive(Debug)]
struct Words(Arc<Semaphore>);

impl Clock for Words {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let words = self.0.clone();
        Box::pin(async move {
            match duration == sse::PER_WORD {
                true => words.acquire().await.unwrap().forget(),
                false => std::future::pending().await,
            }
        })
    }
}

struct Server {
    address: SocketAddr,
    words: Arc<Semaphore>,
}

/// A server whose threads say so many words, and more when they are allowed to.
async fn serve(words: usize) -> Server {
    let words = Arc::new(Semaphore::new(words));
    let runtime = Runtime { clock: Arc::new(Words(words.clone())), ..Runtime::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = sse::router(sse::app(runtime).unwrap());
    tokio::spawn(async { axum::serve(listener, router).await });
    Server { address, words }
}

impl Server {
    /// Asks for `line`, from the place that was heard last.
    async fn open(&self, line: &str, last: Option<&str>) -> Browser {
        let mut stream = BufReader::new(TcpStream::connect(self.address).await.unwrap());
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let request = format!("{line} HTTP/1.0\r\nhost: x\r\n{last}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        Browser { stream, head }
    }

    /// The status, the code and the words with which a request is refused.
    async fn refused(&self, line: &str, last: Option<&str>) -> (String, Value, String) {
        let mut browser = self.open(line, last).await;
        let mut body = String::new();
        browser.stream.read_to_string(&mut body).await.unwrap();
        let problem: Value = serde_json::from_str(&body).unwrap();
        let status = browser.head.split(' ').nth(1).unwrap().to_owned();
        (status, problem["code"].clone(), problem["error"].as_str().unwrap().to_owned())
    }
}

struct Browser {
    stream: BufReader<TcpStream>,
    head: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Frame {
    name: String,
    place: EventPlace,
    data: Value,
}

impl Browser {
    /// The next frame; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Frame> {
        assert!(self.head.contains("text/event-stream"), "{}", self.head);
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            if self.stream.read_line(&mut text).await.unwrap() == 0 {
                return None;
            }
        }
        let field = |name| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        let data = serde_json::from_str(field("data:")).unwrap();
        let (name, place) = (field("event:").to_owned(), field("id:").parse().unwrap());
        Some(Frame { name, place, data })
    }

    /// The frames to the first of this name.
    async fn until(&mut self, name: &str) -> Vec<Frame> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|frame: &Frame| frame.name != name) {
            heard.push(self.next().await.unwrap());
        }
        heard
    }

    /// All frames of a stream that ends.
    async fn all(mut self) -> Vec<Frame> {
        let mut heard = Vec::new();
        while let Some(frame) = self.next().await {
            heard.push(frame);
        }
        heard
    }
}

fn names(heard: &[Frame]) -> Vec<&str> {
    heard.iter().map(|frame| &*frame.name).collect()
}

fn recorded(heard: &[Frame]) -> Vec<EventPlace> {
    heard.iter().map(|frame| frame.place).filter(|place| place.live == 0).collect()
}

/// The last message of the last state.
fn says(heard: &[Frame]) -> &Value {
    let state = heard.iter().rfind(|frame| frame.name == "values").unwrap();
    state.data["data"]["messages"].as_array().unwrap().last().unwrap()
}

/// A run goes on when its browser leaves, which comes back and hears the rest.
#[tokio::test]
async fn a_browser_leaves_in_the_middle_of_a_run_and_comes_back() {
    let server = serve(1).await;
    let mut leaves = server.open("POST /threads/mine?say=hello%20big%20world", None).await;
    let mut heard = leaves.until("token").await;
    assert_eq!(names(&heard), ["values", "task_started", "token"]);
    let token = heard.last().unwrap().clone();
    assert_eq!(token.data["data"]["text"], "HELLO ");
    drop(leaves);

    // The thread is in use, so another turn is refused.
    let (status, code, error) = server.refused("POST /threads/mine?say=more", None).await;
    assert_eq!((&*status, &code), ("409", &"HNK-208".into()), "{error}");

    let mut back = server.open("GET /threads/mine", Some(&token.place.to_string())).await;
    server.words.add_permits(2);
    heard.extend(back.until("ended").await);
    assert!(heard.is_sorted_by(|one, next| one.place < next.place), "{heard:?}");
    assert_eq!(heard.last().unwrap().data["data"]["outcome"], "done");
    // The message has the id that its first word named.
    let whole = says(&heard);
    assert_eq!(
        (&whole["content"], &whole["id"]),
        (&"HELLO BIG WORLD".into(), &token.data["call"]["message"])
    );

    let stored = server.open("GET /threads/mine", None).await.until("ended").await;
    assert_eq!(recorded(&heard), recorded(&stored), "no gap, no duplicate");
}

/// P54: whatever was the last that came, what is recorded after it comes, once, over all turns.
#[tokio::test]
async fn a_lost_connection_is_taken_up_where_it_broke() {
    let server = serve(4).await;
    let mut all = server.open("POST /threads/mine?say=hello%20there", None).await.all().await;
    let begins = ["values", "task_started", "token", "token", "task_finished"];
    let ends = ["updates", "checkpoint", "values", "ended"];
    assert_eq!(names(&all), [&begins[..], &ends].concat());
    all.extend(server.open("POST /threads/mine?say=and%20here", None).await.all().await);

    let (recorded, last) = (recorded(&all), all.last().unwrap().place);
    for seen in all.iter().map(|frame| frame.place).filter(|seen| *seen < last) {
        let mut back = server.open("GET /threads/mine", Some(&seen.to_string())).await;
        let mut heard = Vec::new();
        while heard.last() != Some(&last) {
            heard.push(back.next().await.unwrap().place);
        }
        let missed: Vec<_> = recorded.iter().copied().filter(|place| *place > seen).collect();
        assert_eq!(heard, missed, "after {seen}");
    }
}

/// Who follows a thread from before its beginning hears that it asks, that it is answered, and what it then says.
#[tokio::test]
async fn a_thread_that_asks_takes_an_answer_and_no_other_turn() {
    let server = serve(1).await;
    let mut follows = server.open("GET /threads/mine", None).await;
    let asked = server.open("POST /threads/mine?say=tea%3F", None).await.all().await;
    assert_eq!(asked.last().unwrap().data["data"]["outcome"], "interrupted");

    let (status, code, error) = server.refused("POST /threads/mine?say=tea", None).await;
    assert_eq!((&*status, &code), ("409", &"HNK-210".into()), "{error}");

    let answered = server.open("POST /threads/mine/answer?say=coffee", None).await.all().await;
    assert_eq!(says(&answered)["content"], "COFFEE");
    let (status, code, error) = server.refused("POST /threads/mine/answer?say=tea", None).await;
    assert_eq!((&*status, &code), ("409", &"HNK-217".into()), "{error}");

    let mut heard = follows.until("ended").await;
    heard.extend(follows.until("ended").await);
    assert_eq!(recorded(&heard), recorded(&[asked, answered].concat()));
    let mut talk = names(&heard);
    talk.retain(|name| ["request", "answered", "ended"].contains(name));
    assert_eq!(talk, ["request", "ended", "answered", "ended"]);
}

/// P26: a name in a path is a name or refused. So is an id, and what was heard of a thread that is not there.
#[tokio::test]
async fn what_is_wrong_is_said_in_json() {
    let server = serve(0).await;
    let gone = EventId { life: Life::new(7), position: Position(3), index: 0 }.to_string();
    let cases = [
        ("POST /threads/mine", None, "422", None, "`say` is missing"),
        ("POST /threads/%0A?say=hello", None, "422", Some("HNK-231"), "control character"),
        ("GET /threads/mine", Some("7"), "422", None, "`7` is no id of an event"),
        ("GET /threads/mine", Some(&*gone), "404", Some("HNK-221"), "does not exist"),
    ];
    for (line, last, status, code, words) in cases {
        let (said, its, error) = server.refused(line, last).await;
        assert_eq!((&*said, its.as_str()), (status, code), "{line}: {error}");
        assert!(error.contains(words), "{error}");
    }
}
