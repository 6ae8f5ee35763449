//! A choice and its result, as a state keeps them.

use std::collections::BTreeMap;

use hanok_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A choice, as it was made. A state keeps it in a list with `#[reduce(append)]`, and so does the log of the thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Choice {
    /// Names the choice: the same in every resume of the task that made it.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    #[schemars(with = "u64")]
    pub at: Timestamp,
    /// Who chose: the agent, or the node.
    pub agent: String,
    /// What it was about.
    pub kind: ChoiceKind,
    /// The question in which it was made.
    pub question: String,
    /// What there was to choose from.
    pub options: Vec<ChoiceOption>,
    /// What was chosen, in the order given. Nothing is a choice, too.
    pub chosen: Vec<String>,
    /// What was named and is none of the options, or cannot be had now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The reason, in the words of whoever chose.
    pub reason: String,
    /// The confidence, as it was claimed. It switches nothing.
    pub confidence: f64,
    /// Who decided.
    pub by: ChosenBy,
    /// The digest of what it was made of: equal for equal questions and options.
    pub inputs: String,
}

impl Choice {
    /// A choice of `agent` in `question`, in which nothing is chosen yet. The `id` is the same in every run of the task that
    /// makes it, as the [key](hanok_core::Call::key) of a call is.
    ///
    /// ```
    /// use hanok_agent::{Choice, ChoiceKind, ChoiceOption, ChosenBy};
    /// use hanok_core::Timestamp;
    ///
    /// let choice = Choice::new("c-1", Timestamp(0), ChoiceKind::Teams, "supervisor", "May the rent rise?")
    ///     .options([ChoiceOption::new("search"), ChoiceOption::new("document")])
    ///     .chosen(["search"])
    ///     .reason("it is a question of law", 0.9, ChosenBy::Rule);
    /// assert_eq!(choice.chosen, ["search"]);
    /// ```
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        at: Timestamp,
        kind: ChoiceKind,
        agent: impl Into<String>,
        question: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            at,
            agent: agent.into(),
            kind,
            question: question.into(),
            options: Vec::new(),
            chosen: Vec::new(),
            dropped: Vec::new(),
            reason: String::new(),
            confidence: 0.0,
            by: ChosenBy::Rule,
            inputs: String::new(),
        }
    }

    /// Sets what there was to choose from.
    #[must_use]
    pub fn options(self, options: impl IntoIterator<Item = ChoiceOption>) -> Self {
        Self { options: options.into_iter().collect(), ..self }
    }

    /// Sets what was chosen.
    #[must_use]
    pub fn chosen(self, chosen: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { chosen: chosen.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the reason, the confidence as it was claimed, and who decided.
    #[must_use]
    pub fn reason(self, reason: impl Into<String>, confidence: f64, by: ChosenBy) -> Self {
        Self { reason: reason.into(), confidence, by, ..self }
    }

    /// Sets the digest of what it was made of.
    #[must_use]
    pub fn inputs(self, digest: impl Into<String>) -> Self {
        Self { inputs: digest.into(), ..self }
    }
}

/// What a choice is about.
///
/// Two things that are as well said of a choice are no kinds: a choice that a rule made because a model made none is one by
/// [`ChosenBy::Fallback`], and the choice of nothing has an empty [`chosen`](Choice::chosen).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChoiceKind {
    /// What the user wants.
    Intent,
    /// Which teams work.
    Teams,
    /// The steps of a plan.
    Plan,
    /// Which tools are called.
    Tools,
    /// Another plan, for what failed.
    Replan,
    /// Whether something is looked over.
    Review,
}

impl ChoiceKind {
    /// All kinds there are.
    pub const ALL: [Self; 6] =
        [Self::Intent, Self::Teams, Self::Plan, Self::Tools, Self::Replan, Self::Review];

