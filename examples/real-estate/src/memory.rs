//! What is remembered of the user across conversations.

use std::sync::Arc;

use hanok_checkpoint::SharedStore;
use hanok_core::{BoxError, Tenant, Timestamp};
use hanok_graph::Context;
use hanok_learning::parse::Language;
use hanok_learning::{
    Actor, Days, Episode, EpisodeReport, Forget, ForgottenEvidence, Learner, LongTerm, Memories,
    Preference, PreferenceProposal, Recollection, RecordOrigin, UserMemories, stated_preferences,
};
use hanok_model::Semantic;
use hanok_state::{Message, Role};
use hanok_team::{Remembered, TeamMemory, TeamState};
use terminal::progress::short;

use crate::{preferences::preferences, proposer::ModelProposer};

/// The topic under which threads hand out what they teach.
pub const TOPIC: &str = "memory";

/// The clocks of Korea, in minutes ahead of UTC.
const KOREA: i16 = 540;

/// The memory of one user. Clones are the same.
#[derive(Debug, Clone)]
pub struct EstateMemory {
    memories: Memories,
    meaning: Option<Semantic>,
    proposer: ModelProposer,
    learner: Arc<Learner>,
    user: Arc<str>,
}

impl EstateMemory {
    /// The memory of `user`, which `learner` learns. Where the store makes vectors, `meaning` is that store; `proposer` proposes what
    /// rules do not find.
    #[must_use]
    pub fn new(
        memories: Memories,
        meaning: Option<Semantic>,
        proposer: ModelProposer,
        learner: Arc<Learner>,
        user: &str,
    ) -> Self {
        Self { memories, meaning, proposer, learner, user: user.into() }
    }

    fn of_user(&self) -> UserMemories {
        self.memories.of(Tenant::default(), &self.user)
    }

    /// What a user prefers is little, and counts for every question.
    fn long_term(&self, memories: Memories) -> LongTerm {
        let of = LongTerm::new(memories, Tenant::default(), Some(&self.user));
        of.always::<Preference>().days(Days::ahead_of_utc(KOREA))
    }

    /// All that is remembered, a line each, with where it comes from.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn all(&self, now: Timestamp) -> Result<Vec<String>, BoxError> {
        let user = self.of_user();
        let preferences = user.all::<Preference>(now).await?;
        let episodes = user.all::<Episode>(now).await?;
        let lines = preferences.iter().map(|it| line("선호", &it.text, &it.origins));
        let episodes = episodes.iter().map(|it| line("대화", &it.text, &it.origins));
        Ok(lines.chain(episodes).collect())
    }

    /// Forgets what `what` names, also of what is not learned yet.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn forget(
        &self,
        what: &Forget,
        now: Timestamp,
    ) -> Result<ForgottenEvidence, BoxError> {
        Ok(self.learner.forget(&self.of_user(), what, now).await?)
    }
}

fn line(kind: &str, text: &str, origins: &[RecordOrigin]) -> String {
    let days = Days::ahead_of_utc(KOREA);
    let from = |it: &RecordOrigin| format!(" ({}, 대화 {})", days.name(it.at), it.thread);
    format!("[{kind}] {}{}", short(text), origins.first().map(from).unwrap_or_default())
}

impl TeamMemory<()> for EstateMemory {
    async fn recall(&self, question: &str, context: &Context) -> Result<Vec<Remembered>, BoxError> {
        let memories = match &self.meaning {
            None => self.memories.clone(),
            Some(semantic) => {
                let call = context.call("embedder", "recall", question);
                self.memories.through(SharedStore::new(semantic.during(call)))
            }
        };
        let recalled = self.long_term(memories).recall(question, context.now()).await?;
        let remembered = |it: &Recollection| {
            let remembered = Remembered::new(&*it.text, recalled.source(it, Language::Korean));
            it.score.iter().fold(remembered, |remembered, score| remembered.score(score.rank))
        };
        Ok(recalled.iter().map(remembered).collect())
    }

    async fn learn(
        &self,
        state: &TeamState,
        answer: &str,
        context: &Context,
    ) -> Result<(), BoxError> {
        let is_spoken =
            |message: &&Message| message.role() == Role::User && message.metadata().is_empty();
        let Some(message) = state.messages.iter().rev().find(is_spoken) else { return Ok(()) };
        let long_term = self.long_term(self.memories.clone());
        let rules = preferences(&message.text()).into_iter();
        let rules = rules.map(|(key, value, quote)| PreferenceProposal { key, value, quote });
        let rules = rules.chain(stated_preferences(message)).collect();
        long_term.learn_preferences(context, TOPIC, message, rules, &self.proposer).await?;
        let report = EpisodeReport::new(&state.query, answer);
        let report = state.results().fold(report, |report, (step, result)| {
            let tools = result.data.0.as_object().into_iter().flatten().map(|(tool, _)| tool);
            tools.fold(report.team(step.team.as_str()), |report, tool| report.tool(tool.as_str()))
        });
        let turn = message.id().unwrap_or_default();
        let (topic, name, actor) = (TOPIC, "answer", Actor::Automatic);
        Ok(long_term.teach::<Episode, _>(context, topic, name, actor, turn, report)?)
    }
}
