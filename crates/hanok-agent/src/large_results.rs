//! Results too large for a prompt: in the store beside the thread, with a name by which the model reads them again.

use std::collections::BTreeSet;

use hanok_checkpoint::{CheckpointError, ThreadItems};
use hanok_core::{BoxError, Call, Chain, Effect, Stored, Timestamp};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Arguments, Json, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{observation::cut, prompt, runner::ToolRunner};

/// The name of the tool that reads a stored result.
pub(crate) const READ_RESULT: &str = "read_result";

/// The most bytes of a text that are stored.
const LONGEST_STORED: usize = 16 * 1024 * 1024;

/// The characters that are shown before a text that was looked for.
const BEFORE_MATCH: usize = 200;

/// How results of tools that are too large for a prompt are kept: [`ReactAgentBuilder::large_results`].
///
/// Such a result goes into the store of the run, among the [items](hanok_graph::Context::items) of its thread. The model reads its beginning, its end, and a
/// name between them; the tool `read_result`, which the agent has then, reads the rest, page by page or from a text on. In a run without
/// a store, or where the store fails, the model reads what it would otherwise.
///
/// The name is made of the call, so a result that is stored twice is there once. It is the message's metadata `stored`, too, and stays in the
/// conversation when a compaction clears or shortens the result. A result's `data` that is as large goes with its text.
///
/// [`ReactAgentBuilder::large_results`]: crate::ReactAgentBuilder::large_results
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct LargeResults {
    longest: usize,
    head: usize,
    tail: usize,
    page: usize,
}

impl Default for LargeResults {
    fn default() -> Self {
        Self { longest: 16_000, head: 2_000, tail: 1_000, page: 8_000 }
    }
}

impl LargeResults {
    /// Results of more than 16,000 characters, of which the model reads the first 2,000 and the last 1,000, and 8,000 more at a time.
    pub fn new() -> Self {
        Self::default()
    }

