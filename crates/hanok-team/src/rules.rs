//! A plan without a model: teams by the words of their descriptions.

use crate::{definition::Team, plan::PlanStep, question::words};

/// The fewest letters that two words share at their beginnings to be taken for one word: Korean puts particles behind.
const SHARED: usize = 2;

/// The steps for `question`: the teams whose descriptions share words with it, and those that they need. Where none does, none. One that
/// asks people, or does more than read, is none of them. A word that describes every team tells none from the others.
pub(crate) fn plan<C: Send + Sync + 'static>(question: &str, teams: &[Team<C>]) -> Vec<PlanStep> {
    let describes = |team: &Team<C>, word: &str| {
        words(team.member.description()).any(|of_team| is_same(word, of_team))
    };
    let is_telling =
        |word: &&str| teams.len() < 2 || !teams.iter().all(|team| describes(team, word));
    let telling: Vec<&str> = words(question).filter(is_telling).collect();
    let fits = |team: &&Team<C>| {
        !(team.asks || team.acts) && telling.iter().any(|word| describes(team, word))
    };
    let chosen = teams.iter().filter(fits).map(|team| team.name()).collect();
    with_needs(question, teams, chosen)
}

/// The steps for `question` of the teams that are named, and of those that they need.
pub(crate) fn plan_of<C: Send + Sync + 'static>(
    question: &str,
    teams: &[Team<C>],
    named: &[String],
) -> Vec<PlanStep> {
    with_needs(question, teams, named.iter().map(String::as_str).collect())
}

fn with_needs<'a, C: Send + Sync + 'static>(
    question: &str,
    teams: &'a [Team<C>],
    mut chosen: Vec<&'a str>,
) -> Vec<PlanStep> {
    let mut next = 0;
    while let Some(name) = chosen.get(next) {
        let needs = teams.iter().find(|team| team.name() == *name).map(|team| &team.needs);
        let needs: Vec<&str> = needs.into_iter().flatten().map(String::as_str).collect();
        let missing = needs.into_iter().filter(|need| !chosen.contains(need)).collect::<Vec<_>>();
        chosen.extend(missing);
        next += 1;
    }
    let steps = teams.iter().filter(|team| chosen.contains(&team.name()));
    let step = |team: &Team<C>| PlanStep {
        id: team.name().to_owned(),
        team: team.name().to_owned(),
        task: question.trim().to_owned(),
        description: team.member.description().to_owned(),
        needs: team.needs.clone(),
    };
    steps.map(step).collect()
}

/// True for words that begin alike, so far that the shorter one is nearly whole.
fn is_same(one: &str, other: &str) -> bool {
    let lower = |word: &str| word.to_lowercase().chars().collect::<Vec<_>>();
    let (one, other) = (lower(one), lower(other));
    let shared = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let shorter = one.len().min(other.len());
    shared >= SHARED && shared + 1 >= shorter.min(3) && shared * 3 >= shorter * 2
}
