//! Building an agent.

use hanok_graph::{Doubt, Runtime};
use hanok_model::{ChatModel, SharedModel, SharedTool, Tool, ToolChoice};
use hanok_parse::{Language, Parser};
use hanok_telemetry::ContentCapture;

use crate::{
    agent::ReactAgent,
    error::AgentBuildError,
    intercept::Interceptor,
    prompt,
    protocol::Protocol,
    runner::ToolRunner,
    settings::AgentSettings,
    tools::{handoff_tool::HandoffTool, registry::ToolRegistry, tool_errors::ToolErrors},
};

/// The default number of model calls in a turn.
const MAX_ITERATIONS: u32 = 10;

/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 64;

/// Builds a [`ReactAgent`].
#[derive(Debug)]
#[must_use]
pub struct ReactAgentBuilder {
    /// The settings so far. The system prompt, the parser and the registry are made of the others at the end.
    settings: AgentSettings,
    prompt: Option<String>,
    tools: Vec<SharedTool>,
    tool_errors: ToolErrors,
    runtime: Runtime,
}

impl ReactAgent {
    /// Begins an agent with its name, its purpose (in words for a supervisor's model), and its model.
    ///
    /// ```
    /// use hanok_agent::{AgentBuildError, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let model = ScriptedModel::new([]);
    /// let agent = ReactAgent::builder("rules", "Knows the company's rules", model.clone()).build()?;
    /// assert_eq!((agent.name(), agent.tools().len()), ("rules", 0));
    ///
    /// let unnamed = ReactAgent::builder(" ", "", model).build();
    /// assert!(matches!(unnamed, Err(AgentBuildError::Name { .. })));
    /// # Ok::<(), AgentBuildError>(())
    /// ```
    pub fn builder(
        name: impl Into<String>,
        description: impl Into<String>,
        model: impl ChatModel,
    ) -> ReactAgentBuilder {
        ReactAgentBuilder::new(name.into(), description.into(), SharedModel::new(model))
    }
}

impl ReactAgentBuilder {
    fn new(name: String, description: String, model: SharedModel) -> Self {
        let settings = AgentSettings {
            name,
            description,
            model,
            runner: ToolRunner::default(),
            handoffs: Vec::new(),
            parser: Parser::default(),
            system: String::new(),
            max_iterations: MAX_ITERATIONS,
            language: Language::default(),
            protocol: Protocol::default(),
            tool_choice: ToolChoice::default(),
            temperature: None,
            max_tokens: None,
        };
        let (tool_errors, runtime) = (ToolErrors::default(), Runtime::default());
        Self { settings, prompt: None, tools: Vec::new(), tool_errors, runtime }
    }

