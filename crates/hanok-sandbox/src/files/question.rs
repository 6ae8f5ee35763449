//! The question to a person about a file.

use hanok_core::{AskError, Call, Check, Request, Stored};
use hanok_model::ToolError;
use serde::{Deserialize, Serialize};

use super::{FilePath, TextEdit, folder::shown};

/// What a person is asked about a file, before anything is done with it: the payload of the question. Its answer is a
/// [`FileDecision`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileRequest {
    /// The tool: `read`, `write` or `edit`.
    pub tool: String,
    /// The path of the file.
    pub path: String,
    /// The whole text that is to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The replacement that is to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<TextEdit>,
    /// The key of the call: an equal call is another question.
    pub call: String,
}

/// The decision of a person about a file. As JSON: `{"decision": "approve"}` or `{"decision": "reject", "message": "…"}`.
///
/// ```
/// use hanok_sandbox::FileDecision;
///
/// let decision: FileDecision = serde_json::from_str(r#"{"decision": "reject", "message": "too long"}"#)?;
/// assert_eq!(decision, FileDecision::Reject { message: Some("too long".into()) });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileDecision {
    /// It is done.
    Approve,
    /// It is not done.
    Reject {
        /// The reason, in words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

impl FileRequest {
    pub(super) fn new(tool: &str, path: &FilePath, call: &Call) -> Self {
        let (tool, path) = (tool.to_owned(), path.to_string());
        Self { tool, path, text: None, edit: None, call: call.key().to_string() }
    }

    /// Asks a person. Nothing is done before it returns, and a call that is made again for the answer gets it.
    pub(super) async fn ask(&self, call: &Call) -> Result<(), ToolError> {
        let payload = Stored::encode(self).map_err(ToolError::failed)?;
        let check = Check::new("`approve` or `reject`", |answer| {
            Ok(answer.decode::<FileDecision>().map(drop)?)
        });
        let request = Request { check: Some(check), ..Request::new(payload) };
        let answer = match call.question(request).await {
            Ok(answer) => answer,
            Err(AskError::Nobody { reason }) => {
                let path = shown(&self.path);
                let tool = &self.tool;
                return Err(ToolError::refused(format!(
                    "a person has to approve the `{tool}` of `{path}`, and nobody can be asked here: {reason}"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        match answer.decode().map_err(ToolError::failed)? {
            FileDecision::Approve => Ok(()),
            FileDecision::Reject { message: Some(message) } => {
                Err(ToolError::refused(format!("a person rejected it. {message}")))
            }
            FileDecision::Reject { message: None } => {
                Err(ToolError::refused("a person rejected it"))
            }
        }
    }
}
