//! Learning beside a conversation: what is remembered of a user, the commands that show and forget it, and what learns it.

use std::{sync::Arc, time::Duration};

use hanok_checkpoint::{Consumer, SharedCheckpointer, SharedStore};
use hanok_core::{BoxError, Call, Tenant, Timestamp};
use hanok_graph::{Context, TokioClock};
use hanok_learning::{
    Actor, Days, Episode, EpisodeReport, Forget, ForgottenEvidence, Learner, LongTerm, Memories,
    Preference, PreferenceProposer, Recollection, RecordOrigin, UserMemories,
    parse::Language as Named, stated_preferences,
};
use hanok_model::Semantic;
use hanok_state::{Message, Role};
use hanok_team::{Remembered, TeamMemory, TeamState};
use kit::{failure::Failure, meaning, progress::short};

/// How often what turns teach is looked for.
const PAUSE: Duration = Duration::from_millis(200);

/// The topic under which threads hand out what they teach.
const TOPIC: &str = "memory";

/// The clocks of Korea, in minutes ahead of UTC.
const KOREA: i16 = 540;

/// What is remembered of one user across conversations with teams: what they prefer, and what was asked. Clones are the same.
#[derive(Debug, Clone)]
pub struct UserMemory<P> {
    memories: Memories,
    meaning: Option<Semantic>,
    proposer: P,
    learner: Arc<Learner>,
    user: Arc<str>,
}

impl<P: PreferenceProposer> UserMemory<P> {
    /// The memory of `user` in `store`, which learns from `threads`. `proposer` proposes what a user states of
    /// themselves besides what rules find.
    ///
    /// # Errors
    ///
    /// [`Failure`] for a store that cannot be used.
    pub async fn open(
        threads: &SharedCheckpointer,
        store: SharedStore,
        user: &str,
        proposer: P,
    ) -> Result<Self, Failure> {
        // Searched by meaning, too, where the environment names an embedding model.
        let embedder = meaning::embedder()?;
        let meaning =
            embedder.map(|embedder| Semantic::new(store.clone(), embedder, Call::detached()));
        let store = meaning.as_ref().map_or(store, |semantic| SharedStore::new(semantic.clone()));
        let memories = Memories::new(store).kind::<Preference>().kind::<Episode>();
        let outbox = Consumer::new(threads.clone(), "learner", TOPIC);
        let learner = Arc::new(Learner::new(outbox, memories.clone()));
        learner.register().await.map_err(Failure::wiring)?;
        Ok(Self { memories, meaning, proposer, learner, user: user.into() })
    }

    /// What learns after the answers.
    #[must_use]
    pub fn learner(&self) -> Arc<Learner> {
        self.learner.clone()
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
        Ok(lines.chain(episodes.iter().map(|it| line("대화", &it.text, &it.origins))).collect())
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

impl<P: PreferenceProposer + std::fmt::Debug + 'static> TeamMemory<()> for UserMemory<P> {
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
            let remembered = Remembered::new(&*it.text, recalled.source(it, Named::Korean));
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
        let rules = stated_preferences(message);
        long_term.learn_preferences(context, TOPIC, message, rules, &self.proposer).await?;
        if !state.plan.as_ref().is_some_and(|plan| plan.in_scope) {
            // A refusal is nothing to remember.
            return Ok(());
        }
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

/// Does the command `memory` or `forget`, behind which `rest` stands in the conversation `thread`.
///
/// # Errors
///
/// [`Failure`] for a command that makes no sense, and what the store says.
pub async fn command<P: PreferenceProposer>(
    memory: Option<&UserMemory<P>>,
    name: &str,
    rest: &str,
    thread: &str,
) -> Result<String, Failure> {
    let now = std::time::SystemTime::now().into();
    let Some(memory) = memory else {
        return Ok("--user 없이 실행해서 아무것도 기억하지 않습니다.".to_owned());
    };
    if name == "memory" {
        let all = memory.all(now).await.map_err(Failure::wiring)?.join("\n");
        return Ok(if all.is_empty() {
            "기억하는 것이 없습니다.".to_owned()
        } else {
            all
        });
    }
    let what = match rest {
            "" => return Err(Failure::Usage("무엇을 잊을지 쓰세요: /forget 이름(한 가지 선호), /forget 선호, /forget 대화(이 대화에서 배운 것), /forget 모두".to_owned())),
            "모두" => Forget::Everything,
            "대화" => Forget::Thread(thread.to_owned()),
            "선호" => Forget::kind::<Preference>(),
            name => Forget::record::<Preference>(name),
        };
    let gone = memory.forget(&what, now).await.map_err(Failure::wiring)?;
    let threads: Vec<_> = gone.threads.iter().map(String::as_str).collect();
    Ok(match threads.is_empty() {
        true => "잊을 것이 없었습니다.".to_owned(),
        false => format!(
            "{}가지를 잊었습니다. 하신 말씀 자체는 다음 대화의 기록에 남아 있습니다: {}",
            gone.evidence,
            threads.join(", ")
        ),
    })
}

/// The learner, if there is a user to learn of.
#[derive(Debug)]
pub struct Pupil(Option<Arc<Learner>>);

impl Pupil {
    /// The learner of this conversation's user, or nobody's.
    #[must_use]
    pub fn new(learner: Option<Arc<Learner>>) -> Self {
        Self(learner)
    }

    /// Does `work`, and learns beside it what turns teach; first what waits from before, and at last what is left.
    ///
    /// # Errors
    ///
    /// [`Failure`] of the work, or of the store.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match &self.0 {
            None => work.await,
            Some(learner) => {
                let done = learner.beside(&TokioClock, PAUSE, work).await;
                done.map_err(Failure::wiring)?
            }
        }
    }
}