    /// Sets the role of the agent: the beginning of the system prompt. Default: its description.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    ///
    /// // A supervisor reads the description; the agent's own model reads the prompt.
    /// let agent = ReactAgent::builder("rules", "Knows the company's rules", ScriptedModel::new([]))
    ///     .prompt("You answer by the rules and quote the article.")
    ///     .build()?;
    /// assert!(agent.system_prompt().starts_with("You answer by the rules"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..self }
    }

    /// Adds a tool. Default: none.
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(SharedTool::new(tool));
        self
    }

    /// Adds tools, in this order.
    pub fn tools(mut self, tools: impl IntoIterator<Item = SharedTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Lets the agent hand its turn over to another one. Default: it hands over to nobody.
    ///
    /// ```
    /// use hanok_agent::{HandoffTool, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([]))
    ///     .handoff(HandoffTool::to("billing", "Knows invoices"))
    ///     .build()?;
    /// assert_eq!(agent.tools().next().map(|tool| tool.name()), Some("transfer_to_billing"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn handoff(mut self, handoff: HandoffTool) -> Self {
        self.settings.handoffs.push(handoff);
        self
    }

    /// Puts `interceptor` around the calls of the model and of the tools, within those that were added before. Default: none.
    ///
    /// ```
    /// use hanok_agent::{CallLimits, ReactAgent, Retrying};
    /// use hanok_model::ScriptedModel;
    ///
    /// // A retry counts as one call: the limit stands outside.
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .intercept(CallLimits::new().model_calls(8))
    ///     .intercept(Retrying::attempts(3))
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.settings.runner = self.settings.runner.intercept(interceptor);
        self
    }

    /// Sets the policy for a tool's own errors. Default: the model reads them.
    ///
    /// ```
    /// use hanok_agent::{FaultKind, Handling, ReactAgent, ToolErrors};
    /// use hanok_model::ScriptedModel;
    ///
    /// // A broken tool fails the run; a slow one is an observation.
    /// let errors = ToolErrors::propagate().for_kind(FaultKind::TimedOut, Handling::ToModel);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .tool_errors(errors)
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn tool_errors(self, tool_errors: ToolErrors) -> Self {
        Self { tool_errors, ..self }
    }

    /// Limits the model calls of a turn. Default: 10.
    pub fn max_iterations(mut self, max_iterations: u32) -> Self {
        self.settings.max_iterations = max_iterations;
        self
    }

    /// Sets the language in which the agent speaks to its model. Default: English.
    ///
    /// ```
    /// use hanok_agent::{Language, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "규정을 안다", ScriptedModel::new([]))
    ///     .language(Language::Korean)
    ///     .build()?;
    /// assert!(agent.system_prompt().contains("## 답할 때"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn language(mut self, language: Language) -> Self {
        self.settings.language = language;
        self
    }

    /// Sets the form in which the model calls tools. Default: [`Protocol::Text`].
    ///
    /// ```
    /// use hanok_agent::{Protocol, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .protocol(Protocol::Native)
    ///     .build()?;
    /// // The server is sent the tools; the prompt does not teach a form.
    /// assert_eq!(agent.system_prompt(), "Knows the rules");
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// Sets whether the model has to call a tool. Default: as it likes.
    ///
    /// A required tool is required of the first reply of a turn; [`ToolChoice::None`] holds for every reply. By
    /// [`Protocol::Native`] the server reads the choice; in both protocols the agent checks it. A model that does not call
    /// what it has to is asked once more, and then the turn ends ([`StopReason::NoToolCall`](crate::StopReason)). A call
    /// that is not allowed is not made, and its observation says so.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{ScriptedModel, ToolChoice};
    ///
    /// let search_first = ToolChoice::Tool("search".into());
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .tool_choice(search_first)
    ///     .build();
    /// assert_eq!(agent.unwrap_err().to_string(), "agent `rules` is to call `search` and has none");
    /// ```
    pub fn tool_choice(mut self, tool_choice: ToolChoice) -> Self {
        self.settings.tool_choice = tool_choice;
        self
    }

    /// Sets the sampling temperature, from 0. Default: the server's.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Limits the tokens of one reply: small models repeat themselves without end. A call that is cut off
    /// there is not made. Default: the server's limit.
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.settings.max_tokens = Some(max_tokens);
        self
    }

    /// Sets the handling of a call that must not be repeated and whose run was lost without a result. Default: a person is
    /// asked. With [`Doubt::GiveUp`] the model reads that nobody knows whether the call took effect.
    ///
    /// ```
    /// use hanok_agent::{Doubt, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// // Nobody watches this agent: its model reads that the call may have been made.
    /// let agent = ReactAgent::builder("night", "Works at night", ScriptedModel::new([]))
    ///     .in_doubt(Doubt::GiveUp)
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn in_doubt(mut self, in_doubt: Doubt) -> Self {
        self.settings.runner = self.settings.runner.in_doubt(in_doubt);
        self
    }

    /// Records the texts of model and tool calls in their spans. Default: they are not recorded.
    pub fn capture(mut self, capture: ContentCapture) -> Self {
        self.settings.runner = self.settings.runner.capture(capture);
        self
    }

    /// Sets the clock, the ids and the randomness of an agent that runs by itself. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The agent, checked.
    ///
    /// # Errors
    ///
    /// [`AgentBuildError`] when the name cannot be written, tools (those of its hand-offs too) have one name or a schema
    /// that cannot be used, it hands over to itself, is to call what it does not have, or the model may never be asked.
    pub fn build(self) -> Result<ReactAgent, AgentBuildError> {
        let Self { settings, prompt, mut tools, tool_errors, runtime } = self;
        let AgentSettings { name: agent, language, protocol, .. } = settings;
        if !is_name(&agent) {
            return Err(AgentBuildError::Name { name: agent });
        }
        if settings.max_iterations == 0 {
            return Err(AgentBuildError::NoIterations { agent });
        }
        if settings.handoffs.iter().any(|handoff| handoff.target() == agent) {
            return Err(AgentBuildError::HandoffToItself { agent });
        }
        for handoff in &settings.handoffs {
            match handoff.tool(language) {
                Ok(tool) => tools.push(tool),
                Err(source) => {
                    let to = handoff.target().to_owned();
                    return Err(AgentBuildError::Handoff { agent, to, source });
                }
            }
        }
        let tools = match ToolRegistry::new(tools) {
            Ok(tools) => tools.errors(tool_errors),
            Err(source) => return Err(AgentBuildError::Tools { agent, source }),
        };
        if let Some(required) = missing_tool(&settings.tool_choice, &tools) {
            return Err(AgentBuildError::ToolChoice { agent, required });
        }
        let role = prompt.as_deref().unwrap_or(&settings.description);
        let settings = AgentSettings {
            system: prompt::system(role, tools.specs(), protocol, language),
            parser: Parser::new(tools.declared()),
            runner: settings.runner.with_tools(tools).agent(&agent).language(language),
            name: agent,
            ..settings
        };
        ReactAgent::new(settings, runtime)
    }
}

/// The tool that `choice` requires and the agent lacks.
fn missing_tool(choice: &ToolChoice, tools: &ToolRegistry) -> Option<String> {
    match choice {
        ToolChoice::Required => (tools.specs().len() == 0).then(|| "any tool".to_owned()),
        ToolChoice::Tool(name) => tools.effect(name).is_none().then(|| format!("`{name}`")),
        _ => None,
    }
}

/// True for a name that a model can write on a line of its own and that is not the end's.
fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=LONGEST_NAME).contains(&length)
        && name.trim() == name
        && name != hanok_graph::END
        && !name.chars().any(char::is_control)
}
