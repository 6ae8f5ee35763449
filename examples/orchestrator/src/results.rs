//! The results of a turn as files: one of each step, and one of the answer, as JSON and as Markdown.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use hanok_core::{ThreadKey, Timestamp};
use hanok_state::Role;
use serde::Serialize;
use serde_json::json;
use thiserror::Error;

use crate::state::{OrchestratorState, StepResult, StepStatus, TurnEnd};

/// The folder of the results. A file is written whole or not at all, and written again with the same bytes when its node runs again.
#[derive(Debug, Clone)]
pub struct Results(PathBuf);

/// The reason why a result is not in its file.
#[derive(Debug, Error)]
#[error("`{}` cannot be written", path.display())]
pub struct ResultsError {
    path: PathBuf,
    source: io::Error,
}

impl Results {
    /// The results in `folder`, which is made where it is not there: better no turn than one that ends without its files.
    ///
    /// # Errors
    ///
    /// What the disk says.
    pub fn open(folder: PathBuf) -> Result<Self, ResultsError> {
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(Self(folder)),
            Err(source) => Err(ResultsError { path: folder, source }),
        }
    }

    /// Writes a step of `thread`.
    pub(crate) fn step(
        &self,
        thread: &ThreadKey,
        state: &OrchestratorState,
        step: &StepResult,
    ) -> Result<(), ResultsError> {
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
        self.write(thread, state, &format!("step-{:02}", step.number), step, &text)
    }

    /// Writes the answer of a turn of `thread`.
    pub(crate) fn answer(
        &self,
        thread: &ThreadKey,
        state: &OrchestratorState,
        end: TurnEnd,
        answer: &str,
        at: Timestamp,
    ) -> Result<(), ResultsError> {
        let steps: Vec<_> = state.results.iter().map(|step| (step.number, step.status)).collect();
        let whole = json!({
            "query": state.query, "end": end, "answer": answer, "statistics": state.statistics(),
            "steps": steps, "decisions": state.decisions, "at": at,
        });
        let text = format!("# {}\n\n{answer}\n", state.query.replace('\n', " "));
        self.write(thread, state, "answer", &whole, &text)
    }

    /// Writes a file of JSON and one of words, named by the number of the turn: by the questions that were asked.
    fn write(
        &self,
        thread: &ThreadKey,
        state: &OrchestratorState,
        name: &str,
        value: &impl Serialize,
        text: &str,
    ) -> Result<(), ResultsError> {
        let turn = state.messages.iter().filter(|message| message.role() == Role::User).count();
        let folder = self.0.join(folder_name(thread.thread()));
        let write = || {
            fs::create_dir_all(&folder)?;
            let json = serde_json::to_vec_pretty(value)?;
            for (extension, bytes) in [("json", json.as_slice()), ("md", text.as_bytes())] {
                let file = folder.join(format!("{turn:03}-{name}.{extension}"));
                // It is there whole, or as it was before.
                let part = file.with_extension("part");
                let mut open = fs::File::create(&part)?;
                open.write_all(bytes)?;
                open.sync_all()?;
                fs::rename(part, file)?;
            }
            Ok(())
        };
        write().map_err(|source| ResultsError { path: folder.join(name), source })
    }
}

/// The most bytes of a thread's name that are the name of its folder.
const LONGEST: usize = 200;

/// The name of a thread as that of a folder, which every disk takes: two threads have two. Where more than letters, digits, `-` and `_`
/// stand in it, and where it is long, its hash stands behind it.
fn folder_name(thread: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if thread.len() <= LONGEST && thread.chars().all(is_plain) {
        return thread.to_owned();
    }
    let plain: String = thread.chars().filter(|c| is_plain(*c)).take(LONGEST).collect();
    let hash = blake3::hash(thread.as_bytes()).to_hex();
    format!("{plain}.{}", hash.get(..16).unwrap_or_default())
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
        assert_eq!(folder_name("main"), "main");
        assert_eq!(folder_name(&"a".repeat(LONGEST)), "a".repeat(LONGEST));
        let names = ["../회의", "a b", "a%20b", "ab", "a/b", &"가".repeat(85), &"a".repeat(255)];
        let folders: std::collections::BTreeSet<_> = names.map(folder_name).into();
        assert_eq!(folders.len(), names.len());
        for folder in folders {
            assert!(folder.len() < 255 && !folder.contains(['/', ' ']), "{folder}");
            assert!(!folder.starts_with(".."), "{folder}");
        }
    }
}
