//! Building a supervisor.

use std::collections::BTreeSet;

use hanok_agent::{ContentCapture, HandoffHistory, HandoffTool, Language, ReactAgent, Summariser};
use hanok_graph::Runtime;
use hanok_model::{ChatModel, SharedModel};
use hanok_parse::{Declared, Parser};

use crate::{
    error::{SupervisorBuildError, SupervisorFault},
    prompt,
    settings::{OutputMode, SupervisorSettings, Undecided},
    supervisor::Supervisor,
};

/// How often the model is asked for a route in a turn if nothing else is said.
const MAX_ITERATIONS: u32 = 5;

/// How many delegations a turn has if nothing else is said.
const MAX_HOPS: u32 = 8;

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
    history: HandoffHistory,
    summariser: Option<Summariser>,
    output: OutputMode,
    keeps_routing: bool,
    parallel: bool,
    max_hops: u32,
    temperature: Option<f64>,
    capture: ContentCapture,
    runtime: Runtime,
}

impl Supervisor {
    /// Begins a supervisor whose `model` chooses among its agents.
    pub fn builder(model: impl ChatModel) -> SupervisorBuilder {
        SupervisorBuilder::new(SharedModel::new(model))
    }
}

impl SupervisorBuilder {
    fn new(model: SharedModel) -> Self {
        Self {
            name: "supervisor".to_owned(),
            model,
            prompt: String::new(),
            agents: Vec::new(),
            max_iterations: MAX_ITERATIONS,
            language: Language::default(),
            undecided: Undecided::default(),
            history: HandoffHistory::User,
            summariser: None,
            output: OutputMode::default(),
            keeps_routing: true,
            parallel: false,
            max_hops: MAX_HOPS,
            temperature: None,
            capture: ContentCapture::default(),
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

    /// What an agent is given of the conversation besides its task. Default: what the user said. B114
    ///
    /// All of it is what the supervisor's own model reads: what agents found is data in it.
    pub fn history(self, history: HandoffHistory) -> Self {
        Self { history, ..self }
    }

    /// Who makes summaries, where agents are given one. Default: the supervisor's model.
    pub fn summariser(self, summariser: Summariser) -> Self {
        Self { summariser: Some(summariser), ..self }
    }

    /// What of an agent's work comes back into the conversation. Default: its answer. B114
    pub fn output(self, output: OutputMode) -> Self {
        Self { output, ..self }
    }

    /// Whether the replies that delegate stay in the conversation. Default: they do. B114
    ///
    /// The model reads them in neither case: it is told what came of them.
    pub fn keep_routing(self, keep: bool) -> Self {
        Self { keeps_routing: keep, ..self }
    }

    /// Runs the delegations of one reply in parallel, at most 16 at once; their results come in the order of the
    /// delegations. Default: the first is run, and the model is told that the others were not. B114
    pub fn parallel(self) -> Self {
        Self { parallel: true, ..self }
    }

    /// How many delegations are run in a turn, and how often the agents of one hand over to one another. Default: 8. B114
    ///
    /// A turn that comes to it ends with the best that was found ([`StopReason::HopLimit`](hanok_agent::StopReason)).
    pub fn max_hops(self, max_hops: u32) -> Self {
        Self { max_hops, ..self }
    }

    /// How freely the model chooses its words, from 0. Default: what its server takes.
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Whether the spans of the supervisor's own model calls hold what is said; its agents say so for themselves. Default:
    /// they do not.
    pub fn capture(self, capture: ContentCapture) -> Self {
        Self { capture, ..self }
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
        let settings = SupervisorSettings {
            system: prompt::system(&self.prompt, self.agents.iter(), self.parallel, self.language),
            parser: Parser::new(declared),
            summariser: self
                .summariser
                .unwrap_or_else(|| Summariser::model(self.model.clone(), self.language)),
            model: self.model,
            agents: self.agents,
            max_iterations: self.max_iterations,
            language: self.language,
            undecided: self.undecided,
            history: self.history,
            output: self.output,
            keeps_routing: self.keeps_routing,
            parallel: self.parallel,
            max_hops: self.max_hops,
            temperature: self.temperature,
            capture: self.capture,
        };
        Supervisor::new(&self.name, settings, self.runtime)
    }

    fn faults(&self) -> Vec<SupervisorFault> {
        let (mut names, mut faults) = (BTreeSet::new(), Vec::new());
        if self.agents.is_empty() {
            faults.push(SupervisorFault::NoAgents);
        }
        if self.max_iterations == 0 {
            faults.push(SupervisorFault::NoIterations);
        }
        if self.max_hops == 0 {
            faults.push(SupervisorFault::NoHops);
        }
        let twice = self.agents.iter().map(ReactAgent::name).filter(|name| !names.insert(*name));
        faults.extend(twice.map(|name| SupervisorFault::TwiceNamed { agent: name.to_owned() }));
        let members = || self.agents.iter().map(|agent| agent.name().to_owned()).collect();
        let strange = self.agents.iter().flat_map(|agent| {
            let strange =
                agent.handoffs().map(HandoffTool::target).filter(|to| !names.contains(to));
            strange.map(|to| SupervisorFault::UnknownTarget {
                agent: agent.name().to_owned(),
                to: to.to_owned(),
                members: members(),
            })
        });
        faults.extend(strange);
        faults
    }
}
