//! The run of a plan: each team begins when the last of what it needs has ended.

use std::{collections::BTreeMap, panic::AssertUnwindSafe};

use futures::{
    FutureExt, StreamExt,
    future::{Either, select},
    stream::FuturesUnordered,
};
use hanok_agent::{ChoiceEntry, DataMark};
use hanok_core::{Chain, Timestamp};
use hanok_graph::{Context, RunError, StepError, SubgraphError};
use hanok_state::{Json, Message};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    definition::Team,
    error::TeamError,
    event::TeamEvent,
    nodes::load_memory::KIND,
    plan::PlanStep,
    prompt,
    settings::TeamSettings,
    state::TeamState,
    step::{ExecutionStep, StepStatus, TeamResult},
    steps::listed,
};
use hanok_supervisor::{AgentFailure, MemberInput, MemberRun};

/// The results that a team is given, as a message.
const RESULTS: &str = "given";

/// The name of the memoised step in which the step `id` begins.
pub(crate) fn begin_step(id: &str) -> String {
    format!("begin-{id}")
}

/// The name of the memoised step in which the step `id` ends.
pub(crate) fn end_step(id: &str) -> String {
    format!("end-{id}")
}

/// The name of the memoised step in which a limit of the turn was reached.
const LIMIT_STEP: &str = "limit";

/// The end of a step, as it is memoised.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StepEnd {
    pub(crate) result: TeamResult,
    pub(crate) choices: Vec<ChoiceEntry>,
    /// The limit of the turn that ended it, in words.
    limit: Option<String>,
}

/// The cause for which a team has no result.
struct Failure {
    cause: String,
    limit: Option<String>,
}

impl From<String> for Failure {
    fn from(cause: String) -> Self {
        Self { cause, limit: None }
    }
}

/// The run of the steps that have no end yet.
pub(crate) struct Execution<'a, C: Send + Sync + 'static> {
    settings: &'a TeamSettings<C>,
    context: &'a Context<C>,
    state: &'a TeamState,
    steps: &'a [PlanStep],
    /// The time at which steps of this run began.
    started: BTreeMap<String, Timestamp>,
    /// The limit of the turn that was reached, in words: no team begins any more.
    pub(crate) limit: Option<String>,
    /// The ends of this run.
    pub(crate) ended: BTreeMap<String, TeamResult>,
    /// The choices that the teams of this run made.
    pub(crate) choices: Vec<ChoiceEntry>,
}

