//! The choices of a log, each with its result.

use hanok_core::Timestamp;

use super::entry::{Choice, ChoiceEntry, ChoiceKind, ChoiceResult, ChosenBy};

/// Choices and what came of them, in the order in which they were made. Each method leaves those that fit.
///
/// ```
/// use hanok_agent::{ChoiceEntry, ChoiceKind, ChoiceResult, Choices};
/// # fn entries() -> Vec<ChoiceEntry> { Vec::new() }
///
/// // The list that a state keeps, or that the history of a thread holds.
/// let entries: Vec<ChoiceEntry> = entries();
/// let failed = Choices::of(&entries).kind(ChoiceKind::Tools).option("search").succeeded(false);
/// for (choice, result) in failed.iter() {
///     println!("{}: {} ({:?})", choice.id, choice.reason, result.map(ChoiceResult::millis));
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Choices<'a>(Vec<(&'a Choice, Option<&'a ChoiceResult>)>);

impl<'a> Choices<'a> {
    /// The choices in `entries`. Of two entries of one id the first is the choice, and the last result is its result: an entry
    /// that stands twice counts once.
    pub fn of(entries: impl IntoIterator<Item = &'a ChoiceEntry>) -> Self {
        let mut choices: Vec<(&Choice, Option<&ChoiceResult>)> = Vec::new();
        for entry in entries {
            let id = match entry {
                ChoiceEntry::Made(choice) => &choice.id,
                ChoiceEntry::Ended(result) => &result.id,
            };
            let known = choices.iter_mut().find(|(choice, _)| choice.id == *id);
            match (entry, known) {
                (ChoiceEntry::Made(choice), None) => choices.push((choice, None)),
                (ChoiceEntry::Ended(result), Some((_, of))) => *of = Some(result),
                _ => {}
            }
        }
        Self(choices)
    }

    fn filter(self, fits: impl Fn(&Choice, Option<&ChoiceResult>) -> bool) -> Self {
        Self(self.0.into_iter().filter(|(choice, result)| fits(choice, *result)).collect())
    }

    /// Those of this agent.
    pub fn agent(self, agent: &str) -> Self {
        self.filter(|choice, _| choice.agent == agent)
    }

    /// Those about this.
    pub fn kind(self, kind: ChoiceKind) -> Self {
        self.filter(|choice, _| choice.kind == kind)
    }

    /// Those in which this was chosen.
    pub fn option(self, name: &str) -> Self {
        self.filter(|choice, _| choice.chosen.iter().any(|chosen| chosen == name))
    }

    /// Those that came to a good end, or those that did not. One without a result is none of them.
    pub fn succeeded(self, succeeded: bool) -> Self {
        self.filter(|_, result| result.is_some_and(|result| result.succeeded() == succeeded))
    }

    /// Those of at least this confidence.
    pub fn confidence(self, least: f64) -> Self {
        self.filter(|choice, _| choice.confidence >= least)
    }

    /// Those made from `since` on, and before `until`.
    pub fn between(self, since: Timestamp, until: Timestamp) -> Self {
        self.filter(|choice, _| since <= choice.at && choice.at < until)
    }

    /// Those that a rule made because a model made none.
    pub fn fallbacks(self) -> Self {
        self.filter(|choice, _| matches!(choice.by, ChosenBy::Fallback { .. }))
    }

    /// Each choice, and its result if there is one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Choice, Option<&'a ChoiceResult>)> {
        self.0.iter().copied()
    }
}
