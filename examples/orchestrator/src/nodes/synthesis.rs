//! The answer.

use hanok_agent::{ContentCapture, Protocol, Reading, ask_model};
use hanok_core::{BoxError, Call};
use hanok_graph::Context;
use hanok_mcp::OfferedTool;
use hanok_model::{ChatReply, ChatRequest, DataMark};
use hanok_parse::{Parser, restore};
use hanok_state::{Message, State as _};

use super::preparation::line_of;
use crate::{
    asking::cause,
    events::OrchestratorEvent,
    orchestrator::{Orchestrator, Turn, Update},
    state::{Complexity, OrchestratorState, StepStatus, TurnEnd},
    wording,
};

/// The tools that a chat may name.
const MOST_LISTED: usize = 12;

impl Orchestrator {
    /// Writes the answer: a model's out of what the steps came to, or fixed words where there is nothing to put together.
    pub(crate) async fn synthesis(&self, state: Turn, context: Context) -> Update {
        let mut end = match (state.complexity, state.end) {
            (Some(Complexity::SimpleChat), _) => TurnEnd::Chat,
            (_, Some(end)) => end,
            _ => TurnEnd::of(&state.results),
        };
        let call = context.call("model", "answer", "");
        let request = |instructions: &str, results: Option<Message>| {
            self.background.request(instructions, &state, results, &state.query, &call)
        };
        let answer = match end {
            TurnEnd::AllFailed => failures(&state),
            TurnEnd::EmptyPlan => self.nothing_fits(),
            TurnEnd::AllSkipped => wording::ALL_SKIPPED.to_owned(),
            TurnEnd::Rejected => wording::REJECTED.to_owned(),
            _ => {
                let request = match end {
                    TurnEnd::Chat => {
                        request(&format!("{}\n\n{}", wording::CHAT, self.able()), None)
                    }
                    _ => request(wording::SYNTHESIS, Some(results(&state, &call))),
                };
                let answer = self.written(request, &call, &context).await?;
                answer.unwrap_or_else(|| {
                    end = TurnEnd::NoAnswer;
                    wording::NO_ANSWER.to_owned()
                })
            }
        };
        if let Some(files) = &self.results {
            files.answer(context.thread(), &state, end, &answer, context.now())?;
        }
        self.memory.turn_over(&state, end, &self.offer(), &context)?;
        context.custom(&OrchestratorEvent::End { end, statistics: state.statistics() });
        let update = OrchestratorState::update().message(Message::assistant(answer.as_str()));
        Ok(update.answer(Some(answer)).end(Some(end)))
    }

    /// What can be asked for, a tool a line.
    pub(crate) fn able(&self) -> String {
        let line = |(name, offered): (&String, &OfferedTool)| {
            let about = offered.spec().description().split(['.', '\n']).next().unwrap_or_default();
            line_of(name, about, 120)
        };
        let lines: Vec<_> = self.offer().iter().map(line).take(MOST_LISTED).collect();
        format!("{}\n{}", wording::TOOLS, lines.join("\n"))
    }

    /// That no tool fits, and whether some wait to be approved.
    fn nothing_fits(&self) -> String {
        match self.servers.client().pending().len() {
            0 => wording::EMPTY_PLAN.to_owned(),
            pending => format!("{}\n{}", wording::EMPTY_PLAN, wording::pending(pending)),
        }
    }

    /// What the model writes; nothing where that is blank.
    async fn written(
        &self,
        request: ChatRequest,
        call: &Call,
        context: &Context,
    ) -> Result<Option<String>, BoxError> {
        let parser = Parser::default().without_calls();
        let reading = Reading::new(&parser, Protocol::Native);
        let request = request.max_tokens(wording::LONGEST_ANSWER);
        let ask = || ask_model(&self.model, request, call, reading, ContentCapture::Off);
        let reply: ChatReply = context.step("answer", ask).await.map_err(cause)?;
        let text = DataMark::unmarked(parser.parse(&reply.message.text()).content);
        let text = restore(&text).into_owned();
        Ok((!text.trim().is_empty()).then_some(text))
    }
}

/// What the steps came to, each between marks.
fn results(state: &OrchestratorState, call: &Call) -> Message {
    let mark = DataMark::of_call(call);
    let parts = state.results.iter().map(|step| {
        let ended = match step.status {
            StepStatus::Done => "",
            StepStatus::Failed => " (하지 못함)",
            StepStatus::Skipped => " (건너뜀)",
        };
        format!("{}. {}{ended}:\n{}", step.number, step.task, mark.around(&step.text))
    });
    let parts: Vec<_> = parts.collect();
    Message::user(format!("{}\n\n{}", wording::RESULTS, parts.join("\n\n")))
}

/// Why none of the steps is done.
fn failures(state: &OrchestratorState) -> String {
    let failed = state.results.iter().filter(|step| step.status == StepStatus::Failed);
    let lines: Vec<_> = failed.map(|step| format!("- {}: {}", step.task, step.text)).collect();
    format!("{}\n{}", wording::ALL_FAILED, lines.join("\n"))
}
