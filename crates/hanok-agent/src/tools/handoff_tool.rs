//! The tool by which an agent hands its turn over, as a call that is checked like every other.

use std::future::ready;

use hanok_core::Effect;
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Arguments, Json, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    handoff::{Handoff, HandoffHistory},
    prompt,
};

/// A tool by which an agent hands its turn over to another one.
///
/// The model sees it as `transfer_to_<agent>`, with a `task` and, where one is declared, a `payload`. A call of it is
/// checked like every other, and ends the agent's turn ([`StopReason::HandedOff`](crate::StopReason::HandedOff)): the calls
/// beside it are made, each has its result, and of several hand-offs the first is taken. An agent hands over to declared
/// agents only.
///
/// ```
/// use hanok_agent::{HandoffHistory, HandoffTool, ReactAgent};
/// use hanok_model::ScriptedModel;
///
/// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([]))
///     .handoff(HandoffTool::to("billing", "Knows invoices").history(HandoffHistory::Last))
///     .build()?;
/// assert!(agent.system_prompt().contains("- transfer_to_billing: Hands the conversation over"));
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct HandoffTool {
    to: String,
    description: String,
    name: String,
    history: HandoffHistory,
    payload: Option<Value>,
}

impl HandoffTool {
    /// A hand-off to the agent `to`, and what that is good for, in words for the model.
    pub fn to(to: impl Into<String>, description: impl Into<String>) -> Self {
        let to = to.into();
        Self {
            name: format!("transfer_to_{to}"),
            to,
            description: description.into(),
            history: HandoffHistory::default(),
            payload: None,
        }
    }

    /// The tool's name, for an agent whose own cannot be part of one. Default: `transfer_to_` and the agent's name.
    ///
    /// ```
    /// use hanok_agent::{HandoffTool, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// // Servers take no Korean names of tools.
    /// let legal = HandoffTool::to("법무 검토", "계약을 검토한다").named("transfer_to_legal");
    /// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([])).handoff(legal).build()?;
    /// assert_eq!(agent.handoffs().next().map(|handoff| handoff.target()), Some("법무 검토"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the part of the conversation that the other agent sees. Default: all of it.
    ///
    /// ```
    /// use hanok_agent::{HandoffHistory, HandoffTool};
    ///
    /// // The other agent reads its task alone, and nothing that tools found.
    /// let handoff = HandoffTool::to("mail", "Writes mail").history(HandoffHistory::None);
    /// assert_eq!(handoff.passes(), HandoffHistory::None);
    /// ```
    pub fn history(self, history: HandoffHistory) -> Self {
        Self { history, ..self }
    }

    /// Sets the JSON schema of data that the model has to give besides the task. Default: no data.
    ///
    /// ```
    /// use hanok_agent::{HandoffTool, ReactAgent};
    /// use hanok_model::ScriptedModel;
    /// use serde_json::json;
    ///
    /// let order = json!({"type": "object", "properties": {"order": {"type": "string"}}});
    /// let billing = HandoffTool::to("billing", "Knows invoices").payload(order);
    /// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([])).handoff(billing).build()?;
    /// assert!(agent.system_prompt().contains("payload"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn payload(self, schema: Value) -> Self {
        Self { payload: Some(schema), ..self }
    }

    /// The agent that it hands over to.
    pub fn target(&self) -> &str {
        &self.to
    }

    /// The part of the conversation that goes along.
    pub fn passes(&self) -> HandoffHistory {
        self.history
    }

    /// The hand-off that `call` asks for. The arguments fit the schema.
    fn read(&self, call: &ToolCall) -> Option<Handoff> {
        let HandoffArguments { task, payload } = HandoffArguments::read(&call.arguments).ok()?;
        Some(Handoff { to: self.to.clone(), task: Some(task), payload, history: self.history })
    }

    /// The tool itself. It changes nothing: the hand-off is what the agent makes of its call.
    pub(crate) fn tool(&self, language: Language) -> Result<SharedTool, InvalidSpec> {
        let task = json!({
            "type": "string",
            "minLength": 1,
            "description": prompt::handoff_task(language),
        });
        let (mut properties, mut required) = (json!({ "task": task }), vec!["task"]);
        if let (Some(payload), Some(properties)) = (&self.payload, properties.as_object_mut()) {
            properties.insert("payload".to_owned(), payload.clone());
            required.push("payload");
        }
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let description = prompt::handoff_tool(&self.to, &self.description, language);
        let done = prompt::handed_over(&self.to, language);
        let run = move |arguments: Arguments, _| {
            ready(HandoffArguments::read(&arguments).map(|_| ToolOutput::new(done.as_str())))
        };
        let spec = ToolSpec::new(&self.name, description, schema)?;
        Ok(SharedTool::new(FnTool::untyped(spec, run).effect(Effect::Pure)))
    }
}

/// The first hand-off among the `calls` that are made, and which it is.
pub(crate) fn first<'c>(
    tools: &[HandoffTool],
    calls: impl Iterator<Item = Option<&'c ToolCall>>,
) -> Option<(usize, Handoff)> {
    calls.enumerate().find_map(|(index, call)| {
        let call = call?;
        let tool = tools.iter().find(|tool| tool.name == call.name)?;
        Some((index, tool.read(call)?))
    })
}

/// True for a call of a hand-off, valid or not.
pub(crate) fn is_handoff(tools: &[HandoffTool], call: &ToolCall) -> bool {
    tools.iter().any(|tool| tool.name == call.name)
}

/// The arguments of a hand-off.
#[derive(Deserialize)]
struct HandoffArguments {
    task: String,
    #[serde(default)]
    payload: Option<Json>,
}

impl HandoffArguments {
    fn read(arguments: &Arguments) -> Result<Self, ToolError> {
        let Self { task, payload } = arguments.decode().map_err(ToolError::arguments)?;
        match task.trim() {
            "" => Err(ToolError::arguments("`task` says nothing")),
            task => Ok(Self { task: task.to_owned(), payload }),
        }
    }
}
