//! The parts of the program, put together.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hanok_agent::Language;
use hanok_model::{SharedModel, SharedTool};
use hanok_supervisor::Member;
use hanok_team::{Team, TeamSupervisor};
use terminal::failure::Failure;

use crate::{
    data::Data,
    documents::ContractRules,
    memory::EstateMemory,
    teams::{self, Toolbox, Work},
    tools, wording,
};

/// What the program is made of.
#[derive(Debug)]
pub struct Estate {
    /// The model.
    pub model: SharedModel,
    /// The data of the tools.
    pub data: Arc<Data>,
    /// The folder into which documents are written.
    pub out: PathBuf,
    /// The time of a team.
    pub timeout: Duration,
    /// The memory of the user, if there is one.
    pub memory: Option<EstateMemory>,
}

impl Estate {
    /// The supervisor over the three teams.
    ///
    /// # Errors
    ///
    /// [`Failure::Wiring`] when the parts do not fit.
    pub fn supervisor(self) -> Result<TeamSupervisor, Failure> {
        let rules = Arc::new(ContractRules::shipped().map_err(Failure::wiring)?);
        let Self { model, data, out, timeout, memory } = self;
        let toolbox = |agent: &str, tools: Vec<SharedTool>| {
            Toolbox::new(agent, model.clone(), tools).map_err(Failure::wiring)
        };
        let search = toolbox("search", tools::search_tools(&data).map_err(Failure::wiring)?)?;
        let analysis =
            toolbox("analysis", tools::analysis_tools(&data, &rules).map_err(Failure::wiring)?)?;
        let document =
            tools::document_tools(&data, &rules, out.clone()).map_err(Failure::wiring)?;
        let document = toolbox("document", document)?;
        let search = teams::search(search, model.clone()).map_err(Failure::wiring)?;
        let analysis = teams::analysis(analysis, model.clone()).map_err(Failure::wiring)?;
        let document = teams::document(document, model.clone(), out).map_err(Failure::wiring)?;

        let member = |name: &str, description: &str, graph| {
            Member::graph(name, description, graph, Work::begin, Work::end)
        };
        let search = Team::new(member("search", wording::SEARCH, search)).timeout(timeout);
        let analysis = Team::new(member("analysis", wording::ANALYSIS, analysis))
            .takes_if_there(["search"])
            .timeout(timeout);
        let document =
            Member::graph("document", wording::DOCUMENT, document, teams::begin, teams::end);
        let document =
            Team::new(document).takes_if_there(["analysis"]).timeout(timeout).asks().acts();
        let builder = TeamSupervisor::builder(model)
            .name("real_estate")
            .language(Language::Korean)
            .team(search)
            .team(analysis)
            .team(document);
        let builder = match memory {
            Some(memory) => builder.memory(memory),
            None => builder,
        };
        builder.build().map_err(Failure::wiring)
    }
}
