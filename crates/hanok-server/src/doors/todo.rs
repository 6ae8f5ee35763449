//! The steps of a team's plan as a to-do list, read from the JSON of its state.
//!
//! The shape is that of `todo_updated` of a team supervisor, whose crate the server does without: `plan.steps` are the steps, and
//! `team_results` the ends of those that have one, by their ids. A step whose task has noted its beginning runs.

use hanok_graph::GraphView;
use serde_json::{Value, json};

/// The list of the plan in `state`, if it holds one of teams.
pub(crate) fn todo(state: &Value, views: &[GraphView]) -> Option<Value> {
    let steps = state.pointer("/plan/steps")?.as_array().filter(|steps| !steps.is_empty())?;
    let steps = steps.iter().map(|step| listed(state, views, step));
    let steps = steps.collect::<Option<Vec<_>>>()?;
    Some(json!({"type": "todo_updated", "execution_steps": steps}))
}

fn listed(state: &Value, views: &[GraphView], step: &Value) -> Option<Value> {
    let (id, team) = (step["id"].as_str()?, step["team"].as_str()?);
    let result = state.get("team_results").and_then(|results| results.get(id));
    let result = result.unwrap_or(&Value::Null);
    let noted = |what: &str| {
        let name = format!("{what}-{id}");
        let mut tasks = views.iter().filter(|view| view.path.is_root()).flat_map(|it| &it.tasks);
        tasks.find_map(|task| task.step::<Value>(&name).ok()?)
    };
    let ended = noted("end").and_then(|end| end.get("result").cloned());
    let result = ended.as_ref().filter(|_| result.is_null()).unwrap_or(result);
    let begun = noted("begin");
    let status = match (result["status"].as_str(), &begun) {
        (Some(status), _) => status,
        (None, Some(_)) => "running",
        (None, None) => "pending",
    };
    let progress = match status {
        "pending" => 0,
        "running" => 50,
        _ => 100,
    };
    let started = Some(&result["started_at"]).filter(|at| !at.is_null()).cloned().or(begun);
    Some(json!({
        "step_id": id, "step_type": team, "agent_name": format!("{team}_team"), "team": team,
        "task": step["task"], "description": step["description"], "status": status,
        "progress_percentage": progress, "started_at": started,
        "completed_at": result["completed_at"], "result": result["text"],
        "error": result["error"],
    }))
}
