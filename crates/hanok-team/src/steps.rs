//! The steps of a plan as a to-do list, read from the log alone.

use hanok_core::Timestamp;
use hanok_graph::GraphView;

use crate::{
    execution::{StepEnd, begin_step, end_step},
    plan::PlanStep,
    state::TeamState,
    step::{ExecutionStep, StepStatus, TeamResult},
};

/// The steps of the turn in `state`, as far as `views` ([`Thread::views`](hanok_graph::Thread::views)) say they are: the same list
/// that [`TeamEvent::TodoUpdated`](crate::TeamEvent::TodoUpdated) shows live, without gaps, at any moment and in any process.
///
/// ```
/// # use hanok_agent::ReactAgent;
/// # use hanok_graph::{InMemoryCheckpointer, Tenant, ThreadKey};
/// # use hanok_model::ScriptedModel;
/// # use hanok_team::TeamSupervisor;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([]);
/// # let search = ReactAgent::builder("search", "Finds things", model.clone()).build()?;
/// # let supervisor: TeamSupervisor = TeamSupervisor::builder(model).team(search).build()?;
/// # let app = supervisor.graph().checkpointer(InMemoryCheckpointer::new());
/// let thread = app.thread(ThreadKey::new(Tenant::default(), "t")?);
/// if let Some(state) = thread.state(None).await? {
///     for step in hanok_team::steps_of(&state, &thread.views(None).await?) {
///         println!("{} {:?}", step.step_id, step.status);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn steps_of(state: &TeamState, views: &[GraphView]) -> Vec<ExecutionStep> {
    let tasks = || views.iter().filter(|view| view.path.depth() == 0).flat_map(|view| &view.tasks);
    let steps = state.plan.iter().flat_map(|plan| &plan.steps);
    let list = steps.map(|step| {
        if let Some(result) = state.team_results.get(&step.id) {
            return listed(step, Some(result), None);
        }
        let ended = tasks().find_map(|task| task.step::<StepEnd>(&end_step(&step.id)).ok()?);
        let begun = tasks().find_map(|task| task.step::<Timestamp>(&begin_step(&step.id)).ok()?);
        listed(step, ended.as_ref().map(|end| &end.result), begun)
    });
    list.collect()
}

/// `step` as an item of the list: with its end, or else with the time at which it began.
pub(crate) fn listed(
    step: &PlanStep,
    result: Option<&TeamResult>,
    begun: Option<Timestamp>,
) -> ExecutionStep {
    let status = match (result, begun) {
        (Some(result), _) => result.status,
        (None, Some(_)) => StepStatus::Running,
        (None, None) => StepStatus::Pending,
    };
    ExecutionStep {
        step_id: step.id.clone(),
        step_type: step.team.clone(),
        agent_name: format!("{}_team", step.team),
        team: step.team.clone(),
        task: step.task.clone(),
        description: step.description.clone(),
        status,
        progress_percentage: match status {
            StepStatus::Pending => 0,
            StepStatus::Running => 50,
            _ => 100,
        },
        started_at: result.and_then(|result| result.started_at).or(begun),
        completed_at: result.and_then(|result| result.completed_at),
        result: result.and_then(|result| result.text.clone()),
        error: result.and_then(|result| result.error.clone()),
    }
}
