//! The choices of a thread, made again: its log as a test of another model or of other instructions.

use std::collections::BTreeSet;

use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, ChoiceTest, Choices, LeftOut, choices_of};
use hanok_checkpoint::{Body, CheckpointError};
use hanok_core::{Namespace, Position};
use hanok_graph::{BuildError, END, Graph, Outcome, RunError, START, Thread};
use hanok_state::State;
use thiserror::Error;

use crate::{nodes::planning::planning, state::TeamState, supervisor::TeamSupervisor};

/// The entries of a log that are read at once.
const PAGE: usize = 200;

/// The reason for which the choices of a thread were not made again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChooseAgainError {
    /// The graph of the planning alone cannot be built.
    #[error("the planning cannot be run alone")]
    Graph(#[from] BuildError),
    /// The state of the thread cannot be read, or the planning failed.
    #[error("the choices could not be made again")]
    Run(#[source] Box<RunError>),
    /// The log could not be read.
    #[error("the log of the thread could not be read")]
    Log(#[from] CheckpointError),
    /// The planning stopped before its end.
    #[error("the planning came to no end: {reason}")]
    Unfinished {
        /// How it ended.
        reason: String,
    },
}

impl From<RunError> for ChooseAgainError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl<C: Clone + Send + Sync + 'static> TeamSupervisor<C> {
    /// Makes the choices of intents, teams and plans again that `thread` holds of all its turns, with this supervisor's model and
    /// instructions, of what the log says that they were made of: the conversation, the teams, the results. For a test of another
    /// model, or of other instructions, over a supervisor with the same teams. No team works, and the thread stays as it is.
    ///
    /// A choice is left out that no model was asked for, one whose teams are described otherwise now, by the
    /// [digest](Choice::inputs), and one of a turn of which the log holds the end alone. Those of tools are made again by
    /// [`ToolSelector::choose_again`](hanok_agent::ToolSelector::choose_again).
    ///
    /// ```
    /// use hanok_graph::{BoxError, Thread};
    /// use hanok_team::{TeamState, TeamSupervisor};
    ///
    /// /// The choices that a smaller model would make otherwise.
    /// async fn compare(
    ///     smaller: &TeamSupervisor,
    ///     thread: &Thread<TeamState>,
    /// ) -> Result<(), BoxError> {
    ///     let test = smaller.choose_again(thread, ()).await?;
    ///     println!("{test}");
    ///     for differing in test.differing() {
    ///         let reasons = [&differing.before, &differing.after];
    ///         println!("{:?}", reasons.map(|choice| choice.as_ref().map(|it| it.reason.clone())));
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ChooseAgainError`]. A model that fails is none: the rule makes the choice, as in a run.
    pub async fn choose_again(
        &self,
        thread: &Thread<TeamState, C>,
        services: C,
    ) -> Result<ChoiceTest, ChooseAgainError> {
        let graph = Graph::<TeamState, C>::builder(&self.settings.name)
            .node("planning", self.settings.node(planning))
            .edge(START, "planning")
            .edge("planning", END)
            .build()?;
        let mut test = ChoiceTest::default();
        let mut tested = BTreeSet::new();
        for Planned { before, at } in plannings(thread).await? {
            let then = match before {
                Some(before) => thread.state(Some(before)).await?,
                None => None,
            };
            let made = thread.state(Some(at)).await?.unwrap_or_default();
            let Some(then) = then else {
                made_in(&made, &BTreeSet::new())
                    .for_each(|it| test.leave_out(it, LeftOut::NotHeld));
                continue;
            };
            let earlier: BTreeSet<&str> =
                made_in(&then, &BTreeSet::new()).map(|choice| choice.id.as_str()).collect();
            let made: Vec<&Choice> = made_in(&made, &earlier).collect();
            tested.extend(made.iter().map(|choice| choice.id.clone()));
            let again = match graph.invoke(input(&then), services.clone()).await? {
                Outcome::Done(again) => again,
                outcome => {
                    let reason = outcome.done().err().map(|error| error.to_string());
                    return Err(ChooseAgainError::Unfinished {
                        reason: reason.unwrap_or_default(),
                    });
                }
            };
            compare(&made, &made_in(&again, &BTreeSet::new()).collect::<Vec<_>>(), &mut test);
        }
        let own = thread.app().graph().name();
        let entries = choices_of(&thread.log()).await?;
        let of_plannings = Choices::of(&entries).agent(own);
        let is_planned =
            |choice: &&Choice| choice.kind != ChoiceKind::Tools && !tested.contains(&choice.id);
        let not_held = of_plannings.iter().map(|(choice, _)| choice).filter(is_planned);
        not_held.for_each(|choice| test.leave_out(choice, LeftOut::NotHeld));
        Ok(test)
    }
}

/// A planning of the log: the position of its end, and of what it began with.
struct Planned {
    before: Option<Position>,
    at: Position,
}

/// The plannings that the log of `thread` holds, in their order.
async fn plannings<C: Send + Sync + 'static>(
    thread: &Thread<TeamState, C>,
) -> Result<Vec<Planned>, CheckpointError> {
    let (mut before, mut plannings) = (None, Vec::<Planned>::new());
    let mut waits = false;
    loop {
        let page = thread.history(before, PAGE).await?;
        for item in &page {
            let Body::Commit(commit) = &item.entry.body else { continue };
            if item.entry.namespace != Namespace::root() {
                continue;
            }
            if waits && let Some(planned) = plannings.last_mut() {
                planned.before = Some(item.position);
            }
            let is_planning = commit.nodes.iter().any(|node| &**node == "planning");
            // In a commit of several super-steps nothing tells what the planning began with.
            waits = is_planning && commit.nodes.len() == 1;
            if is_planning {
                plannings.push(Planned { before: None, at: item.position });
            }
        }
        match page.last() {
            Some(last) => before = Some(last.position),
            None => break,
        }
    }
    plannings.reverse();
    Ok(plannings)
}

/// The choices of plannings in `state`, without those of these ids.
fn made_in<'s>(state: &'s TeamState, without: &BTreeSet<&str>) -> impl Iterator<Item = &'s Choice> {
    state.choices.iter().filter_map(move |entry| match entry {
        ChoiceEntry::Made(choice) if !without.contains(choice.id.as_str()) => Some(choice),
        _ => None,
    })
}

/// What the planning of `state` began with, as an input.
fn input(state: &TeamState) -> crate::state::TeamStateUpdate {
    let update = TeamState::update()
        .query(state.query.clone())
        .plan(state.plan.clone())
        .overwrite_team_results(state.team_results.clone());
    state.messages.iter().cloned().fold(update, crate::state::TeamStateUpdate::message)
}

/// Puts each choice beside that of its kind. All of one planning are made of the same.
fn compare(before: &[&Choice], after: &[&Choice], test: &mut ChoiceTest) {
    let now = after.first().map(|choice| choice.inputs.as_str());
    for choice in before {
        if !choice.by.is_of_model() {
            test.leave_out(choice, LeftOut::NoModel);
        } else if now != Some(choice.inputs.as_str()) {
            test.leave_out(choice, LeftOut::OtherInputs);
        } else {
            let again = after.iter().find(|again| again.kind == choice.kind);
            test.compare(Some((*choice).clone()), again.map(|again| (*again).clone()));
        }
    }
    if before.first().is_some_and(|choice| now == Some(choice.inputs.as_str())) {
        let is_new = |again: &&&Choice| before.iter().all(|choice| choice.kind != again.kind);
        after.iter().filter(is_new).for_each(|again| test.compare(None, Some((*again).clone())));
    }
}
