//! The tools of an agent.

use std::{collections::BTreeSet, sync::Arc};

use hanok_core::{Effect, Need};
use hanok_model::{Parameter, SharedTool, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_parse::{Declared, Language, ParamType};
use hanok_state::{Arguments, ToolCall};
use jsonschema::Validator;

use crate::{
    error::{RegistryError, ToolFault},
    observation::{FaultKind, Observation, Observed},
    prompt, schema,
    tools::{execution::suspends, tool_errors::ToolErrors},
};

/// The tools of an agent, each with its schema compiled. Clones share them. A [`ToolRunner`](crate::ToolRunner) makes calls of
/// them.
///
/// ```
/// use hanok_agent::ToolRegistry;
/// use hanok_model::{FnTool, SharedTool, ToolSpec};
/// use serde_json::json;
///
/// let find = || -> Result<SharedTool, hanok_model::InvalidSpec> {
///     let spec = ToolSpec::new("find", "Finds", json!({"properties": {"q": {"type": "string"}}}))?;
///     Ok(SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("nothing".into()) })))
/// };
/// let registry = ToolRegistry::new([find()?])?;
/// assert_eq!(registry.specs().map(|spec| spec.name()).collect::<Vec<_>>(), ["find"]);
///
/// let twice = ToolRegistry::new([find()?, find()?]).unwrap_err();
/// assert_eq!(twice.to_string(), "the tools cannot be registered\n- two tools are named `find`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolRegistry {
    tools: Arc<[Arc<Registered>]>,
    errors: ToolErrors,
}

/// A tool, and what its arguments have to be.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) tool: SharedTool,
    validator: Validator,
}

impl Registered {
    /// The tool with its schema compiled.
    ///
    /// # Errors
    ///
    /// [`ToolFault::Schema`].
    pub(crate) fn new(tool: SharedTool) -> Result<Self, ToolFault> {
        match schema::compile(tool.spec().schema()) {
            Ok(validator) => Ok(Self { tool, validator }),
            Err(source) => Err(ToolFault::Schema { tool: tool.spec().name().to_owned(), source }),
        }
    }

    /// The arguments fit the tool, or the observation of the mistake.
    pub(crate) fn check(&self, call: &ToolCall, language: Language) -> Result<(), Observation> {
        let mistakes = self.mistakes(&call.arguments, language);
        match mistakes.is_empty() {
            true => Ok(()),
            false => {
                let text = prompt::bad_arguments(&call.name, &mistakes, language);
                Err(Observation::fault(FaultKind::BadArguments, text))
            }
        }
    }

    /// The mistakes in `arguments`, a sentence each.
    fn mistakes(&self, arguments: &Arguments, language: Language) -> Vec<String> {
        schema::mistakes(&self.validator, arguments, language)
    }

    /// True for arguments that the tool takes.
    pub(crate) fn fits(&self, arguments: &Arguments) -> bool {
        self.mistakes(arguments, Language::English).is_empty()
    }
}

impl ToolRegistry {
    /// The registry of `tools`, which are shown to the model in this order.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] with every tool whose name was there before or whose schema cannot be used.
    pub fn new(tools: impl IntoIterator<Item = SharedTool>) -> Result<Self, RegistryError> {
        Self::default().with(tools)
    }

