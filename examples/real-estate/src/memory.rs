//! What is remembered of the user across conversations.

use std::sync::Arc;

use hanok_core::{BoxError, Tenant, Timestamp};
use hanok_graph::Context;
use hanok_memory::{
    Actor, Episode, EpisodeReport, Evidence, Forget, Memories, MemoryKind, Preference,
    PreferenceProposal, PreferenceStatement, UserMemories, teach,
};
use hanok_state::{Message, Role};
use hanok_supervisor::{Remembered, TeamMemory, TeamState};
use terminal::progress::short;

use crate::preferences::preferences;

/// The topic under which threads hand out what they teach.
pub const TOPIC: &str = "memory";

/// How many memories a question is given.
const MOST: usize = 5;

/// The memory of one user. Clones are the same.
#[derive(Debug, Clone)]
pub struct EstateMemory {
    memories: Memories,
    user: Arc<str>,
}

impl EstateMemory {
    /// The memory of `user`.
    #[must_use]
    pub fn new(memories: Memories, user: &str) -> Self {
        Self { memories, user: user.into() }
    }

    fn of_user(&self) -> UserMemories {
        self.memories.of(Tenant::default(), &self.user)
    }

    /// All that is remembered, a line each.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn all(&self, now: Timestamp) -> Result<Vec<String>, BoxError> {
        let user = self.of_user();
        let preferences = user.all::<Preference>(now).await?;
        let episodes = user.all::<Episode>(now).await?;
        let lines = preferences.iter().map(|it| format!("[선호] {}", short(&it.text)));
        let episodes = episodes.iter().map(|it| format!("[대화] {}: {}", it.key, short(&it.text)));
        Ok(lines.chain(episodes).collect())
    }

    /// Forgets what `what` names; says how many pieces of evidence are gone.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn forget(&self, what: &Forget, now: Timestamp) -> Result<usize, BoxError> {
        Ok(self.of_user().forget(what, now).await?)
    }

    async fn search<K: MemoryKind>(
        &self,
        question: &str,
        now: Timestamp,
    ) -> Result<Vec<(String, String)>, BoxError> {
        let found = self.of_user().search::<K>(question, MOST, now).await?;
        Ok(found.into_iter().map(|it| (it.key, it.text)).collect())
    }
}

impl TeamMemory<()> for EstateMemory {
    async fn recall(&self, question: &str, context: &Context) -> Result<Vec<Remembered>, BoxError> {
        let now = context.now();
        let user = self.of_user();
        // What a user prefers is little, and counts for every question.
        let preferences = user.all::<Preference>(now).await?;
        let preferences =
            preferences.into_iter().take(MOST).map(|it| Remembered::new(it.text, "전에 하신 말씀"));
        let episodes = self.search::<Episode>(question, now).await?;
        let episodes = episodes
            .into_iter()
            .map(|(key, text)| Remembered::new(text, format!("이전 대화 {key}")));
        Ok(preferences.chain(episodes).take(MOST).collect())
    }

    fn learn(&self, state: &TeamState, answer: &str, context: &Context) -> Result<(), BoxError> {
        let is_spoken =
            |message: &&Message| message.role() == Role::User && message.metadata().is_empty();
        let Some(message) = state.messages.iter().rev().find(is_spoken) else { return Ok(()) };
        let (user, turn) = (&*self.user, message.id().unwrap_or_default());
        let proposals = preferences(&message.text());
        let proposals = proposals.into_iter().map(|(key, value, quote)| PreferenceProposal {
            key,
            value,
            quote,
        });
        for statement in PreferenceStatement::stated(proposals, message) {
            let key = statement.key().to_owned();
            let evidence = Evidence::new(context, &key, user, Actor::User, turn, statement);
            teach::<Preference, _>(context, TOPIC, &evidence)?;
        }
        let report = EpisodeReport::new(&state.query, answer);
        let report = state.results().fold(report, |report, (step, result)| {
            let tools = result.data.0.as_object().into_iter().flatten().map(|(tool, _)| tool);
            tools.fold(report.team(step.team.as_str()), |report, tool| report.tool(tool.as_str()))
        });
        let evidence = Evidence::new(context, "answer", user, Actor::Automatic, turn, report);
        Ok(teach::<Episode, _>(context, TOPIC, &evidence)?)
    }
}
