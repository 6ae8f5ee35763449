//! Choices of a log, made again: a log as a test of another model or of other instructions.

use std::fmt;

use thiserror::Error;

use super::entry::{Choice, ChoiceKind, ChosenBy};

/// The choices of a log, made again of the same inputs by another model or with other instructions, each beside what it was.
///
/// [`ToolSelector::choose_again`](crate::ToolSelector::choose_again) makes one of tools; a team supervisor makes those of intents and
/// plans. Written as text, it says how many differ, and how.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChoiceTest {
    /// The choices that were made again, in the order of the log.
    pub compared: Vec<ComparedChoice>,
    /// The choices that were not made again.
    pub left_out: Vec<ChoiceLeftOut>,
}

impl ChoiceTest {
    /// Adds a choice beside what it was: `None` where one of the two made none.
    pub fn compare(&mut self, before: Option<Choice>, after: Option<Choice>) {
        self.compared.push(ComparedChoice { before, after });
    }

    /// Adds a choice that was not made again.
    pub fn leave_out(&mut self, choice: &Choice, reason: LeftOut) {
        self.left_out.push(ChoiceLeftOut { choice: choice.clone(), reason });
    }

    /// The choices that came out differently.
    pub fn differing(&self) -> impl Iterator<Item = &ComparedChoice> {
        self.compared.iter().filter(|compared| compared.differs())
    }
}

impl fmt::Display for ChoiceTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (differing, all) = (self.differing().count(), self.compared.len());
        write!(f, "{differing} of {all} choices differ")?;
        if !self.left_out.is_empty() {
            write!(f, ", {} are left out", self.left_out.len())?;
        }
        self.differing().try_for_each(|compared| write!(f, "\n- {compared}"))?;
        self.left_out.iter().try_for_each(|it| {
            write!(f, "\n- left out: {} {:?}: {}", it.choice.kind.as_str(), it.choice.id, it.reason)
        })
    }
}

/// A choice as it was made, and as it was made again.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparedChoice {
    /// The choice of the log, if it made one of this kind.
    pub before: Option<Choice>,
    /// The choice that was made again, under the id and the time of the log's where a selector made it.
    pub after: Option<Choice>,
}

impl ComparedChoice {
    /// True if other things were chosen. Their order, the reason and the confidence decide nothing.
    #[must_use]
    pub fn differs(&self) -> bool {
        let chosen = |choice: &Option<Choice>| {
            choice.as_ref().map(|choice| {
                let mut chosen = choice.chosen.clone();
                chosen.sort();
                chosen
            })
        };
        chosen(&self.before) != chosen(&self.after)
    }

    /// The kind of both.
    #[must_use]
    pub fn kind(&self) -> Option<ChoiceKind> {
        self.before.as_ref().or(self.after.as_ref()).map(|choice| choice.kind)
    }
}

impl fmt::Display for ComparedChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |choice: &Option<Choice>| match choice {
            Some(Choice { chosen, reason, confidence, by, .. }) => {
                let by = match by {
                    ChosenBy::Model { name } => format!("{name:?}"),
                    ChosenBy::Fallback { cause } => format!("a rule, because {cause:?}"),
                    ChosenBy::Rule => "a rule".to_owned(),
                    ChosenBy::Person => "a person".to_owned(),
                };
                format!("{chosen:?} by {by}, {confidence}: {reason:?}")
            }
            None => "none".to_owned(),
        };
        let kind = self.kind().map_or("", ChoiceKind::as_str);
        let question = self.before.as_ref().or(self.after.as_ref()).map(|it| it.question.as_str());
        let question = question.unwrap_or_default();
        write!(f, "{kind} for {question:?}: {}; again: {}", one(&self.before), one(&self.after))
    }
}

/// A choice that was not made again.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChoiceLeftOut {
    /// The choice of the log.
    pub choice: Choice,
    /// The reason.
    pub reason: LeftOut,
}

/// The reason for which a choice is not made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LeftOut {
    /// A rule of the program or a person made it.
    #[error("no model was asked for it")]
    NoModel,
    /// What it was made of is not what there is now.
    #[error("its options, or what is said of them, are others now")]
    OtherInputs,
    /// The log was kept at the end of the turn only, or was pruned.
    #[error("the log does not hold what it was made of")]
    NotHeld,
}
