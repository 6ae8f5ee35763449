//! The parts of the program, put together.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hanok_agent::{Language, ToolRegistry, ToolRunner};
use hanok_checkpoint::SharedCheckpointer;
use hanok_core::Chain;
use hanok_model::{SharedModel, SharedTool};
use hanok_supervisor::Member;
use hanok_team::{Team, TeamSupervisor, ToolOption};
use kit::OfflineModel;
use kit::failure::Failure;

use crate::{
    Options,
    data::Data,
    learning::Pupil,
    memory::{EstateMemory, Proposer},
    teams::{self, Paper, Work, select::Selector},
    tools,
};

/// What the program is not.
pub const NO_ADVICE: &str =
    "일반적인 안내이며 법률·금융 자문이 아닙니다. 시세와 매물, 대출 상품은 지어낸 자료입니다.";

/// What a run works with.
#[derive(Debug)]
pub struct Opened {
    /// The supervisor over the teams.
    pub supervisor: TeamSupervisor,
    /// The store of its threads.
    pub threads: SharedCheckpointer,
    /// What is remembered of the user, if there is one.
    pub memory: Option<EstateMemory>,
    /// What learns after the answers.
    pub learner: Pupil,
    /// What a reader should know first.
    pub about: String,
}

/// The offline model, which is told by which words people ask for what the program has.
#[must_use]
pub fn rules() -> OfflineModel {
    OfflineModel::new().aliases(kit::aliases(include_str!("../data/cues.txt")))
}

/// Opens what `options` name, with `model` in all its parts.
///
/// # Errors
///
/// [`Failure`] for a file that cannot be used, and for parts that do not fit.
pub async fn open(model: SharedModel, options: &Options) -> Result<Opened, Failure> {
    let data = Data::open(options.data.as_deref());
    let data = data.map_err(|error| Failure::Usage(Chain(&error).to_string()))?;
    let data = Arc::new(data);
    let (threads, store) = kit::stores(options.talk.db.as_deref()).await?;
    let user = options.user.as_deref().filter(|user| !user.is_empty());
    let memory = match user {
        None => None,
        Some(user) => {
            let names = data.districts();
            let proposer = Proposer::new(model.clone(), &names);
            Some(EstateMemory::open(&threads, store, user, proposer).await?)
        }
    };
    let about = match user {
        Some(user) => format!("사용자 {user}: 하신 말씀을 기억합니다. {NO_ADVICE}"),
        None => format!("--user가 없어 아무것도 기억하지 않습니다. {NO_ADVICE}"),
    };
    let time = Duration::from_secs(options.team_timeout);
    let supervisor = supervisor(model, &data, options.out.clone(), time, memory.clone())?;
    let learner = Pupil::new(memory.as_ref().map(EstateMemory::learner));
    Ok(Opened { supervisor, threads, memory, learner, about })
}

/// The supervisor over the three teams.
fn supervisor(
    model: SharedModel,
    data: &Arc<Data>,
    out: PathBuf,
    time: Duration,
    memory: Option<EstateMemory>,
) -> Result<TeamSupervisor, Failure> {
    let models = (model.clone(), SharedModel::new(rules()));
    // What a team chooses with, and what calls its tools; its options are its tools, if there are no others.
    let parts = |name, prompt, tools: Vec<SharedTool>, others: Option<Vec<ToolOption>>| {
        let options = others.unwrap_or_else(|| tools.iter().map(ToolOption::of).collect());
        let selector = Selector::new(name, prompt, models.clone(), options, &data.districts());
        let tools = ToolRegistry::new(tools).map_err(Failure::wiring)?;
        Ok::<_, Failure>((selector, ToolRunner::new(tools).agent(name).language(Language::Korean)))
    };
    let tools = tools::search_tools(data).map_err(Failure::wiring)?;
    let prompt = include_str!("../prompts/tool_selection_search.txt");
    let (selector, runner) = parts("search", prompt, tools, None)?;
    let graph = teams::search(selector, runner).map_err(Failure::wiring)?;
    let purpose = include_str!("../prompts/search.txt").trim();
    let search = Member::graph("search", purpose, graph, Work::begin, Work::end);

    let tools = tools::analysis_tools(data).map_err(Failure::wiring)?;
    let prompt = include_str!("../prompts/tool_selection_analysis.txt");
    let (selector, runner) = parts("analysis", prompt, tools, None)?;
    let graph = teams::analysis(selector, runner).map_err(Failure::wiring)?;
    let purpose = include_str!("../prompts/analysis.txt").trim();
    let analysis = Member::graph("analysis", purpose, graph, Work::begin, Work::end);

    let tools = tools::document_tools(data, out.clone()).map_err(Failure::wiring)?;
    let prompt = include_str!("../prompts/tool_selection_document.txt");
    let (selector, runner) = parts("document", prompt, tools, Some(teams::kinds()))?;
    let graph = teams::document(selector, runner, out).map_err(Failure::wiring)?;
    let purpose = include_str!("../prompts/document.txt").trim();
    let document = Member::graph("document", purpose, graph, Paper::begin, Paper::end);

    let builder = TeamSupervisor::builder(model)
        .name("real_estate")
        .language(Language::Korean)
        .response_generation(include_str!("../prompts/response_generation.txt"))
        .team(Team::new(search).timeout(time))
        .team(Team::new(analysis).takes_if_there(["search"]).timeout(time))
        .team(Team::new(document).takes_if_there(["analysis"]).timeout(time).asks().acts());
    let builder = match memory {
        Some(memory) => builder.memory(memory),
        None => builder,
    };
    builder.build().map_err(Failure::wiring)
}
