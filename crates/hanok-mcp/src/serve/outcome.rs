//! What became of a call, as a client reads it.

use hanok_core::{BoxError, Chain};
use hanok_graph::Pending;
use hanok_model::ToolOutput;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::json;

use super::form::summary;
use crate::text::line;

/// The key in `_meta` of a result under which the thread of the call stands.
const THREAD: &str = "hanok/thread";

/// The most questions that are named.
const NAMED: usize = 8;

/// The thread of a call, and the key under which the call is repeated.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) thread: &'a str,
    pub(super) key: &'a str,
}

impl Place<'_> {
    /// The result of a call that is done.
    pub(super) fn done(&self, output: ToolOutput) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
        result.structured_content = output.data.map(|data| data.0);
        self.marked(result)
    }

    /// The result of a call that failed.
    pub(super) fn failed(&self, error: &BoxError) -> CallToolResult {
        let words = line(&Chain(&**error).to_string(), 4096);
        self.error(format!("{words}\n{}", self.again("It goes on")))
    }

    /// The result of a call that stopped for a reason that is no question.
    pub(super) fn stopped(&self, why: &str) -> CallToolResult {
        self.error(format!("{why}\n{}", self.again("It goes on")))
    }

    /// The result of a call whose questions the client cannot be asked.
    pub(super) fn waits(&self, questions: &[Pending]) -> CallToolResult {
        let doubts = questions.iter().any(|question| question.doubt.is_some());
        let mut lines = vec![match doubts {
            true => format!(
                "The run `{}` is in doubt about a call that it has made or not, and a person has to say which.",
                self.thread
            ),
            false => format!("The run `{}` waits for a person's answer.", self.thread),
        }];
        for question in questions.iter().take(NAMED) {
            let what = match &question.doubt {
                Some(doubt) => format!("was `{}` called?", line(&doubt.tool, 128)),
                None => summary(question),
            };
            lines.push(format!("- `{}`: {what}", line(&question.id.0, 256)));
        }
        if let Some(more) = questions.len().checked_sub(NAMED).filter(|more| *more > 0) {
            lines.push(format!("- and {more} more"));
        }
        let answer = format!("`hanok answer {} ID JSON`", self.thread);
        lines.push(format!(
            "It is answered with {answer}, or by another program on the same store."
        ));
        lines.push(self.again("Then it goes on"));
        self.error(lines.join("\n"))
    }

    fn again(&self, then: &str) -> String {
        format!(
            "{then} when the tool is called again with the same arguments and `_meta` {}.",
            json!({crate::connection::CALL_KEY: self.key})
        )
    }

    fn error(&self, text: String) -> CallToolResult {
        self.marked(CallToolResult::error(vec![ContentBlock::text(text)]))
    }

    fn marked(&self, result: CallToolResult) -> CallToolResult {
        let mut meta = MetaObject::new();
        meta.0.insert(THREAD.to_owned(), self.thread.into());
        meta.0.insert(crate::connection::CALL_KEY.to_owned(), self.key.into());
        result.with_meta(Some(meta))
    }
}
