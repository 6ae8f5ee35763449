//! Building a supervisor.

use std::collections::BTreeSet;

use hanok_agent::{Language, ReactAgent};
use hanok_graph::Runtime;
use hanok_model::SharedModel;
use hanok_parse::{Declared, Parser};

use crate::{
    Supervisor, SupervisorBuildError, SupervisorFault, Undecided, prompt, supervisor::Inner,
};

/// How often the model is asked for a route in a turn if nothing else is said.
const MAX_ITERATIONS: u32 = 5;

/// Builds a [`Supervisor`].
#[derive(Debug)]
#[must_use]
pub struct SupervisorBuilder {
    name: String,
    model: SharedModel,
    prompt: String,
    agents: Vec<ReactAgent>,
    max_iterations: u32,
    language: Language,
    undecided: Undecided,
    temperature: Option<f64>,
    runtime: Runtime,
}

impl SupervisorBuilder {
    pub(crate) fn new(model: SharedModel) -> Self {
        Self {
            name: "supervisor".to_owned(),
            model,
            prompt: String::new(),
            agents: Vec::new(),
            max_iterations: MAX_ITERATIONS,
            language: Language::default(),
            undecided: Undecided::default(),
            temperature: None,
            runtime: Runtime::default(),
        }
    }

    /// The name of its graph, for drawings and errors. Default: `supervisor`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Who the supervisor is: the beginning of the system prompt. Default: a sentence that says it supervises.
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..self }
    }

    /// Adds an agent. The model reads its name and description.
    pub fn agent(mut self, agent: ReactAgent) -> Self {
        self.agents.push(agent);
        self
    }

    /// Adds agents, in this order.
    pub fn agents(mut self, agents: impl IntoIterator<Item = ReactAgent>) -> Self {
        self.agents.extend(agents);
        self
    }

    /// How often the model is asked for a route in a turn, asking again included. Default: 5.
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        Self { max_iterations, ..self }
    }

    /// The language of what the supervisor says to its model, and of its own notes to the user. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// What becomes of a reply that is neither a delegation nor an answer. Default: it is the answer.
    pub fn undecided(self, undecided: Undecided) -> Self {
        Self { undecided, ..self }
    }

    /// How freely the model chooses its words, from 0. Default: what its server takes.
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Where time, ids and randomness come from, for its agents too. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The supervisor, checked.
    ///
    /// # Errors
    ///
    /// [`SupervisorBuildError`] with every fault there is.
    pub fn build(self) -> Result<Supervisor, SupervisorBuildError> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(SupervisorBuildError { faults });
        }
        let declared =
            self.agents.iter().fold(Declared::new(), |all, agent| all.agent(agent.name()));
        let inner = Inner {
            system: prompt::system(&self.prompt, self.agents.iter(), self.language),
            parser: Parser::new(declared),
            model: self.model,
            agents: self.agents,
            max_iterations: self.max_iterations,
            language: self.language,
            undecided: self.undecided,
            temperature: self.temperature,
        };
        Supervisor::new(&self.name, inner, self.runtime)
    }

    fn faults(&self) -> Vec<SupervisorFault> {
        let (mut names, mut faults) = (BTreeSet::new(), Vec::new());
        if self.agents.is_empty() {
            faults.push(SupervisorFault::NoAgents);
        }
        if self.max_iterations == 0 {
            faults.push(SupervisorFault::NoIterations);
        }
        let twice = self.agents.iter().map(ReactAgent::name).filter(|name| !names.insert(*name));
        faults.extend(twice.map(|name| SupervisorFault::TwiceNamed { agent: name.to_owned() }));
        faults
    }
}
