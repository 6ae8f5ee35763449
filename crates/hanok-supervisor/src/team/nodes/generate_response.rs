//! The node that writes the answer.

use std::sync::Arc;

use hanok_agent::{DataMark, Protocol, ask_model};
use hanok_core::{BoxError, Chain};
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError};
use hanok_parse::Parser;
use hanok_state::{Message, State};
use serde::{Deserialize, Serialize};

use crate::team::{
    error::TeamError,
    event::TeamEvent,
    prompt,
    settings::TeamSettings,
    state::{Phase, TeamPlan, TeamState, TeamStateUpdate},
};

/// What a model wrote, or the cause for which it wrote nothing.
#[derive(Debug, Serialize, Deserialize)]
enum Written {
    Text(String),
    Nothing(String),
}

/// Has the model write the answer from the results, and adds what is missing and where it comes from. Without a model the results
/// stand as they are.
pub(crate) async fn generate_response<C: Send + Sync + 'static>(
    settings: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::ResponseGeneration });
    let language = settings.language;
    let plan = state.plan.clone().unwrap_or_default();
    let aggregated = state.aggregated.clone().unwrap_or_default();
    let text = match written(&settings, &state, &plan, &context).await? {
        Written::Text(text) => text,
        Written::Nothing(_) if !plan.in_scope => {
            prompt::out_of_scope(&prompt::teams(&settings.teams, language), language)
        }
        Written::Nothing(_) => prompt::without_model(&state, language),
    };
    let footer = prompt::footer(&plan, &aggregated, language);
    let answer = match footer.is_empty() {
        true => text,
        false => format!("{}\n\n{footer}", text.trim_end()),
    };
    if let Some(memory) = &settings.memory {
        memory.learn(&state, &answer, &context).map_err(TeamError::Memory)?;
    }
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Completed });
    Ok(TeamState::update()
        .phase(Phase::Completed)
        .message(Message::assistant(answer.as_str()))
        .answer(Some(answer))
        .completed_at(Some(context.now())))
}

/// The model's words, once and for all of the task's runs.
async fn written<C: Send + Sync + 'static>(
    settings: &TeamSettings<C>,
    state: &TeamState,
    plan: &TeamPlan,
    context: &Context<C>,
) -> Result<Written, TeamError> {
    let language = settings.language;
    let own = settings.prompts.response_generation.as_deref();
    let mut messages = vec![Message::system(prompt::response(own, language))];
    messages.extend(state.messages.iter().cloned());
    let mark = DataMark::new(&*context.runtime().rng);
    let data = match plan.in_scope {
        true => {
            let results = state.results().map(|(step, result)| (step.id.as_str(), result));
            prompt::results(results, &mark, language)
        }
        false => prompt::out_of_scope(&prompt::teams(&settings.teams, language), language),
    };
    let question = messages.len().saturating_sub(1);
    messages.insert(question, Message::user(data));
    let mut request = ChatRequest::new(messages);
    request.temperature = settings.temperature;
    let call = context.call("model", settings.model.name(), "response");
    let parser = Parser::default();
    let ask = async || {
        let reading = (&parser, Protocol::Native);
        match ask_model(&settings.model, request, &call, reading, settings.capture).await {
            Ok(reply) => Ok(said(&reply)),
            Err(error @ (ModelError::Cancelled | ModelError::OverBudget(_))) => {
                Err(BoxError::from(error))
            }
            Err(error) => Ok(Written::Nothing(Chain(&error).to_string())),
        }
    };
    let written: Result<Written, StepError> = context.step("response", ask).await;
    written.map_err(TeamError::Step)
}

/// The answer in a reply: its text without reasoning.
fn said(reply: &ChatReply) -> Written {
    let text = reply.message.text();
    let parsed = Parser::default().parse(&text);
    let answer = parsed.answer.unwrap_or_else(|| text.into_owned());
    match answer.trim() {
        "" => Written::Nothing("the model wrote nothing".to_owned()),
        answer => Written::Text(answer.to_owned()),
    }
}
