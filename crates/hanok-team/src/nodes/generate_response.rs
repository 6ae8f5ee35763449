//! The node that writes the answer.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hanok_agent::{DataMark, Language, Protocol, Reading, ask_model};
use hanok_core::{BoxError, Chain, OverBudget};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_parse::{Parser, restore};
use hanok_state::{Message, Role, State};
use serde::{Deserialize, Serialize};

use crate::{
    error::TeamError,
    event::TeamEvent,
    prompt,
    settings::TeamSettings,
    state::{Phase, TeamPlan, TeamState, TeamStateUpdate},
};
use hanok_grounding::{GroundingError, Sources};

/// What a model wrote, or the cause for which it wrote nothing.
#[derive(Debug, Serialize, Deserialize)]
enum Written {
    Text(String),
    Nothing(String),
    /// Nothing, for this limit of the turn, in words.
    AtLimit(String),
}

/// Has the model write the answer from the results, looks its figures up, and adds what is missing and where it comes from. Where the
/// model does not answer, that is said, and the results stand as they are.
pub(crate) async fn generate_response<C: Send + Sync + 'static>(
    settings: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::ResponseGeneration });
    let language = settings.language;
    let plan = state.plan.clone().unwrap_or_default();
    let aggregated = state.aggregated.clone().unwrap_or_default();
    let response = Response {
        settings: &settings,
        state: &state,
        plan: &plan,
        context: &context,
        limit: OnceLock::new(),
        unanswered: OnceLock::new(),
        written: Mutex::default(),
    };
    let text = response.grounded().await?;
    let unanswered = response.unanswered.get().cloned();
    // Said of the model, and so no figure of the answer.
    let text = match &unanswered {
        Some(cause) => format!("{}\n\n{text}", prompt::unanswered(cause, language)),
        None => text,
    };
    let limit = state.limit.clone().or_else(|| response.limit.get().cloned());
    let footer = prompt::footer(&plan, &aggregated, limit.as_deref(), language);
    let answer = match footer.is_empty() {
        true => text,
        false => format!("{}\n\n{footer}", text.trim_end()),
    };
    if let Some(memory) = &settings.memory {
        memory.learn(&state, &answer, &context).await.map_err(TeamError::Memory)?;
    }
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Completed });
    let written = response.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    let message = Message::assistant(answer.as_str());
    let message = written.into_iter().fold(message, Message::with_id);
    Ok(TeamState::update()
        .phase(Phase::Completed)
        .message(message)
        .answer(Some(answer))
        .limit(limit)
        .unanswered(unanswered)
        .completed_at(Some(context.now())))
}

struct Response<'a, C: Send + Sync + 'static> {
    settings: &'a TeamSettings<C>,
    state: &'a TeamState,
    plan: &'a TeamPlan,
    context: &'a Context<C>,
    /// The limit of the turn that the answer's model met first.
    limit: OnceLock<String>,
    /// Why the model wrote nothing.
    unanswered: OnceLock<String>,
    /// The id of the message that the model wrote last.
    written: Mutex<Option<String>>,
}

impl<C: Send + Sync + 'static> Response<'_, C> {
    /// The text, in which no figure stands unmarked that nobody gave.
    async fn grounded(&self) -> Result<String, TeamError> {
        let language = self.settings.language;
        let text = self.text("response", self.request()).await?;
        let Some(grounding) = &self.settings.grounding else { return Ok(text) };
        let again = async |note: String| {
            let request = self.request().message(Message::assistant(text.as_str())).message(note);
            Ok((self.text("response-again", request).await?, None))
        };
        match grounding.settle(text.as_str(), &self.sources(), again).await {
            Ok(text) => Ok(text),
            Err(GroundingError::Refused(refused)) => Ok(prompt::refused(&refused, language)),
            Err(GroundingError::Model(error)) => Err(error),
        }
    }

    /// What figures may come from: the user's own words, the data of the teams' tools, and what the program says of its teams.
    fn sources(&self) -> Sources {
        let is_user = |message: &&Message| message.role() == Role::User;
        let spoken = self.state.messages.iter().filter(is_user);
        let sources = spoken.fold(Sources::new(), |sources, said| sources.user(&said.text()));
        let sources = self.settings.teams.iter().fold(sources, |sources, team| {
            sources.tool(team.name(), &team.member.description().into())
        });
        let data = self.state.results().filter_map(|(_, result)| result.data.0.as_object());
        data.flatten().fold(sources, |sources, (tool, data)| sources.tool(tool, data))
    }

    /// The model's words for `request`, or what can be said without.
    async fn text(&self, step: &str, request: ChatRequest) -> Result<String, TeamError> {
        let language = self.settings.language;
        let written = self.written(step, request).await?;
        let without_model = || match self.plan.in_scope {
            true => prompt::without_model(self.state, language),
            false => prompt::out_of_scope(&self.settings.teams, language),
        };
        Ok(match written {
            Written::Text(text) => text,
            Written::AtLimit(limit) => {
                self.limit.get_or_init(|| limit);
                without_model()
            }
            Written::Nothing(cause) => {
                self.unanswered.get_or_init(|| cause);
                without_model()
            }
        })
    }

    fn request(&self) -> ChatRequest {
        let language = self.settings.language;
        let own = self.settings.prompts.response_generation.as_deref();
        let mut messages = vec![Message::system(prompt::response(own, language))];
        messages.extend(self.state.recent().cloned());
        let mark = DataMark::new(&*self.context.runtime().rng);
        let data = match self.plan.in_scope {
            true => {
                let results = self.state.results();
                let results = results.map(|(step, result)| (step.id.as_str(), result));
                prompt::results(results, &mark, language)
            }
            false => {
                let text = prompt::out_of_scope(&self.settings.teams, language);
                prompt::no_results(&text, &mark, language)
            }
        };
        let question = messages.len().saturating_sub(1);
        messages.insert(question, Message::user(data));
        let mut request = ChatRequest::new(messages);
        request.temperature = self.settings.temperature;
        request.max_tokens = Some(self.settings.max_tokens);
        request
    }

    /// The model's words, once and for all of the task's runs.
    async fn written(&self, step: &str, request: ChatRequest) -> Result<Written, TeamError> {
        let settings = self.settings;
        let call = self.context.call("model", settings.model.name(), step);
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.message_id());
        let parser = Parser::default().without_calls();
        let at_limit =
            |OverBudget(limit)| Ok(Written::AtLimit(prompt::limit(limit, settings.language)));
        let ask = async || {
            let reading = Reading::new(&parser, Protocol::Native);
            let reply = ask_model(&settings.model, request, &call, reading, settings.capture);
            match self.context.within_time(reply).await {
                Ok(Ok(reply)) => Ok(words(&parser, &reply, settings.language)),
                Err(over) | Ok(Err(ModelError::OverBudget(over))) => at_limit(over),
                Ok(Err(error)) if error.ends_the_run() => Err(BoxError::from(error)),
                Ok(Err(error)) => Ok(Written::Nothing(Chain(&error).to_string())),
            }
        };
        let written: Result<Written, StepError> = self.context.step(step, ask).await;
        written.map_err(TeamError::Step)
    }
}

/// The answer in a reply: its text without reasoning.
fn words(parser: &Parser, reply: &ChatReply, language: Language) -> Written {
    let answer = parser.parse(&reply.message.text()).content;
    let answer = restore(&DataMark::unmarked(answer)).into_owned();
    match answer.trim() {
        "" => Written::Nothing(prompt::empty_answer(language).to_owned()),
        answer => Written::Text(answer.to_owned()),
    }
}