/// The reason for which a step has no end: the whole node has none.
#[derive(Debug, Error)]
#[error("{0}")]
enum Halt {
    /// Its team waits for a person. The others go on.
    Waiting(#[source] TeamError),
    /// Nothing can go on.
    Run(#[source] TeamError),
}

impl<'a, C: Send + Sync + 'static> Execution<'a, C> {
    /// The steps of the plan in `state`.
    pub(crate) fn new(
        settings: &'a TeamSettings<C>,
        context: &'a Context<C>,
        state: &'a TeamState,
    ) -> Self {
        let steps = state.plan.as_ref().map_or(&[][..], |plan| &plan.steps);
        let (started, ended, choices) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let limit = state.limit.clone();
        Self { settings, context, state, steps, started, limit, ended, choices }
    }

    /// Runs all steps to their ends. A team that asks a person suspends the run when all others have ended.
    pub(crate) async fn run(&mut self) -> Result<(), TeamError> {
        let (mut running, mut waiting) = (FuturesUnordered::new(), None);
        self.restore()?;
        self.show();
        loop {
            self.note_limit().await?;
            self.skip()?;
            let mut due: Vec<_> =
                self.steps.iter().filter(|step| self.is_due(step, true)).collect();
            if due.is_empty() && running.is_empty() {
                // Only what would be taken if it were there is in the way.
                due.extend(self.steps.iter().find(|step| self.is_due(step, false)));
            }
            for step in due {
                let started = self.begin(step).await?;
                running.push(self.work(step, started));
            }
            let Some((step, end)) = running.next().await else { break };
            match end {
                Ok(end) => self.end(step, end),
                Err(Halt::Waiting(error)) => waiting = Some(error),
                Err(Halt::Run(error)) => return Err(error),
            }
        }
        waiting.map_or(Ok(()), Err)
    }

    /// Takes the ends that an earlier run of the task has stored.
    fn restore(&mut self) -> Result<(), TeamError> {
        for step in self.steps {
            let end = self.context.memoised::<StepEnd>(&end_step(&step.id));
            if let Some(StepEnd { result, choices, limit }) = end.map_err(TeamError::Step)? {
                self.limit = self.limit.take().or(limit);
                self.choices.extend(choices);
                self.ended.insert(step.id.clone(), result);
            }
        }
        Ok(())
    }

    /// Notes a limit that the turn has reached since, once and for all of the task's runs.
    async fn note_limit(&mut self) -> Result<(), TeamError> {
        if self.limit.is_none() {
            self.limit = self.context.memoised(LIMIT_STEP).map_err(TeamError::Step)?;
        }
        let Some(limit) = self.context.limit().filter(|_| self.limit.is_none()) else {
            return Ok(());
        };
        let limit = prompt::limit(limit, self.settings.language);
        let limit = self.context.step(LIMIT_STEP, || async { Ok::<_, TeamError>(limit) }).await;
        self.limit = Some(limit.map_err(TeamError::Step)?);
        Ok(())
    }

    /// True for a step that a limit of the turn does not let begin. One that an earlier run of the task began goes on.
    fn is_past_limit(&self, step: &PlanStep) -> Result<bool, TeamError> {
        if self.limit.is_none() {
            return Ok(false);
        }
        let begun = self.context.memoised::<Timestamp>(&begin_step(&step.id));
        Ok(begun.map_err(TeamError::Step)?.is_none())
    }

    /// The end of a step, of this run or of an earlier one.
    fn ended(&self, id: &str) -> Option<&TeamResult> {
        self.ended.get(id).or_else(|| self.state.team_results.get(id))
    }

    /// True for a step that may begin: all that it needs is completed, and, if `politely`, what it takes if it is there has ended.
    fn is_due(&self, step: &PlanStep, politely: bool) -> bool {
        let is_new = !self.started.contains_key(&step.id) && self.ended(&step.id).is_none();
        let is_completed = |need: &String| {
            self.ended(need).is_some_and(|result| result.status == StepStatus::Completed)
        };
        let has_ended = |step: &&PlanStep| self.ended(&step.id).is_some();
        is_new
            && step.needs.iter().all(is_completed)
            && (!politely || self.taken(step).all(|taken| has_ended(&taken)))
    }

    /// The steps of the plan whose results `step` takes if they are there.
    fn taken<'b>(
        &'b self,
        step: &'b PlanStep,
    ) -> impl Iterator<Item = &'a PlanStep> + use<'a, 'b, C> {
        let team = self.settings.team(&step.team);
        let taken = team.map_or(&[][..], |team| &team.takes_if_there);
        let steps = self.steps.iter().filter(|other| taken.contains(&other.team));
        steps.filter(|other| other.id != step.id && !step.needs.contains(&other.id))
    }

    /// The cause for which `step` is not tried where another choice only is: it does more than read, or asks a person.
    fn forbidden(&self, step: &PlanStep) -> Option<String> {
        let is_tried = self.state.what_if.as_ref().is_some_and(|what_if| !what_if.effects);
        let team = self.settings.team(&step.team).filter(|_| is_tried)?;
        match (team.acts, team.asks) {
            (true, _) => Some(prompt::only_reads(self.settings.language)),
            (_, true) => Some(prompt::asks_nobody(self.settings.language)),
            _ => None,
        }
    }

    /// Skips the steps that need what failed, and those that need them.
    fn skip(&mut self) -> Result<(), TeamError> {
        let mut is_new = false;
        while let Some((step, error)) = self.next_skipped()? {
            let result = TeamResult {
                team: step.team.clone(),
                status: StepStatus::Skipped,
                error: Some(error),
                ..TeamResult::default()
            };
            self.ended.insert(step.id.clone(), result);
            is_new = true;
        }
        if is_new {
            self.show();
        }
        Ok(())
    }

    /// The first step that is open and will not begin, and the cause.
    fn next_skipped(&self) -> Result<Option<(&'a PlanStep, String)>, TeamError> {
        let language = self.settings.language;
        for step in self.steps {
            if self.started.contains_key(&step.id) || self.ended(&step.id).is_some() {
                continue;
            }
            if let Some(cause) = self.forbidden(step) {
                return Ok(Some((step, cause)));
            }
            let failed = |need: &&String| {
                self.ended(need).is_some_and(|result| result.status != StepStatus::Completed)
            };
            if let Some(need) = step.needs.iter().find(failed) {
                return Ok(Some((step, prompt::skipped(need, language))));
            }
            if self.is_past_limit(step)? {
                let limit = self.limit.as_deref().unwrap_or_default();
                return Ok(Some((step, prompt::at_limit(limit, language))));
            }
        }
        Ok(None)
    }

    /// Notes that `step` begins.
    async fn begin(&mut self, step: &PlanStep) -> Result<Timestamp, TeamError> {
        let now = || async { Ok::<_, TeamError>(self.context.runtime().clock.now()) };
        let started =
            self.context.step(&begin_step(&step.id), now).await.map_err(TeamError::Step)?;
        self.started.insert(step.id.clone(), started);
        let (step, team) = (step.id.clone(), step.team.clone());
        self.context.custom(&TeamEvent::TeamStarted { step, team });
        self.show();
        Ok(started)
    }

    /// Notes the end of `step`.
    fn end(&mut self, step: &PlanStep, end: StepEnd) {
        let StepEnd { result, choices, limit } = end;
        self.limit = self.limit.take().or(limit);
        if let (StepStatus::Completed, Some(from), Some(to)) =
            (result.status, result.started_at, result.completed_at)
        {
            self.settings.measured.note(&result.team, to.since(from));
        }
        self.context.custom(&TeamEvent::TeamFinished {
            step: step.id.clone(),
            team: result.team.clone(),
            status: result.status,
            error: result.error.clone(),
        });
        self.choices.extend(choices);
        self.ended.insert(step.id.clone(), result);
        self.show();
    }

    /// Shows the list to whoever watches.
    fn show(&self) {
        if !self.context.is_watched() {
            return;
        }
        let execution_steps = self.listed();
        self.context.custom(&TeamEvent::TodoUpdated { execution_steps });
    }

    fn listed(&self) -> Vec<ExecutionStep> {
        let list = self
            .steps
            .iter()
            .map(|step| listed(step, self.ended(&step.id), self.started.get(&step.id).copied()));
        list.collect()
    }

    /// The work of `step`, once and for all of the task's runs.
    fn work(
        &self,
        step: &'a PlanStep,
        started: Timestamp,
    ) -> impl Future<Output = (&'a PlanStep, Result<StepEnd, Halt>)> + use<'a, C> {
        let (settings, context) = (self.settings, self.context);
        let input = self.input(step);
        async move {
            let name = end_step(&step.id);
            let work = || run_step(settings, context, step, input, started);
            let end = context.step(&name, work).await;
            let end = end.map_err(|error| match error {
                StepError::Failed(cause) => match cause.downcast::<Halt>() {
                    Ok(halt) => *halt,
                    Err(cause) => Halt::Run(TeamError::Step(StepError::Failed(cause))),
                },
                error => Halt::Run(TeamError::Step(error)),
            });
            (step, end)
        }
    }

    /// What the team of `step` is given: the conversation, the results that it works on, and its task.
    fn input(&self, step: &PlanStep) -> MemberInput {
        let taken = self.taken(step).map(|taken| &taken.id);
        let results = step.needs.iter().chain(taken);
        let results = results.filter_map(|id| Some((id.clone(), self.ended(id)?.clone())));
        let results: BTreeMap<_, _> = results.collect();
        let mut messages: Vec<Message> = self.state.recent().cloned().collect();
        if !results.is_empty() {
            let mark = DataMark::new(&*self.context.runtime().rng);
            let given = results.iter().map(|(id, result)| (id.as_str(), result));
            let text = prompt::results(given, &mark, self.settings.language);
            messages.push(Message::user(text).with_metadata(KIND, RESULTS));
        }
        messages.push(Message::user(step.task.as_str()));
        let mut input = MemberInput::new(messages);
        input.task = Some(step.task.clone());
        input.question = Some(self.state.query.clone());
        let is_completed = |result: &TeamResult| result.status == StepStatus::Completed;
        let data = results.into_iter().filter(|(_, result)| is_completed(result));
        input.results = data.map(|(id, result)| (id, result.data)).collect();
        if let Some(what_if) = &self.state.what_if {
            let is_here = what_if.step.as_deref() == Some(step.id.as_str());
            input.instead = is_here.then(|| what_if.chosen.clone());
            input.only_reads = !what_if.effects;
        }
        input
    }
}

