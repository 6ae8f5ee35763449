//! Another choice, tried in a fork of the thread.

use std::collections::{BTreeMap, BTreeSet};

use hanok_agent::{Choice, ChoiceEntry, ChoiceKind};
use hanok_checkpoint::{Body, CheckpointError};
use hanok_core::{Namespace, Position, Spent, ThreadKey, Timestamp};
use hanok_graph::{Outcome, RunError, Thread};
use hanok_state::{Map, State};
use thiserror::Error;

use crate::{
    plan::PlanStep,
    rules,
    state::{Instead, TeamPlan, TeamState, TeamStateUpdate},
    step::TeamResult,
    supervisor::TeamSupervisor,
};

/// The entries of a log that are read at once.
const PAGE: usize = 200;

/// Another choice that is tried: [`TeamSupervisor::what_if`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct WhatIf {
    choice: String,
    instead: Vec<String>,
    effects: bool,
}

impl WhatIf {
    /// The choice of this id, with these names in place of what was chosen: tools, or the teams of a plan.
    ///
    /// ```
    /// use hanok_team::WhatIf;
    ///
    /// let what_if = WhatIf::choose("c-1", ["market_data"]);
    /// # drop(what_if);
    /// ```
    pub fn choose(
        choice: impl Into<String>,
        instead: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let instead = instead.into_iter().map(Into::into).collect();
        Self { choice: choice.into(), instead, effects: false }
    }

