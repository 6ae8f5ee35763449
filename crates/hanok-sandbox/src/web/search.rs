//! Searching the web as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect, Secret};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    service::{Service, asked},
    text::line,
};
use hanok_egress::{Egress, Fetch};

const ENDPOINT: &str = "https://api.tavily.com/search";
const KEY: &str = "TAVILY_API_KEY";

/// How many results there are when the model says nothing, and at most.
const RESULTS: usize = 5;
const MOST_RESULTS: usize = 10;

/// How much of a result is shown, in characters.
const TITLE: usize = 160;
const URL: usize = 300;
const SNIPPET: usize = 600;

/// The tool `web_search`: titles, addresses and snippets of pages, from Tavily.
///
/// It changes nothing. Without a key a call says that one is missing, and which.
///
/// ```
/// use hanok_core::Secret;
/// use hanok_model::Tool;
/// use hanok_sandbox::WebSearch;
///
/// let search = WebSearch::new()?.key(Secret::new("tvly-0123".to_owned()));
/// assert_eq!(search.spec().name(), "web_search");
/// assert!(!format!("{search:?}").contains("tvly"));
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct WebSearch {
    spec: ToolSpec,
    service: Service,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// What to search for.
    query: String,
    /// How many results, from 1 to 10; 5 by default.
    #[serde(default)]
    max_results: Option<usize>,
}

/// What the service says, as far as it is told on.
#[derive(Debug, Deserialize)]
struct Said {
    results: Vec<Page>,
}

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
}

impl WebSearch {
    /// The tool, without a key.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "Searches the web and shows titles, addresses and snippets.";
        let spec = ToolSpec::of::<Wanted>("web_search", description)?;
        Ok(Self { spec, service: Service::new("the search service", ENDPOINT, Some(KEY)) })
    }

    /// The tool with the key of `TAVILY_API_KEY`, if that is set.
    ///
    /// # Errors
    ///
    /// As [`WebSearch::new`].
    pub fn from_env() -> Result<Self, InvalidSpec> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same with the variables of another place: `get` is given a variable's name.
    ///
    /// # Errors
    ///
    /// As [`WebSearch::new`].
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, InvalidSpec> {
        let Self { spec, service } = Self::new()?;
        Ok(Self { spec, service: service.keyed_by(get) })
    }

    /// The key. Default: none, and every call says so.
    #[must_use]
    pub fn key(self, key: Secret<String>) -> Self {
        Self { service: self.service.key(key), ..self }
    }

    /// Where the service is. Default: Tavily's own address.
    #[must_use]
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self { service: self.service.endpoint(url.into()), ..self }
    }

    /// The way to it. Default: one that reaches this service's host and no other.
    #[must_use]
    pub fn egress(self, egress: Egress) -> Self {
        Self { service: self.service.egress(egress), ..self }
    }

    /// Whether it has a key; one without is better not given to an agent.
    pub fn is_configured(&self) -> bool {
        self.service.is_configured()
    }
}

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 20 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(20)
    }

    /// Searches.
    ///
    /// # Errors
    ///
    /// [`ToolError::Refused`] without a key, or for one that the service refuses; [`ToolError::Arguments`] for a query that
    /// is none; [`ToolError::Failed`] when it cannot be reached. That nothing was found is an answer.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Wanted { query, max_results } = arguments.decode().map_err(ToolError::arguments)?;
        let query = asked("query", &query)?;
        let count = max_results.unwrap_or(RESULTS).clamp(1, MOST_RESULTS);
        let key = self.service.needed_key()?;
        let body = json!({"query": query, "max_results": count, "search_depth": "basic"});
        let bearer = Secret::new(format!("Bearer {}", key.expose()));
        let fetch =
            Fetch::post_json(self.service.endpoint.as_str(), &body).header("authorization", bearer);
        let said: Said = self.service.json(fetch, call).await?;
        // Whatever was asked for: a service may send more.
        Ok(told(query, said.results.get(..count).unwrap_or(&said.results)))
    }
}

fn told(query: &str, pages: &[Page]) -> ToolOutput {
    let shown = |page: &Page| {
        (line(&page.title, TITLE), line(&page.url, URL), line(&page.content, SNIPPET))
    };
    let pages: Vec<_> = pages.iter().map(shown).collect();
    let entries = pages.iter().enumerate();
    let entries: Vec<_> = entries
        .map(|(at, (title, url, snippet))| format!("{}. {title}\n{url}\n{snippet}", at + 1))
        .collect();
    let text = match entries.is_empty() {
        true => format!("nothing was found for `{}`", line(query, 100)),
        false => entries.join("\n\n"),
    };
    let data: Vec<_> = pages
        .iter()
        .map(|(title, url, snippet)| json!({"title": title, "url": url, "snippet": snippet}))
        .collect();
    ToolOutput::new(text).data(json!({"results": data}))
}
