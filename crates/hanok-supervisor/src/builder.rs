//! Building a supervisor.

use std::{collections::BTreeSet, fmt};

use hanok_agent::{
    ContentCapture, HandoffHistory, HandoffTool, Language, Protocol, Summariser, memory::Compactor,
};
use hanok_graph::Runtime;
use hanok_model::{ChatModel, SharedModel};
use hanok_parse::{Declared, Format, Parser};

use crate::{
    error::{SupervisorBuildError, SupervisorFault},
    member::Member,
    native, prompt,
    settings::{OutputMode, SupervisorSettings, Unasked, Undecided},
    supervisor::Supervisor,
};

/// The default number of routing calls in a turn.
const MAX_ITERATIONS: u32 = 5;

/// The default number of delegations in a turn.
const MAX_HOPS: u32 = 8;

/// Builds a [`Supervisor`].
#[must_use]
pub struct SupervisorBuilder<C: Send + Sync + 'static = ()> {
    name: String,
    /// The settings so far. The system prompt, the parser and the summariser are made of the others at the end.
    settings: SupervisorSettings<C>,
    prompt: String,
    protocol: Option<Protocol>,
    runtime: Runtime,
}

impl<C: Send + Sync + 'static> fmt::Debug for SupervisorBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorBuilder")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Supervisor {
    /// Begins a supervisor whose `model` chooses among its agents.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::Supervisor;
    ///
    /// let (large, small) = (ScriptedModel::new([]), ScriptedModel::new([]));
    /// let rules = ReactAgent::builder("rules", "Knows the company's rules", small).build()?;
    /// let supervisor = Supervisor::builder(large).agent(rules).build()?;
    /// assert_eq!(supervisor.agents().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
            delegate: None,
            system: String::new(),
            description: String::new(),
            max_iterations: MAX_ITERATIONS,
            language: Language::default(),
            undecided: Undecided::default(),
            unasked: Unasked::default(),
            history: HandoffHistory::User,
            summariser: None,
            output: OutputMode::default(),
            keeps_routing: true,
            memory: None,
            forwarded: BTreeSet::new(),
            parallel: false,
            keyed_labels: false,
            max_hops: MAX_HOPS,
            temperature: None,
            max_tokens: None,
            capture: ContentCapture::default(),
        };
        let name = "supervisor".to_owned();
        let (prompt, protocol, runtime) = (String::new(), None, Runtime::default());
        Self { name, settings, prompt, protocol, runtime }
    }

    /// Gives the team services: what a run is given, such as its user. All agents that are added after this see them; those
    /// before need none. Default: none. [`Member::with_services`] gives one agent others.
    pub fn services<C: Send + Sync + 'static>(self) -> SupervisorBuilder<C> {
        let Self { name, settings, prompt, protocol, runtime } = self;
        let agents = settings.agents.into_iter();
        let settings = SupervisorSettings {
            agents: agents.map(|agent| agent.with_services(|_: &C| ())).collect(),
            model: settings.model,
            parser: settings.parser,
            delegate: settings.delegate,
            system: settings.system,
            description: settings.description,
            max_iterations: settings.max_iterations,
            language: settings.language,
            undecided: settings.undecided,
            unasked: settings.unasked,
            history: settings.history,
            summariser: settings.summariser,
            output: settings.output,
            keeps_routing: settings.keeps_routing,
            memory: settings.memory,
            forwarded: settings.forwarded,
            parallel: settings.parallel,
            keyed_labels: settings.keyed_labels,
            max_hops: settings.max_hops,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            capture: settings.capture,
        };
        SupervisorBuilder { name, settings, prompt, protocol, runtime }
    }
}

