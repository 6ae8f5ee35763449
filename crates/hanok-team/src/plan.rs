//! A plan: which teams do what, and what each needs before.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most steps of a plan.
pub(crate) const MOST_STEPS: usize = 12;

/// One step of a plan: a team, and its task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// A short name of the step, other than that of all other steps: the team's name will do.
    pub id: String,
    /// The team that does it, by its name.
    pub team: String,
    /// The task, in one sentence that the team understands by itself.
    pub task: String,
    /// The purpose of the step in a few words, for the user.
    #[serde(default)]
    pub description: String,
    /// The ids of the steps whose results it needs.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// A fault of a plan, in words for the model that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanFault {
    /// There is nothing to do.
    #[error("the plan has no steps")]
    Empty,
    /// There are too many steps.
    #[error("the plan has {steps} steps; it may have {MOST_STEPS}")]
    TooLong {
        /// The steps.
        steps: usize,
    },
    /// A step has no name, or that of another one.
    #[error("two steps are named `{step}`: give each an id of its own")]
    TwiceNamed {
        /// The step.
        step: String,
    },
    /// A step has no task.
    #[error("step `{step}` has no task")]
    NoTask {
        /// The step.
        step: String,
    },
    /// A team is not there.
    #[error("step `{step}` is for the team `{team}`, which is not there; there are {}", .teams.join(", "))]
    UnknownTeam {
        /// The step.
        step: String,
        /// The team.
        team: String,
        /// The teams that there are.
        teams: Vec<String>,
    },
    /// A step needs what is no step.
    #[error("step `{step}` needs `{need}`, which is no step of the plan")]
    UnknownNeed {
        /// The step.
        step: String,
        /// What it needs.
        need: String,
    },
    /// A team lacks the result of another one.
    #[error(
        "the team `{team}` of step `{step}` works on a result of the team `{need}`: the step has to need one of that team"
    )]
    MissingNeed {
        /// The step.
        step: String,
        /// Its team.
        team: String,
        /// The team whose result it works on.
        need: String,
    },
    /// Steps wait for each other.
    #[error("the steps {} wait for each other", .steps.join(", "))]
    Circle {
        /// The steps.
        steps: Vec<String>,
    },
}

/// How the steps of a plan stand to each other. It is derived from what they need, shown, and decides nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// One after the other.
    #[default]
    Sequential,
    /// All at once.
    Parallel,
    /// Some at once, and some after others.
    Pipeline,
}

/// What a plan has to know of a team.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamNeeds<'a> {
    pub(crate) name: &'a str,
    /// The teams whose results it cannot work without.
    pub(crate) needs: &'a [String],
}