    /// The kind's name, as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Teams => "teams",
            Self::Plan => "plan",
            Self::Tools => "tools",
            Self::Replan => "replan",
            Self::Review => "review",
        }
    }
}

/// One of several things to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ChoiceOption {
    /// Its name.
    pub name: String,
    /// The reason for which it cannot be had now, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl ChoiceOption {
    /// Something that can be had.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), unavailable: None }
    }

    /// The same, which cannot be had for this reason.
    #[must_use]
    pub fn unavailable(self, reason: impl Into<String>) -> Self {
        Self { unavailable: Some(reason.into()), ..self }
    }
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChosenBy {
    /// A model.
    Model {
        /// Its name.
        name: String,
    },
    /// A rule of the program.
    Rule,
    /// A rule, because a model made no choice that can be used.
    Fallback {
        /// What was wrong.
        cause: String,
    },
    /// A person.
    Person,
}

impl ChosenBy {
    /// True where a model was asked, whether or not it made a choice that can be used.
    #[must_use]
    pub fn is_of_model(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Fallback { .. })
    }
}

/// What came of a choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ChoiceResult {
    /// The choice.
    pub id: String,
    /// What each of the chosen came to.
    pub of: BTreeMap<String, Outcomes>,
}

/// What one chosen thing came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct Outcomes {
    /// The number of times that it was used.
    pub count: u64,
    /// The number of those that failed.
    pub failed: u64,
    /// How long they took, together, in milliseconds.
    pub millis: u64,
    /// The last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Outcomes {
    /// True when none of its uses failed.
    pub fn succeeded(&self) -> bool {
        self.failed == 0
    }
}

impl ChoiceResult {
    /// The result of the choice `id`, of which nothing is known yet.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_agent::ChoiceResult;
    ///
    /// let result = ChoiceResult::of("c-1")
    ///     .used("search", Duration::from_millis(120), None)
    ///     .used("search", Duration::from_millis(80), Some("the index is closed"));
    /// assert_eq!((result.millis(), result.succeeded()), (200, false));
    /// assert_eq!(result.of["search"].count, 2);
    /// ```
    pub fn of(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Counts one use of `name`, and its error if it failed.
    #[must_use]
    pub fn used(
        mut self,
        name: impl Into<String>,
        took: std::time::Duration,
        error: Option<&str>,
    ) -> Self {
        let of = self.of.entry(name.into()).or_default();
        of.count = of.count.saturating_add(1);
        of.failed = of.failed.saturating_add(u64::from(error.is_some()));
        of.millis = of.millis.saturating_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        if let Some(error) = error {
            of.error = Some(error.to_owned());
        }
        self
    }

    /// How long all of them took, in milliseconds.
    pub fn millis(&self) -> u64 {
        self.of.values().fold(0, |all, of| all.saturating_add(of.millis))
    }

    /// What all of them came to together, with an error of one of them if there is any.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_agent::ChoiceResult;
    ///
    /// let result = ChoiceResult::of("c-1")
    ///     .used("law", Duration::from_millis(120), None)
    ///     .used("prices", Duration::from_millis(80), Some("no table"));
    /// let total = result.total();
    /// assert_eq!((total.count, total.failed, total.millis), (2, 1, 200));
    /// assert!(result.of["law"].succeeded() && !total.succeeded());
    /// ```
    #[must_use]
    pub fn total(&self) -> Outcomes {
        self.of.values().fold(Outcomes::default(), |all, of| Outcomes {
            count: all.count.saturating_add(of.count),
            failed: all.failed.saturating_add(of.failed),
            millis: all.millis.saturating_add(of.millis),
            error: of.error.clone().or(all.error),
        })
    }

    /// True when none of them failed.
    pub fn succeeded(&self) -> bool {
        self.of.values().all(Outcomes::succeeded)
    }
}

/// One entry of a list of choices in a state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChoiceEntry {
    /// A choice.
    Made(Choice),
    /// What came of one.
    Ended(ChoiceResult),
}