impl<C: Send + Sync + 'static> SupervisorBuilder<C> {
    /// Sets the name: of the graph, for drawings and errors, and as a member of another team. Default: `supervisor`.
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Supervisor;
    /// # let model = ScriptedModel::new([]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).name("help_desk").agent(rules).build()?;
    /// assert_eq!(supervisor.graph().name(), "help_desk");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the purpose of the team, in words for the model of a supervisor above it. Default: none, and a supervisor
    /// refuses a team without one.
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// use hanok_supervisor::{Supervisor, SupervisorFault};
    ///
    /// # let model = ScriptedModel::new([]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let team = Supervisor::builder(model.clone()).name("research").agent(rules);
    /// let top = |team| Supervisor::builder(model.clone()).agent(team).build();
    /// let error = top(team.build()?).unwrap_err();
    /// assert!(matches!(&error.faults[..], [SupervisorFault::NoDescription { agent }] if agent == "research"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.settings.description = description.into();
        self
    }

    /// Sets the role of the supervisor: the beginning of the system prompt. Default: a sentence that says that it supervises.
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Supervisor;
    /// # let model = ScriptedModel::new([]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model)
    ///     .prompt("You lead the help desk of a bank.")
    ///     .agent(rules)
    ///     .build()?;
    /// assert!(supervisor.system_prompt().starts_with("You lead the help desk"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..self }
    }

    /// Adds an agent, or a team as one ([`Member`]). The model reads its name and description.
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Supervisor;
    /// # let model = ScriptedModel::new([]);
    /// let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let rates = ReactAgent::builder("rates", "Knows today's rates", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).agent(rates).build()?;
    /// assert!(supervisor.system_prompt().contains("Knows today's rates"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn agent(mut self, agent: impl Into<Member<C>>) -> Self {
        self.settings.agents.push(agent.into());
        self
    }

    /// Adds agents, in this order.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::{Supervisor, SupervisorFault};
    ///
    /// let model = ScriptedModel::new([]);
    /// let rules = || ReactAgent::builder("rules", "Knows the rules", model.clone()).build();
    /// let twice = Supervisor::builder(model.clone()).agents([rules()?, rules()?]).build().unwrap_err();
    /// assert!(matches!(&twice.faults[..], [SupervisorFault::TwiceNamed { agent }] if agent == "rules"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn agents(mut self, agents: impl IntoIterator<Item: Into<Member<C>>>) -> Self {
        self.settings.agents.extend(agents.into_iter().map(Into::into));
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
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::{Supervisor, Undecided};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Let me think."),
    ///     Exchange::says("Final Answer: 15 days").contains("It is not clear what to do next"),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).undecided(Undecided::AskAgain).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!((state.answer.as_deref(), state.iteration), (Some("15 days"), 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn undecided(mut self, undecided: Undecided) -> Self {
        self.settings.undecided = undecided;
        self
    }

    /// Sets the handling of an answer for which no agent was asked. Default: it is taken.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::{Supervisor, Unasked};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Final Answer: 7 days"),
    ///     Exchange::says("Final Answer: 7 days").contains("No agent was asked"),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).unasked(Unasked::AskAgain).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("7 days\n\n(No agent was asked for this answer.)"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn unasked(mut self, unasked: Unasked) -> Self {
        self.settings.unasked = unasked;
        self
    }

    /// Sets the part of the conversation that an agent sees besides its task. Default: the user's messages.
    ///
    /// With [`HandoffHistory::Full`] an agent sees what the supervisor's own model reads, with the results of agents as data.
    ///
    /// ```
    /// use hanok_agent::{HandoffHistory, ReactAgent};
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: count\nTask: 3 + 4"),
    ///     // The agent reads its task and nothing of the conversation.
    ///     Exchange::says("Final Answer: 7").contains("3 + 4").lacks("sum"),
    ///     Exchange::says("Final Answer: It is 7."),
    /// ]);
    /// # let count = ReactAgent::builder("count", "Counts", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(count).history(HandoffHistory::None).build()?;
    /// supervisor.graph().invoke(supervisor.ask("What is the sum?"), ()).await?.done()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn history(mut self, history: HandoffHistory) -> Self {
        self.settings.history = history;
        self
    }

    /// Sets the maker of summaries, for [`HandoffHistory::Summary`]. Default: the supervisor's model.
    ///
    /// ```
    /// use hanok_agent::{HandoffHistory, Language, ReactAgent, Summariser};
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::Supervisor;
    ///
    /// # let (large, small) = (ScriptedModel::new([]), ScriptedModel::new([]));
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", large.clone()).build()?;
    /// // A small model writes the summaries that agents are given.
    /// let supervisor = Supervisor::builder(large)
    ///     .agent(rules)
    ///     .history(HandoffHistory::Summary)
    ///     .summariser(Summariser::model(small, Language::English))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summariser(mut self, summariser: Summariser) -> Self {
        self.settings.summariser = Some(summariser);
        self
    }

    /// Sets the part of an agent's work that comes back into the conversation. Default: its answer.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::{OutputMode, Supervisor};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: rules\nTask: leave"),
    ///     Exchange::says("Action: look\nAction Input: {}"),
    ///     Exchange::says("Final Answer: 15 days"),
    ///     // The model reads the calls of the agent, too.
    ///     Exchange::says("Final Answer: You have 15 days.").contains("look({})"),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).output(OutputMode::Full).build()?;
    /// supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn output(mut self, output: OutputMode) -> Self {
        self.settings.output = output;
        self
    }

    /// Keeps the replies that delegate in the conversation, or leaves them out. Default: they stay.
    ///
    /// The model reads them in neither case: it reads the results.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: rules\nTask: leave"),
    ///     Exchange::says("Final Answer: 15 days"),
    ///     Exchange::says("Final Answer: You have 15 days."),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).keep_routing(false).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// assert!(state.messages.iter().all(|message| !message.text().contains("Delegate:")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_routing(mut self, keep: bool) -> Self {
        self.settings.keeps_routing = keep;
        self
    }

    /// Keeps the conversation small before each call of the routing model, with the results that its agents gave in earlier turns,
    /// and once more where a server says that a prompt does not fit. The compactor's system prompt is the supervisor's. Default:
    /// everything is sent.
    ///
    /// ```
    /// use hanok_agent::{ReactAgent, memory::{Compaction, Compactor}};
    /// use hanok_model::ScriptedModel;
    /// use hanok_supervisor::Supervisor;
    ///
    /// # let model = ScriptedModel::new([]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let memory = Compactor::new(Compaction::new(), model.clone())?;
    /// let supervisor = Supervisor::builder(model).agent(rules).memory(memory).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory(mut self, compactor: Compactor) -> Self {
        self.settings.memory = Some(compactor);
        self
    }

    /// Forwards the answers of these agents: an answer of one of them, that nobody else was delegated to beside, is the turn's, word
    /// for word and without another call of the model. An agent without an answer comes back to the model. Default: none.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: rules\nTask: leave"),
    ///     Exchange::says("Final Answer: 15 days, by article 60."),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).forward(["rules"]).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("15 days, by article 60."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.forwarded.extend(agents.into_iter().map(Into::into));
        self
    }

    /// Runs the delegations of one reply in parallel, at most 16 at once; their results come in the order of the
    /// delegations. Default: the first is run, and a note names the others to the model.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: rules\nTask: a\nDelegate: dates\nTask: b"),
    ///     Exchange::says("Final Answer: both").contains("1. rules").contains("2. dates"),
    /// ]);
    /// let agent = |name: &str| {
    ///     let model = ScriptedModel::new([Exchange::says("Final Answer: done")]);
    ///     ReactAgent::builder(name, "Knows things", model).build()
    /// };
    /// let supervisor = Supervisor::builder(model).agents([agent("rules")?, agent("dates")?]).parallel().build()?;
    /// assert_eq!(supervisor.graph().invoke(supervisor.ask("?"), ()).await?.done()?.iteration, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn parallel(mut self) -> Self {
        self.settings.parallel = true;
        self
    }

    /// Limits the delegations of a turn, and the hand-offs within one delegation. Default: 8.
    ///
    /// A turn that reaches the limit ends with the best result ([`StopReason::HopLimit`](hanok_agent::StopReason)).
    ///
    /// ```
    /// use hanok_agent::{ReactAgent, StopReason};
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Delegate: rules\nTask: a"),
    ///     Exchange::says("Final Answer: found a"),
    ///     Exchange::says("Delegate: rules\nTask: b"),
    /// ]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).max_hops(1).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("a and b?"), ()).await?.done()?;
    /// assert_eq!(state.stopped, Some(StopReason::HopLimit));
    /// assert!(state.answer.is_some_and(|answer| answer.contains("found a")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_hops(mut self, max_hops: u32) -> Self {
        self.settings.max_hops = max_hops;
        self
    }

    /// Limits the tokens of each reply of the supervisor's model. Default: the server's own limit.
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.settings.max_tokens = Some(max_tokens);
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

    /// Sets how the model delegates: by labels in its text, or by a call of the one tool `delegate` that its server offers it, whose agent
    /// is one of those that there are. Default: by a call where all agents of the supervisor have calls of their servers, else by labels.
    ///
    /// By a call, a reply without one is the answer, whole, whatever words it begins with.
    ///
    /// ```
    /// use hanok_agent::{Protocol, ReactAgent};
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use hanok_supervisor::Supervisor;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::call("delegate", r#"{"agent": "rules", "task": "the annual leave"}"#),
    ///     Exchange::says("15 days"),
    ///     Exchange::says("You have 15 days."),
    /// ]);
    /// let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).protocol(Protocol::Native).build()?;
    /// let supervisor = Supervisor::builder(model).agent(rules).build()?;
    /// let state = supervisor.graph().invoke(supervisor.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("You have 15 days."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn protocol(self, protocol: Protocol) -> Self {
        Self { protocol: Some(protocol), ..self }
    }

    /// Has the labels of delegations carry a word that is drawn for each conversation (`Delegate[k7q2]:`). Only they are followed: what
    /// the model quotes of others cannot know the word. Default: plain labels.
    ///
    /// The end of the system prompt tells the word. A model that leaves it out is told so once; where it does so again the turn ends
    /// ([`StopReason::NoToolCall`](hanok_agent::StopReason)). The agents' own labels are theirs
    /// ([`keyed_labels`](hanok_agent::ReactAgentBuilder::keyed_labels)).
    ///
    /// ```
    /// # use hanok_agent::ReactAgent;
    /// # use hanok_model::ScriptedModel;
    /// # use hanok_supervisor::Supervisor;
    /// # let model = ScriptedModel::new([]);
    /// # let rules = ReactAgent::builder("rules", "Knows the rules", model.clone()).keyed_labels().build()?;
    /// let supervisor = Supervisor::builder(model).keyed_labels().agent(rules).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keyed_labels(mut self) -> Self {
        self.settings.keyed_labels = true;
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
    pub fn build(self) -> Result<Supervisor<C>, SupervisorBuildError> {
        let Self { name, mut settings, prompt, protocol, runtime } = self;
        let faults = faults(&settings);
        if !faults.is_empty() {
            return Err(SupervisorBuildError { faults });
        }
        let (agents, language) = (&settings.agents, settings.language);
        let names: Vec<_> = agents.iter().map(|agent| agent.name().to_owned()).collect();
        let told = agents.iter().map(|agent| (agent.name(), agent.description()));
        let protocol = protocol.unwrap_or_else(|| spoken_by(agents));
        settings.system = prompt::system(&prompt, told, settings.parallel, protocol, language);
        match protocol {
            Protocol::Native => {
                settings.parser = native::parser(&names);
                settings.delegate = native::delegate(&names, settings.parallel, language).ok();
                // There is no label to carry a word.
                settings.keyed_labels = false;
            }
            _ => {
                let declared =
                    names.iter().fold(Declared::new(), |all, name| all.agent(name.as_str()));
                settings.parser =
                    Parser::new(declared).asked([Format::Supervisor, Format::JsonAction]);
            }
        }
        if settings.summariser.is_none() {
            settings.summariser = Some(Summariser::model(settings.model.clone(), language));
        }
        Supervisor::new(&name, settings, runtime)
    }
}

