//! The three agents and their supervisor.

use std::path::{Path, PathBuf};

use hanok_agent::{
    Approval, ApprovalRule, Language, ReactAgent,
    memory::{Compaction, Compactor, KeepRecent, Overflow, Trigger},
};
use hanok_documents::{Library, LoadReport};
use hanok_model::{InvalidSpec, SharedTool, Tool as _, ToolChoice};
use hanok_retrieval::{MemoryStore, SharedDocumentStore, SharedRetriever};
use hanok_supervisor::{Supervisor, Unasked};
use hanok_tools::{Calculator, CurrentDatetime};
use kit::{
    Meaning, brain::Brain, failure::Failure, load_options, meaning::searched, messages::skipped,
    passages::search_tool,
};

use crate::directory::{self, Directory};

/// The sample documents, where the example was built.
pub fn sample_documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("documents")
}

/// What each agent can use.
#[derive(Debug, Clone)]
pub struct Tools {
    /// `rag_agent`: the documents.
    pub rag: Vec<SharedTool>,
    /// `internal_agent`: the internal directory.
    pub internal: Vec<SharedTool>,
    /// `external_agent`: the clock and the calculator.
    pub external: Vec<SharedTool>,
    /// `external_agent`, too: the tools of MCP servers.
    pub servers: Vec<SharedTool>,
    /// What was read from the documents' folder.
    pub report: LoadReport,
}

impl Tools {
    /// Reads the documents of `folder` (`None`: the samples), which are found by their words and, with a `meaning`, by that too, and
    /// opens the directory.
    ///
    /// # Errors
    ///
    /// [`Failure`] when the folder or the directory cannot be read, or the embedder fails.
    pub async fn open(folder: Option<&Path>, meaning: Option<Meaning>) -> Result<Self, Failure> {
        let folder = folder.map_or_else(sample_documents, Path::to_owned);
        let library = Library::open(load_options(), folder);
        let library = library.map_err(|error| Failure::unreadable("문서를", error))?;
        let store = SharedDocumentStore::new(MemoryStore::default());
        let documents = searched(&library, store, meaning).await?;
        let directory = Directory::open(&directory::shipped())?;
        let clock = CurrentDatetime::new().map_err(Failure::wiring)?;
        let clock = clock.zone("Asia/Seoul").map_err(Failure::wiring)?;
        let calculator = Calculator::new().map_err(Failure::wiring)?;
        Ok(Self {
            rag: vec![search_knowledge_base(documents).map_err(Failure::wiring)?],
            internal: directory::tools(&directory).map_err(Failure::wiring)?,
            external: vec![SharedTool::new(clock), SharedTool::new(calculator)],
            servers: Vec::new(),
            report: library.report().clone(),
        })
    }

    /// What a reader should know of the documents: what was not read, and whether there are any.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let none = "읽을 수 있는 문서가 없습니다(.txt, .md; -F documents로 빌드하면 .pdf, .docx, .hwpx, .html도).";
        let skipped_files = self.report.skipped.iter().map(|it| format!("건너뜀: {}", skipped(it)));
        skipped_files.chain((self.report.documents == 0).then(|| none.to_owned()))
    }
}

/// The tool `search_knowledge_base`: the five passages of `documents` that fit a query best, each with its source.
///
/// # Errors
///
/// None that a caller could cause: its name and arguments are fixed.
pub fn search_knowledge_base(documents: SharedRetriever) -> Result<SharedTool, InvalidSpec> {
    let description = "Searches the company's documents (규정, 지침, 핸드북) and returns passages with their sources.";
    search_tool("search_knowledge_base", description, documents).map(SharedTool::new)
}

/// The tokens of a prompt at which it is made smaller. A server with a smaller window says so, and then it is, too.
const TOKENS: u64 = 100_000;

/// How prompts are kept in the window of the model.
fn compactor(brain: &Brain) -> Result<Compactor, Failure> {
    let policy = Compaction::new()
        .trigger(Trigger::Tokens(TOKENS))
        .keep(KeepRecent::Messages(4))
        .overflow(Overflow::Fold)
        .language(Language::Korean);
    Compactor::new(policy, brain.model.clone()).map_err(Failure::wiring)
}

/// The supervisor over the three agents.
///
/// # Errors
///
/// [`Failure::Wiring`] when the parts do not fit together.
pub fn supervisor(brain: &Brain, tools: &Tools) -> Result<Supervisor, Failure> {
    let compactor = compactor(brain)?;
    let agent = |name: &str, description: &str, prompt: &str, tools: &[SharedTool]| {
        ReactAgent::builder(name, description, brain.model.clone())
            .prompt(prompt)
            .tools(tools.iter().cloned())
            // What it answers from is what its tools say, and nothing that it remembers.
            .tool_choice(ToolChoice::Required)
            // A stranger's tool may do more than read: then a person is asked.
            .intercept(Approval::new().writes(ApprovalRule::new()))
            .memory(compactor.clone())
            .language(Language::Korean)
            .build()
            .map_err(Failure::wiring)
    };
    let rag = agent(
        "rag_agent",
        "회사 문서(인사규정, 출장여비규정, 정보보안지침, 프로젝트 핸드북 등)를 검색해서 규정, 정책, 절차에 답합니다. Searches documents.",
        "당신은 회사 문서를 찾아 답하는 담당자입니다. 먼저 문서를 검색하고, 찾은 내용에 있는 것만으로 답하며, 출처를 밝힙니다.",
        &tools.rag,
    )?;
    let internal = agent(
        "internal_agent",
        "사내 디렉터리에서 직원(이름, 팀, 내선, 이메일), 개인별 남은 연차, 회의실을 조회합니다. Looks up people, leave balances and rooms.",
        "당신은 사내 디렉터리를 조회하는 담당자입니다. 직원, 남은 연차, 회의실은 도구로 조회한 값만 답합니다.",
        &tools.internal,
    )?;
    // By the names of the servers' tools a question finds its way to them.
    let names: Vec<_> = tools.servers.iter().map(|tool| tool.spec().name()).collect();
    let beside = match names.is_empty() {
        true => String::new(),
        false => format!(" 다른 서버의 도구도 씁니다: {}.", names.join(", ")),
    };
    let external = agent(
        "external_agent",
        &format!(
            "계산(사칙연산, 수식)과 현재 날짜, 시각(세계 시간대)을 처리합니다. Calculates, and tells the date and time.{beside}"
        ),
        "당신은 계산과 날짜, 시각을 맡은 담당자입니다. 암산하지 말고 도구의 결과로 답합니다.",
        &[&tools.external[..], &tools.servers].concat(),
    )?;
    // The rules of the offline model ask nobody only where nothing has to be looked up.
    let unasked = if brain.offline { Unasked::Answer } else { Unasked::AskAgain };
    Supervisor::builder(brain.model.clone())
        .unasked(unasked)
        .memory(compactor.clone())
        .prompt("당신은 한옥소프트의 사내 도우미입니다. 질문을 알맞은 담당 에이전트에게 맡기고, 그 결과로 답합니다.")
        .agent(rag)
        .agent(internal)
        .agent(external)
        .language(Language::Korean)
        .build()
        .map_err(Failure::wiring)
}
