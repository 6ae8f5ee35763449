//! A model whose replies are kept in a folder, by request: who asks the same again asks nobody.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use hanok_core::Call;
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, SharedModel};
use serde_json::json;

use kit::brain::{self, Brain};

/// The digits of the code in a data mark.
const CODE: usize = 16;

/// A model, and the folder in which its replies are. Clones count together.
#[derive(Debug, Clone)]
pub struct Cached {
    model: SharedModel,
    folder: PathBuf,
    made: Arc<AtomicU32>,
    repeated: Arc<AtomicU32>,
}

impl Cached {
    /// `model`, with its replies in `folder`.
    ///
    /// # Panics
    ///
    /// The folder cannot be made.
    #[must_use]
    pub fn new(model: SharedModel, folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let folder = folder.to_owned();
        Self { model, folder, made: Arc::default(), repeated: Arc::default() }
    }

    /// The requests that were made, and those that the folder answered.
    #[must_use]
    pub fn requests(&self) -> (u32, u32) {
        (self.made.load(Ordering::Relaxed), self.repeated.load(Ordering::Relaxed))
    }

    /// The file of the reply to `request`: by what a server would see of it, whatever the codes of its data marks are.
    fn file(&self, request: &ChatRequest) -> PathBuf {
        let message = |message: &hanok_state::Message| {
            json!([message.role(), message.text(), message.tool_calls(), message.tool_call_id()])
        };
        let seen = json!({
            "model": self.model.name(),
            "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
            "tools": request.tools,
            "tool_choice": request.tool_choice,
            "response_format": request.response_format,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stop": request.stop,
        });
        let key = blake3::hash(without_codes(&seen.to_string()).as_bytes()).to_hex();
        self.folder.join(format!("{key}.json"))
    }
}

impl ChatModel for Cached {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let file = self.file(&request);
        if let Ok(reply) = fs::read(&file) {
            self.repeated.fetch_add(1, Ordering::Relaxed);
            return Ok(serde_json::from_slice(&reply).unwrap());
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        let reply = self.model.chat(request, call).await?;
        // Whole or not at all: a run may be stopped here.
        let whole = tempfile::NamedTempFile::new_in(&self.folder).unwrap();
        fs::write(whole.path(), serde_json::to_vec(&reply).unwrap()).unwrap();
        whole.persist(&file).unwrap();
        Ok(reply)
    }
}

/// The variable that names the folder of a server's replies.
const FOLDER: &str = "HANOK_EVALUATE_CACHE";

/// The model of the server that the environment names, with its replies in the folder that it names as well, or in one of the
/// example `name` among the temporary files.
///
/// # Panics
///
/// No server is named, or it cannot be used.
pub async fn chosen(name: &str) -> (Brain, Cached) {
    let brain = brain::choose().await.unwrap();
    assert!(!brain.offline, "OPENAI_BASE_URL names no server");
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join(format!("hanok-{name}")));
    let cached = Cached::new(brain.model, &folder);
    (Brain { model: SharedModel::new(cached.clone()), offline: false }, cached)
}

/// How many requests were made, of which model, and where the others were answered from.
impl fmt::Display for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (made, repeated) = self.requests();
        let folder = self.folder.display();
        write!(f, "{}: {made} requests made, {repeated} answered from {folder}", self.name())
    }
}

/// `text` with the codes of its data marks as numbers, in the order in which they come.
pub fn without_codes(text: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut parts = text.split("data-");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole.push_str("data-");
        let code =
            part.get(..CODE).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match code {
            Some(code) => {
                let next = numbers.len();
                let number = *numbers.entry(code).or_insert(next);
                whole.push_str(&number.to_string());
                whole.push_str(&part[CODE..]);
            }
            None => whole.push_str(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that says how many requests it has had.
    #[derive(Debug, Clone, Default)]
    struct Counting(Arc<AtomicU32>);

    impl ChatModel for Counting {
        fn name(&self) -> &str {
            "counting"
        }

        async fn chat(&self, _: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
            let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(ChatReply::new(hanok_state::Message::assistant(number.to_string()), "counting"))
        }
    }

    /// The same request under other codes asks nobody; another one does.
    #[tokio::test]
    async fn a_request_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let request = |code: &str, text: &str| {
            ChatRequest::new([format!("<data-{code}>\n{text}\n</data-{code}> data-model")])
        };
        let (one, other) = ("0123456789abcdef", "fedcba9876543210");
        let counting = Counting::default();
        let model = Cached::new(SharedModel::new(counting.clone()), folder.path());
        let says = async |model: &Cached, request| {
            model.chat(request, &Call::detached()).await.unwrap().message.text().into_owned()
        };
        assert_eq!(says(&model, request(one, "rent?")).await, "1");
        assert_eq!(says(&model, request(other, "rent?")).await, "1");
        assert_eq!(says(&model, request(one, "loan?")).await, "2");
        assert_eq!(model.requests(), (2, 1));

        let again = Cached::new(SharedModel::new(counting.clone()), folder.path());
        assert_eq!(says(&again, request(other, "loan?")).await, "2");
        assert_eq!((again.requests(), counting.0.load(Ordering::Relaxed)), ((0, 1), 2));
    }
}
