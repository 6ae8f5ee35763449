//! What an agent decides anew in each run: its prompt, its model and its tools, by its state and services.

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use hanok_core::Effect;
use hanok_model::{SharedModel, SharedTool, Tool as _, ToolSpec};
use hanok_parse::{Format, Parser};

use crate::{
    catalogue::SEARCH_TOOLS, error::AgentError, has_agent::HasAgent, prompt, protocol::Protocol,
    runner::ToolRunner, settings::AgentSettings, state::AgentState,
};

/// A function of the state and the services.
type Of<S, C, T> = Arc<dyn Fn(&S, &C) -> T + Send + Sync>;

/// The functions that an agent has for this.
pub(crate) struct ByRun<S, C> {
    pub(crate) prompt: Option<Of<S, C, String>>,
    pub(crate) model: Option<Of<S, C, SharedModel>>,
    pub(crate) tools: Option<Of<S, C, Vec<SharedTool>>>,
}

/// What they say now, or else what the agent was built with.
pub(crate) struct Round<'a> {
    pub(crate) system: Cow<'a, str>,
    pub(crate) model: Cow<'a, SharedModel>,
    pub(crate) parser: Cow<'a, Parser>,
    /// The parser of plain labels, where labels carry a key.
    pub(crate) unkeyed: Option<Cow<'a, Parser>>,
    /// The tools that the model is shown.
    pub(crate) shown: Vec<ToolSpec>,
    /// Those of them that read only, where others may not be called by every text that is read.
    pub(crate) readers: Option<BTreeSet<String>>,
}

impl<S, C> Default for ByRun<S, C> {
    fn default() -> Self {
        Self { prompt: None, model: None, tools: None }
    }
}

impl<C: 'static> ByRun<AgentState, C> {
    /// The same for a state that holds that of the agent.
    pub(crate) fn of_state<S: HasAgent>(self) -> ByRun<S, C> {
        fn of<S: HasAgent, C: 'static, T: 'static>(by: Of<AgentState, C, T>) -> Of<S, C, T> {
            Arc::new(move |state, services| by(state.agent(), services))
        }
        let Self { prompt, model, tools } = self;
        ByRun { prompt: prompt.map(of), model: model.map(of), tools: tools.map(of) }
    }
}

impl<S: HasAgent> ByRun<S, ()> {
    /// The same beside services.
    pub(crate) fn with_services<C: 'static>(self) -> ByRun<S, C> {
        fn of<S: HasAgent, C: 'static, T: 'static>(by: Of<S, (), T>) -> Of<S, C, T> {
            Arc::new(move |state, _| by(state, &()))
        }
        let Self { prompt, model, tools } = self;
        ByRun { prompt: prompt.map(of), model: model.map(of), tools: tools.map(of) }
    }
}

impl<S: HasAgent, C> ByRun<S, C> {
    /// The part that makes the calls now.
    ///
    /// # Errors
    ///
    /// [`AgentError::Tools`] when a tool has the name of another.
    pub(crate) fn runner<'a>(
        &self,
        settings: &'a AgentSettings,
        state: &S,
        services: &C,
    ) -> Result<Cow<'a, ToolRunner>, AgentError> {
        let searches = settings.search_tool(state.agent());
        if self.tools.is_none() && searches.is_none() {
            return Ok(Cow::Borrowed(&settings.runner));
        }
        let more = self.tools.iter().flat_map(|tools| tools(state, services));
        let runner = settings.runner.clone();
        let is_allowed = |tool: &SharedTool| !runner.denied.contains(tool.spec().name());
        let more: Vec<_> = more.filter(is_allowed).chain(searches).collect();
        let registry = runner
            .tools
            .with(more)
            .map_err(|source| AgentError::Tools { agent: settings.name.clone(), source })?;
        Ok(Cow::Owned(runner.with_tools(registry)))
    }

    /// The prompt, the model and the tools now: those that are `offered` of a catalogue, and what [`tools`](Self::tools) adds, or
    /// else all. Of them the model is shown those that `only` names, if it does. Labels carry `key`, if there is one.
    ///
    /// # Errors
    ///
    /// As [`runner`](Self::runner).
    pub(crate) fn round<'a>(
        &self,
        settings: &'a AgentSettings,
        state: &S,
        services: &C,
        offered: Option<Vec<ToolSpec>>,
        only: Option<&[String]>,
        key: Option<&str>,
    ) -> Result<Round<'a>, AgentError> {
        let runner = self.runner(settings, state, services)?;
        let is_shown =
            |spec: &&ToolSpec| only.is_none_or(|only| only.iter().any(|name| name == spec.name()));
        let by_turn = offered.is_some();
        let shown: Vec<_> = match offered {
            Some(mut offered) => {
                let own = |spec: &&ToolSpec| settings.runner.tools.spec(spec.name()).is_none();
                let more = runner.tools.specs().filter(own).filter(|it| it.name() != SEARCH_TOOLS);
                offered.extend(more.cloned());
                offered.retain(|spec| is_shown(&spec));
                offered
            }
            None => runner.tools.specs().filter(is_shown).cloned().collect(),
        };
        let role = self.prompt.as_ref().map(|prompt| prompt(state, services));
        let same_tools = self.tools.is_none() && only.is_none() && !by_turn;
        let as_built = role.is_none() && same_tools;
        let system = match as_built {
            true => Cow::Borrowed(settings.system.as_str()),
            false => {
                let role = role.as_deref().unwrap_or(&settings.role);
                Cow::Owned(settings.system_of(role, &shown))
            }
        };
        let parser = match same_tools {
            true => Cow::Borrowed(&settings.parser),
            false => Cow::Owned(settings.parser_of(&shown)),
        };
        let (system, parser, unkeyed) = match key {
            None => (system, parser, None),
            Some(key) => {
                let system = system.into_owned() + &prompt::key(key, settings.language);
                // What carries no key, and every other form, is text.
                let keyed = Parser::clone(&parser).format(Format::React).keyed(key);
                (Cow::Owned(system), Cow::Owned(keyed), Some(parser))
            }
        };
        let model = match &self.model {
            Some(model) => Cow::Owned(model(state, services)),
            None => Cow::Borrowed(&settings.model),
        };
        let is_reader = |spec: &&ToolSpec| runner.tools.effect(spec.name()) == Some(Effect::Pure);
        let is_by_text = settings.text_calls.is_some() && settings.protocol == Protocol::Native;
        let readers = (is_by_text || unkeyed.is_some())
            .then(|| shown.iter().filter(is_reader).map(|spec| spec.name().to_owned()).collect());
        Ok(Round { system, model, parser, unkeyed, shown, readers })
    }
}

impl<S, C> fmt::Debug for ByRun<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByRun")
            .field("prompt", &self.prompt.is_some())
            .field("model", &self.model.is_some())
            .field("tools", &self.tools.is_some())
            .finish()
    }
}

impl AgentSettings {
    /// The system prompt of an agent with this role, that is shown these tools.
    pub(crate) fn system_of(&self, role: &str, shown: &[ToolSpec]) -> String {
        let system = prompt::system(role, shown.iter(), self.protocol, self.language);
        match &self.answer {
            Some(answer) => answer.instructed(system, self.protocol),
            None => system,
        }
    }
}