    /// Lets teams ask ([`Team::asks`](crate::Team::asks)) and do more than read ([`Team::acts`](crate::Team::acts)). Default: they are
    /// skipped.
    pub fn with_effects(self) -> Self {
        Self { effects: true, ..self }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct WhatIfSide {
    /// The answer.
    pub answer: Option<String>,
    /// The ends of the steps, by their ids.
    pub results: BTreeMap<String, TeamResult>,
    /// The time from the turn's beginning to its end, in milliseconds; of the other choice, that of its own steps.
    pub millis: u64,
    /// The spending: of the whole turn, and of what the other choice took.
    pub spent: Spent,
}

/// A turn, and what it would have been.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// The turn as it was.
    pub before: WhatIfSide,
    /// The turn with the other choice.
    pub after: WhatIfSide,
    /// The steps whose results differ, or that only one of the two has.
    pub differing: Vec<String>,
    /// The thread in which the other choice was tried. It is the caller's to keep or to delete.
    pub fork: ThreadKey,
}

/// The reason for which another choice was not tried to its end. The thread itself is untouched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WhatIfError {
    /// The last turn has no such choice.
    #[error("the last turn has no choice `{choice}`")]
    NoSuchChoice {
        /// The choice.
        choice: String,
    },
    /// Another choice of this kind cannot be tried.
    #[error("a choice of the kind `{kind}` cannot be tried otherwise: tools and plans can")]
    Kind {
        /// The kind.
        kind: &'static str,
    },
    /// The choice had no such option.
    #[error("`{name}` was none of the options; there were {}", .options.join(", "))]
    NoSuchOption {
        /// The name.
        name: String,
        /// The options.
        options: Vec<String>,
    },
    /// The log has no moment between the plan and the teams of this turn: it was kept at its end only, or pruned.
    #[error("the log of the thread does not hold the moment before its teams worked")]
    NoSuchMoment,
    /// The fork could not be made, or could not go on.
    #[error("the other choice could not be tried")]
    Run(#[source] Box<RunError>),
    /// The log could not be read.
    #[error("the log of the thread could not be read")]
    Log(#[from] CheckpointError),
    /// The fork waits for a person, or stopped at a limit.
    #[error("the other choice came to no end: {reason}")]
    Unfinished {
        /// How it ended.
        reason: String,
    },
}

impl From<RunError> for WhatIfError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl<C: Send + Sync + 'static> TeamSupervisor<C> {
    /// Tries another choice in the last turn of `thread`: forks the thread before its teams worked, into the thread `fork`, takes the other choice, and
    /// runs on. Steps that neither made the choice nor need one that did keep their results from the log; nothing of them is made
    /// again. The thread itself is untouched.
    ///
    /// The team of the choice is given the names as [`MemberInput::instead`](hanok_supervisor::MemberInput::instead), and all are told to only
    /// read ([`MemberInput::only_reads`](hanok_supervisor::MemberInput::only_reads)); teams that [ask](crate::Team::asks)
    /// or [act](crate::Team::acts) are skipped, unless [`WhatIf::with_effects`] lets them.
    ///
    /// ```
    /// use hanok_graph::{BoxError, Thread, ThreadKey};
    /// use hanok_team::{TeamState, TeamSupervisor, WhatIf};
    ///
    /// async fn without_search(
    ///     supervisor: &TeamSupervisor,
    ///     thread: &Thread<TeamState>,
    ///     plan: &str,
    /// ) -> Result<(), BoxError> {
    ///     let fork = ThreadKey::new(thread.key().tenant().clone(), "what if")?;
    ///     let compared = supervisor.what_if(thread, &fork, WhatIf::choose(plan, ["document"]), ()).await?;
    ///     println!("{:?} and not {:?}", compared.after.answer, compared.before.answer);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WhatIfError`]: a choice that is not there, a name that was none of its options, a log without the moment before the teams.
    pub async fn what_if(
        &self,
        thread: &Thread<TeamState, C>,
        fork: &ThreadKey,
        what_if: WhatIf,
        services: C,
    ) -> Result<Compared, WhatIfError> {
        let state = thread.state(None).await?.unwrap_or_default();
        let choice = made(&state, &what_if.choice)?;
        let other = self.other(&state, choice, &what_if)?;
        let at = before_the_teams(thread).await?;
        thread.fork(Some(at), fork).await?;
        let tried = thread.app().thread(fork.clone());
        tried.edit(other.update()).await?;
        let after = match tried.resume(services).await? {
            Outcome::Done(after) => after,
            outcome => {
                let reason = outcome.done().err().map(|error| error.to_string());
                return Err(WhatIfError::Unfinished { reason: reason.unwrap_or_default() });
            }
        };
        let is_new = |(id, it): &(&String, &TeamResult)| state.team_results.get(*id) != Some(*it);
        let begun = after.team_results.iter().filter(is_new).filter_map(|(_, it)| it.started_at);
        let begun = begun.min().or(after.completed_at);
        let before = side(&state, state.started_at, spent(thread).await?);
        let after = side(&after, begun, spent(&tried).await?);
        let steps: BTreeSet<&String> = before.results.keys().chain(after.results.keys()).collect();
        let of = |side: &WhatIfSide, step: &str| {
            side.results.get(step).map(|it| (it.status, it.text.clone(), it.data.clone()))
        };
        let differs = |step: &&String| of(&before, step) != of(&after, step);
        let differing = steps.into_iter().filter(differs).cloned().collect();
        Ok(Compared { before, after, differing, fork: fork.clone() })
    }

    /// The turn with the other choice: what stays of it, and what is to be done.
    fn other(
        &self,
        state: &TeamState,
        choice: &Choice,
        what_if: &WhatIf,
    ) -> Result<Other, WhatIfError> {
        let options: Vec<String> = choice.options.iter().map(|it| it.name.clone()).collect();
        if let Some(name) = what_if.instead.iter().find(|name| !options.contains(name)) {
            return Err(WhatIfError::NoSuchOption { name: name.clone(), options });
        }
        let mut plan = state.plan.clone().unwrap_or_default();
        plan.replanned = true;
        let chosen = what_if.instead.clone();
        let (step, begun): (_, BTreeSet<String>) = match choice.kind {
            ChoiceKind::Tools => {
                let by = |result: &TeamResult| result.choices.contains(&choice.id);
                let mut results = state.team_results.iter();
                let step = results.find(|(_, result)| by(result)).map(|(step, _)| step.clone());
                let step = step.ok_or(WhatIfError::NoSuchChoice { choice: choice.id.clone() })?;
                (Some(step.clone()), BTreeSet::from([step]))
            }
            ChoiceKind::Plan | ChoiceKind::Replan => {
                let all = rules::plan_of(&state.query, &self.settings.teams, &what_if.instead);
                plan.steps = steps_of_teams(&plan.steps, all);
                let is_new = |step: &&PlanStep| state.team_results.get(&step.id).is_none();
                let begun = plan.steps.iter().filter(is_new).map(|step| step.id.clone()).collect();
                plan.arrange();
                (None, begun)
            }
            kind => return Err(WhatIfError::Kind { kind: kind.as_str() }),
        };
        let again = self.dependents(&plan.steps, begun);
        let is_kept = |(id, _): &(&String, &TeamResult)| {
            !again.contains(*id) && plan.steps.iter().any(|step| step.id == **id)
        };
        let kept: Vec<_> = state.team_results.iter().filter(is_kept).collect();
        let gone: BTreeSet<&String> = state
            .team_results
            .iter()
            .filter(|(id, _)| again.contains(*id))
            .flat_map(|(_, result)| &result.choices)
            .collect();
        let is_of_kept = |entry: &&ChoiceEntry| match entry {
            ChoiceEntry::Made(made) => !gone.contains(&made.id) && made.id != choice.id,
            ChoiceEntry::Ended(result) => !gone.contains(&result.id) && result.id != choice.id,
            _ => true,
        };
        Ok(Other {
            results: kept.into_iter().map(|(id, it)| (id.clone(), it.clone())).collect(),
            choices: state.choices.iter().filter(is_of_kept).cloned().collect(),
            what_if: Instead { step, chosen, effects: what_if.effects },
            plan,
        })
    }

    /// `begun`, and the steps that work on what they have.
    fn dependents(&self, steps: &[PlanStep], mut begun: BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let teams: BTreeSet<&str> = steps
                .iter()
                .filter(|step| begun.contains(&step.id))
                .map(|step| step.team.as_str())
                .collect();
            let takes = |step: &&PlanStep| {
                let team = self.settings.team(&step.team);
                let taken = team.map_or(&[][..], |team| &team.takes_if_there);
                step.needs.iter().any(|need| begun.contains(need))
                    || taken.iter().any(|name| teams.contains(name.as_str()))
            };
            let new = steps.iter().filter(|step| !begun.contains(&step.id)).filter(takes);
            let new: Vec<String> = new.map(|step| step.id.clone()).collect();
            if new.is_empty() {
                return begun;
            }
            begun.extend(new);
        }
    }
}