/// Runs the team of `step` within its time.
async fn run_step<C: Send + Sync + 'static>(
    settings: &TeamSettings<C>,
    context: &Context<C>,
    step: &PlanStep,
    input: MemberInput,
    started: Timestamp,
) -> Result<StepEnd, Halt> {
    let clock = &context.runtime().clock;
    let ended = match settings.team(&step.team) {
        Some(team) => within_its_time(settings, context, team, step, input).await?,
        // A thread may outlive the team that its plan names.
        None => Err(prompt::nothing(settings.language).to_owned().into()),
    };
    let result = TeamResult {
        team: step.team.clone(),
        started_at: Some(started),
        completed_at: Some(clock.now()),
        ..TeamResult::default()
    };
    Ok(match ended {
        Ok(run) => {
            let (choices, data) = (run.output.choices.clone(), run.output.all_data());
            let sources = run.output.sources.clone();
            let failure = run.output.failure.or_else(|| match run.answer {
                Some(_) => None,
                None => {
                    Some(run.words.unwrap_or_else(|| prompt::nothing(settings.language).into()))
                }
            });
            let status = match failure {
                None => StepStatus::Completed,
                Some(_) => StepStatus::Failed,
            };
            let (text, error) = (run.answer, failure);
            let made = choices.iter().filter_map(|entry| match entry {
                ChoiceEntry::Made(choice) => Some(choice.id.clone()),
                _ => None,
            });
            let result = TeamResult { choices: made.collect(), ..result };
            let result = TeamResult { status, text, data, sources, error, ..result };
            StepEnd { result, choices, limit: None }
        }
        Err(Failure { cause, limit }) => {
            let (status, error) = (StepStatus::Failed, Some(cause));
            let result = TeamResult { status, error, data: Json::default(), ..result };
            StepEnd { result, choices: Vec::new(), limit }
        }
    })
}

