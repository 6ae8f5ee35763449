//! What the code of `#[tool]` uses.

use hanok_core::BoxError;
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
pub use {schemars, serde};

use crate::{ToolError, ToolOutput, ToolSpec};

/// The tool as a model sees it; `docs` are the lines of the function's doc comment.
pub fn spec<A: JsonSchema>(name: &str, docs: &[&str]) -> ToolSpec {
    let lines = || docs.iter().flat_map(|doc| doc.split('\n')).map(str::trim_end);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = lines().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<_> = lines().map(|line| line.get(common..).unwrap_or_default()).collect();
    ToolSpec::of_struct::<A>(name, lines.join("\n").trim().to_owned())
}

/// Reads what the model sent.
///
/// # Errors
///
/// [`ToolError::Arguments`] where it is none of the tool's.
pub fn arguments<A: DeserializeOwned>(arguments: &Arguments) -> Result<A, ToolError> {
    arguments.decode().map_err(ToolError::arguments)
}

/// Says of a type that is no argument what to do.
pub fn is_argument<A: ToolArgument>() {}

/// An argument that a model sends.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a model sends to a tool",
    label = "derive `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "a part of the run, which no model sends, has `#[from_call]` before it, and its type implements `FromCall`"
)]
pub trait ToolArgument {}

#[diagnostic::do_not_recommend]
impl<A: DeserializeOwned + JsonSchema> ToolArgument for A {}

/// What the function of a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a tool returns",
    label = "write `Result<ToolOutput, ToolError>`",
    note = "a tool returns a `ToolOutput` or text, or a `Result` of one of them whose error is a `ToolError`, another error \
            that is `Send` and `Sync`, or text"
)]
pub trait ToolReturn {
    /// As a tool says it.
    ///
    /// # Errors
    ///
    /// The function's.
    fn into_result(self) -> Result<ToolOutput, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<O: Into<ToolOutput>, E: Into<BoxError>> ToolReturn for Result<O, E> {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        self.map(O::into).map_err(|error| ToolError::from(error.into()))
    }
}

impl ToolReturn for ToolOutput {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl ToolReturn for String {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl ToolReturn for &'static str {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}