    /// The same with more tools behind its own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with(&self, tools: impl IntoIterator<Item = SharedTool>) -> Result<Self, RegistryError> {
        let mut registered = self.tools.to_vec();
        let mut names: BTreeSet<_> = self.specs().map(|spec| spec.name().to_owned()).collect();
        let mut faults = Vec::new();
        for tool in tools {
            let name = || tool.spec().name().to_owned();
            if !names.insert(name()) {
                faults.push(ToolFault::TwiceNamed { tool: name() });
                continue;
            }
            match Registered::new(tool) {
                Ok(tool) => registered.push(Arc::new(tool)),
                Err(fault) => faults.push(fault),
            }
        }
        match faults.is_empty() {
            true => Ok(Self { tools: registered.into(), errors: self.errors.clone() }),
            false => Err(RegistryError { faults }),
        }
    }

    /// Sets the policy for a tool's own errors. Default: the model reads them.
    ///
    /// ```
    /// use hanok_agent::{ToolErrors, ToolRegistry};
    ///
    /// let registry = ToolRegistry::new([])?.errors(ToolErrors::propagate());
    /// assert_eq!(registry.specs().len(), 0);
    /// # Ok::<(), hanok_agent::RegistryError>(())
    /// ```
    #[must_use]
    pub fn errors(self, errors: ToolErrors) -> Self {
        Self { errors, ..self }
    }

    /// The tools as a model sees them.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.tools.iter().map(|registered| registered.tool.spec())
    }

    /// The declarations for the parser: a model's text may call these tools and nothing else.
    pub fn declared(&self) -> Declared {
        Self::declared_of(self.specs())
    }

    /// The declarations of these tools.
    pub(crate) fn declared_of<'s>(specs: impl IntoIterator<Item = &'s ToolSpec>) -> Declared {
        specs.into_iter().fold(Declared::new(), |declared, spec| {
            let parameters = spec.parameters().into_iter();
            let parameters = parameters.map(|Parameter { name, kind, required, .. }| {
                (name, parameter_type(&kind), required)
            });
            declared.tool_with(spec.name(), parameters)
        })
    }

    /// The effect of `tool` on the world, `None` for a tool that is not there.
    ///
    /// ```
    /// use hanok_agent::ToolRegistry;
    /// use hanok_core::{Effect, Need};
    /// use hanok_model::{FnTool, SharedTool, ToolSpec};
    /// # use serde_json::json;
    ///
    /// let spec = ToolSpec::new("look", "Looks", json!({}))?;
    /// let look = FnTool::untyped(spec, |_, _| async { Ok("".into()) }).effect(Effect::Pure);
    /// let registry = ToolRegistry::new([SharedTool::new(look)])?;
    /// assert_eq!((registry.effect("look"), registry.effect("send")), (Some(Effect::Pure), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn effect(&self, tool: &str) -> Option<Effect> {
        self.get(tool).map(|registered| registered.tool.effect())
    }

    /// True when every one of `calls` only reads, so that they may be made at the same time and again. A tool that is not
    /// here does nothing.
    ///
    /// ```
    /// use hanok_agent::ToolRegistry;
    /// use hanok_core::{Effect, Need};
    /// use hanok_model::{FnTool, SharedTool, ToolSpec};
    /// use hanok_state::{Arguments, ToolCall};
    /// # use serde_json::json;
    ///
    /// let tool = |name: &str, effect| -> Result<SharedTool, hanok_model::InvalidSpec> {
    ///     let spec = ToolSpec::new(name, "", json!({}))?;
    ///     Ok(SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("".into()) }).effect(effect)))
    /// };
    /// let registry = ToolRegistry::new([tool("look", Effect::Pure)?, tool("send", Effect::AtMostOnce)?])?;
    /// let call = |name: &str| ToolCall { id: "1".into(), name: name.into(), arguments: Arguments::default() };
    /// assert!(registry.only_read([&call("look")]));
    /// assert!(!registry.only_read([&call("look"), &call("send")]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only_read<'a>(&self, calls: impl IntoIterator<Item = &'a ToolCall>) -> bool {
        calls.into_iter().all(|call| self.effect(&call.name).is_none_or(|it| it == Effect::Pure))
    }

    /// The tool `name` as a model sees it.
    pub(crate) fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.get(name).map(|registered| registered.tool.spec())
    }

    /// The same without the tools of these names.
    pub(crate) fn without(&self, names: &BTreeSet<String>) -> Self {
        let is_left = |it: &&Arc<Registered>| !names.contains(it.tool.spec().name());
        let tools = self.tools.iter().filter(is_left).cloned().collect();
        Self { tools, errors: self.errors.clone() }
    }

    /// The observation that there is no such tool.
    pub(crate) fn unknown(&self, call: &ToolCall, language: Language) -> Observation {
        let declared = self.specs().map(ToolSpec::name);
        let text = prompt::unknown_tool(&call.name, declared, language);
        Observation::fault(FaultKind::UnknownTool, text)
    }

    /// The parts of the run that tools need, each with the tool.
    pub(crate) fn needs(&self) -> impl Iterator<Item = (&str, Need)> {
        self.tools.iter().flat_map(|registered| {
            let name = registered.tool.spec().name();
            registered.tool.needs().into_iter().map(move |need| (name, need))
        })
    }

    /// The observation of a call that was made.
    pub(crate) fn observed(
        &self,
        call: &ToolCall,
        made: Result<ToolOutput, ToolError>,
        language: Language,
    ) -> Result<Observed, ToolError> {
        match made {
            Ok(output) => Ok(Observed::of(output, language)),
            Err(error) if suspends(&error) => Err(error),
            Err(error @ ToolError::NotProvided { .. }) => Err(error),
            // No observation settles it: the intent of the call stays, and with it the doubt.
            Err(error) if self.may_have_happened(call, &error) => Err(match error {
                ToolError::InDoubt(_) => error,
                error => ToolError::InDoubt(error.into()),
            }),
            Err(error) => Ok(self.errors.observe(call, error, language)?.into()),
        }
    }

    /// Checks whether a call that must not be repeated may have taken effect, though it gave no result: it is in doubt, was stopped
    /// by a time-out, or panicked.
    fn may_have_happened(&self, call: &ToolCall, error: &ToolError) -> bool {
        use ToolError::{InDoubt, Panicked, TimedOut};
        let is_open = matches!(error, InDoubt(_) | TimedOut { .. } | Panicked);
        is_open && self.effect(&call.name) == Some(Effect::AtMostOnce)
    }

    pub(crate) fn get(&self, tool: &str) -> Option<&Arc<Registered>> {
        self.tools.iter().find(|registered| registered.tool.spec().name() == tool)
    }
}

/// A parameter's type, as the parser takes it.
fn parameter_type(kind: &str) -> ParamType {
    match kind {
        "string" => ParamType::String,
        "integer" => ParamType::Integer,
        "number" => ParamType::Number,
        "boolean" => ParamType::Boolean,
        "object" => ParamType::Object,
        "null" => ParamType::Null,
        kind if kind.starts_with("array") => ParamType::Array,
        // `"asc" or "desc"`: texts, one of which it has to be.
        kind if kind.starts_with('"') => ParamType::String,
        _ => ParamType::Any,
    }
}
