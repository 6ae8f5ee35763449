//! What all clients of a server share.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_core::{Answerer, BoxError, Clock, Tenant};
use jsonschema::Validator;
use rmcp::{ErrorData, model::JsonObject};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{graph_tool::GraphTool, seal::SealKey};
use crate::text::line;

/// The mistakes that are named of arguments.
const MISTAKES: usize = 5;

/// Who calls, by the request over HTTP that the call came with, if it did; an error in words refuses the call.
pub(super) type Caller =
    dyn Fn(Option<&http::request::Parts>) -> Result<Option<Answerer>, String> + Send + Sync;

/// What all clients of a server share.
pub(super) struct Serving {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) tools: BTreeMap<String, ServedTool>,
    pub(super) seal: SealKey,
    pub(super) tenant: Tenant,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) closing: CancellationToken,
    pub(super) caller: Option<Arc<Caller>>,
}

/// A tool with what checks its arguments.
#[derive(Debug)]
pub(super) struct ServedTool {
    pub(super) tool: GraphTool,
    arguments: Validator,
}

impl ServedTool {
    /// # Errors
    ///
    /// What is wrong with the schema of its arguments.
    pub(super) fn new(tool: GraphTool) -> Result<Self, BoxError> {
        let arguments = crate::catalogue::compiled(tool.spec().schema())?;
        Ok(Self { tool, arguments })
    }

    /// Checks that `arguments` fit the tool.
    pub(super) fn check(&self, arguments: &JsonObject) -> Result<(), ErrorData> {
        let arguments = Value::Object(arguments.clone());
        let mistakes: Vec<_> = self.arguments.iter_errors(&arguments).take(MISTAKES).collect();
        if mistakes.is_empty() {
            return Ok(());
        }
        let mistakes: Vec<_> = mistakes
            .iter()
            .map(|error| {
                format!(
                    "{}: {}",
                    line(error.instance_path().as_str(), 128),
                    line(&error.masked().to_string(), 256)
                )
            })
            .collect();
        Err(ErrorData::invalid_params(
            format!("the arguments do not fit; {}", mistakes.join("; ")),
            None,
        ))
    }
}

impl Serving {
    /// Who calls.
    pub(super) fn caller(
        &self,
        request: Option<&http::request::Parts>,
    ) -> Result<Option<Answerer>, ErrorData> {
        let Some(caller) = &self.caller else { return Ok(None) };
        caller(request).map_err(|why| ErrorData::invalid_request(line(&why, 1024), None))
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
