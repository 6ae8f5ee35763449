//! The choices of a log, each with its result.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io,
};

use hanok_core::Timestamp;

use super::{
    entry::{Choice, ChoiceEntry, ChoiceKind, ChoiceResult, ChosenBy},
    record::ChoiceRecord,
};

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
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in entries {
            match entry {
                ChoiceEntry::Made(choice) => {
                    if let Entry::Vacant(place) = places.entry(choice.id.as_str()) {
                        place.insert(choices.len());
                        choices.push((choice, None));
                    }
                }
                ChoiceEntry::Ended(result) => {
                    let place = places.get(result.id.as_str());
                    if let Some((_, of)) = place.and_then(|at| choices.get_mut(*at)) {
                        *of = Some(result);
                    }
                }
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

    /// Those in which nothing was chosen.
    pub fn nothing(self) -> Self {
        self.filter(|choice, _| choice.chosen.is_empty())
    }

    /// Each choice with its result, to be written out.
    pub fn records(&self) -> impl ExactSizeIterator<Item = ChoiceRecord> {
        self.0.iter().map(|(choice, result)| ChoiceRecord::new((*choice).clone(), *result))
    }

    /// Writes each choice with its result as a line of JSON, a [`ChoiceRecord`].
    ///
    /// ```
    /// use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, ChoiceRecord, Choices};
    /// use hanok_core::Timestamp;
    ///
    /// let choice = Choice::new("c-1", Timestamp(7), ChoiceKind::Teams, "supervisor", "May the rent rise?");
    /// let entries = [ChoiceEntry::Made(choice.clone())];
    /// let mut lines = Vec::new();
    /// Choices::of(&entries).write_jsonl(&mut lines)?;
    /// let record: ChoiceRecord = serde_json::from_slice(&lines)?;
    /// assert_eq!((record.choice, record.result), (choice, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`io::Error`] of `to`.
    pub fn write_jsonl(&self, to: &mut impl io::Write) -> io::Result<()> {
        for record in self.records() {
            serde_json::to_writer(&mut *to, &record)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Each choice, and its result if there is one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Choice, Option<&'a ChoiceResult>)> {
        self.0.iter().copied()
    }
}