/// The protocol of the agents: native where all that have a model of their own speak it.
fn spoken_by<C: Send + Sync + 'static>(agents: &[Member<C>]) -> Protocol {
    let mut spoken = agents.iter().filter_map(Member::protocol).peekable();
    match spoken.peek().is_some() && spoken.all(|protocol| protocol == Protocol::Native) {
        true => Protocol::Native,
        false => Protocol::Text,
    }
}

fn faults<C: Send + Sync + 'static>(settings: &SupervisorSettings<C>) -> Vec<SupervisorFault> {
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
    let twice = agents.iter().map(Member::name).filter(|name| !names.insert(*name));
    faults.extend(twice.map(|name| SupervisorFault::TwiceNamed { agent: name.to_owned() }));
    let unknown = settings.forwarded.iter().filter(|name| !names.contains(name.as_str()));
    faults.extend(unknown.map(|agent| SupervisorFault::Forwards {
        agent: agent.clone(),
        members: agents.iter().map(|agent| agent.name().to_owned()).collect(),
    }));
    for agent in agents {
        let name = || agent.name().to_owned();
        if !agent.is_named() {
            faults.push(SupervisorFault::Name { agent: name() });
        }
        if agent.lacks_description() {
            faults.push(SupervisorFault::NoDescription { agent: name() });
        }
        let targets = agent.handoffs().map(HandoffTool::target);
        faults.extend(targets.filter(|to| !names.contains(to)).map(|to| {
            let members = agents.iter().map(|agent| agent.name().to_owned()).collect();
            let agent = agent.name().to_owned();
            SupervisorFault::UnknownTarget { agent, to: to.to_owned(), members }
        }));
    }
    faults
}
