//! The verb that lists what was decided on a thread.

use hanok_agent::{Choice, ChoiceKind, ChoiceResult, Choices, ChosenBy, choices_of};
use hanok_core::Timestamp;

use crate::{
    arguments::DecisionsArguments,
    failure::Failure,
    output::{Output, moment},
    store::Place,
};

/// What a list of decisions is limited to by `--kind`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sort {
    /// A kind of choice.
    Kind(ChoiceKind),
    /// A rule chose because a model made no choice.
    Fallback,
    /// Nothing was chosen.
    Nothing,
}

impl Sort {
    /// The sort of this name.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let kind = ChoiceKind::ALL.into_iter().find(|kind| kind.as_str() == name);
        match (kind, name) {
            (Some(kind), _) => Ok(Self::Kind(kind)),
            (None, "fallback") => Ok(Self::Fallback),
            (None, "none") => Ok(Self::Nothing),
            (None, _) => {
                let names = ChoiceKind::ALL.map(ChoiceKind::as_str).join(", ");
                Err(format!("there are {names}, fallback and none"))
            }
        }
    }
}

pub(crate) async fn decisions(
    place: &Place,
    arguments: DecisionsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(&arguments.thread)?;
    place.there(&log).await?;
    let entries = choices_of(&log).await?;
    let choices = select(Choices::of(&entries), &arguments);
    if output.is_json() {
        let mut lines = Vec::new();
        choices.write_jsonl(&mut lines)?;
        let lines = String::from_utf8_lossy(&lines).into_owned();
        return lines.lines().try_for_each(|line| output.json_line(line));
    }
    let rows: Vec<_> = choices.iter().map(|(choice, result)| row(choice, result)).collect();
    let heading = ["AT", "AGENT", "KIND", "CHOSEN", "CONFIDENCE", "BY", "CAME TO", "MS", "REASON"];
    output.table(&heading, &rows)
}

fn select<'a>(mut choices: Choices<'a>, arguments: &DecisionsArguments) -> Choices<'a> {
    if let Some(agent) = &arguments.agent {
        choices = choices.agent(agent);
    }
    if let Some(tool) = &arguments.tool {
        choices = choices.option(tool);
    }
    choices = match arguments.kind {
        Some(Sort::Kind(kind)) => choices.kind(kind),
        Some(Sort::Fallback) => choices.fallbacks(),
        Some(Sort::Nothing) => choices.nothing(),
        None => choices,
    };
    choices = match (arguments.succeeded, arguments.failed) {
        (true, _) => choices.succeeded(true),
        (_, true) => choices.succeeded(false),
        _ => choices,
    };
    if let Some(least) = arguments.min_confidence {
        choices = choices.confidence(least);
    }
    let since = arguments.since.unwrap_or(Timestamp(0));
    choices.between(since, arguments.until.unwrap_or(Timestamp(u64::MAX)))
}

fn row(choice: &Choice, result: Option<&ChoiceResult>) -> Vec<String> {
    let by = match &choice.by {
        ChosenBy::Model { name } => format!("model {name}"),
        ChosenBy::Rule => "rule".to_owned(),
        ChosenBy::Fallback { cause } => format!("fallback: {cause}"),
        ChosenBy::Person => "person".to_owned(),
        _ => String::new(),
    };
    let total = result.map(ChoiceResult::total);
    let end =
        total.as_ref().map_or_else(String::new, |total| match (total.succeeded(), &total.error) {
            (true, _) => "done".to_owned(),
            (false, Some(error)) => format!("failed: {error}"),
            (false, None) => "failed".to_owned(),
        });
    vec![
        moment(choice.at),
        choice.agent.clone(),
        choice.kind.as_str().to_owned(),
        if choice.chosen.is_empty() { "nothing".to_owned() } else { choice.chosen.join(",") },
        choice.confidence.to_string(),
        by,
        end,
        total.map(|total| total.millis.to_string()).unwrap_or_default(),
        choice.reason.clone(),
    ]
}
