//! The results of a turn as files: one of each step, and one of the answer, as JSON and as Markdown.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use hanok_core::{ThreadKey, Timestamp};
use serde::Serialize;
use serde_json::json;
use thiserror::Error;

use crate::state::{OrchestratorState, StepResult, StepStatus, TurnEnd};

/// The folder of the results. A file is written whole or not at all, and written again with the same bytes when its node runs again.
#[derive(Debug, Clone)]
pub struct Results {
    folder: PathBuf,
}

/// The reason why a result is not in its file.
#[derive(Debug, Error)]
#[error("`{}` cannot be written", path.display())]
pub struct ResultsError {
    path: PathBuf,
    source: io::Error,
}

impl ResultsError {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self { path: path.to_owned(), source }
    }
}

impl Results {
    /// The results in `folder`, which is made where it is not there: better no turn than one that ends without its files.
    ///
    /// # Errors
    ///
    /// What the disk says.
    pub fn open(folder: PathBuf) -> Result<Self, ResultsError> {
        fs::create_dir_all(&folder).map_err(ResultsError::of(&folder))?;
        Ok(Self { folder })
    }

    /// Writes a step of `thread`.
    ///
    /// # Errors
    ///
    /// What the disk says.
    pub fn step(
        &self,
        thread: &ThreadKey,
        state: &OrchestratorState,
        step: &StepResult,
    ) -> Result<(), ResultsError> {
        let name = format!("{}-step-{:02}", turn(state), step.number);
        let ended = match step.status {
            StepStatus::Done => "done",
            StepStatus::Failed => "failed",
            StepStatus::Skipped => "skipped",
        };
        let mut text = format!("# {}. {}\n\n{ended}\n\n{}\n", step.number, step.task, step.text);
        for call in &step.calls {
            let arguments = &call.arguments.0;
            text.push_str(&format!("\n## {}\n\n`{arguments}`\n\n{}\n", call.of, call.text));
        }
        self.write(thread, &name, step, &text)
    }

    /// Writes the answer of a turn of `thread`.
    ///
    /// # Errors
    ///
    /// What the disk says.
    pub fn answer(
        &self,
        thread: &ThreadKey,
        state: &OrchestratorState,
        end: TurnEnd,
        answer: &str,
        at: Timestamp,
    ) -> Result<(), ResultsError> {
        let steps: Vec<_> = state.results.iter().map(|step| (step.number, step.status)).collect();
        let whole = json!({
            "query": state.query, "end": end, "answer": answer, "statistics": state.statistics, "steps": steps,
            "decisions": state.decisions, "at": at,
        });
        let text = format!("# {}\n\n{answer}\n", state.query.replace('\n', " "));
        self.write(thread, &format!("{}-answer", turn(state)), &whole, &text)
    }

    fn write(
        &self,
        thread: &ThreadKey,
        name: &str,
        value: &impl Serialize,
        text: &str,
    ) -> Result<(), ResultsError> {
        let folder = self.folder.join(folder_name(thread));
        fs::create_dir_all(&folder).map_err(ResultsError::of(&folder))?;
        let json = serde_json::to_vec_pretty(value).map_err(io::Error::other);
        let json = json.map_err(ResultsError::of(&folder))?;
        for (extension, bytes) in [("json", json.as_slice()), ("md", text.as_bytes())] {
            let file = folder.join(format!("{name}.{extension}"));
            atomically(&file, bytes).map_err(ResultsError::of(&file))?;
        }
        Ok(())
    }
}

/// The number of the turn, by the messages that stand before it.
fn turn(state: &OrchestratorState) -> String {
    let before = state.messages.iter().filter(|message| message.role() == hanok_state::Role::User);
    format!("{:03}", before.count())
}

/// The most bytes of a thread's name that stand in the name of its folder: with a hash, it is one that every disk takes.
const LONGEST: usize = 200;

/// The name of a thread as that of a folder: two threads have two. A long one ends with the hash of the whole.
fn folder_name(thread: &ThreadKey) -> String {
    let (mut name, mut cut) = (String::new(), 0);
    for byte in thread.thread().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte.into()),
            byte => name.push_str(&format!("%{byte:02x}")),
        }
        if name.len() <= LONGEST {
            cut = name.len();
        }
    }
    if cut < name.len() {
        name.truncate(cut);
        let hash = blake3::hash(thread.thread().as_bytes()).to_hex();
        name.push('-');
        name.extend(hash.chars().take(16));
    }
    name
}

/// Writes a file that is there whole or as it was before.
fn atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let mut file = fs::File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(part, path)
}

#[cfg(test)]
mod tests {
    use hanok_learning::ToolRef;
    use hanok_state::Json;

    use super::*;
    use crate::state::ToolUse;

    /// The file of a step has the whole of what its calls gave; what later steps see is shorter.
    #[test]
    fn the_file_of_a_step_has_the_whole() {
        let words = "가".repeat(5_000);
        let call = |text: &str| ToolUse {
            tool: "desk__list".into(),
            of: ToolRef::of_server("desk", "list"),
            arguments: Json::default(),
            has_secrets: false,
            is_rejected: false,
            succeeded: true,
            unmade: false,
            text: text.to_owned(),
            stored: None,
            millis: 0,
        };
        let mut step = StepResult {
            number: 1,
            task: "list".into(),
            status: StepStatus::Done,
            text: words.clone(),
            calls: vec![call(&words)],
            failure: None,
            completed_at: Timestamp(0),
        };
        let folder = std::env::temp_dir().join(format!("hanok-results-{}", std::process::id()));
        let thread = ThreadKey::named("t").unwrap();
        let results = Results::open(folder.clone()).unwrap();
        results.step(&thread, &OrchestratorState::default(), &step).unwrap();
        let text = fs::read_to_string(folder.join("t/000-step-01.md")).unwrap();
        assert_eq!(text.matches(&words).count(), 2);
        let json = fs::read_to_string(folder.join("t/000-step-01.json")).unwrap();
        assert!(json.contains(&words));
        fs::remove_dir_all(folder).unwrap();

        step.shorten(4_000);
        let of_call = step.calls[0].text.chars().count();
        assert_eq!((step.text.chars().count(), of_call), (4_002, 4_002));
    }

    #[test]
    fn a_thread_has_a_folder_of_its_own() {
        let name = |name: &str| folder_name(&ThreadKey::named(name).unwrap());
        assert_eq!(name("main"), "main");
        assert_eq!(name("../회의"), "%2e%2e%2f%ed%9a%8c%ec%9d%98");
        assert_ne!(name("a b"), name("a%20b"));
        let (one, other) = (name(&"가".repeat(85)), name(&format!("{}나", "가".repeat(84))));
        assert_ne!(one, other);
        let start = "%ea%b0%80".repeat(22);
        assert!(one.starts_with(&format!("{start}-")) && one.len() <= 217, "{one}");
        assert_eq!(name(&"a".repeat(200)), "a".repeat(200));
    }
}