/// The faults of `steps`, of which those in `finished` (a step, and its team) are known from before.
pub(crate) fn faults(
    steps: &[PlanStep],
    teams: &[TeamNeeds<'_>],
    finished: &BTreeMap<String, String>,
) -> Vec<PlanFault> {
    if steps.is_empty() {
        return vec![PlanFault::Empty];
    }
    let mut faults = Vec::new();
    if steps.len().saturating_add(finished.len()) > MOST_STEPS {
        faults.push(PlanFault::TooLong { steps: steps.len() + finished.len() });
    }
    let mut team_of: BTreeMap<&str, &str> =
        finished.iter().map(|(step, team)| (step.as_str(), team.as_str())).collect();
    for step in steps {
        if step.id.trim().is_empty() || team_of.insert(&step.id, &step.team).is_some() {
            faults.push(PlanFault::TwiceNamed { step: step.id.clone() });
        }
    }
    for step in steps {
        let id = || step.id.clone();
        if step.task.trim().is_empty() {
            faults.push(PlanFault::NoTask { step: id() });
        }
        let unknown = step.needs.iter().filter(|need| !team_of.contains_key(need.as_str()));
        faults
            .extend(unknown.map(|need| PlanFault::UnknownNeed { step: id(), need: need.clone() }));
        let Some(team) = teams.iter().find(|team| team.name == step.team) else {
            let teams = teams.iter().map(|team| team.name.to_owned()).collect();
            faults.push(PlanFault::UnknownTeam { step: id(), team: step.team.clone(), teams });
            continue;
        };
        let has = |need: &str| {
            step.needs.iter().any(|id| team_of.get(id.as_str()).is_some_and(|team| *team == need))
        };
        let missing = team.needs.iter().filter(|need| !has(need));
        faults.extend(missing.map(|need| PlanFault::MissingNeed {
            step: id(),
            team: step.team.clone(),
            need: need.clone(),
        }));
    }
    let is_twice = |fault: &PlanFault| matches!(fault, PlanFault::TwiceNamed { .. });
    let circle = circle(steps);
    // Of two steps with one name nobody can tell which is meant.
    if !circle.is_empty() && !faults.iter().any(is_twice) {
        faults.push(PlanFault::Circle { steps: circle });
    }
    faults
}

/// The steps that no order brings to their turn.
fn circle(steps: &[PlanStep]) -> Vec<String> {
    let ordered: usize = groups(steps).iter().map(Vec::len).sum();
    if ordered == steps.len() {
        return Vec::new();
    }
    let in_order: BTreeSet<String> = groups(steps).into_iter().flatten().collect();
    steps.iter().map(|step| step.id.clone()).filter(|id| !in_order.contains(id)).collect()
}

/// The steps in groups: those of one group need nothing of each other, and what they need stands in the groups before. A step
/// that is in a circle, or behind one, stands in none.
pub(crate) fn groups(steps: &[PlanStep]) -> Vec<Vec<String>> {
    let mut remaining: Vec<&PlanStep> = steps.iter().collect();
    let mut groups = Vec::new();
    while !remaining.is_empty() {
        let open: BTreeSet<&str> = remaining.iter().map(|step| step.id.as_str()).collect();
        let is_due = |step: &PlanStep| !step.needs.iter().any(|need| open.contains(need.as_str()));
        let (due, waiting): (Vec<_>, Vec<_>) = remaining.iter().partition(|step| is_due(step));
        if due.is_empty() {
            break;
        }
        groups.push(due.into_iter().map(|step: &PlanStep| step.id.clone()).collect());
        remaining = waiting;
    }
    groups
}

/// How `groups` of steps stand to each other.
pub(crate) fn strategy(groups: &[Vec<String>]) -> Strategy {
    match groups {
        [one] if one.len() > 1 => Strategy::Parallel,
        groups if groups.iter().all(|group| group.len() == 1) => Strategy::Sequential,
        _ => Strategy::Pipeline,
    }
}

/// The time of the longest chain of steps, each of which takes the `time` of its team.
pub(crate) fn critical_path(steps: &[PlanStep], time: impl Fn(&str) -> Duration) -> Duration {
    let mut ends: BTreeMap<String, Duration> = BTreeMap::new();
    for id in groups(steps).into_iter().flatten() {
        let Some(step) = steps.iter().find(|step| step.id == id) else { continue };
        let begins = step.needs.iter().filter_map(|need| ends.get(need)).max().copied();
        let ends_at = begins.unwrap_or_default().saturating_add(time(&step.team));
        ends.insert(id, ends_at);
    }
    ends.into_values().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str, team: &str, needs: &[&str]) -> PlanStep {
        let needs = needs.iter().map(|need| (*need).to_owned()).collect();
        PlanStep {
            id: id.into(),
            team: team.into(),
            task: "do".into(),
            needs,
            ..Default::default()
        }
    }

    fn texts(steps: &[PlanStep]) -> Vec<String> {
        let needs = ["search".to_owned()];
        let team = |name, needs| TeamNeeds { name, needs };
        let teams = [team("search", &[]), team("analysis", &needs[..]), team("document", &[])];
        faults(steps, &teams, &BTreeMap::new()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plan_is_checked_whole() {
        assert_eq!(texts(&[]), ["the plan has no steps"]);
        let good = [step("s", "search", &[]), step("a", "analysis", &["s"])];
        assert_eq!(texts(&good), [""; 0]);
        let many: Vec<_> = (0..13).map(|n| step(&n.to_string(), "search", &[])).collect();
        assert_eq!(texts(&many), ["the plan has 13 steps; it may have 12"]);
        let bad = [
            step("s", "search", &["d"]),
            step("d", "document", &["s", "x"]),
            step("d", "cook", &[]),
            step("a", "analysis", &[]),
            PlanStep { task: " ".into(), ..step("t", "search", &[]) },
        ];
        assert_eq!(
            texts(&bad),
            [
                "two steps are named `d`: give each an id of its own",
                "step `d` needs `x`, which is no step of the plan",
                "step `d` is for the team `cook`, which is not there; there are search, analysis, document",
                "the team `analysis` of step `a` works on a result of the team `search`: the step has to need one of that team",
                "step `t` has no task",
            ]
        );
        let circle = [step("s", "search", &["d"]), step("d", "document", &["s"])];
        assert_eq!(texts(&circle), ["the steps s, d wait for each other"]);
    }

    #[test]
    fn what_was_finished_may_be_needed() {
        let needs = ["search".to_owned()];
        let teams = [TeamNeeds { name: "analysis", needs: &needs }];
        let finished = BTreeMap::from([("s".to_owned(), "search".to_owned())]);
        assert_eq!(faults(&[step("a", "analysis", &["s"])], &teams, &finished), []);
    }

    #[test]
    fn the_strategy_and_the_estimate_are_read_from_the_needs() {
        let of = |steps: &[PlanStep]| {
            let time = |team: &str| Duration::from_secs(if team == "search" { 10 } else { 1 });
            (strategy(&groups(steps)), critical_path(steps, time).as_secs())
        };
        let (s, a) = (step("s", "search", &[]), step("a", "analysis", &["s"]));
        let d = step("d", "document", &[]);
        assert_eq!(of(&[s.clone(), a.clone()]), (Strategy::Sequential, 11));
        assert_eq!(of(&[s.clone(), d.clone()]), (Strategy::Parallel, 10));
        assert_eq!(of(&[s.clone(), a, d]), (Strategy::Pipeline, 11));
        assert_eq!(of(&[s]), (Strategy::Sequential, 10));
        assert_eq!(of(&[]), (Strategy::Sequential, 0));
    }
}
