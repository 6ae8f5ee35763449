//! The tools of a team: which are called for a task, and their calls, all at once.

use std::time::Duration;

use hanok_agent::{
    Choice, ChoiceEntry, ChoiceResult, Language, RegistryError, ToolCallError, ToolRegistry,
    ToolRunner, ToolSelector, ToolTurn, TurnUsage,
};
use hanok_core::Effect;
use hanok_graph::{Context, StepError};
use hanok_model::{SharedModel, SharedTool};
use hanok_state::{Messages, ToolCall};

use super::work::{ToolEnd, Work};
use crate::question::arguments;

/// The tools of a team. Clones are the same.
#[derive(Debug, Clone)]
pub struct Toolbox {
    runner: ToolRunner,
    selector: ToolSelector,
}

impl Toolbox {
    /// The `tools` of the team `agent`, among which `model` chooses.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when two tools have one name.
    pub fn new(
        agent: &str,
        model: SharedModel,
        tools: impl IntoIterator<Item = SharedTool>,
    ) -> Result<Self, RegistryError> {
        let tools = ToolRegistry::new(tools)?;
        let selector = ToolSelector::new(agent, model).language(Language::Korean);
        let runner = ToolRunner::new(tools).agent(agent).language(Language::Korean);
        Ok(Self { runner, selector })
    }

    /// What makes the calls.
    pub fn runner(&self) -> &ToolRunner {
        &self.runner
    }

    /// The choice of tools for the task of `work`.
    ///
    /// # Errors
    ///
    /// [`StepError`] as of [`ToolSelector::select`].
    pub async fn choose(&self, work: &Work, context: &Context) -> Result<Choice, StepError> {
        let selector = self.selector.clone();
        let selector = match &work.instead {
            Some(instead) => selector.instead(instead),
            None => selector,
        };
        selector.select(context, &work.task, self.runner.tools()).await
    }

    /// Calls the chosen tools, all at once; one that fails leaves the others alone. The result of the choice `id` is behind them.
    ///
    /// # Errors
    ///
    /// [`ToolCallError`] as of [`ToolRunner::run_all`].
    pub async fn call(
        &self,
        work: &Work,
        id: Option<&str>,
        context: &Context,
    ) -> Result<(Vec<ToolEnd>, Vec<ChoiceEntry>), ToolCallError> {
        let keywords = work.keywords.clone().unwrap_or_default();
        let about = about(work);
        let (mut calls, mut ends) = (Vec::new(), Vec::new());
        let may_run = |tool: &&String| {
            !work.only_reads || self.runner.tools().effect(tool) == Some(Effect::Pure)
        };
        for tool in work.chosen.iter().filter(may_run) {
            match arguments(tool, &keywords, &about) {
                Ok(arguments) => calls.push(ToolCall::new(tool, tool, arguments.to_string())),
                Err(missing) => ends.push(ToolEnd {
                    tool: tool.clone(),
                    text: missing.to_string(),
                    failed: true,
                    lacking: true,
                    ..ToolEnd::default()
                }),
            }
        }
        let clock = &context.runtime().clock;
        let begin = clock.monotonic();
        let (messages, usage) = (Messages::default(), TurnUsage::default());
        let turn = ToolTurn { messages: &messages, usage: &usage };
        let results = self.runner.run_all(context, turn, &calls).await?;
        let took = clock.monotonic().saturating_sub(begin);
        let called = calls.iter().zip(results);
        ends.extend(called.map(|(call, result)| ToolEnd::of(call, result.observation)));
        Ok((ends.clone(), result_of(id, &ends, took).into_iter().collect()))
    }
}

/// What came of the choice `id`.
fn result_of(id: Option<&str>, ends: &[ToolEnd], took: Duration) -> Option<ChoiceEntry> {
    let result = ends.iter().fold(ChoiceResult::of(id?), |result, end| {
        let error = end.failed.then_some(end.text.as_str());
        // All of them run at once, so each takes at most this.
        result.used(end.tool.as_str(), took, error)
    });
    Some(ChoiceEntry::Ended(result))
}

/// The question, with the words that a model picked behind it where the task has others.
fn about(work: &Work) -> String {
    let words: Vec<&str> = work.words.iter().map(String::as_str).collect();
    match words.is_empty() {
        true => work.question.clone(),
        false => format!("{} {}", work.question, words.join(" ")),
    }
}
