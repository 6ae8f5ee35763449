//! Supervisors of teams that are graphs of one node, and models that plan what the test says.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_agent::Language;
use hanok_core::{BoxError, Call, Spent};
use hanok_graph::{
    App, Context, END, Graph, InMemoryCheckpointer, Input, Mode, START, Snapshot, Tenant, Thread,
    ThreadKey,
};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_state::{Message, State};
use hanok_supervisor::{Member, MemberInput, MemberOutput};
use hanok_team::{Team, TeamEvent, TeamState, TeamSupervisor, TeamSupervisorBuilder};
use serde_json::{Value, json};

/// A model that answers by what it is asked for: the intent, a plan, a plan anew, or the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Planner {
    intent: Option<Value>,
    plans: Vec<Value>,
    replans: Vec<Value>,
    requests: Arc<Mutex<Vec<String>>>,
    hangs: bool,
    limit: Option<u32>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Planner {
    /// One that plans `steps`: `(id, team, needs)`.
    pub(crate) fn of(steps: &[(&str, &str, &[&str])]) -> Self {
        Self::default().plan(steps)
    }

    pub(crate) fn plan(mut self, steps: &[(&str, &str, &[&str])]) -> Self {
        self.plans.push(plan(steps));
        self
    }

    pub(crate) fn replan(mut self, steps: &[(&str, &str, &[&str])]) -> Self {
        self.replans.push(plan(steps));
        self
    }

    pub(crate) fn intent(self, intent: Value) -> Self {
        Self { intent: Some(intent), ..self }
    }

    /// One that never answers, and heeds no stop.
    pub(crate) fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }

    /// One whose replies have to be limited to `limit` tokens.
    pub(crate) fn limited(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The requests that it was sent, in order, as text.
    pub(crate) fn request_texts(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// What it was asked for, in order.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn nth(&self, what: &str) -> usize {
        let mut requests = self.requests.lock().unwrap();
        requests.push(what.to_owned());
        requests.iter().filter(|it| *it == what).count() - 1
    }
}

pub(crate) fn plan(steps: &[(&str, &str, &[&str])]) -> Value {
    let steps: Vec<_> = steps
        .iter()
        .map(|(id, team, needs)| {
            json!({"id": id, "team": team, "task": format!("do {id}"), "description": "", "needs": needs})
        })
        .collect();
    json!({"steps": steps, "reason": "it takes them", "confidence": 0.8})
}

impl ChatModel for Planner {
    fn name(&self) -> &str {
        "planner"
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        call.spend().add(Spent { model_calls: 1, ..Spent::default() });
        // A small model that repeats itself would write for ever.
        assert_eq!(request.max_tokens, Some(self.limit.unwrap_or(2_000)));
        let all: String = request.messages.iter().map(|it| it.text().into_owned() + "\n").collect();
        self.seen.lock().unwrap().push(all.clone());
        let text = if all.contains("Tell what the user's last question wants") {
            self.nth("intent");
            let default = json!({"intent": "help", "confidence": 0.9, "in_scope": true, "parts": [], "reason": "it asks"});
            self.intent.clone().unwrap_or(default).to_string()
        } else if all.contains("Some of it was not done") {
            let n = self.nth("replan");
            self.replans.get(n).map_or_else(|| plan(&[]).to_string(), Value::to_string)
        } else if all.contains("Plan which teams have to do what") {
            let n = self.nth("plan");
            self.plans.get(n).or(self.plans.last()).map_or_else(String::new, Value::to_string)
        } else {
            self.nth("answer");
            let data = all.split("Results of the teams:").nth(1).unwrap_or_default();
            let lines = data.lines().filter(|line| !line.contains("data-") && !line.is_empty());
            lines.collect::<Vec<_>>().join(" | ")
        };
        Ok(ChatReply::new(Message::assistant(text), "planner"))
    }
}

/// The state of a team that is a graph of one node.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) task: String,
    pub(crate) results: Vec<String>,
    pub(crate) text: Option<String>,
}

