//! The tools, and those that are switched off here.

use std::path::Path;

use hanok_model::Tool;
use hanok_retrieval::SharedRetriever;
use hanok_sandbox::{GetWeather, PythonRepl, ReadFile, SearchWikipedia, WebSearch};
use hanok_tools::{Calculator, CurrentDatetime, OffReason, Toolbox};
use kit::{failure::Failure, passages::search_tool};

/// Tools of which the offline model makes nothing.
const ONLINE: [&str; 6] = [
    "search_documents",
    "search_wikipedia",
    "read_file",
    "get_weather",
    "web_search",
    "python_repl",
];

/// The tools that need nothing but this program.
///
/// # Errors
///
/// [`Failure::Wiring`] when a tool cannot be made.
pub fn offline() -> Result<Toolbox, Failure> {
    let off = |tools: Toolbox, name| tools.without(name, OffReason::NotForModel);
    Ok(ONLINE.into_iter().fold(own()?, off))
}

fn own() -> Result<Toolbox, Failure> {
    let clock = CurrentDatetime::new().map_err(Failure::wiring)?;
    Ok(Toolbox::new()
        .with(Calculator::new().map_err(Failure::wiring)?)
        .with(clock.zone("Asia/Seoul").map_err(Failure::wiring)?))
}

/// All tools: the documents, for a question that its router took for small talk, those of the web, files out of `folder`, and Python
/// where it is asked for. Those without their key are off.
///
/// # Errors
///
/// [`Failure`] when the folder cannot be read, or a tool cannot be made.
pub fn online(documents: SharedRetriever, folder: &Path, python: bool) -> Result<Toolbox, Failure> {
    let about = "Searches the company's own documents: rules, policies, guidelines, handbooks";
    let documents = search_tool("search_documents", about, documents);
    let files =
        ReadFile::in_folder(folder).map_err(|error| Failure::unreadable("문서를", error))?;
    let weather = GetWeather::from_env().map_err(Failure::wiring)?;
    let search = WebSearch::from_env().map_err(Failure::wiring)?;
    let (has_weather, has_search) = (weather.is_configured(), search.is_configured());
    let toolbox = own()?
        .with(documents.map_err(Failure::wiring)?)
        .with(SearchWikipedia::new().map_err(Failure::wiring)?)
        .with(files)
        .with_key(weather, "get_weather", has_weather, "OPENWEATHER_API_KEY")
        .with_key(search, "web_search", has_search, "TAVILY_API_KEY");
    Ok(match python {
        true => toolbox.with(PythonRepl::builder().build().map_err(Failure::wiring)?),
        false => toolbox.without("python_repl", OffReason::NotChosen { by: "--python" }),
    })
}

/// The tools, a line each.
pub(crate) fn lines(toolbox: &Toolbox) -> String {
    let on = toolbox.tools().iter().map(|tool| {
        let spec = tool.spec();
        format!("{:<22}{}", spec.name(), spec.description())
    });
    let off = toolbox.off().iter().map(|tool| {
        let why = match &tool.why {
            OffReason::NoKey { variable } => format!("{variable}가 없습니다"),
            OffReason::NotChosen { by } => format!("{by}을 주면 격리된 곳에서 실행합니다"),
            _ => "오프라인 모델은 쓰지 않습니다".to_owned(),
        };
        format!("{:<22}꺼짐: {why}", tool.name)
    });
    on.chain(off).collect::<Vec<_>>().join("\n")
}
