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

/// The default number of routing calls in a turn.
const MAX_ITERATIONS: u32 = 5;

/// The default number of delegations in a turn.
const MAX_HOPS: u32 = 8;

/// Builds a [`Supervisor`].
#[derive(Debug)]
#[must_use]
pub struct SupervisorBuilder {
    name: String,
    /// The settings so far. The system prompt, the parser and the summariser are made of the others at the end.
    settings: SupervisorSettings,
    prompt: String,
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
        let settings = SupervisorSettings {
            model,
            agents: Vec::new(),
            parser: Parser::default(),
            system: String::new(),
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
        };
        let name = "supervisor".to_owned();
        Self { name, settings, prompt: String::new(), runtime: Runtime::default() }
    }

    /// Sets the name of the graph, for drawings and errors. Default: `supervisor`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the role of the supervisor: the beginning of the system prompt. Default: a sentence that says that it supervises.
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..self }
    }

    /// Adds an agent. The model reads its name and description.
    pub fn agent(mut self, agent: ReactAgent) -> Self {
        self.settings.agents.push(agent);
        self
    }

    /// Adds agents, in this order.
    pub fn agents(mut self, agents: impl IntoIterator<Item = ReactAgent>) -> Self {
        self.settings.agents.extend(agents);
        self
    }

    /// Limits the routing calls of a turn, corrections included. Default: 5.
    pub fn max_iterations(mut self, max_iterations: u32) -> Self {
        self.settings.max_iterations = max_iterations;
        self
    }

    /// Sets the language in which the supervisor speaks to its model and to the user. Default: English.
    pub fn language(mut self, language: Language) -> Self {
        self.settings.language = language;
        self
    }

    /// Sets the handling of a reply that is neither a delegation nor an answer. Default: it is the answer.
    pub fn undecided(mut self, undecided: Undecided) -> Self {
        self.settings.undecided = undecided;
        self
    }

    /// Sets the part of the conversation that an agent sees besides its task. Default: the user's messages.
    ///
    /// With [`HandoffHistory::Full`] an agent sees what the supervisor's own model reads, with the results of agents as data.
    pub fn history(mut self, history: HandoffHistory) -> Self {
        self.settings.history = history;
        self
    }

    /// Sets the maker of summaries, for [`HandoffHistory::Summary`]. Default: the supervisor's model.
    pub fn summariser(mut self, summariser: Summariser) -> Self {
        self.settings.summariser = Some(summariser);
        self
    }

    /// Sets the part of an agent's work that comes back into the conversation. Default: its answer.
    pub fn output(mut self, output: OutputMode) -> Self {
        self.settings.output = output;
        self
    }

    /// Keeps the replies that delegate in the conversation, or leaves them out. Default: they stay.
    ///
    /// The model reads them in neither case: it is told what came of them.
    pub fn keep_routing(mut self, keep: bool) -> Self {
        self.settings.keeps_routing = keep;
        self
    }

    /// Runs the delegations of one reply in parallel, at most 16 at once; their results come in the order of the
    /// delegations. Default: the first is run, and the model is told that the others were not.
    pub fn parallel(mut self) -> Self {
        self.settings.parallel = true;
        self
    }

    /// Limits the delegations of a turn, and the hand-offs within one delegation. Default: 8.
    ///
    /// A turn that comes to it ends with the best that was found ([`StopReason::HopLimit`](hanok_agent::StopReason)).
    pub fn max_hops(mut self, max_hops: u32) -> Self {
        self.settings.max_hops = max_hops;
        self
    }

    /// Sets the sampling temperature, from 0. Default: the server's.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Records the texts of the supervisor's own model calls in their spans; its agents have settings of their own. Default:
    /// they are not recorded.
    pub fn capture(mut self, capture: ContentCapture) -> Self {
        self.settings.capture = capture;
        self
    }

    /// Sets the clock, the ids and the randomness, for the agents too. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The supervisor, checked.
    ///
    /// # Errors
    ///
    /// [`SupervisorBuildError`] with every fault there is.
    pub fn build(self) -> Result<Supervisor, SupervisorBuildError> {
        let Self { name, mut settings, prompt, runtime } = self;
        let faults = faults(&settings);
        if !faults.is_empty() {
            return Err(SupervisorBuildError { faults });
        }
        let (agents, language) = (&settings.agents, settings.language);
        let declared = agents.iter().fold(Declared::new(), |all, agent| all.agent(agent.name()));
        settings.system = prompt::system(&prompt, agents.iter(), settings.parallel, language);
        settings.parser = Parser::new(declared);
        if settings.summariser.is_none() {
            settings.summariser = Some(Summariser::model(settings.model.clone(), language));
        }
        Supervisor::new(&name, settings, runtime)
    }
}

fn faults(settings: &SupervisorSettings) -> Vec<SupervisorFault> {
    let agents = &settings.agents;
    let (mut names, mut faults) = (BTreeSet::new(), Vec::new());
    if agents.is_empty() {
        faults.push(SupervisorFault::NoAgents);
    }
    if settings.max_iterations == 0 {
        faults.push(SupervisorFault::NoIterations);
    }
    if settings.max_hops == 0 {
        faults.push(SupervisorFault::NoHops);
    }
    let twice = agents.iter().map(ReactAgent::name).filter(|name| !names.insert(*name));
    faults.extend(twice.map(|name| SupervisorFault::TwiceNamed { agent: name.to_owned() }));
    for agent in agents {
        let targets = agent.handoffs().map(HandoffTool::target);
        faults.extend(targets.filter(|to| !names.contains(to)).map(|to| {
            let members = agents.iter().map(|agent| agent.name().to_owned()).collect();
            let agent = agent.name().to_owned();
            SupervisorFault::UnknownTarget { agent, to: to.to_owned(), members }
        }));
    }
    faults
}
