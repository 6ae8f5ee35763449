//! The ten tools: each reads its typed arguments and the data, and answers in words and as data.

pub mod contract_analysis;
mod lease_contract_generator;
pub mod legal_search;
mod loan_data;
mod loan_simulator;
mod market_analysis;
mod market_data;
mod policy_matcher;
mod real_estate_search;
mod roi_calculator;

use std::{path::PathBuf, sync::Arc, time::Duration};

use hanok_core::{BoxError, Call, Effect};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::data::{Data, Origin};

/// What a tool answers.
#[derive(Debug, Default)]
pub struct Answer {
    /// The answer in words, a line each.
    pub lines: Vec<String>,
    /// Where it comes from.
    pub source: Option<Origin>,
    /// What other programs read of it.
    pub data: Value,
}

impl Answer {
    /// An answer in words.
    #[must_use]
    pub fn of(lines: Vec<String>) -> Self {
        Self { lines, ..Self::default() }
    }

    /// What has to be known for an answer.
    fn lacking(what: &str) -> Self {
        Self::of(vec![format!("다음을 알려 주시면 답할 수 있습니다: {what}.")])
    }

    /// The words, with the day of the data; the source is told once, below the answer of the turn.
    fn output(self) -> ToolOutput {
        let mut text = self.lines.join("\n");
        if let Some(origin) = &self.source {
            text.push_str(&format!("\n({} 기준)", origin.as_of));
        }
        let source = self.source.map(|origin| origin.source);
        let data = json!({"text": text, "source": source, "details": self.data});
        ToolOutput::new(text).data(data)
    }
}

/// A tool that only reads.
fn reads<A: JsonSchema + DeserializeOwned + 'static>(
    name: &str,
    description: &str,
    data: &Arc<Data>,
    run: impl Fn(A, &Data) -> Result<Answer, BoxError> + Send + Sync + 'static,
) -> Result<SharedTool, InvalidSpec> {
    let data = data.clone();
    let run = move |arguments: A, _: Call| {
        std::future::ready(match run(arguments, &data) {
            Ok(answer) => Ok(answer.output()),
            Err(cause) => Err(ToolError::arguments(cause)),
        })
    };
    let tool = FnTool::new(name, description.trim(), run)?.effect(Effect::Pure);
    Ok(SharedTool::new(tool.timeout(Duration::from_secs(10))))
}

/// A tool of this name, whose description is the file of its name in `prompts/`.
macro_rules! tool {
    ($name:ident, $data:expr) => {
        reads(
            stringify!($name),
            include_str!(concat!("../prompts/", stringify!($name), ".txt")),
            $data,
            $name::answer,
        )
    };
}

/// The tools of the search team.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn search_tools(data: &Arc<Data>) -> Result<Vec<SharedTool>, InvalidSpec> {
    let law = legal_search::LawSearch::new(data);
    let legal = include_str!("../prompts/legal_search.txt");
    Ok(vec![
        reads("legal_search", legal, data, move |asked, data| law.answer(&asked, data))?,
        tool!(market_data, data)?,
        tool!(real_estate_search, data)?,
        tool!(loan_data, data)?,
    ])
}

/// The tools of the analysis team.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn analysis_tools(data: &Arc<Data>) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![
        tool!(contract_analysis, data)?,
        tool!(market_analysis, data)?,
        tool!(roi_calculator, data)?,
        tool!(loan_simulator, data)?,
        tool!(policy_matcher, data)?,
    ])
}

/// The tool of the document team, which writes into the folder `out`.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn document_tools(data: &Arc<Data>, out: PathBuf) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![lease_contract_generator::tool(data, out)?])
}