/// A team whose one node does `work` with its task.
pub(crate) fn team<F>(
    name: &'static str,
    work: impl Fn(String, Context) -> F + Clone + Send + Sync + 'static,
) -> Member
where
    F: Future<Output = Result<String, BoxError>> + Send + 'static,
{
    let node = move |state: Snapshot<Work>, cx: Context| {
        let work = work.clone();
        async move {
            let text = work(state.task.clone(), cx).await?;
            let text = match state.results.is_empty() {
                true => text,
                false => format!("{text} after {}", state.results.join(" and ")),
            };
            Ok::<_, BoxError>(Work::update().text(Some(text)))
        }
    };
    let graph = Graph::<Work>::builder(name).node("work", node);
    let graph = graph.edge(START, "work").edge("work", END).build().unwrap();
    let input = |input: MemberInput| {
        let results = input.results.keys().cloned().collect();
        Work::update().task(input.text()).results(results)
    };
    let output = move |work: Work| {
        let data = json!({"of": name});
        MemberOutput::from(work.text).data(name, data).source(format!("the files of {name}"))
    };
    Member::graph(name, format!("Does the {name}"), graph, input, output)
}

/// A graph that does nothing.
pub(crate) fn done(name: &str) -> Graph<Work> {
    async fn nothing(_: Snapshot<Work>, _: Context) -> Result<WorkUpdate, BoxError> {
        Ok(Work::update())
    }
    let graph = Graph::<Work>::builder(name).node("work", nothing);
    graph.edge(START, "work").edge("work", END).build().unwrap()
}

/// A team that takes `seconds` and then has a result.
pub(crate) fn taking(name: &'static str, seconds: u64) -> Member {
    team(name, move |task, cx| async move {
        cx.runtime().clock.sleep(Duration::from_secs(seconds)).await;
        Ok(format!("{name} did {task:?}"))
    })
}

/// A supervisor of `teams`, and its conversation.
pub(crate) struct House {
    pub(crate) supervisor: TeamSupervisor,
    pub(crate) app: App<TeamState>,
    pub(crate) planner: Planner,
}

impl House {
    pub(crate) fn new(planner: Planner, teams: impl IntoIterator<Item = Team>) -> Self {
        Self::with(planner, teams, |builder| builder)
    }

    pub(crate) fn with(
        planner: Planner,
        teams: impl IntoIterator<Item = Team>,
        build: impl FnOnce(TeamSupervisorBuilder) -> TeamSupervisorBuilder,
    ) -> Self {
        let builder = TeamSupervisor::builder(planner.clone()).language(Language::English);
        let builder = teams.into_iter().fold(builder, TeamSupervisorBuilder::team);
        let supervisor = build(builder).build().unwrap();
        let app = supervisor.graph().checkpointer(InMemoryCheckpointer::new());
        Self { supervisor, app, planner }
    }

    pub(crate) fn thread(&self) -> Thread<TeamState> {
        self.app.thread(ThreadKey::new(Tenant::default(), "t").unwrap())
    }

    /// One turn, to its end.
    pub(crate) async fn ask(&self, text: &str) -> TeamState {
        self.thread().invoke(self.supervisor.ask(text), ()).await.unwrap().done().unwrap()
    }

    /// One turn, to its end, with its progress.
    pub(crate) async fn watch(&self, text: &str) -> (Vec<TeamEvent>, TeamState) {
        use futures::StreamExt;
        let thread = self.thread().modes([Mode::Custom, Mode::Tools]);
        let mut stream = thread.stream(Input::New(self.supervisor.ask(text)), ());
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.extend(TeamEvent::of(&event));
        }
        (events, thread.state(None).await.unwrap().unwrap())
    }
}

/// The ends of the steps of a turn, in words.
pub(crate) fn ends(state: &TeamState) -> Vec<String> {
    let end = |(id, result): (&String, &hanok_team::TeamResult)| {
        let what = result.text.as_deref().or(result.error.as_deref()).unwrap_or_default();
        format!("{id} {:?}: {what}", result.status)
    };
    state.team_results.iter().map(end).collect()
}
