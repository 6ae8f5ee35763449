//! The tools, and those that are switched off here.

use std::path::Path;

use hanok_model::{SharedTool, Tool};
use hanok_tools::{
    Calculator, CurrentDatetime, GetWeather, PythonRepl, ReadFile, SearchWikipedia, WebSearch,
};
use terminal::failure::Failure;

/// The tools that the agent has, and why others are not among them.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    /// The tools.
    pub tools: Vec<SharedTool>,
    /// The names of those that are off, each with the reason.
    pub off: Vec<(&'static str, String)>,
}

impl Toolbox {
    /// The tools that need nothing but this program.
    ///
    /// # Errors
    ///
    /// [`Failure::Wiring`] when a tool cannot be made.
    pub fn offline() -> Result<Self, Failure> {
        let tools = vec![
            SharedTool::new(Calculator::new().map_err(Failure::wiring)?),
            SharedTool::new(
                CurrentDatetime::new()
                    .map_err(Failure::wiring)?
                    .zone("Asia/Seoul")
                    .map_err(Failure::wiring)?,
            ),
        ];
        let names = ["search_wikipedia", "read_file", "get_weather", "web_search", "python_repl"];
        let why = "오프라인 모델은 쓰지 않습니다";
        Ok(Self { tools, off: names.map(|name| (name, why.to_owned())).to_vec() })
    }

    /// All tools: those of the web, files out of `folder`, and Python where it is asked for. Those without their key are off.
    ///
    /// # Errors
    ///
    /// [`Failure`] when the folder cannot be read, or a tool cannot be made.
    pub fn online(folder: &Path, python: bool) -> Result<Self, Failure> {
        let mut toolbox = Self { off: Vec::new(), ..Self::offline()? };
        let files =
            ReadFile::in_folder(folder).map_err(|error| Failure::unreadable("문서를", error))?;
        toolbox.add(SearchWikipedia::new().map_err(Failure::wiring)?);
        toolbox.add(files);
        let weather = GetWeather::from_env().map_err(Failure::wiring)?;
        let search = WebSearch::from_env().map_err(Failure::wiring)?;
        match weather.is_configured() {
            true => toolbox.add(weather),
            false => toolbox.off("get_weather", "OPENWEATHER_API_KEY가 없습니다"),
        }
        match search.is_configured() {
            true => toolbox.add(search),
            false => toolbox.off("web_search", "TAVILY_API_KEY가 없습니다"),
        }
        match python {
            true => toolbox.add(PythonRepl::builder().build().map_err(Failure::wiring)?),
            false => toolbox.off("python_repl", "--python을 주면 격리된 곳에서 실행합니다"),
        }
        Ok(toolbox)
    }

    fn add(&mut self, tool: impl Tool) {
        self.tools.push(SharedTool::new(tool));
    }

    fn off(&mut self, name: &'static str, why: &str) {
        self.off.push((name, why.to_owned()));
    }

    /// The tools, a line each.
    #[must_use]
    pub fn lines(&self) -> String {
        let on = self
            .tools
            .iter()
            .map(|tool| format!("{:<22}{}", tool.spec().name(), tool.spec().description()));
        let off = self.off.iter().map(|(name, why)| format!("{name:<22}꺼짐: {why}"));
        on.chain(off).collect::<Vec<_>>().join("\n")
    }
}