    /// The most characters of a result that is not stored. Default: 16,000.
    pub fn longest(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// The characters of its beginning and of its end that the model reads at once. Default: 2,000 and 1,000.
    pub fn shown(self, head: usize, tail: usize) -> Self {
        Self { head, tail, ..self }
    }

    /// The most characters that `read_result` shows at a time, at least one. Default: 8,000.
    pub fn page(self, page: usize) -> Self {
        Self { page: page.max(1), ..self }
    }

    fn is_exceeded(&self, text: &str) -> bool {
        text.len() > self.longest && text.chars().nth(self.longest).is_some()
    }

    /// The beginning and the end of `text`, and where the rest is.
    fn shortened(&self, text: &str, name: &str, language: Language) -> String {
        let all = text.chars().count();
        let (head, tail) = (self.head.min(all), self.tail.min(all.saturating_sub(self.head)));
        let begin: String = text.chars().take(head).collect();
        let end: String = text.chars().skip(all - tail).collect();
        let mark = prompt::stored_result(name, head, all - head - tail, language);
        format!("{begin}\n{mark}\n{end}")
    }

    /// The tool that reads a stored result.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] never: it has a name.
    pub(crate) fn tool(self, language: Language) -> Result<SharedTool, InvalidSpec> {
        let field = |kind: &str, about: &str| json!({"type": kind, "description": about});
        let schema = json!({
            "type": "object",
            "properties": {
                "name": field("string", prompt::read_result_name(language)),
                "from": {
                    "type": "integer",
                    "minimum": 0,
                    "description": prompt::read_result_from(language),
                },
                "find": field("string", prompt::read_result_find(language)),
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        let spec = ToolSpec::new(READ_RESULT, prompt::read_result(language), schema)?;
        let run = move |arguments: Arguments, call: Call| async move {
            self.read(&arguments, &call, language).await
        };
        Ok(SharedTool::new(FnTool::untyped(spec, run).effect(Effect::Pure)))
    }

    async fn read(
        self,
        arguments: &Arguments,
        call: &Call,
        language: Language,
    ) -> Result<ToolOutput, ToolError> {
        let ReadArguments { name, from, find } =
            arguments.decode().map_err(ToolError::arguments)?;
        let stored = match call.provided::<ThreadItems>() {
            Some(items) => LargeResult::stored(&items, &name, call.clock().now())
                .await
                .map_err(ToolError::Failed)?,
            None => None,
        };
        let Some(stored) = stored else {
            return Err(ToolError::refused(prompt::no_result(&name, language)));
        };
        let all = stored.text.chars().count();
        let from = match find.as_deref().filter(|find| !find.is_empty()) {
            Some(find) => match place_of(&stored.text, find, from) {
                Some(at) => at.saturating_sub(BEFORE_MATCH),
                None => return Ok(prompt::not_in_result(find, from, language).into()),
            },
            None => from,
        };
        if from >= all {
            return Err(ToolError::refused(prompt::behind_result(from, all, language)));
        }
        let page: String = stored.text.chars().skip(from).take(self.page).collect();
        let to = (from + self.page).min(all);
        Ok(prompt::result_page(&page, from, to, all, language).into())
    }
}

/// What becomes of the large results of an agent's calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shortening {
    policy: Option<LargeResults>,
    /// The tools whose results stay whole.
    whole: BTreeSet<String>,
}

impl Shortening {
    /// Results are shortened, but those of the tools that end a turn: they are its answer.
    pub(crate) fn new(policy: LargeResults, ends_turn: &[String]) -> Self {
        let whole = ends_turn.iter().cloned().chain([READ_RESULT.to_owned()]).collect();
        Self { policy: Some(policy), whole }
    }

    /// Stores what `call` made, if it is too large; returns what the model reads, and the name of the rest.
    pub(crate) async fn shorten(
        &self,
        call: &ToolCall,
        made: Result<ToolOutput, ToolError>,
        context: &Call,
        language: Language,
    ) -> (Result<ToolOutput, ToolError>, Option<String>) {
        let policy = self.policy.filter(|_| !self.whole.contains(&call.name));
        let (policy, mut output) = match (policy, made) {
            (Some(policy), Ok(output)) if output.target.is_none() => (policy, output),
            (_, made) => return (made, None),
        };
        let is_large = |text: &str| policy.is_exceeded(text);
        let items = context.provided::<ThreadItems>().filter(|_| is_large(&output.text));
        let Some(items) = items else { return (Ok(output), None) };
        let large_data = output.data.as_ref().is_some_and(|data| is_large(&data.0.to_string()));
        let result = LargeResult {
            tool: call.name.clone(),
            text: cut(&output.text, LONGEST_STORED).0.to_owned(),
            data: output.data.clone().filter(|_| large_data),
        };
        let name = name_of(context);
        // On the heap: few results are large, and every call of a tool has room for this on its stack.
        let put = Box::pin(result.put(&items, &name, context.clock().now()));
        if let Err(error) = put.await {
            let error = Chain(&*error);
            tracing::warn!(tool = call.name, %error, "a large result is shown: it cannot be stored");
            return (Ok(output), None);
        }
        output.text = policy.shortened(&result.text, &name, language);
        output.data = output.data.filter(|_| !large_data);
        (Ok(output), Some(name))
    }
}

impl ToolRunner {
    /// Stores results that are too large for a prompt, whole, among the [items](hanok_graph::Context::items) of the thread, and gives
    /// their beginning and end: [`ToolResult`](crate::ToolResult)s name the rest. Default: none is stored, and 256 KiB are given.
    pub fn large_results(mut self, large_results: LargeResults) -> Self {
        self.shortening = Shortening::new(large_results, &[]);
        self
    }
}

/// The arguments of a read.
#[derive(Deserialize)]
struct ReadArguments {
    name: String,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    find: Option<String>,
}

/// A result that was too large for a prompt, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LargeResult {
    /// The tool.
    pub tool: String,
    /// The text, up to 16 MiB of it.
    pub text: String,
    /// The result for programs, where it was as large as the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl LargeResult {
    /// The result that is stored under `name` among these items; `None` when it is not there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`](hanok_checkpoint::CheckpointError) when the item cannot be read, and the error of an item that is no
    /// result.
    pub async fn stored(
        items: &ThreadItems,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Self>, BoxError> {
        let stored = items.get(name, now).await?;
        Ok(stored.map(|stored| stored.decode()).transpose()?)
    }

    async fn put(&self, items: &ThreadItems, name: &str, now: Timestamp) -> Result<(), BoxError> {
        let value = Stored::encode(self)?;
        items.put(name, &value, now).await.map_err(|error: CheckpointError| error.into())
    }
}

/// The name of the result of `call`: one word, the same whenever the call is made.
fn name_of(call: &Call) -> String {
    let digest = blake3::hash(call.key().as_str().as_bytes()).to_hex();
    format!("r{}", digest.get(..16).unwrap_or_default())
}

/// The character at which `find` begins in `text`, from the character `from` on. Capital and small letters are equal.
fn place_of(text: &str, find: &str, from: usize) -> Option<usize> {
    let folded = |text: &str| -> Vec<char> {
        // One for each character, so that places stay what they are.
        text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect()
    };
    let (letters, find) = (folded(text), folded(find));
    let rest = letters.get(from..)?;
    let at = rest.windows(find.len()).position(|window| window == find)?;
    Some(from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_by_its_letters_from_a_place_on() {
        let text = "가나다 Error one, error two";
        assert_eq!(place_of(text, "error", 0), Some(4));
        assert_eq!(place_of(text, "ERROR", 5), Some(15));
        assert_eq!(place_of(text, "error", 16), None);
        assert_eq!(place_of(text, "error", 1_000), None);
    }

    #[test]
    fn what_is_shown_is_never_more_than_the_text() {
        let large = LargeResults::new().longest(4).shown(3, 3);
        let shown = large.shortened("일이삼사오", "r1", Language::English);
        assert!(shown.starts_with("일이삼\n") && shown.ends_with("\n사오"), "{shown}");
        let shown = large.shown(10, 10).shortened("일이삼사오", "r1", Language::English);
        assert!(shown.starts_with("일이삼사오\n") && shown.ends_with('\n'), "{shown}");
    }
}
