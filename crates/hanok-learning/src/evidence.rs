//! A piece of evidence: what was learned of a user, from whom, and where.

use std::collections::BTreeSet;

use hanok_core::Timestamp;
use hanok_graph::Context;
use serde::{Deserialize, Serialize};

/// Whoever a piece of evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Actor {
    /// The user said it.
    User,
    /// A model concluded it.
    Model,
    /// A tool returned it.
    Tool,
    /// The program observed it.
    Automatic,
}

/// The place that a piece of evidence comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceSource {
    /// The thread's name. A [`Learner`](crate::Learner) writes the name of the thread in which the evidence was committed,
    /// whatever stands here.
    pub thread: String,
    /// The task of the node that taught it.
    pub task: String,
    /// The id of the message that began the turn: [`Memories::forget_turn`](crate::Memories::forget_turn) finds it by this.
    pub message: String,
    /// The servers of others that it rests on, as those of MCP: [`Memories::forget_server`](crate::Memories::forget_server) finds
    /// it by them. A kind adds those that its body names ([`MemoryKind::servers`](crate::MemoryKind::servers)).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub servers: BTreeSet<String>,
}

/// What was learned of a user, once: the only thing from which records of long-term memory are made.
///
/// Its id counts once for each user and [kind](crate::MemoryKind), however often it is delivered. Take one that is the same when
/// the node runs again, as [`Evidence::new`] does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence<B> {
    /// The name of this piece. Whatever comes later under the same id does not count.
    pub id: String,
    /// The user that it is of: any text.
    pub user: String,
    /// The time from which it holds.
    pub at: Timestamp,
    /// Whoever it comes from.
    pub actor: Actor,
    /// The place that it comes from.
    pub source: EvidenceSource,
    /// What was learned, as its kind has it.
    pub body: B,
}

impl<B> Evidence<B> {
    /// The evidence `name` of the node's task, at the task's own time: the same in every attempt of the task.
    ///
    /// Evidence of one task needs names that differ. `message` is the id of the message that began the turn.
    ///
    /// ```
    /// # use hanok_graph::Context;
    /// use hanok_learning::{Actor, EpisodeReport, Evidence};
    ///
    /// # let context = Context::for_test(()).build()?;
    /// let report = EpisodeReport::new("How many days of leave?", "Fifteen.");
    /// let evidence = Evidence::new(&context, "answer", "kim", Actor::Automatic, "m1", report);
    /// assert_eq!(evidence.id, format!("{}/answer", context.task()));
    /// # Ok::<(), hanok_graph::BoxError>(())
    /// ```
    pub fn new<C>(
        context: &Context<C>,
        name: &str,
        user: &str,
        actor: Actor,
        message: &str,
        body: B,
    ) -> Self {
        let task = context.task().to_string();
        Self {
            id: format!("{task}/{name}"),
            user: user.to_owned(),
            at: context.now(),
            actor,
            source: EvidenceSource {
                task,
                message: message.to_owned(),
                ..EvidenceSource::default()
            },
            body,
        }
    }

    /// Adds a server that it rests on: one whose tool answered, or whose text a model read when it concluded this. Default: none
    /// but those that the kind finds in the body.
    ///
    /// ```
    /// # use hanok_graph::Context;
    /// use hanok_learning::{Actor, EpisodeReport, Evidence};
    ///
    /// # let context = Context::for_test(()).build()?;
    /// let report = EpisodeReport::new("Does it rain?", "It does.");
    /// let evidence = Evidence::new(&context, "answer", "kim", Actor::Automatic, "m1", report).of_server("weather");
    /// assert!(evidence.source.servers.contains("weather"));
    /// # Ok::<(), hanok_graph::BoxError>(())
    /// ```
    #[must_use]
    pub fn of_server(mut self, server: impl Into<String>) -> Self {
        self.source.servers.insert(server.into());
        self
    }
}

/// The evidence of a kind, as it is handed out and as a line of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lesson<B> {
    pub(super) kind: String,
    pub(super) evidence: Evidence<B>,
}

/// A lesson that is borrowed.
#[derive(Debug, Serialize)]
pub(super) struct LessonRef<'a, B> {
    pub(super) kind: &'a str,
    pub(super) evidence: &'a Evidence<B>,
}

/// The kind of a lesson, which can read the rest of it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LessonHead {
    pub(super) kind: String,
}

/// The names of a lesson, which can read nothing else of it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LessonNames {
    pub(super) kind: String,
    pub(super) evidence: EvidenceHead,
}

/// The names of a piece of evidence.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct EvidenceHead {
    pub(super) id: String,
    pub(super) user: String,
    pub(super) source: EvidenceSource,
}
