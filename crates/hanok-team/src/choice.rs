//! The choices of a team supervisor itself, as its log keeps them.

use hanok_agent::{Choice, ChoiceKind, ChoiceOption, ChosenBy};
use hanok_graph::Context;

use crate::{settings::TeamSettings, state::TeamState};

/// The confidence of a choice that a rule makes because no model made one that holds.
pub(crate) const FALLBACK: f64 = 0.3;

/// Who chose, why, and how sure of it.
pub(crate) struct Reason {
    pub(crate) text: String,
    pub(crate) confidence: f64,
    pub(crate) by: ChosenBy,
}

impl Reason {
    /// A rule chose, because of `cause`.
    pub(crate) fn fallback(cause: String, text: String) -> Self {
        Self { text, confidence: FALLBACK, by: ChosenBy::Fallback { cause } }
    }
}

/// A choice among the teams in the turn of `state`.
pub(crate) fn of_teams<C: Send + Sync + 'static>(
    settings: &TeamSettings<C>,
    state: &TeamState,
    context: &Context<C>,
    kind: ChoiceKind,
    chosen: Vec<String>,
    reason: Reason,
) -> Choice {
    let call = context.call("choice", &settings.name, &format!("{kind:?}"));
    let options = settings.teams.iter().map(|team| ChoiceOption::new(team.name()));
    let Reason { text, confidence, by } = reason;
    let at = context.runtime().clock.now();
    let inputs = digest(settings, state);
    Choice::new(call.key().to_string(), at, kind, settings.name.as_str(), state.query.as_str())
        .options(options)
        .chosen(chosen)
        .reason(text, confidence, by)
        .inputs(inputs)
}

/// The digest of what the models of a planning see besides their instructions: the conversation, the teams, and the results so far.
fn digest<C: Send + Sync + 'static>(settings: &TeamSettings<C>, state: &TeamState) -> String {
    let mut digest = blake3::Hasher::new();
    let mut part = |text: &str| {
        digest.update(text.as_bytes());
        digest.update(&[0]);
    };
    part(&state.query);
    for team in &settings.teams {
        part(team.name());
        part(team.member.description());
    }
    for message in state.recent() {
        part(&format!("{:?}", message.role()));
        part(&message.text());
    }
    for (step, result) in state.results() {
        part(&step.id);
        part(result.text.as_deref().unwrap_or_default());
        part(result.error.as_deref().unwrap_or_default());
        part(&result.data.0.to_string());
    }
    digest.finalize().to_hex().to_string()
}