/// What the fork begins with.
struct Other {
    plan: TeamPlan,
    results: Map<String, TeamResult>,
    choices: Vec<ChoiceEntry>,
    what_if: Instead,
}

impl Other {
    fn update(self) -> TeamStateUpdate {
        let Self { plan, results, choices, what_if } = self;
        TeamState::update()
            .plan(Some(plan))
            .overwrite_team_results(results)
            .overwrite_choices(choices)
            .what_if(Some(what_if))
    }
}

/// The choice of this id in `state`.
fn made<'s>(state: &'s TeamState, id: &str) -> Result<&'s Choice, WhatIfError> {
    let choice = state.choices.iter().find_map(|entry| match entry {
        ChoiceEntry::Made(choice) if choice.id == id => Some(choice),
        _ => None,
    });
    choice.ok_or_else(|| WhatIfError::NoSuchChoice { choice: id.to_owned() })
}

/// The steps of `wanted`; those whose team had one keep that.
fn steps_of_teams(before: &[PlanStep], wanted: Vec<PlanStep>) -> Vec<PlanStep> {
    let mut steps = Vec::new();
    for step in wanted {
        match before.iter().find(|old| old.team == step.team) {
            // What it needed and is not planned any more does not come.
            Some(old) => steps.push(PlanStep { needs: step.needs, ..old.clone() }),
            None => steps.push(step),
        }
    }
    let ids: BTreeMap<String, String> =
        steps.iter().map(|step| (step.team.clone(), step.id.clone())).collect();
    for step in &mut steps {
        step.needs = step.needs.iter().filter_map(|team| ids.get(team).cloned()).collect();
    }
    steps
}

/// The position at which the teams of the last turn were about to work.
async fn before_the_teams<C: Send + Sync + 'static>(
    thread: &Thread<TeamState, C>,
) -> Result<Position, WhatIfError> {
    let (mut before, mut planned) = (None, None);
    loop {
        let page = thread.history(before, PAGE).await?;
        for item in &page {
            let Body::Commit(commit) = &item.entry.body else { continue };
            if item.entry.namespace != Namespace::root() {
                continue;
            }
            let is_of = |node: &str| commit.nodes.iter().any(|it| &**it == node);
            if is_of("planning") {
                planned = Some(item.position);
            }
            if is_of("initialize") {
                return planned.ok_or(WhatIfError::NoSuchMoment);
            }
        }
        match page.last() {
            Some(last) => before = Some(last.position),
            None => return planned.ok_or(WhatIfError::NoSuchMoment),
        }
    }
}

/// What the last turn of `thread` spent.
async fn spent<C: Send + Sync + 'static>(
    thread: &Thread<TeamState, C>,
) -> Result<Spent, WhatIfError> {
    let opened = thread.log().open(None).await?;
    let run =
        opened.and_then(|opened| opened.fold.runs.get(&Namespace::root()).map(|run| run.spent));
    Ok(run.unwrap_or_default())
}

fn side(state: &TeamState, begun: Option<Timestamp>, spent: Spent) -> WhatIfSide {
    let took = begun.zip(state.completed_at).map(|(from, to)| to.since(from));
    WhatIfSide {
        answer: state.answer.clone(),
        results: state.team_results.iter().map(|(id, it)| (id.clone(), it.clone())).collect(),
        millis: took.map_or(0, |took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        spent,
    }
}