/// The run of a team, or the cause for which it failed.
async fn within_its_time<C: Send + Sync + 'static>(
    settings: &TeamSettings<C>,
    context: &Context<C>,
    team: &Team<C>,
    step: &PlanStep,
    input: MemberInput,
) -> Result<Result<MemberRun, Failure>, Halt> {
    let run = team.member.run_named(&step.id, input, context);
    let run = Box::pin(AssertUnwindSafe(run).catch_unwind());
    let ended = match select(run, context.runtime().clock.sleep(team.timeout)).await {
        Either::Left((ended, _)) => Some(ended),
        Either::Right(((), running)) => {
            drop(running);
            None
        }
    };
    let halt = |source| TeamError::Team { step: step.id.clone(), source };
    // What it began and nobody knows of has to be known before another team is asked to do the same.
    context.settled(&step.id).await.map_err(|doubt| Halt::Waiting(halt(doubt)))?;
    let Some(ended) = ended else {
        return Ok(Err(prompt::timed_out(team.timeout, settings.language).into()));
    };
    match ended {
        Ok(Ok(run)) => Ok(Ok(run)),
        Ok(Err(AgentFailure::Stopped)) => {
            Err(Halt::Run(TeamError::Stopped { step: step.id.clone() }))
        }
        Ok(Err(AgentFailure::Limit(limit))) => {
            let limit = prompt::limit(limit, settings.language);
            let cause = prompt::at_limit(&limit, settings.language);
            Ok(Err(Failure { cause, limit: Some(limit) }))
        }
        Ok(Err(AgentFailure::Failed(source))) => match source {
            source @ SubgraphError::Waiting(_) => Err(Halt::Waiting(halt(source))),
            source if source.suspends() || source.is_of_store() => Err(Halt::Run(halt(source))),
            source => Ok(Err(cause_of(&source).into())),
        },
        Err(_panic) => Ok(Err(prompt::panicked(settings.language).to_owned().into())),
    }
}

/// The cause for which a team failed, without the names of graphs and nodes, which mean nothing to a user.
fn cause_of(error: &SubgraphError) -> String {
    let is_inner = |cause: &&(dyn std::error::Error + 'static)| {
        !cause.is::<SubgraphError>() && !cause.is::<RunError>() && !cause.is::<Box<RunError>>()
    };
    let cause = Chain(error).causes().find(is_inner);
    cause.map_or_else(|| Chain(error).to_string(), |cause| Chain(cause).to_string())
}
